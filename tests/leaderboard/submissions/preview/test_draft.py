"""What a draft would change, held against boards that are ranked here by the engine itself."""

import random
import re
from decimal import Decimal

import pytest

from leaderboard.access.audience import audience_of
from leaderboard.benchmarks.create import TaskSpec
from leaderboard.common.text import in_words
from leaderboard.computing.rankings import RuleSplit
from leaderboard.models import Draft
from leaderboard.rankings.published import published_board
from leaderboard.submissions.drafts import make_draft
from leaderboard.submissions.lifecycle import confirm_draft
from leaderboard.submissions.preview.draft import Preview, preview_draft
from leaderboard.submissions.rows import SubmittedRow
from ranking_engine import RULES, ScoreMatrix, rank
from ranking_engine.files.problems import InputError
from tests.factories import TOY, audience_of_draft
from tests.leaderboard.site.rules import board_rules

N_TASKS = 4


def previewed(make, benchmark, name: str, values, by=None) -> Preview:
    owner = by or benchmark.memberships.get(role="owner").user
    keys = [task.key for task in benchmark.tasks.all()]
    texts = {key: "" if value is None else repr(value) for key, value in zip(keys, values, strict=True)}
    draft = make_draft(audience_of(owner, benchmark), [SubmittedRow(name, texts)], source="form")
    return preview_draft(draft, audience_of_draft(draft))


def ranked(scores: dict[str, list[float | None]], policy: str) -> dict[str, tuple[dict[str, int | None], list[str]]]:
    """By rule: every system's rank, and the winners; keys are the names in lower case."""
    names = sorted(scores, key=str.lower)
    values = [[float("nan") if value is None else value for value in scores[name]] for name in names]
    matrix = ScoreMatrix(values, system_names=[name.lower() for name in names])
    outcomes = {}
    for rule in board_rules():
        ranking = rank(matrix, rule, missing=policy)
        ranks = {name: int(r) if r >= 1 else None for name, r in zip(names, ranking.ranks, strict=True)}
        outcomes[rule] = (ranks, [names[i] for i in ranking.winners])
    return outcomes


def random_scores(seed: int) -> dict[str, list[float | None]]:
    """Few values, so that there are ties, and here and there none."""
    dice = random.Random(seed)
    return {name: [dice.choice([1.0, 2.0, 3.0, 4.0, None]) for _ in range(N_TASKS)] for name in "ABCDEF"}


@pytest.mark.parametrize("policy", ["undefined", "drop_systems", "drop_tasks", "median", "worst"])
@pytest.mark.parametrize("seed", range(2))
def test_every_figure_is_that_of_the_two_boards(make, seed, policy):
    scores, row = random_scores(seed), random_scores(seed + 100)["A"]
    row[seed % N_TASKS] = 5.0
    benchmark, before = make.benchmark(scores, missing_policy=policy), ranked(scores, policy)
    for name in ("A", "Newcomer"):
        effects, after = previewed(make, benchmark, name, row).effects, ranked(scores | {name: row}, policy)
        assert [effect.rule_name for effect in effects] == [RULES[rule].name for rule in board_rules()]
        for rule, effect in zip(board_rules(), effects, strict=True):
            old, new = before[rule][0], after[rule][0]
            moved = {other for other in scores if other != name and old[other] != new[other]}
            passed = {
                other for other in scores
                if other != name and new[name] and new[other] and old[other] and new[other] > new[name]
                and (old.get(name) is None or old[other] <= old[name])
            }  # fmt: skip
            assert (effect.rank_before, effect.rank_after) == (old.get(name), new[name])
            assert effect.n_ranks_changed == len(moved)
            assert {change.system_name for change in effect.changes} <= moved
            assert all((c.before, c.after) == (old[c.system_name], new[c.system_name]) for c in effect.changes)
            assert len(effect.changes) == min(5, len(moved))
            assert set(effect.overtaken_names) <= passed
            assert effect.n_overtaken == len(passed)
            assert len(effect.overtaken_names) == min(5, len(passed))
            assert (effect.winner_before, effect.winner_after) == (in_words(before[rule][1]), in_words(after[rule][1]))


def test_the_preview_says_what_the_board_says_after_the_confirmation(make):
    benchmark = make.benchmark(TOY)
    owner = benchmark.memberships.get().user
    rows = [SubmittedRow("E", {task.key: text for task, text in zip(benchmark.tasks.all(), "45123", strict=True)})]
    draft = make_draft(audience_of(owner, benchmark), rows, source="form")
    promised = {
        effect.rule_name: effect.rank_after for effect in preview_draft(draft, audience_of_draft(draft)).effects
    }
    confirm_draft(draft, actor=owner, previewed_number=1, creates_systems=True)
    outcomes = ranked(TOY | {"E": [4.0, 5.0, 1.0, 2.0, 3.0]}, "drop_systems")
    assert promised == {RULES[rule].name: ranks["E"] for rule, (ranks, _) in outcomes.items()}


def test_old_and_new_scores_stand_side_by_side_with_their_remarks(make):
    benchmark = make.benchmark({"A": [1.0, None, 3.0], "B": [1.0, 2.0, 3.0]}, replacement="row")
    owner = benchmark.memberships.get().user
    draft = make_draft(
        audience_of(owner, benchmark), [SubmittedRow("a", {"task-1": "1.50", "task-2": ""})], source="form"
    )
    preview = preview_draft(draft, audience_of_draft(draft))
    assert (preview.system_name, preview.is_new_system, preview.revision_number) == ("A", False, 1)
    assert [(row.task_name, row.old_text, row.new_text, row.note) for row in preview.rows] == [
        ("Task 1", "1", "1.5", ""),
        ("Task 2", "", "", "missing: not reported"),
        ("Task 3", "3", "", "missing: not mentioned"),
    ]


def test_where_tasks_are_merged_what_is_not_mentioned_stays(make):
    benchmark = make.benchmark({"A": [1.0, 2.0], "B": [1.0, 2.0]}, replacement="task")
    owner = benchmark.memberships.get().user
    draft = make_draft(audience_of(owner, benchmark), [SubmittedRow("A", {"task-1": "9"})], source="form")
    preview = preview_draft(draft, audience_of_draft(draft))
    assert [(row.old_text, row.new_text, row.note) for row in preview.rows] == [("1", "9", ""), ("2", "2", "")]


def test_a_lower_score_is_better_where_the_task_says_so(make):
    benchmark = make.benchmark({"A": [1.0], "B": [2.0]}, tasks=[TaskSpec("Time", direction=-1)])
    effects = previewed(make, benchmark, "C", [0.5]).effects
    ranks = {effect.rule_name: effect.rank_after for effect in effects if effect.rank_after}
    assert set(ranks.values()) == {1}
    assert {"Mean", "Plurality", "Borda", "Condorcet", "Copeland", "Minimax"} <= set(ranks)


def test_the_first_submission_of_all_has_nothing_before_it(make):
    benchmark = make.benchmark({}, n_tasks=2)
    preview = previewed(make, benchmark, "First", [1.0, 2.0])
    assert (preview.revision_number, preview.is_new_system) == (0, True)
    assert {(e.rank_before, e.winner_before, e.n_ranks_changed) for e in preview.effects} == {(None, "", 0)}
    assert {e.rank_after for e in preview.effects if not e.reason} == {1}


def test_an_unranked_newcomer_is_told_why(make):
    effects = previewed(make, make.benchmark(missing_policy="drop_systems"), "E", [1.0, None, 1.0, 1.0, 1.0]).effects
    mean = next(effect for effect in effects if effect.rule_name == "Mean")
    assert mean.rank_after is None
    assert mean.reason


def test_a_preview_follows_the_board_to_its_next_revision(make):
    benchmark, owner = make.benchmark(TOY), make.user()
    draft = make_draft(audience_of(owner, benchmark), [SubmittedRow("E", {"task-1": "9"})], source="form")
    make.accepted(benchmark, {"F": [1.0] * 5})
    assert preview_draft(Draft.objects.get(), audience_of_draft(draft)).revision_number == 2
    make.submitted(benchmark, "E", ["1"] * 5, by=owner)
    assert preview_draft(draft, audience_of_draft(draft)).is_new_system is False


def test_a_draft_that_cannot_be_stored_any_more_is_not_previewed(make):
    benchmark = make.benchmark(TOY)
    draft = make_draft(audience_of(make.user(), benchmark), [SubmittedRow("E", {"task-1": "9"})], source="form")
    make.submitted(benchmark, "E", ["1"] * 5, by=make.user())
    with pytest.raises(InputError, match="was submitted by another account"):
        preview_draft(draft, audience_of_draft(draft))


def test_a_preview_waits_for_no_rule_that_is_slow_at_this_size(make, monkeypatch):
    """Once a file of ten thousand systems kept a web process busy for a minute, and again at every look."""
    from leaderboard.computing.rankings import RuleSplit
    from leaderboard.submissions.preview import draft as preview

    monkeypatch.setattr(preview, "split_rules", lambda *_: RuleSplit(["borda"], ["copeland"], {}))
    assert [effect.rule_name for effect in previewed(make, make.benchmark(), "E", [1.0] * 5).effects] == ["Borda"]


def test_the_summary_says_how_many_rules_would_leave_the_system_unranked(make):
    benchmark = make.benchmark({"A": [1.0, 2.0, 3.0, 4.0], "B": [2.0, 1.0, 4.0, 3.0]}, missing_policy="drop_systems")
    after = ranked({"A": [1.0, 2.0, 3.0, 4.0], "B": [2.0, 1.0, 4.0, 3.0], "C": [5.0, 5.0, 5.0, None]}, "drop_systems")
    left = sum(ranks["C"] is None and any(ranks.values()) for ranks, _ in after.values())
    placed = sum(ranks["C"] is not None for ranks, _ in after.values())
    assert min(left, placed) > 1
    summary = previewed(make, benchmark, "C", [5.0, 5.0, 5.0, None]).summary
    nowhere = sum(not any(ranks.values()) for ranks, _ in after.values())
    assert nowhere > 1
    assert placed + left + nowhere == len(after)
    assert {ranks["C"] for ranks, _ in after.values()} == {1, None}
    assert summary.startswith(
        f"C would have rank 1 under all {placed} rules that rank it. {left} rules would rank other systems and leave "
        f"it unranked. {nowhere} rules would rank no system. The first place would "
    )
    middle = previewed(make, benchmark, "C", [5.0, 1.5, 3.5, 3.5]).summary
    expected = r"C would have rank 1 to \d under the \d+ rules that rank it. It would be first under \d+ of them. "
    assert re.match(expected, middle)
    ranking = ranked({"A": [1.0, 2.0, 3.0, 4.0], "B": [2.0, 1.0, 4.0, 3.0], "C": [5.0] * 4}, "drop_systems").values()
    n_ranking = sum(ranks["C"] == 1 for ranks, _ in ranking)
    first = previewed(make, benchmark, "C", [5.0] * 4).summary
    assert first.startswith(f"C would have rank 1 under all {n_ranking} rules that rank it. ")
    assert "unranked" not in previewed(make, benchmark, "C", [5.0, 5.0, 5.0, 5.0]).summary


def test_the_reasons_of_a_preview_name_systems_as_the_pages_do(make):
    scores = {"ERNIE 3.0": [3.0, 4.0], "Ärger, large": [2.0, 3.0], "Cleo": [1.0, 2.0]}
    preview = previewed(make, make.published(scores), "Newcomer 2", [9.0, 9.0])
    reasons = {effect.rule_name: effect.reason for effect in preview.effects}
    groups = "(Newcomer 2; ERNIE 3.0; Ärger, large; ...)"
    assert (
        reasons["Bradley-Terry"]
        == reasons["Plackett-Luce"]
        == (
            f"no finite strengths: 4 groups of systems have not both won and lost against each other {groups}; a prior "
            "would give some"
        )
    )


def test_where_a_rule_ranks_no_system_the_reason_is_that_and_not_a_missing_score(make):
    tasks = [TaskSpec("T", weight=Decimal(1)), TaskSpec("U", weight=Decimal(1), direction=-1)]
    benchmark = make.benchmark({"A": [1.0, 2.0], "B": [2.0, 1.0]}, tasks=tasks, missing_policy="drop_systems")
    effects = previewed(make, benchmark, "C", [5.0, None]).effects
    reasons = {effect.rule_name: effect.reason for effect in effects}
    assert (reasons["Geometric mean"], reasons["Mean"]) == (
        "task U has lower-is-better scores", "no score on 1 of 2 tasks of weight above 0: U",
    )  # fmt: skip
    make.accepted(benchmark, {"C": [5.0, None]})
    board = published_board(make.publish(benchmark).publication)
    (column,) = (column for column in board.columns if column.rule == "geometric_mean")
    assert column.reason_of(2) == "task U has lower-is-better scores"


def test_rules_that_take_too_long_for_a_preview_are_named(make, monkeypatch):
    split = RuleSplit(quick=["mean", "borda"], slow=["kemeny"], left_out={})
    monkeypatch.setattr("leaderboard.submissions.preview.draft.split_rules", lambda *_: split)
    preview = previewed(make, make.benchmark({"A": [1.0, 2.0], "B": [2.0, 1.0]}), "C", [5.0, 5.0])
    assert [effect.rule_name for effect in preview.effects] == ["Mean", "Borda"]
    assert preview.summary.endswith(
        "The first place would change under 2 of 2 rules with a winner. "
        "Not compared, because they take too long for a preview: Kemeny."
    )
