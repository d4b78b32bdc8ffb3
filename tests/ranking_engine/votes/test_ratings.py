"""Ratings against their definitions, on small sets of votes with ties, weights and gaps."""

import math

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings

from ranking_engine.votes.connectedness import Connectedness, tie_problem, within_components
from ranking_engine.votes.data import Comparisons, Votes
from ranking_engine.votes.ratings import rate
from tests.ranking_engine import naive_votes
from tests.ranking_engine.votes.strategies import random_votes, vote_sets

MODELS = ("half_wins", "davidson", "rao_kupper")
few = settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))  # many draws are left out


def votes_of(*rows, **others):
    """Votes such as ("A", "B", 0)."""
    first, second, outcomes = zip(*rows, strict=True)
    return Votes.of(first, second, outcomes, **others)


@given(vote_sets())
def test_components_are_the_systems_that_reach_each_other(votes):
    reach = naive_votes.reaches(votes)
    connectedness = Connectedness.of(Comparisons.of(votes))
    n = votes.n_systems
    labels = connectedness.labels
    for i in range(n):
        for j in range(n):
            assert (labels[i] == labels[j]) == (reach[i][j] and reach[j][i])
            if labels[i] != labels[j]:
                assert connectedness.is_above[labels[i], labels[j]] == reach[i][j]
                assert not reach[i][j] or labels[i] < labels[j]
    unordered = sum(not reach[i][j] and not reach[j][i] for i in range(n) for j in range(i))
    assert connectedness.n_unordered == unordered


@few
@given(vote_sets())
def test_ties_have_an_estimate_exactly_where_a_circle_has_more_wins_than_ties(votes):
    comparisons = Comparisons.of(votes)
    connectedness = Connectedness.of(comparisons)
    assume(connectedness.n_components == 1)
    has_ties = bool((votes.outcomes[votes.weights > 0] >= 2).any())
    problem = tie_problem(within_components(comparisons, connectedness))
    if has_ties:
        assert (problem == "") == naive_votes.has_winning_circle(votes)


@pytest.mark.parametrize("model", MODELS)
@few
@given(votes=vote_sets())
def test_the_estimate_has_no_slope_and_none_nearby_is_likelier(model, votes):
    ratings = rate(votes, model)
    assume(ratings.is_fitted and ratings.connectedness.n_components == 1)
    fit, estimates_tie = ratings.fit, ratings.fit.tie is not None
    assume(np.abs(fit.parameters).max() < 8)
    values = fit.parameters

    def total(x):
        return naive_votes.total(votes, model, x, estimates_tie=estimates_tie)

    assert np.abs(naive_votes.derivatives(total, values)).max() < 1e-6
    random = np.random.default_rng(0)
    best = total(values)
    for _ in range(10):
        other = values + random.normal(scale=0.05, size=len(values))
        if model == "rao_kupper" and estimates_tie:
            other[-1] = max(other[-1], 1e-3)
        assert total(other) <= best + 1e-9


@pytest.mark.parametrize("model", MODELS)
@settings(few, max_examples=4)
@given(votes=vote_sets(n_covariates=1))
def test_a_general_minimiser_finds_the_same_with_covariates(model, votes):
    ratings = rate(votes, model, is_scaled=False)
    assume(ratings.is_fitted and ratings.connectedness.n_components == 1)
    values = ratings.fit.parameters
    assume(np.abs(values).max() < 5)
    estimates_tie = ratings.fit.tie is not None
    others = naive_votes.fit(votes, model, estimates_tie=estimates_tie)
    ours, theirs = (naive_votes.total(votes, model, x, estimates_tie=estimates_tie) for x in (values, others))
    assert ours >= theirs - 1e-8
    assert theirs == pytest.approx(ours, abs=1e-5)


@pytest.mark.parametrize("cluster", ["vote", "voter"])
@pytest.mark.parametrize("model", MODELS)
def test_the_sandwich_is_that_of_derivatives_by_differences(model, cluster):
    votes = random_votes(4, 60, seed=3, n_voters=12)
    votes.weights[::3] = 0.5
    votes.voters[:4] = -1  # not known: clusters of their own
    ratings = rate(votes, model, cluster=cluster)
    clusters = None if cluster == "vote" else votes.voters.tolist()
    covariance = naive_votes.sandwich(
        votes, model, ratings.fit.parameters, clusters, estimates_tie=model != "half_wins"
    )
    errors = np.sqrt(covariance.diagonal())
    np.testing.assert_allclose(ratings.intervals.errors, errors, rtol=2e-4)
    assert ratings.n_clusters == (60 if cluster == "vote" else 16)


def test_the_sandwich_with_covariates_is_that_of_derivatives_by_differences():
    plain = random_votes(4, 80, seed=5)
    x = np.random.default_rng(0).normal(size=(80, 2))
    votes = Votes(
        plain.system_names, plain.first, plain.second, plain.outcomes, plain.weights, plain.categories,
        covariates=x, covariate_names=("length", "lists"),
    )  # fmt: skip
    for model in MODELS:
        ratings = rate(votes, model, is_scaled=False)
        covariance = naive_votes.sandwich(
            votes, model, ratings.fit.parameters, None, estimates_tie=model != "half_wins"
        )  # fmt: skip
        np.testing.assert_allclose(ratings.intervals.errors, np.sqrt(covariance.diagonal()), rtol=5e-4)
        assert [part.error for part in ratings.coefficients] == ratings.intervals.errors[4:6].tolist()


def test_which_system_comes_first_in_a_vote_does_not_matter():
    plain = random_votes(5, 200, seed=2)
    x = np.random.default_rng(0).normal(size=(200, 1)) + 0.4
    votes = Votes(
        plain.system_names, plain.first, plain.second, plain.outcomes, plain.weights, plain.categories,
        covariates=x, covariate_names=("length",),
    )  # fmt: skip
    swapped = Votes(
        plain.system_names, plain.second, plain.first, np.array([1, 0, 2, 3], dtype=np.int8)[plain.outcomes],
        plain.weights, plain.categories, covariates=-x, covariate_names=("length",),
    )  # fmt: skip
    ours, theirs = rate(votes, "davidson"), rate(swapped, "davidson")
    np.testing.assert_allclose(ours.fit.parameters, theirs.fit.parameters, atol=1e-10)
    assert ours.ranks.tolist() == theirs.ranks.tolist()


def test_coefficients_recover_what_made_the_votes():
    random = np.random.default_rng(1)
    n_votes = 40_000
    plain = random_votes(6, n_votes, seed=1, ties=0)
    x = random.normal(size=n_votes) * 3
    strengths = np.linspace(-1, 1, 6)
    d = strengths[plain.first] - strengths[plain.second] + 0.2 * x
    outcomes = (random.random(n_votes) > 1 / (1 + np.exp(-d))).astype(np.int8)
    votes = Votes(
        plain.system_names, plain.first, plain.second, outcomes, plain.weights, plain.categories,
        covariates=x[:, None], covariate_names=("length",),
    )  # fmt: skip
    ratings = rate(votes)
    (part,) = ratings.coefficients
    assert part.unit == pytest.approx(3, rel=0.05)
    assert abs(part.value / part.unit - 0.2) < 4 * part.error / part.unit
    assert np.abs(ratings.strengths - strengths).max() < 4 * ratings.intervals.errors[:6].max()
    without = rate(votes, with_covariates=False)
    assert without.coefficients == ()
    assert np.abs(without.strengths).max() < np.abs(ratings.strengths).max()  # noise shrinks what it hides


def test_two_systems_have_odds_of_their_wins():
    votes = votes_of(*[("A", "B", 0)] * 6, *[("B", "A", 0)] * 2, *[("A", "B", 2)] * 2)
    ratings = rate(votes)
    assert ratings.strengths[0] - ratings.strengths[1] == pytest.approx(math.log(7 / 3))
    davidson = rate(votes, "davidson")
    assert davidson.strengths[0] - davidson.strengths[1] == pytest.approx(math.log(6 / 2))
    # Davidson 1970: nu is the ties over the root of the product of the wins.
    assert davidson.tie == pytest.approx(2 / math.sqrt(6 * 2))
    assert ratings.ranks.tolist() == davidson.ranks.tolist() == [1, 2]
    assert ratings.points.tolist() == pytest.approx([1000 + 200 * math.log10(7 / 3), 1000 - 200 * math.log10(7 / 3)])


def test_without_ties_all_models_agree():
    votes = random_votes(5, 100, ties=0)
    strengths = {model: rate(votes, model) for model in MODELS}
    for model in MODELS:
        np.testing.assert_allclose(strengths[model].strengths, strengths["half_wins"].strengths, atol=1e-10)
    assert [strengths[model].tie for model in MODELS] == [None, 0.0, 1.0]


def test_only_ties_are_equal_strengths_or_no_estimate():
    votes = votes_of(("A", "B", 2), ("B", "C", 3))
    assert rate(votes).ranks.tolist() == [1, 1, 1]
    for model in MODELS[1:]:
        ratings = rate(votes, model)
        assert not ratings.is_fitted
        assert "all votes are ties" in ratings.problems[-1]


def test_groups_that_votes_do_not_connect_are_rated_by_themselves():
    votes = votes_of(
        ("A", "B", 0), ("B", "A", 0), ("A", "B", 0),
        ("B", "C", 0),
        ("C", "D", 0), ("D", "C", 0),
        ("E", "F", 2),
    )  # fmt: skip
    ratings = rate(votes)
    members = [[votes.system_names[i] for i in ratings.connectedness.members(k)] for k in range(3)]
    assert sorted(members) == [["A", "B"], ["C", "D"], ["E", "F"]]
    assert members.index(["A", "B"]) < members.index(["C", "D"])
    assert ratings.connectedness.n_unordered == 8
    assert ratings.strengths[0] - ratings.strengths[1] == pytest.approx(math.log(2))
    assert ratings.ranks.tolist() == [1, 2, 1, 1, 1, 1]
    assert "3 groups of systems" in ratings.problems[0]
    assert "8 pairs of systems" in ratings.problems[0]
    with_prior = rate(votes, prior=0.1)
    assert with_prior.connectedness.n_components == 1
    assert with_prior.ranks.tolist()[0] == 1


def test_weights_are_votes_cast_more_than_once():
    votes = random_votes(4, 60, seed=9)
    votes.weights[:20] = 2
    twice = np.r_[np.arange(60), np.arange(20)]
    copies = Votes(
        votes.system_names, votes.first[twice], votes.second[twice], votes.outcomes[twice], np.ones(80),
        votes.categories[twice],
    )  # fmt: skip
    for model in MODELS:
        np.testing.assert_allclose(rate(votes, model).strengths, rate(copies, model).strengths, atol=1e-9)


def test_errors_by_cluster_need_ten_clusters_and_voters():
    votes = random_votes(4, 60, n_voters=5)
    ratings = rate(votes, cluster="voter")
    assert ratings.problems == ("errors by cluster need 10 clusters; the votes have 5",)
    assert ratings.intervals.method == ""
    with pytest.raises(ValueError, match="do not say the prompt"):
        rate(votes, cluster="prompt")


def test_one_vote_alone_by_cluster_has_ratings_without_errors():
    ratings = rate(votes_of(("A", "B", 0), voters=["one"]), cluster="voter")
    assert np.isnan(ratings.intervals.errors).tolist() == [True, True]


def test_clusters_without_a_vote_that_counts_in_a_group_are_not_counted_there():
    pairs = [("A", "B", 0)] * 15 + [("A", "B", 1)] * 5 + [("C", "D", k % 2) for k in range(22)]
    of_one = Votes.of(*zip(*pairs, strict=True), voters=["v"] * 20 + [f"w{k // 2}" for k in range(22)])
    assert rate(of_one, cluster="voter").problems[-1] == (
        "errors by cluster need 10 clusters; the votes of a group of systems have 1"
    )
    light = Votes.of(
        *zip(*(pairs[:20] + [("A", "B", 0)] * 9), strict=True),
        voters=["v"] * 20 + [f"w{k}" for k in range(9)], weights=[1.0] * 20 + [0.0] * 9,
    )  # fmt: skip
    assert rate(light, cluster="voter").problems == ("errors by cluster need 10 clusters; the votes have 1",)


def test_votes_that_cannot_vary_give_no_interval_and_no_certain_rank():
    ratings = rate(votes_of(*[("A", "B", 2)] * 8))
    assert np.isnan(ratings.intervals.errors).all()
    assert np.isnan([ratings.intervals.lower, ratings.intervals.upper]).all()
    assert (ratings.intervals.rank_lower.tolist(), ratings.intervals.rank_upper.tolist()) == ([1, 1], [2, 2])


def test_draws_with_the_same_groups_count_whichever_order_the_groups_have():
    rows = [("A", "B", k % 2) for k in range(60)] + [("C", "D", k % 2) for k in range(60)] + [("C", "A", 0)]
    ratings = rate(votes_of(*rows), n_resamples=200)
    assert (ratings.intervals.method, ratings.intervals.n_undefined) == ("bootstrap", 0)


def test_a_single_win_is_no_tie():
    assert "no vote is between two systems of one group" in rate(votes_of(("A", "B", 0)), "davidson").problems[-1]


@pytest.mark.parametrize("cluster", ["vote", "voter"])
def test_resampled_errors_are_those_of_the_sandwich(cluster):
    votes = random_votes(5, 2_000, seed=4, n_voters=150)
    sandwich = rate(votes, "davidson", cluster=cluster)
    drawn = rate(votes, "davidson", cluster=cluster, n_resamples=300, seed=1)
    assert (drawn.intervals.method, drawn.intervals.n_undefined) == ("bootstrap", 0)
    widths = [part.intervals.upper - part.intervals.lower for part in (sandwich, drawn)]
    np.testing.assert_allclose(widths[1], widths[0], rtol=0.25)
    assert (np.abs(drawn.intervals.rank_lower - sandwich.intervals.rank_lower) <= 1).all()


def test_weighted_votes_are_resampled_too():
    votes = random_votes(4, 1_500, seed=4)
    votes.weights[::2] = 0.25
    sandwich, drawn = rate(votes), rate(votes, n_resamples=300)
    widths = [part.intervals.upper - part.intervals.lower for part in (sandwich, drawn)]
    np.testing.assert_allclose(widths[1], widths[0], rtol=0.25)


def test_too_few_votes_to_resample_are_said():
    votes = votes_of(("A", "B", 0), ("B", "A", 0), ("B", "C", 0), ("C", "B", 0))
    ratings = rate(votes, n_resamples=100)
    assert ratings.intervals.method == ""
    assert "resampled sets of votes connect fewer systems" in ratings.problems[-1]


def test_ranks_are_bounded_by_the_pairs_that_differ():
    votes = random_votes(8, 400, seed=8)
    ratings = rate(votes, "davidson")
    covariance = naive_votes.sandwich(votes, "davidson", ratings.fit.parameters, None, estimates_tie=True)
    for i in range(8):
        n_above = n_below = 0
        for j in set(range(8)) - {i}:
            gap = ratings.strengths[j] - ratings.strengths[i]
            error = math.sqrt(covariance[i, i] + covariance[j, j] - 2 * covariance[i, j])
            n_above += gap > 1.959964 * error
            n_below += -gap > 1.959964 * error
        assert (ratings.intervals.rank_lower[i], ratings.intervals.rank_upper[i]) == (1 + n_above, 8 - n_below)
        assert ratings.intervals.rank_lower[i] <= ratings.ranks[i] <= ratings.intervals.rank_upper[i]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"model": "elo"}, "expected one of half_wins, davidson, rao_kupper"),
        ({"cluster": "day"}, "expected one of vote, voter, prompt"),
        ({"level": 1.0}, "`level` is 1.0"),
        ({"prior": -1.0}, "`prior` is -1.0"),
        ({"n_resamples": 10_001}, "`n_resamples` is 10,001"),
        ({"n_resamples": 1}, "`n_resamples` is 1; expected 100 to 10,000"),
    ],
)
def test_arguments_that_cannot_be_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message.replace("(", r"\(")):
        rate(random_votes(3, 30), **arguments)


@pytest.mark.parametrize(
    ("rows", "others", "message"),
    [
        ([("A", "A", 0)], {}, "vote 1 compares 'A' with itself"),
        ([("A", "B", 4)], {}, "an outcome is none of"),
        ([("A", "B", 0)], {"weights": [-1.0]}, "vote 1 has a negative weight"),
        ([("A", "B", 0)], {"weights": [math.nan]}, "`weights`: entry 1 is not a finite number"),
        ([("A", "B", 0)], {"weights": [1.0, 1.0]}, "`weights` has 2 entries for 1 votes"),
        ([("A", "", 0)], {}, "is empty"),
    ],
)
def test_votes_that_cannot_be_are_refused(rows, others, message):
    with pytest.raises(ValueError, match=message):
        votes_of(*rows, **others)


@pytest.mark.parametrize(("largest", "n_resamples"), [(500, 0), (2000, 100)])
def test_a_voter_with_most_of_the_votes_leaves_no_errors_by_voter(largest, n_resamples):
    votes = random_votes(4, largest + 140, seed=3)
    of_one = ["busy"] * largest + [f"w{k // 10}" for k in range(140)]
    named = Votes.of(
        [votes.system_names[k] for k in votes.first], [votes.system_names[k] for k in votes.second],
        votes.outcomes.tolist(), voters=of_one,
    )  # fmt: skip
    ratings = rate(named, cluster="voter", n_resamples=n_resamples)
    good_as = (largest + 140) ** 2 / (largest**2 + 14 * 100)
    assert ratings.problems == (
        f"errors by cluster need 10 clusters; the votes have 15, as good as {good_as:.1f} of equal size",
    )
    assert np.isnan(ratings.intervals.lower).all()
