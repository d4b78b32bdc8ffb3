"""Boards in notebooks: what they are made of, what they answer, and what they say of bad input."""

import numpy as np
import pandas as pd
import pytest

import plurank
from plurank.rankings import ranks_of
from ranking_engine import ScoreMatrix, listed_rules, rank
from ranking_engine.core.comparison import compare
from ranking_engine.core.synthetic import random_matrix

FRAME = pd.DataFrame(
    {"QA": [90.0, 80.0, 70.0, None], "NLI": [60, 70, 65, 50.5], "Latency": [1, 2, 3, 4]}, index=["A", "B", "C", "D"]
)
SCORES = {"A": {"QA": 90, "NLI": 60}, "B": {"QA": 80, "NLI": 70}, "C": {"QA": 70, "NLI": 50}}


@pytest.fixture
def board():
    return plurank.Board(FRAME, lower_is_better=["Latency"], missing="drop_systems")


def of_index(frame):
    return frame


def of_column(frame):
    return frame.rename_axis("model").reset_index()


def of_texts(frame):
    return frame.rename_axis("name of it").reset_index()


@pytest.mark.parametrize("shaped", [of_index, of_column, of_texts])
def test_a_frame_keeps_its_names_and_gaps_wherever_it_has_the_systems(shaped):
    board = plurank.Board(shaped(FRAME))
    assert (board.systems, board.tasks) == (("A", "B", "C", "D"), ("QA", "NLI", "Latency"))
    assert np.array_equal(board.matrix.values, FRAME.to_numpy(), equal_nan=True)


@pytest.mark.parametrize("backend", ["pandas", "pyarrow"])
def test_scores_go_out_as_they_came_in(board, backend):
    again = plurank.Board(board.to_frame(backend), lower_is_better=["Latency"])
    assert (again.systems, again.tasks) == (board.systems, board.tasks)
    assert np.array_equal(again.matrix.values, board.matrix.values, equal_nan=True)


def test_texts_among_columns_of_numbers_keep_their_place():
    frame = pd.DataFrame({"a": [1, 2], "b": ["3", "x"], "c": pd.array([None, 4], dtype="Int64")}, index=["A", "B"])
    with pytest.raises(ValueError, match=r"row 1 \(A\), column 'b': '3' is not a number"):
        plurank.Board(frame)
    assert np.array_equal(plurank.Board(frame[["a", "c"]]).matrix.values, [[1, np.nan], [2, 4]], equal_nan=True)


def test_mappings_arrays_and_matrices_make_the_same_board():
    values = [[90, 60], [80, 70], [70, 50]]
    boards = [
        plurank.Board(SCORES),
        plurank.Board(values, systems=["A", "B", "C"], tasks=["QA", "NLI"]),
        plurank.Board(np.array(values), systems=["A", "B", "C"], tasks=["QA", "NLI"]),
        plurank.Board(ScoreMatrix(values, system_names=["A", "B", "C"], task_names=["QA", "NLI"])),
    ]
    assert {(board.systems, board.tasks) for board in boards} == {(("A", "B", "C"), ("QA", "NLI"))}
    assert {board.matrix.values.tobytes() for board in boards} == {np.array(values, dtype=float).tobytes()}


def test_a_system_without_a_score_in_a_mapping_misses_it():
    board = plurank.Board({"A": {"QA": 1, "NLI": None}, "B": {"NLI": 2}})
    assert np.array_equal(board.matrix.values, [[1, np.nan], [np.nan, 2]], equal_nan=True)


def test_what_is_stated_of_tasks_by_name_reaches_the_engine():
    board = plurank.Board(
        FRAME,
        lower_is_better="latency",
        weights={"qa": "1/3"},
        groups={"QA": "text", "NLI": "text"},
        maximum={"NLI": 100},
    )
    matrix = board.matrix
    assert matrix.directions.tolist() == [1, 1, -1]
    assert [str(weight) for weight in matrix.weights] == ["1/3", "1", "1"]
    assert matrix.groups == ("text", "text", None)
    assert np.array_equal(matrix.maximum, [np.nan, 100, np.nan], equal_nan=True)


def test_directions_are_names_or_truths_by_name():
    ways = ["x", ["x"], {"x": True}, {"X": True, "y": False}]
    boards = [plurank.Board({"A": {"x": 1, "y": 3}, "B": {"x": 2, "y": 1}}, lower_is_better=way) for way in ways]
    assert [board.matrix.directions.tolist() for board in boards] == [[-1, 1]] * 4
    again = plurank.Board(boards[0].matrix, lower_is_better={"x": False})
    assert again.matrix.directions.tolist() == [1, 1]


def test_gamma_is_derived_from_the_maximum_as_on_the_command_line_and_again_with_other_weights():
    board = plurank.Board(SCORES, maximum={"QA": 100, "NLI": 100})
    assert board.matrix.gamma == 95
    assert board.notes == ("gamma = 95, derived: 95 % of the scale's maximum 100; the argument `gamma` states another",)
    assert board.rank("optimality_gap").status == "ranked"
    assert plurank.Board(SCORES, maximum={"QA": 100, "NLI": 100}, gamma=70).matrix.gamma == 70
    half = plurank.Board(SCORES, maximum={"QA": 100}, weights={"NLI": 0})
    assert (half.matrix.gamma, half.with_weights({"NLI": 1}).matrix.gamma) == (95, None)


def test_a_board_never_changes(board):
    for name, value in {
        "missing": "worst",
        "aggregation": "basic",
        "matrix": None,
        "notes": (),
        "variants": (),
    }.items():
        with pytest.raises(AttributeError):
            setattr(board, name, value)


def test_variants_are_ranked_beside_the_quick_rules_and_a_rule_named_twice_once():
    board = plurank.Board(SCORES, variants=["copeland[variant=lower]"])
    columns = ["system", *listed_rules()]
    columns.insert(columns.index("copeland") + 1, "copeland[variant=lower]")
    assert list(board.rank().columns) == columns
    assert "copeland[variant=lower]" in board.with_weights({"QA": 2}).rank().columns
    assert board.rank("borda", "Borda").title == "3 systems under 1 rule"
    assert repr(plurank.Board({"A": {"x": 1}, "B": {"x": 2}})) == "Board(2 systems, 1 task)"


def test_odd_directions_and_scores_beyond_the_scale_are_noted():
    scores = {"A": {"perplexity": 3, "QA": 120}, "B": {"perplexity": 4, "QA": 90}}
    assert plurank.Board(scores, maximum={"QA": 100}, gamma=95).notes == (
        (
            "perplexity counts as higher is better, though its name says 'perplexity'; if less is better, state "
            "lower_is_better=['perplexity'], else lower_is_better={'perplexity': False}"
        ),
        "QA: 1 score beyond the stated scale",
    )
    assert plurank.Board(scores, lower_is_better={"perplexity": False}).notes == ()
    assert plurank.Board(scores, lower_is_better="Perplexity").notes == ()


def test_a_share_of_0_of_a_system_that_can_win_has_its_bound():
    board = plurank.Board({"A": {"x": 1, "y": 0}, "B": {"x": 1, "y": 1}})
    row = board.prospects(n_draws=100).rows()[0]
    assert (row["system"], row["verdict"], row["share"], row["share_bound"]) == ("A", "tie_only", 0, 0.03)
    assert "share_error" in board.prospects(n_draws=100).to_csv().splitlines()[0]


def test_parameters_of_a_study_are_taken_as_a_site_states_them(board):
    parameters = board.study("missing_scores", n_repeats=2, rules=["borda"]).parameters
    assert board.study("missing_scores", n_repeats=2, rules="Borda").parameters == parameters
    assert board.study("missing_scores", n_repeats=2, rules=None).parameters["rules"] is None


@pytest.mark.parametrize("name", ["borda", "Borda", " BORDA ", "bradley-terry", "Bradley–Terry", "ranked pairs"])
def test_rules_are_known_by_key_and_name_in_any_case(name):
    assert plurank.rule_key(name) in {"borda", "bradley_terry", "ranked_pairs"}


@pytest.mark.parametrize("rule", listed_rules())
def test_every_rule_gives_what_the_engine_gives_with_names_and_none_for_unranked(board, rule):
    ours, engine = board.rank(rule), rank(board.matrix, rule, missing="drop_systems")
    ranks = [None if value == -1 else value for value in engine.ranks.tolist()]
    assert ours.ranks == dict(zip("ABCD", ranks, strict=True))
    assert ours.winners == sorted("ABCD"[i] for i in engine.winners)
    assert ours.status == engine.status
    assert sorted(ours["system"]) == list("ABCD")


def test_ranks_in_a_frame_are_whole_numbers_and_missing_ones_are_na(board):
    frame = board.rank("mean").to_frame()
    assert frame["rank"].dtype == pd.Int64Dtype()
    assert frame["rank"].isna().to_dict() == {"A": False, "B": False, "C": False, "D": True}
    every = board.rank().to_frame()
    assert list(every.columns) == listed_rules()
    assert set(every.dtypes.map(str)) == {"Int64"}
    assert every.loc["A", "mean"] == 1


def test_a_leaderboard_has_the_rules_that_were_named_and_each_with_its_ranking(board):
    leaderboard = board.rank("Mean", "kemeny")
    assert list(leaderboard.columns) == ["system", "mean", "kemeny"]
    assert leaderboard.under("Kemeny").ranks == board.rank("kemeny").ranks
    with pytest.raises(ValueError, match="borda is not on this leaderboard; there are mean, kemeny"):
        leaderboard.under("borda")


def test_options_reach_the_one_rule_that_is_named_and_no_several(board):
    assert board.rank("copeland", variant="lower").scores == dict(
        zip(
            "ABCD", rank(board.matrix, "copeland", variant="lower", missing="drop_systems").scores.tolist(), strict=True
        )
    )
    with pytest.raises(ValueError, match="options are of one rule"):
        board.rank("borda", "copeland", variant="lower")


def test_the_comparison_of_rules_is_the_engines(board):
    table = board.compare("mean", "borda", "copeland")
    rankings = {rule: rank(board.matrix, rule, missing="drop_systems") for rule in ("mean", "borda", "copeland")}
    expected = compare(rankings).kendall_tau
    assert np.allclose([table[rule] for rule in rankings], expected.T)


def test_who_can_win_is_said_with_weights_under_which_they_do(board):
    table = board.prospects(n_draws=100)
    assert dict(zip(table["system"], table["can_win"], strict=True)) == {"A": True, "B": True, "C": False, "D": False}
    weights = {task: float(weight) for task, weight in table.of("B").weights.items()}
    others = {name: 0 for name in board.tasks if name not in weights}
    assert "B" in board.with_weights(weights | others).rank("copeland").winners


def test_conditions_on_the_weights_are_texts(board):
    for conditions in (["NLI >= 0.9"], "NLI >= 0.9"):
        assert board.prospects(conditions=conditions, n_draws=100).of("A").verdict == "none"


def test_neighbours_are_tested_and_groups_named():
    board = plurank.Board(random_matrix(6, 12, seed=1))
    table = board.significance("mean")
    assert len(table) == 5
    assert {name for group in table.groups for name in group} <= set(board.systems)
    with pytest.raises(ValueError, match="there is no rule"):
        board.significance("meam")


def test_intervals_hold_the_rank_and_say_why_there_are_none(board):
    table = plurank.Board(random_matrix(6, 12, seed=1)).intervals("borda", n_resamples=200)
    assert all(row["lower"] <= row["rank"] <= row["upper"] for row in table)
    few = board.intervals("borda")
    assert set(few["lower"]) == {None}
    assert "with fewer than 8" in few.notes[0]


def test_a_study_has_its_figures_as_rows_and_the_same_bits_again(board):
    first, again = (board.study("missing-scores", rules=["Borda"], n_repeats=3, seed=4) for _ in range(2))
    assert first.columns == again.columns
    assert set(first["rule"]) == {"borda"}
    assert first.parameters["n_repeats"] == 3


def test_other_weights_move_whom_they_move():
    board = plurank.Board(SCORES)
    changes = board.what_if({"QA": 3})
    after = board.with_weights({"QA": 3}).rank("borda").ranks
    assert {row["system"]: (row["before"], row["after"]) for row in changes} == {
        system: (board.rank("borda").ranks[system], after[system]) for system in board.systems
    }


def test_names_and_ranks_of_a_rule_are_put_side_by_side_once(monkeypatch):
    """A dict of all systems for each system takes 40 seconds at 5,000."""
    made = []
    monkeypatch.setattr("plurank.rankings.ranks_of", lambda ranking: made.append(ranking.rule) or ranks_of(ranking))
    plurank.Board(np.arange(60.0).reshape(30, 2)).rank("mean", "borda")
    assert sorted(made) == ["borda", "borda", "mean", "mean"]


def test_rules_side_by_side_say_why_one_has_no_winner_or_ranks_it_alone():
    tied = plurank.Board({"A": {"x": 1}, "B": {"x": 2}, "C": {"x": 2}})
    (note,) = tied.rank("mean", "condorcet").notes
    assert note == f"{tied.rank('condorcet').title} has no winner: {tied.rank('condorcet').reason}"
    (note,) = plurank.Board({"A": {"x": 1}, "B": {"x": 2}}).rank("mean", "condorcet").notes
    assert note.endswith("ranks no system but its winner")


def test_soft_condorcet_says_that_its_descent_was_ended(monkeypatch):
    monkeypatch.setattr("ranking_engine.rules.soft_condorcet.MAX_STEPS", 5)
    circle = {"A": (3, 3, 1, 1, 2), "B": (2, 2, 3, 3, 1), "C": (1, 1, 2, 2, 3)}  # no order agrees with all majorities
    board = plurank.Board({system: dict(zip("vwxyz", scores, strict=True)) for system, scores in circle.items()})
    (note,) = board.rank("soft condorcet").notes
    assert note.startswith("The descent was ended after 5 steps")
    assert board.rank("mean", "soft condorcet").notes == [f"Soft Condorcet: {note}"]


def test_a_system_without_prospects_is_named_with_what_is_close():
    prospects = plurank.Board({"Ada": {"x": 1}, "Bob": {"x": 2}}).prospects()
    assert prospects.of("bob").system == "Bob"
    with pytest.raises(ValueError, match="there is no system 'Adda'; did you mean 'Ada'"):
        prospects.of("Adda")


def test_agreement_of_tasks_is_one_less_kendalls_w():
    table = plurank.Board({"A": {"x": 1, "y": 3}, "B": {"x": 2, "y": 2}, "C": {"x": 3, "y": 1}}).agreement()
    assert dict(zip(table["measure"], table["value"], strict=True))["diversity"] == 1


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: plurank.Board({"A": {"x": 1}, "B": {"x": "foo"}}),
            "row 2 (B), column 'x': 'foo' is not a number; leave",
        ),
        (lambda: plurank.Board({"A": [1, 2]}), "'A' has list for its scores; expected {system: {task: score}}"),
        (lambda: plurank.Board({"A": {"x": True}}), "row 1 (A), column 'x': 'True' is not a number"),
        (lambda: plurank.Board([[1, 2], [3, np.inf]]), "row 2 (s2), column 't2': the score is infinite"),
        (lambda: plurank.Board([[1, 2]], systems=["A", "B"]), "`systems` has 2 names; the scores need 1"),
        (lambda: plurank.Board([[1], [2]], systems=["A", "A"]), "row 2: the system 'A' is already row 1"),
        (lambda: plurank.Board([[1], [2]], systems=["A", " "]), "row 2: the system has no name"),
        (lambda: plurank.Board([1, 2]), "`scores` has shape (2,); expected (n_systems, n_tasks)"),
        (lambda: plurank.Board({}), "there is no score; expected {system: {task: score}}"),
        (lambda: plurank.Board(FRAME, weights={"NLY": 2}), "`weights`: there is no task 'NLY'; did you mean 'NLI'?"),
        (lambda: plurank.Board(FRAME, weights=[1, 2]), "`weights` has 2 values; there are 3 tasks"),
        (
            lambda: plurank.Board(FRAME, lower_is_better=["QAA"]),
            "`lower_is_better`: there is no task 'QAA'; did you mean",
        ),
        (lambda: plurank.Board(FRAME.reset_index(drop=True)), "no column names the systems: call one `system`"),
        (lambda: plurank.Board(FRAME, missing="guess"), "guess"),
        (lambda: plurank.Board(FRAME).rank("Bordaa"), "there is no rule 'Bordaa'; did you mean 'Borda'?"),
        (
            lambda: plurank.Board(FRAME).study("missing_score"),
            "no study 'missing_score'; did you mean 'missing_scores'?",
        ),
        (lambda: plurank.Board(FRAME, aggregation="two_step").intervals(), "not for the aggregation"),
        (
            lambda: plurank.Board(FRAME, lower_is_better={"QA": 1}),
            "`lower_is_better` of 'QA' is 1; expected True or False",
        ),
        (
            lambda: plurank.Board(FRAME, lower_is_better=3),
            "`lower_is_better` is 3; expected names of tasks, or truths by name",
        ),
        (
            lambda: plurank.Board(FRAME, maximum=100),
            "`maximum` is 100; expected a mapping by task, or one value for each",
        ),
        (lambda: plurank.Board(FRAME, weights="QA"), "`weights` is 'QA'; expected a mapping by task, or one value"),
        (lambda: plurank.Board(FRAME, gamma="95"), "`gamma` is '95'; expected a finite number, such as 95"),
        (
            lambda: plurank.Board(FRAME, minimum={"QA": 5}, maximum={"QA": 1}),
            "`minimum` of 'QA' is 5, above its `maximum` 1",
        ),
        (
            lambda: plurank.Board({"A": {"qa": 1, "QA": 2}}, weights={"Qa": 5}),
            "`weights`: 'Qa' could be 'qa' or 'QA'; write it as it is there",
        ),
        (lambda: plurank.Board({"A": {"x": 1}, "A ": {"x": 2}}), "row 2: the system 'A ' is already row 1"),
        (
            lambda: plurank.Board(pd.DataFrame({"system": ["a", "a"], "task": ["x", "y"], "score": [1.0, 2.0]})),
            "frame.pivot(index='system', columns='task', values=...) makes it one",
        ),
        (lambda: plurank.Board(FRAME).intervals("mean", levle=0.9), "`intervals` has no setting 'levle'; did you mean"),
        (
            lambda: plurank.Board(FRAME).significance("mean", foo=1),
            "`significance` has no setting 'foo'; there are top",
        ),
        (lambda: plurank.Board(FRAME).prospects(foo=1), "`prospects` has no setting 'foo'; there are systems"),
        (lambda: plurank.landscape([plurank.Board(FRAME)]), "`boards` is a list; expected boards by name, such as {"),
    ],
)
def test_bad_input_is_refused_with_its_place_and_the_likely_cause(make, message):
    with pytest.raises(ValueError) as refusal:  # noqa: PT011 -- the message is compared below
        make()
    assert message in str(refusal.value)


@pytest.mark.parametrize("scores", ["scores.csv", b"a,b"])
def test_a_path_is_no_table_and_the_message_says_what_reads_files(scores):
    with pytest.raises(ValueError, match=r"`plurank.read\(path\)` reads files"):
        plurank.Board(scores)


def test_choice_sets_cycles_and_copy_proof_ratings_are_a_table():
    circle = {"A": [3, 1, 2], "B": [2, 3, 1], "C": [1, 2, 3], "D": [0, 0, 0]}
    board = plurank.Board({name: dict(zip("xyz", row, strict=True)) for name, row in circle.items()})
    table = board.choice_sets()
    assert dict(table.columns) == {
        "system": list("ABCD"),
        **{f"{name}_set": [True, True, True, False] for name in ("smith", "schwartz", "uncovered", "essential")},
        "lottery": ["1/3", "1/3", "1/3", None],
        "copy_proof_rating": pytest.approx([2 / 3, 2 / 3, 2 / 3, 0], abs=1e-6),
    }
    assert (table.cycles, table.notes) == ((("A", "B", "C"),), ["Cycle: A beats B beats C beats A"])
    assert table.task_weights == pytest.approx({"x": 1 / 3, "y": 1 / 3, "z": 1 / 3}, abs=1e-6)


def test_similar_tasks_are_a_table_of_tau_with_their_effective_number():
    scores = {name: {"x": i, "y": i + 0.5, "z": (3 * i) % 5} for i, name in enumerate("ABCDE")}
    table = plurank.Board(scores).similar_tasks()
    assert table.columns["task"] == ["x", "y", "z"]
    assert table.columns["x"][:2] == pytest.approx([1, 1])
    rho = 1 - 6 * sum((i - (3 * i) % 5) ** 2 for i in range(5)) / (5 * 24)
    assert table.likeness.effective_number == pytest.approx(9 / (5 + 4 * rho**2))
    assert table.notes[1:] == ["Similar: x, y"]


def test_a_board_says_which_ranks_rest_on_predicted_scores():
    scores = {f"S{i}": {f"t{t}": 10.0 * i + t + (i * t) % 3 for t in range(5)} for i in range(7)}
    scores["S5"]["t3"] = None
    board = plurank.Board(scores, missing="predicted")
    (note,) = board.rank("mean", "copeland").notes
    assert note.startswith("Mean: 1 score is predicted from the other scores and not measured, of 1 system.")
