"""What the page of a system says of it among its rivals, against counts in plain Python."""

import pytest
from django.contrib.auth.models import AnonymousUser
from django.urls import reverse

from leaderboard.access.audience import audience_of
from leaderboard.boards.system import system_page

SCORES = {"A": [9.0, 1.0, 5.0, 7.0], "B": [8.0, 2.0, 5.0, 6.0], "C": [1.0, 3.0, 9.0, 8.0], "D": [2.0, 4.0, None, 1.0]}


@pytest.fixture(scope="module")
def made_once(make_once):
    return make_once.published(SCORES, default_rule="copeland")


@pytest.fixture
def page_of(made_once, make):
    """A function that tells of a system of the four by its name."""
    return lambda name: system_page(audience_of(AnonymousUser(), made_once), name.lower())


@pytest.mark.parametrize("name", SCORES)
def test_rivals_beaten_are_those_with_fewer_tasks_won(page_of, name):
    standing = page_of(name).standing
    balance = {}
    for rival, scores in SCORES.items():
        if rival != name:
            pairs = [(x, y) for x, y in zip(SCORES[name], scores, strict=True) if x is not None and y is not None]
            balance[rival] = sum((x > y) - (x < y) for x, y in pairs)
    counts = (standing.n_beaten, standing.n_lost, standing.n_level)
    assert counts == tuple(sum((b > 0) - (b < 0) == side for b in balance.values()) for side in (1, -1, 0))
    assert {rival.system.name for rival in standing.above} == {rival for rival, b in balance.items() if b < 0}


@pytest.mark.parametrize("name", SCORES)
def test_strengths_and_weaknesses_are_the_tasks_with_most_and_fewest_rivals_below(page_of, name):
    standing = page_of(name).standing
    below = {}
    for t in range(4):
        own = SCORES[name][t]
        others = [scores[t] for rival, scores in SCORES.items() if rival != name and scores[t] is not None]
        if own is not None:
            below[f"Task {t + 1}"] = sum((own > x) + (own == x) / 2 for x in others) / len(others)
    for line in standing.strengths + standing.weaknesses:
        assert line.below == pytest.approx(below[line.name])
    assert standing.strengths[0].below == pytest.approx(max(below.values()))
    assert standing.weaknesses[0].below == pytest.approx(min(below.values()))


def test_the_sentence_tells_rank_range_and_head_to_heads(page_of):
    standing = page_of("A")
    ranks = [rank.rank for rank in standing.ranks if rank.rank]
    copeland = next(rank for rank in standing.ranks if rank.rule_name == "Copeland")
    assert standing.sentence.startswith(f"Tied at rank {copeland.rank} of 4 under Copeland")
    assert f"from {min(ranks)} to {max(ranks)} over {len(ranks)} rules" in standing.sentence
    assert standing.sentence.endswith("Head to head it beats 2 of 3 and loses to 1.")


def test_a_system_without_scores_stands_nowhere(make):
    benchmark = make.published({"A": [1.0], "B": [2.0], "N": [None]})
    assert system_page(audience_of(AnonymousUser(), benchmark), "n").standing is None


def test_beyond_the_budget_the_page_goes_without(make, client, settings):
    benchmark = make.published(SCORES)
    settings.ON_DEMAND_BUDGET = 3
    answer = client.get(reverse("system", args=[benchmark.key, "a"]))
    assert (answer.status_code, answer.context["page"].standing) == (200, None)


def test_the_charts_of_ranks_hold_the_intervals_of_the_study(make, client):
    scores = {f"S{i}": [float(i * t % 7) for t in range(8)] for i in range(5)}
    benchmark = make.publish(make.benchmark(scores), studies=True)
    system = client.get(reverse("system", args=[benchmark.key, "s3"]))
    ranked = [rank for rank in system.context["page"].ranks if rank.rank]
    lines = {line.name: line.said for line in system.context["page"].intervals.lines}
    for rank in ranked:
        interval = f", interval {rank.interval_text}" if rank.interval_text else ""
        assert lines[rank.rule_name] == f"{rank.rule_name}: rank {rank.rank} of 5{interval}"
    assert any(rank.interval_text for rank in ranked)
    rule = client.get(reverse("rule", args=[benchmark.key, "borda"])).context["page"]
    assert [line.said for line in rule.intervals.lines] == [
        f"{row.name}: rank {row.rank}, interval {row.interval_text}" for row in rule.rows
    ]
