"""The Ladder against its definition, and what it states."""

import math
import statistics
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, strategies as st

from ranking_engine.evaluation import Ladder, LadderAnswer


def naive_answers(submissions: list[list[float]], step: float | None) -> list[LadderAnswer]:
    """Loop by loop, as the definition says."""
    best: list[float] | None = None
    stated_loss = math.inf
    answers = []
    for losses in submissions:
        n = len(losses)
        mean = math.fsum(losses) / n
        needed = 0.0
        if best is not None:
            differences = [new - old for new, old in zip(losses, best, strict=True)]
            needed = statistics.stdev(differences) / math.sqrt(n) if step is None else step
        is_best = mean < stated_loss - needed
        if is_best:
            best, stated_loss = losses, round(mean * n) / n
        answers.append(LadderAnswer(stated_loss, is_best))
    return answers


# Multiples of 1/8 are exact, so that both versions compare the same numbers.
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
