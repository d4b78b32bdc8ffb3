"""The orders of tasks in PrefLib's format, against orders written out by hand."""

import numpy as np
import pytest

from ranking_engine import ScoreMatrix
from ranking_engine.files.preflib import MAX_VOTERS, PreflibError, preflib_text, task_orders

NAN = float("nan")


def lines(values, **about):
    """The lines of the file that say orders."""
    names = [chr(ord("A") + i) for i in range(len(values))]
    profile = task_orders(ScoreMatrix(values, system_names=names, **about))
    text = preflib_text(profile, stem="toy", title="A\ntoy", dates=("2026-01-31", "2026-02-01"))
    return profile, text, [line for line in text.splitlines() if not line.startswith("#")]


def test_equal_orders_are_counted_ties_stand_in_braces_and_missing_scores_are_left_out():
    values = [[3, 3, 1, 5, NAN], [2, 2, 1, NAN, NAN], [1, 1, 2, 5, 7]]
    profile, text, orders = lines(values)
    assert orders == ["2: 1,2,3", "1: {1,3}", "1: 3", "1: 3,{1,2}"]
    assert (profile.data_type, profile.n_voters) == ("toi", 5)
    assert text.splitlines()[:12] == [
        "# FILE NAME: toy.toi", "# TITLE: A toy", "# DESCRIPTION: ", "# DATA TYPE: toi",
        "# MODIFICATION TYPE: induced", "# RELATES TO: ", "# RELATED FILES: ",
        "# PUBLICATION DATE: 2026-01-31", "# MODIFICATION DATE: 2026-02-01",
        "# NUMBER ALTERNATIVES: 3", "# NUMBER VOTERS: 5", "# NUMBER UNIQUE ORDERS: 4",
    ]  # fmt: skip
    assert text.splitlines()[12:15] == [f"# ALTERNATIVE NAME {k}: {name}" for k, name in enumerate("ABC", start=1)]


@pytest.mark.parametrize(
    ("values", "kind"),
    [([[1, 2], [2, 1]], "soc"), ([[1, NAN], [2, 1]], "soi"), ([[1, 2], [1, 1]], "toc"), ([[1, NAN], [1, 1]], "toi")],
)
def test_the_data_type_is_the_narrowest_that_fits(values, kind):
    assert lines(values)[0].data_type == kind


def test_weights_are_voters_over_their_common_denominator_and_who_does_not_vote_has_no_line():
    """Weights 1/2, 1/3, 0 and an unordered task: 3 voters and 2; the second is lower-is-better."""
    values = [[1, 1, 9, 9], [2, 2, 1, 1]]
    _, _, orders = lines(values, weights=["1/2", "1/3", 0, 1], directions=[1, -1, 1, 0])
    assert orders == ["3: 2,1", "2: 1,2"]
    _, _, halved = lines([[1, 1], [2, 0]], weights=[4, 6])
    assert halved == ["3: 1,2", "2: 2,1"]


def test_a_task_without_scores_casts_no_vote_and_is_counted():
    profile, _, orders = lines([[NAN, 1], [NAN, 2]])
    assert (profile.n_silent, orders) == (1, ["1: 2,1"])


def test_what_the_format_cannot_say_is_refused():
    with pytest.raises(PreflibError, match="no task of weight above 0 has a score"):
        task_orders(ScoreMatrix(np.full((2, 1), NAN)))
    with pytest.raises(PreflibError, match=f"at most {MAX_VOTERS:,} can be written"):
        task_orders(ScoreMatrix([[1.0, 2.0], [2.0, 1.0]], weights=["0.0000000001", 1]))
