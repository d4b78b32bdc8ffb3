"""Boards whose owners chose that missing scores are predicted: the ranks by hand, and the mark on every page."""

import json
import re
from copy import deepcopy

import numpy as np
import pytest
from django.urls import reverse

from jobs.runner import run_job
from leaderboard.benchmarks.identities.links import NEW, change_links
from leaderboard.boards.public.feeds import PREDICTING
from leaderboard.models import Benchmark, Job, Notice
from leaderboard.notifications.notices import notice_text
from leaderboard.queue.kinds import JOB_KINDS
from leaderboard.rankings.notices import tell_of_publications
from leaderboard.rankings.predictions import predictions_of
from leaderboard.rankings.score_matrix import revision_matrix
from leaderboard.rankings.text import PREDICTED_MARK
from tests.factories import owner_of
from tests.markup import compact
from tests.ranking_engine import naive_predictions

MARK = "≈"
PREDICTED_MEANING = "Systems with predicted scores are marked ≈"


def scores(n=12, T=5):
    """Scores that one factor makes; S03 and S07 lack one each, and S09 has two of five."""
    generator = np.random.default_rng(2)
    values = np.round(50 + 10 * (generator.normal(size=(n, 1)) + 0.1 * generator.normal(size=(n, T))), 1)
    table = {f"S{i:02}": [float(value) for value in row] for i, row in enumerate(values)}
    table["S03"][1] = table["S07"][4] = None
    table["S09"][:3] = [None] * 3
    return table


@pytest.fixture(scope="module")
def predicting_once(make_once) -> Benchmark:
    return make_once.published(scores(), missing_policy="predicted")


@pytest.fixture
def predicting(predicting_once, make) -> Benchmark:
    return deepcopy(predicting_once)


def by_hand(benchmark):
    """Predicted scores by (system, task), and the ranks of the means, by the definitions."""
    matrix = revision_matrix(benchmark.publication.revision).matrix
    cells = naive_predictions.filled_in(matrix)
    means = {}
    for i, key in enumerate(matrix.system_names):
        row = [cells.get((i, t), matrix.values[i, t]) for t in range(matrix.n_tasks)]
        if not np.isnan(row).any():
            means[key] = sum(row) / len(row)
    named = {(matrix.system_names[i], matrix.task_names[t]): value for (i, t), value in cells.items()}
    return named, {key: 1 + sum(other > mean for other in means.values()) for key, mean in means.items()}


def test_the_board_ranks_by_the_predictions_of_the_definition_and_marks_each_such_rank(predicting, client):
    cells, ranks = by_hand(predicting)
    assert {system for system, _ in cells} == {"s03", "s07"}
    page = client.get(reverse("board", args=[predicting.key]))
    board = page.context["board"]
    column = next(place for place, column in enumerate(board.columns) if column["key"] == "mean")
    native = next(place for place, column in enumerate(board.columns) if column["key"] == "copeland")
    assert {row.key: row.cells[column].rank for row in board.rows} == {**ranks, "s09": None}
    assert {row.key for row in board.rows if row.cells[column].n_predicted} == {"s03", "s07"}
    assert not any(row.cells[native].n_predicted for row in board.rows)
    text = page.content.decode()
    assert '<abbr title="1 predicted score">≈</abbr>' in text
    for rule, marked in (("mean", {"s03", "s07"}), ("copeland", set())):  # whose ranks are the places before the names
        ordered = client.get(reverse("board", args=[predicting.key]), {"reference": rule}).context["board"]
        assert {row.key for row in ordered.rows if row.n_predicted} == marked
    caption = text.partition("<caption")[2].partition("</caption>")[0]
    assert f"{PREDICTED_MARK} 2 scores are predicted from the other scores" in caption
    assert "How scores are predicted" in text


def test_the_error_that_is_said_is_that_of_the_definition(predicting):
    matrix = revision_matrix(predicting.publication.revision).matrix
    predicted = predictions_of(predicting.publication.revision)
    _, held_out, _ = naive_predictions.studied(matrix.scores)
    of_tasks = np.sqrt(np.nanmean((held_out - matrix.scores) ** 2, axis=0))
    spread = np.nanstd(matrix.scores, axis=0)
    squares = (of_tasks / spread)[[1, 4]] ** 2  # of the tasks of the two predicted scores
    assert predicted.error == pytest.approx(np.sqrt(squares.mean()))
    assert predicted.explained == pytest.approx(1 - squares.mean())
    assert list(predicted.task_errors.values()) == pytest.approx(of_tasks.tolist())
    assert (len(predicted.cells), predicted.n_missing) == (2, 5)
    assert "Of the 5 missing scores of the published revision 2 would be predicted." in predicted.sentence
    assert f"miss by {predicted.error:.2g} of the task’s spread" in predicted.sentence


def test_the_pages_of_rules_and_systems_show_predicted_scores_as_such(predicting, client):
    cells, ranks = by_hand(predicting)
    (value,) = (score for (system, _), score in cells.items() if system == "s03")
    rule = client.get(reverse("rule", args=[predicting.key, "mean"]))
    row = next(row for row in rule.context["page"].rows if row.key == "s03")
    assert (row.rank, row.n_predicted) == (ranks["s03"], 1)
    texts = [cell.predicted_text for cell in row.cells if cell.predicted_text]
    assert [text.partition(" ± ")[0] for text in texts] == [f"{MARK}{value:.12g}"]
    assert '<em class="predicted" title="not reported; predicted, not measured; 90 % of' in rule.content.decode()
    native = client.get(reverse("rule", args=[predicting.key, "copeland"]))
    assert MARK not in native.content.decode().partition("<tbody>")[2].partition("</tbody>")[0]
    system = compact(client.get(reverse("system", args=[predicting.key, "s03"])))
    assert f'<em class="predicted">{texts[0]}</em>' in system
    assert '<abbr title="1 predicted score">≈</abbr>' in system
    assert MARK not in compact(client.get(reverse("system", args=[predicting.key, "s01"])))
    matrix = client.get(reverse("scores", args=[predicting.key])).content.decode()
    cells_of_matrix = re.findall(r'<em class="predicted" title="[^"]*">([^<]*)</em>', matrix)
    assert texts[0] in cells_of_matrix
    assert len(cells_of_matrix) == 2  # none of S09, which has no rank
    assert PREDICTED_MARK in compact(client.get(reverse("scores", args=[predicting.key])))


def test_files_badges_and_the_api_tell_how_many_scores_are_predicted(predicting, client):
    _, ranks = by_hand(predicting)
    key = predicting.key
    lines = [line.split(",") for line in b"".join(client.get(reverse("board_csv", args=[key]))).decode().split()]
    place = lines[0].index("mean_predicted_scores")
    assert "copeland_predicted_scores" not in lines[0]
    assert {line[0]: line[place] for line in lines[1:] if line[place] != "0"} == {"S03": "1", "S07": "1"}
    answer = client.get(reverse("api:ranking", args=[key, "mean"])).json()
    counts = {row["system"]: row["n_predicted"] for row in answer["results"]}
    assert {system for system, n in counts.items() if n == 1} == {"s03", "s07"}
    assert sum(counts.values()) == 2
    assert "2 scores are predicted" in answer["remark"]
    ranks_of_system = client.get(reverse("api:system", args=[key, "s03"])).json()["ranks"]
    assert {row["rule"]: row["n_predicted"] for row in ranks_of_system}["mean"] == 1
    (cell,) = client.get(reverse("api:system", args=[key, "s03"])).json()["predicted"].values()
    assert cell.keys() == {"value", "half_width", "error"}
    assert 0 < cell["error"] < cell["half_width"]
    for ending in ("json", "md", "tex"):
        text = b"".join(client.get(reverse("board_download", args=[key, ending]))).decode()
        assert "predicted scores" in text if ending != "json" else json.loads(text)["rules"][0]["prediction"]
    badge = client.get(reverse("system_badge", args=[key, "s03"]), {"rule": "mean"}).content.decode()
    assert re.search(r"≈ \w+ of 11, Mean", badge)
    assert "1 of its scores is predicted." in badge
    for system, marked in (("s03", True), ("s01", False)):  # over all rules
        over_all = client.get(reverse("system_badge", args=[key, system])).content.decode()
        assert (f">{MARK} " in over_all, "of its scores is predicted" in over_all) == (marked, marked)
    what_if = compact(client.get(reverse("what_if", args=[key])))
    assert f"<td>{MARK}{ranks['s03']}</td>" in what_if
    assert "Predicted scores: results update when you stop moving the sliders." in what_if


@pytest.mark.parametrize("policy", ["drop_systems", "median"])
def test_nobody_but_the_owners_can_choose_that_scores_are_predicted(make, client, policy):
    benchmark = make.published(scores(), missing_policy=policy)
    key = benchmark.key
    for name in ("board", "what_if"):
        assert client.get(reverse(name, args=[key]), {"policy": "predicted"}).status_code == 400
    assert client.get(reverse("rule", args=[key, "mean"]), {"policy": "predicted"}).status_code == 400
    assert client.get(reverse("api:ranking", args=[key, "mean"]), {"missing": "predicted"}).status_code == 400
    assert MARK not in client.get(reverse("board", args=[key])).content.decode()


def test_readers_of_a_board_with_predictions_can_do_without_them(predicting, client):
    page = client.get(reverse("board", args=[predicting.key]), {"policy": "drop_systems"})
    assert MARK not in page.content.decode()
    assert [policy["key"] for policy in page.context["board"].policies][-1] == "predicted"


def test_an_owner_who_may_choose_it_reads_the_held_out_error_of_the_board(make, client):
    benchmark = make.published(scores(), missing_policy="drop_systems")
    client.force_login(benchmark.memberships.get().user)
    page = compact(client.get(reverse("manage_tasks", args=[benchmark.key])))
    sentence = predictions_of(benchmark.publication.revision).sentence
    assert f"“Predicted”: {sentence} {PREDICTED_MARK}" in page
    assert "draw the best systems down and the worst up, also where gaps are by chance" in page
    assert '<option value="predicted">predicted from the other scores, and marked</option>' in page
    empty = make.benchmark({})
    client.force_login(empty.memberships.get().user)
    assert "nothing is published yet" in compact(client.get(reverse("manage_tasks", args=[empty.key])))


def test_a_board_too_small_for_predictions_says_why_no_one_is_ranked(make, client):
    benchmark = make.published({"A": [1.0, None], "B": [2.0, 1.0]}, n_tasks=2, missing_policy="predicted")
    page = client.get(reverse("rule", args=[benchmark.key, "mean"]))
    assert "missing scores cannot be predicted: fewer than 20 scores" in page.content.decode().lower()
    assert "fewer than 20 scores" in predictions_of(benchmark.publication.revision).sentence


def test_the_board_says_that_significance_tests_leave_out_predicted_scores(predicting, client):
    run_job(Job.objects.get(kind="significance", benchmark=predicting).pk, worker="test")
    answer = client.get(reverse("api:separability", args=[predicting.key]), {"rule": "mean"}).json()
    words = "only tasks on which both are measured: the ranks rest on predicted scores, too, the tests do not"
    assert words in answer["tested_text"]
    assert words in compact(client.get(reverse("board", args=[predicting.key]), {"reference": "mean"}))
    native = client.get(reverse("api:separability", args=[predicting.key]), {"rule": "copeland"}).json()
    assert "predicted" not in native["tested_text"]


def test_every_page_with_a_rank_of_a_system_with_predicted_scores_marks_it_and_says_what_the_mark_means(make, client):
    table = scores(T=8)
    best = max(table, key=lambda system: sum(filter(None, table[system])))
    table[best][2] = None
    predicting = make.published(table, missing_policy="predicted", n_tasks=8, default_rule="mean")
    other = make.published(scores(), name="Other", key="other", missing_policy="drop_systems", default_rule="mean")
    author = predicting.memberships.get(role="owner").user
    change_links(predicting, {best.lower(): NEW}, author=author)
    intervals = Job.objects.filter(kind="bootstrap", benchmark=predicting)
    intervals.update(parameters=JOB_KINDS["bootstrap"].parameters | {"n_resamples": 100})  # with all it takes seconds
    run_job(intervals.get().pk, worker="test")
    client.force_login(author)
    pages = {
        "embed": client.get(reverse("embed", args=[predicting.key]), {"top": 12}),
        "stability": client.get(reverse("stability", args=[predicting.key]), {"rule": "mean"}),
        "model": client.get(reverse("model", args=[best.lower()])),
        "compare": client.get(reverse("compare"), {"b": [predicting.key, other.key], "rule": "mean"}),
        "submitters": client.get(reverse("submitters", args=[predicting.key])),
    }
    for name, page in pages.items():
        text = compact(page)
        assert '<abbr title="1 predicted score">≈</abbr>' in text, name
        assert PREDICTED_MARK in text, name
    assert "Intervals over tasks take predicted scores as if they were measured" in compact(pages["stability"])
    assert MARK not in compact(client.get(reverse("embed", args=[other.key]), {"top": 12}))
    for address in (reverse("badge", args=[predicting.key]), reverse("badge", args=[predicting.key]) + "?rule=mean"):
        badge = client.get(address).content.decode()
        assert (f">{MARK} " in badge, "Some scores of a winner are predicted." in badge) == (True, True)
    assert MARK not in client.get(reverse("badge", args=[other.key])).content.decode()


def test_history_timeline_and_feed_mark_what_rests_on_predicted_scores(make, client):
    """The best system leads with a predicted score; the second revision adds a system without one."""
    table = scores()
    best = max((name for name, row in table.items() if None not in row), key=lambda name: sum(table[name]))
    table[best][1] = None
    benchmark = make.published(table, missing_policy="predicted", default_rule="mean")
    make.accepted(benchmark, {"New": [50.0] * 5})
    benchmark = make.publish(benchmark)
    system = client.get(reverse("system", args=[benchmark.key, best.lower()]))
    assert f'<td class="number">{MARK}1</td>' in compact(system)
    history = compact(client.get(reverse("history", args=[benchmark.key])))
    assert history.count(f'<td class="number">{MARK}1</td>') == 2  # one a revision
    assert PREDICTED_MEANING in history
    for dates in ("revision", "joined"):
        page = client.get(reverse("timeline", args=[benchmark.key]), {"by": dates, "rule": "mean"})
        assert f"{MARK} {best}" in compact(page)
        assert PREDICTED_MEANING in compact(page)
        marked = {text for _, texts in page.context["page"].rank_rows for text in texts if text.startswith(MARK)}
        assert f"{MARK}1" in marked
        native = client.get(reverse("timeline", args=[benchmark.key]), {"by": dates, "rule": "copeland"})
        assert MARK not in compact(native)
    feed = client.get(reverse("feed", args=[benchmark.key])).content.decode()
    assert str(PREDICTING) in feed


def test_notices_name_the_systems_whose_rank_rests_on_predicted_scores(make):
    user = make.user("Ada")
    benchmark = make.published(scores(), missing_policy="predicted", default_rule="mean", name="Speech")
    tell_of_publications()
    best = scores()["S04"]
    gap = [best[0] + 3, None, *(value + 3 for value in best[2:])]
    for table in ({"Gap": gap}, {"Whole": [value + 9 for value in best]}):
        make.accepted(benchmark, table, by=user if "Gap" in table else None)
        make.publish(benchmark)
        tell_of_publications()
    first, fell = (notice_text(notice) for notice in Notice.objects.filter(user=user).order_by("pk"))
    assert first == "Gap is now first on Speech under Mean. Predicted scores count in the rank of Gap."
    assert fell == (
        "On Speech, under Mean: Gap fell from rank 1 to 2. Now ahead of it: Whole. "
        "Predicted scores count in the rank of Gap."
    )
    of_owner = Notice.objects.filter(user=owner_of(benchmark), kind="first_place").order_by("pk")
    assert [notice_text(notice) for notice in of_owner] == [first, "Whole is now first on Speech under Mean."]
