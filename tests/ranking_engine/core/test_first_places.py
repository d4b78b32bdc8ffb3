"""The first places of two rankings, against counting them one by one."""

import itertools
import json
import math

import numpy as np
import pytest

from ranking_engine import Ranking
from ranking_engine.__main__ import main
from ranking_engine.core.first_places import FIRST_PLACES, MAX_COMMON, shared_first_places, tau_on_common_first


def naive_agreement(first, second, k):
    """Share of the first k places: a tie block that straddles place k shares the places left."""

    def shares(ranks):
        shares_of_places = []
        for rank in ranks:
            above, block = sum(other < rank for other in ranks), ranks.count(rank)
            shares_of_places.append(min(1.0, max(0.0, (k - above) / block)))
        return shares_of_places

    return sum(min(a, b) for a, b in zip(shares(first), shares(second), strict=True)) / k


def naive_tau(first, second, k):
    both = [i for i in range(len(first)) if first[i] <= k and second[i] <= k]
    s = x = y = 0
    for i, j in itertools.combinations(both, 2):
        one, other = np.sign(first[i] - first[j]), np.sign(second[i] - second[j])
        s, x, y = s + one * other, x + abs(one), y + abs(other)
    return s / math.sqrt(x * y) if x and y else math.nan


@pytest.mark.parametrize("seed", range(8))
def test_agreement_common_systems_and_their_tau_are_counted(seed):
    random = np.random.default_rng(seed)
    rankings = {name: Ranking.from_scores(name, random.integers(0, 7, 9).astype(float)) for name in "abc"}
    shared = shared_first_places(rankings)
    assert [(one.first, one.second) for one in shared] == [("a", "b"), ("a", "c"), ("b", "c")]
    for one in shared:
        first, second = (rankings[name].ranks.tolist() for name in (one.first, one.second))
        assert one.places == tuple(range(1, 10))
        for k, rate, n, tau in zip(one.places, one.agreement, one.n_common, one.tau, strict=True):
            assert rate == pytest.approx(naive_agreement(first, second, k))
            assert n == sum(a <= k and b <= k for a, b in zip(first, second, strict=True))
            assert tau == pytest.approx(naive_tau(first, second, k), nan_ok=True)


def test_places_beyond_the_systems_are_left_out_and_unranked_systems_are_in_none():
    rankings = {
        "a": Ranking.from_scores("a", np.array([3.0, 2.0, np.nan])),
        "b": Ranking.from_scores("b", np.arange(3.0)),
    }
    [one] = shared_first_places(rankings, (3, 2, 2, 9, 0))
    assert (one.places, one.n_common) == ((2, 3), [1, 2])
    assert shared_first_places({}) == []
    assert max(FIRST_PLACES) == 20


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "instances.csv"
    rows = [f"{s},{u},{(ord(s) * (u + 3)) % 7},{(ord(s) + u) % 5}" for s in "ABCD" for u in range(6)]
    path.write_text("\n".join(["system,instance,x,y", *rows]) + "\n")
    return path


def test_the_command_line_tells_the_first_places_of_instances(file, capsys):
    assert main(["instances", str(file), "--format", "json", "--top", "3", "--top", "1"]) == 0
    report = json.loads(capsys.readouterr().out)
    ranks = {key: list(report[key]["ranks"].values()) for key in ("two_level", "one_level", "mean")}
    for one in report["first_places"]:
        first, second = ranks[one["first"]], ranks[one["second"]]
        assert one["places"] == [1, 3]
        assert one["agreement"] == pytest.approx([naive_agreement(first, second, k) for k in (1, 3)])
    assert len(report["first_places"]) == 3
    assert main(["instances", str(file)]) == 0
    assert "Two levels and one level  k = 1" in capsys.readouterr().out


def test_a_number_of_places_out_of_range_is_refused(file, capsys):
    assert main(["instances", str(file), "--top", "1001"]) == 2
    assert capsys.readouterr().err == "error: --top: expected numbers of places from 1 to 1,000\n"


@pytest.mark.parametrize(("n_tied", "is_there"), [(MAX_COMMON, True), (MAX_COMMON + 1, False), (20_000, False)])
def test_many_systems_that_tie_at_the_first_places_have_no_tau(n_tied, is_there):
    first = Ranking.from_scores("a", np.arange(n_tied, dtype=float))
    tied = Ranking.from_scores("b", np.append(np.zeros(n_tied - 1), 1.0))
    assert math.isnan(tau_on_common_first(first, tied, n_tied)) != is_there
