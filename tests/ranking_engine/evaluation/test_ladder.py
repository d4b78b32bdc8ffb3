"""The Ladder against its definition, and what it states."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, strategies as st

from ranking_engine.evaluation import Ladder, LadderAnswer


def naive_answers(submissions: list[list[float]], step: float | None) -> list[LadderAnswer]:
    """Loop by loop, as the definition says, in fractions."""
    best: list[float] | None = None
    answers: list[LadderAnswer] = []
    for losses in submissions:
        is_best = best is None
        if best is not None:
            gains = [Fraction(old) - Fraction(new) for new, old in zip(losses, best, strict=True)]
            gain, n = sum(gains) / len(gains), len(gains)
            if step is None:
                is_best = gain > 0 and gain**2 > sum((one - gain) ** 2 for one in gains) / (n * (n - 1))
            else:
                is_best = gain > Fraction(str(step))
        if is_best:
            best = losses
        answers.append(LadderAnswer(round(math.fsum(best)) / len(best), is_best))
    return answers


eighths = st.integers(-16, 16).map(lambda number: number / 8)


@given(
    submissions=st.integers(2, 8).flatmap(
        lambda n: st.lists(st.lists(eighths, min_size=n, max_size=n), min_size=1, max_size=12)
    ),
    step=st.sampled_from([None, 0.0, 0.125, 0.3]),
)
def test_a_submission_becomes_the_best_as_the_definition_says(submissions, step):
    ladder = Ladder(step)
    assert [ladder.submit(losses) for losses in submissions] == naive_answers(submissions, step)
    assert ladder.n_submissions == len(submissions)


@given(st.lists(st.lists(st.sampled_from([0, 1]), min_size=6, max_size=6), min_size=1, max_size=20))
def test_the_stated_loss_never_rises_and_is_a_multiple_of_one_instance(submissions):
    ladder = Ladder()
    stated_losses = [ladder.submit(losses).best_loss for losses in submissions]
    assert stated_losses == sorted(stated_losses, reverse=True)
    assert all(Fraction(loss).limit_denominator(6).denominator in (1, 2, 3, 6) for loss in stated_losses)


def test_a_better_submission_within_the_noise_is_not_told_apart():
    ladder = Ladder()
    first = np.array([1, 1, 0, 0, 0, 0, 0, 0])
    assert ladder.submit(first) == LadderAnswer(0.25, True)
    one_right_of_two = np.array([0, 1, 0, 0, 0, 0, 0, 0])  # by 0.125, with a standard error of 0.125
    assert ladder.submit(one_right_of_two) == LadderAnswer(0.25, False)
    assert ladder.submit(np.zeros(8)) == LadderAnswer(0.0, True)  # by 0.25, with a standard error of 0.164


@pytest.mark.parametrize("step", [None, 0.0])
def test_rounding_of_the_stated_loss_makes_nothing_better_or_worse(step):
    worse, better = Ladder(step), Ladder(step)
    assert worse.submit([0.296] * 100) == LadderAnswer(0.3, True)
    assert worse.submit([0.297] * 100) == LadderAnswer(0.3, False)
    assert worse.submit([0.396] + [0.296] * 99) == LadderAnswer(0.3, False)
    assert better.submit([0.304] * 100) == LadderAnswer(0.3, True)
    assert better.submit([0.303] * 100) == LadderAnswer(0.3, True)
    one_better = [0.2] + [0.303] * 99  # by exactly one standard error, which is not more
    assert better.submit(one_better) == LadderAnswer(0.3, step is not None)
    assert better.submit([0.2, 0.2] + [0.303] * 98) == LadderAnswer(0.3, True)


def test_later_changes_of_a_submitted_array_change_nothing():
    ladder, losses = Ladder(), np.array([1.0, 0.0, 1.0, 1.0])
    ladder.submit(losses)
    losses[:] = 0
    assert ladder.submit([0.0, 0.0, 0.0, 0.0]) == LadderAnswer(0.0, True)
    assert ladder.submit([0.0, 0.0, 0.0, 0.0]) == LadderAnswer(0.0, False)


@pytest.mark.parametrize(
    ("losses", "message"),
    [
        ([1.0], r"`losses` has shape \(1,\)"),
        ([[1.0, 2.0]], r"`losses` has shape \(1, 2\)"),
        ([0.0, 1.0, 0.0], "`losses` has 3 entries; earlier submissions had 2"),
        ([0.0, math.nan], "`losses` has no finite number at index 1"),
        ([math.inf, 0.0], "`losses` has no finite number at index 0"),
    ],
)
def test_losses_that_cannot_be_compared_are_refused(losses, message):
    ladder = Ladder()
    ladder.submit([1.0, 1.0])
    with pytest.raises(ValueError, match=message):
        ladder.submit(losses)
    assert ladder.n_submissions == 1


@pytest.mark.parametrize("step", [-0.1, math.nan, math.inf])
def test_a_step_is_a_number_of_zero_or_more(step):
    with pytest.raises(ValueError, match="`step` is"):
        Ladder(step)
