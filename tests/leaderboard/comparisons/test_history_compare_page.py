"""Two revisions compared: against the scores that were sent and ranks by mean counted in plain Python."""

import csv
import io
import re

import pytest
from django.urls import reverse

from leaderboard.access.audience import audience_of
from leaderboard.models import Report, Submission
from leaderboard.models.submissions import Source
from leaderboard.submissions.drafts import make_draft
from leaderboard.submissions.lifecycle import accept_batch, confirm_draft
from leaderboard.submissions.moderation.decisions import review
from leaderboard.submissions.moderation.takedowns import take_down
from leaderboard.submissions.preview.draft import preview_draft
from leaderboard.submissions.rows import SubmittedRow
from tests.factories import owner_of
from tests.leaderboard.benchmarks.older_weights import without_weight
from tests.markup import compact

OLD = {"A": [5.0, 1.0], "B": [4.0, 4.0], "C": [1.0, 2.0]}
NEW = {**OLD, "A": [5.0, 9.0], "D": [4.5, 4.5]}


def page(client, benchmark, **parameters):
    return client.get(reverse("history_compare", args=[benchmark.key]), parameters)


def ranks_by_mean(scores) -> dict[str, int]:
    means = {name: sum(values) / len(values) for name, values in scores.items()}
    return {name: 1 + sum(other > mean for other in means.values()) for name, mean in means.items()}


def changing(make, *, is_published=True, **fields):
    """Revision 1 has OLD; at revision 2 A has other scores and D joins."""
    benchmark = make.published(OLD, default_rule="mean", **fields)
    make.accepted(benchmark, {name: NEW[name] for name in ("A", "D")})
    if not is_published:
        benchmark.refresh_from_db()
        return benchmark
    return make.publish(benchmark)


def test_who_joined_what_changed_and_who_moved_are_told(make, client):
    changes = page(client, changing(make)).context["changes"]
    assert (changes.joined, changes.left, changes.renamed, changes.configuration) == (["D"], [], [], [])
    assert [(c.system_name, c.task_name, c.before, c.after) for c in changes.scores] == [("A", "Task 2", "1", "9")]
    before, after = ranks_by_mean(OLD), ranks_by_mean(NEW)
    assert {m.system.name: (m.before, m.after) for m in changes.moves} == {
        name: (before.get(name), after[name]) for name in NEW if before.get(name) != after[name]
    }
    mean = next(rule for rule in changes.rules if rule.rule == "mean")
    assert (mean.first_before, mean.first_after) == ("B", "A")
    among = ranks_by_mean({name: NEW[name] for name in OLD})  # D, which joined, pushes no one down
    n_moved = sum(before[name] != among[name] for name in OLD)
    assert (mean.n_moved, mean.n_common) == (n_moved, 3)
    assert changes.sentence.startswith("D joined; 1 score of A changed. The order of the other systems changed under ")


def test_where_no_system_joined_or_left_there_are_no_other_systems(make, client):
    benchmark = make.published(OLD, default_rule="mean")
    make.accepted(benchmark, {"C": [2.0, 2.0]})  # behind A and B as before
    text = "1 score of C changed. The order of the systems changed under "
    assert page(client, make.publish(benchmark)).context["changes"].sentence.startswith(text)
    make.accepted(benchmark, {"A": [9.0, 9.0]})
    sentence = page(client, make.publish(benchmark), **{"from": 2}).context["changes"].sentence
    assert re.fullmatch(
        r"2 scores of A changed\. The order of the systems changed under \d+ of \d+ rules, "
        r"and the first place changed under \d+ of \d+ rules with a winner\.", sentence,
    )  # fmt: skip


def test_one_revision_alone_has_nothing_to_compare(make, client):
    answer = page(client, make.published(OLD, name="Bench"))
    text = compact(answer)
    assert re.findall(r"<h1>(.*?)</h1>", text) == ["Revision 1 of Bench"]
    assert "This is one revision: there is nothing to compare it with." in text
    assert "<h2" not in text.partition("</h1>")[2].partition("<footer")[0]


def test_who_is_pushed_down_by_newcomers_alone_has_not_moved(make, client):
    """D and E join at the top; A, B and C keep their order."""
    scores = {"A": [3.0, 3.0], "B": [2.0, 2.0], "C": [1.0, 1.0]}
    benchmark = make.published(scores, default_rule="mean")
    make.accepted(benchmark, {"D": [9.0, 9.0], "E": [8.0, 8.0]})
    changes = page(client, make.publish(benchmark)).context["changes"]
    mean = next(rule for rule in changes.rules if rule.rule == "mean")
    assert (mean.n_moved, mean.n_common, mean.most) == (0, 3, None)
    assert {m.system.name: (m.before, m.after) for m in changes.moves} == {
        "A": (1, 3), "B": (2, 4), "C": (3, 5), "D": (None, 1), "E": (None, 2),
    }  # fmt: skip


def test_first_places_are_counted_as_the_preview_counted_them(make, client):
    """Eve is the Condorcet winner until Ev comes: a rule that names a winner and ranks no one else counts, too."""
    scores = {
        "Ada": [90.0, 85, 70, 60, 88], "Bob": [80.0, 82, 75, 66, 80], "Cyd": [70.0, 88, 72, 61, 79],
        "Eve": [91.0, 86, 71, 64, 84],
    }  # fmt: skip
    benchmark = make.published(scores, submission_policy="moderated")
    submitter, owner = make.user(), owner_of(benchmark)
    row = SubmittedRow("Ev", {f"task-{t}": str(score) for t, score in enumerate((95, 90, 77, 50, 90), start=1)})
    draft = make_draft(audience_of(submitter, benchmark), [row], source=Source.FORM)
    preview = preview_draft(draft, audience_of(submitter, benchmark))
    batch = confirm_draft(draft, actor=submitter, previewed_number=1, creates_systems=True)
    decided_on = review(batch).summary
    accept_batch(batch, actor=owner)
    answer = page(client, make.publish(benchmark))
    changes = answer.context["changes"]
    would, did = (
        re.search(rf"first place {verb} under (\d+ of \d+) rules with a winner", text)
        for verb, text in (("would change", preview.summary), ("changed", changes.sentence))
    )
    assert would is not None
    assert did is not None
    assert (would[1], would[0] in decided_on) == (did[1], True)
    firsts = {effect.rule_name: (effect.winner_before, effect.winner_after) for effect in preview.effects}
    assert {rule.name: (rule.first_before, rule.first_after) for rule in changes.rules} == {
        rule: winners for rule, winners in firsts.items() if any(winners)
    }
    condorcet = next(rule for rule in changes.rules if rule.rule == "condorcet")
    assert (condorcet.first_before, condorcet.first_after, condorcet.is_order) == ("Eve", "Ev", False)
    assert sorted(changes.without_ranks) == sorted(rule for rule, winners in firsts.items() if not any(winners))
    assert changes.not_compared == []


def test_a_rule_that_is_known_at_one_revision_alone_is_named_and_not_counted(make, client):
    benchmark = changing(make)
    before = page(client, benchmark).context["changes"]
    Report.objects.filter(revision__benchmark=benchmark, revision__number=1, summary__rule="borda").delete()
    answer = page(client, benchmark)
    changes = answer.context["changes"]
    assert changes.not_compared == ["Borda"]
    assert [rule for rule in before.rules if rule.rule != "borda"] == changes.rules
    assert "Rules not compared, because their ranks are not known at both revisions: Borda." in compact(answer)


def test_rules_under_which_most_moved_stand_first(make, client):
    context = page(client, changing(make)).context
    moved = [(rule.n_moved, rule.first_before != rule.first_after) for rule in context["page"].rules]
    assert moved == sorted(moved, reverse=True)
    assert {rule.rule for rule in context["page"].rules} == {rule.rule for rule in context["changes"].rules}
    assert moved != [(rule.n_moved, rule.first_before != rule.first_after) for rule in context["changes"].rules]


@pytest.mark.parametrize("is_published", [True, False])
def test_ranks_that_are_not_stored_are_computed(make, client, is_published):
    benchmark = changing(make, is_published=is_published)
    changes = page(client, benchmark, **{"from": 2, "to": 1}).context["changes"]
    assert (changes.older.number, changes.newer.number) == (1, 2)
    before, after = ranks_by_mean(OLD), ranks_by_mean(NEW)
    assert {m.system.name: (m.before, m.after) for m in changes.moves} == {n: (before.get(n), after[n]) for n in NEW}


def test_ranks_beyond_the_budget_are_refused_with_the_limit(make, client, settings):
    benchmark = changing(make, is_published=False)
    settings.ON_DEMAND_BUDGET = 3
    assert page(client, benchmark).status_code == 422


def test_another_rule_tells_its_own_moves_and_they_download(make, client):
    benchmark = changing(make)
    text = page(client, benchmark, rule="mean", format="csv").content.decode()
    rows = list(csv.DictReader(io.StringIO(text)))
    before, after = ranks_by_mean(OLD), ranks_by_mean(NEW)
    assert {r["system"]: (r["revision_1"], r["revision_2"]) for r in rows} == {
        name: (str(before.get(name, "")), str(after[name])) for name in NEW
    }
    assert page(client, benchmark, rule="plurality").context["changes"].chosen == "plurality"


def test_the_newcomer_that_made_others_change_their_order_is_told(make, client):
    flipping = {"A": [3.0, 3.0, 1.0], "B": [1.0, 1.0, 3.0]}
    benchmark = make.publish(make.benchmark(flipping), studies=True)
    make.accepted(benchmark, {"N": [2.0, 2.0, 0.0], "M": [0.0, 0.0, 2.0]})
    benchmark = make.publish(benchmark, studies=True)
    changes = page(client, benchmark).context["changes"]
    assert changes.iia_violations.startswith(("Other systems changed", "No other systems changed"))
    assert changes.iia_violations in compact(client.get(reverse("history", args=[benchmark.key])))


def test_every_revision_but_the_first_leads_to_what_it_changed(make, client):
    benchmark = changing(make)
    text = compact(client.get(reverse("history", args=[benchmark.key])))
    assert text.count("What did this change?") == 1
    assert f"{reverse('history_compare', args=[benchmark.key])}?from=1&amp;to=2" in text


def test_the_history_draws_the_first_ten_over_the_revisions(make, client):
    benchmark = changing(make)
    ranks = client.get(reverse("history", args=[benchmark.key])).context["ranks"]
    assert ranks.numbers == [1, 2]
    before, after = ranks_by_mean(OLD), ranks_by_mean(NEW)
    assert {system.name: texts for system, texts in ranks.rows} == {
        name: [str(before.get(name, "")), str(after[name])] for name in NEW
    }
    assert ">Ranks under Mean, revision by revision</h2>" in compact(
        client.get(reverse("history", args=[benchmark.key]))
    )


def test_where_more_than_ten_have_a_rank_the_history_says_that_it_draws_the_first_ten(make, client):
    benchmark = make.published({f"S{i}": [float(i)] for i in range(11)}, default_rule="mean")
    make.accepted(benchmark, {"S0": [99.0]})
    text = compact(client.get(reverse("history", args=[make.publish(benchmark).key])))
    assert ">The first ten under Mean, revision by revision</h2>" in text
    assert "Ranks of the current first ten under Mean, revision by revision" in text


@pytest.mark.parametrize("query", [{"from": "x"}, {"rule": "bordo"}])
def test_what_cannot_be_read_is_refused(make, client, query):
    assert page(client, changing(make), **query).status_code == 400


def test_a_revision_that_there_is_not_is_not_found(make, client):
    assert page(client, changing(make), to="7").status_code == 404


def test_before_the_first_revision_there_is_nothing_to_compare(make, client):
    assert "No revision yet" in compact(page(client, make.benchmark({}, n_tasks=2)))


def taken_down(make):
    """Of four revisions, the scores of C that revisions 2 and 3 held were taken down, which made revision 4."""
    benchmark = make.published({"A": [1.0, 2.0], "B": [2.0, 1.0]}, default_rule="mean")
    owner = benchmark.memberships.get(role="owner").user
    make.accepted(benchmark, {"C": [3.0, 3.0]})
    make.accepted(benchmark, {"B": [4.0, 4.0]})
    take_down(Submission.objects.get(system__name="C"), actor=owner, reason="A request.")
    return make.publish(benchmark)


def test_after_a_takedown_the_nearest_revisions_that_are_whole_are_compared(make, client):
    answer = page(client, taken_down(make))
    changes = answer.context["changes"]
    assert (answer.status_code, changes.older.number, changes.newer.number) == (200, 1, 4)
    assert answer.context["page"].passed_over == [2, 3]
    assert [(c.system_name, c.after) for c in changes.scores] == [("B", "4"), ("B", "4")]
    assert "some of its scores were taken down later: revisions 2, 3." in compact(answer)


@pytest.mark.parametrize("numbers", [{"from": 2, "to": 4}, {"from": 1, "to": 3}, {"to": 2}])
def test_a_revision_that_holds_nothing_to_compare_says_so_and_links_to_those_that_do(make, client, numbers):
    benchmark = taken_down(make)
    answer = page(client, benchmark, **numbers)
    text = compact(answer)
    assert (answer.status_code, "contains withdrawn material" in text) == (410, True)
    assert 'from=1&amp;to=4">revisions 1 and 4</a>' in text


@pytest.mark.parametrize("aggregation", ["basic", "weighted", "balanced", "two_step"])
def test_revisions_that_no_rule_ranks_are_compared_before_their_board_is_published(make, client, aggregation):
    benchmark = without_weight(make, aggregation)
    make.accepted(benchmark, {"Z": [1.0, 1.0]})
    changes = page(client, benchmark).context["changes"]
    assert (changes.joined, changes.rules, changes.has_boards) == (["Z"], [], (False, False))
    path = f"/api/v1/benchmarks/{benchmark.key}/revisions/2/changes/"
    assert client.get(path).json()["joined"] == ["Z"]
