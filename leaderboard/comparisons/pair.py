"""Two systems compared task by task: which wins where, by how much weight, and whether it could be chance."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from django.utils.translation import gettext, ngettext

from leaderboard.common.charts.score_profile import ProfileTask, ScoreProfile, score_profile
from leaderboard.common.language.engine import in_page_language
from leaderboard.common.language.numbers import in_language, localise
from leaderboard.common.text import figure_text, in_words, percent, value_text
from leaderboard.comparisons.instance_shares import InstanceShare, common_instances, instance_shares
from leaderboard.comparisons.measured_difference import MeasuredDifference, measured_difference
from leaderboard.computing.pairs import two_held_together
from leaderboard.models import Publication
from leaderboard.on_demand.budget import compute, refuse_beyond_budget, single_flight
from leaderboard.rankings.confidence.dependence import overlap_text
from leaderboard.rankings.confidence.independence import tasks_phrase
from leaderboard.rankings.configuration import ConfiguredTask, configuration_of
from leaderboard.rankings.margins import inputs_of, weighed
from leaderboard.rankings.published import PublishedBoard
from leaderboard.rankings.score_matrix import revision_matrix
from leaderboard.rankings.scores import BoardSystem
from leaderboard.rankings.text import missing_text, precision_sentence
from ranking_engine.stability.separability.pair_tests import LEVEL, TOO_FEW
from ranking_engine.stability.separability.sign_flips import NULL_HYPOTHESIS

FIRST, SECOND, LEVEL_SCORES, NOT_BOTH = "first", "second", "level", "not_both"


@dataclass(frozen=True)
class PairTask:
    """One task: both scores, who is ahead, and how much the task weighs."""

    key: str
    name: str
    group_name: str
    first: float | None
    second: float | None
    outcome: str  # FIRST, SECOND, LEVEL_SCORES, NOT_BOTH
    weight: float  # share of the voting weight; 0 where it does not vote
    is_voting: bool

    @classmethod
    def of(cls, task: ConfiguredTask, group_names: Mapping[str, str], figures: Mapping[str, Any], t: int) -> "PairTask":
        """The task at place `t` of the figures that are computed for a pair."""
        order, is_voting = figures["order"][t], bool(figures["votes"][t])
        known = [None if np.isnan(value) else float(value) for value in figures["values"][:, t]]
        outcome = NOT_BOTH if np.isnan(order) else FIRST if order > 0 else SECOND if order < 0 else LEVEL_SCORES
        return cls(
            key=task.key,
            name=task.name,
            group_name=group_names.get(task.group or "", ""),
            first=known[0],
            second=known[1],
            outcome=outcome if task.direction != 0 else NOT_BOTH if None in known else LEVEL_SCORES,
            weight=figures["weights"][t] if is_voting else 0.0,
            is_voting=is_voting,
        )

    @property
    def first_text(self) -> str:
        """The score of the first, for a page."""
        return "" if self.first is None else in_language(value_text(self.first))

    @property
    def second_text(self) -> str:
        """The score of the second, for a page."""
        return "" if self.second is None else in_language(value_text(self.second))

    @property
    def weight_text(self) -> str:
        """`11.1 %`, or that it does not count."""
        return f"{localise(100 * self.weight, '.1f')} %" if self.is_voting else gettext("not counted")


@dataclass(frozen=True)
class PairRank:
    """The ranks of both under one rule."""

    rule: str
    rule_name: str
    first: int | None
    second: int | None
    n_ranked: int
    n_predicted: tuple[int, int]  # scores that each rank rests on and no one measured

    @property
    def better(self) -> str:
        """Who is above the other."""
        if not (self.first and self.second):
            return NOT_BOTH
        return LEVEL_SCORES if self.first == self.second else FIRST if self.first < self.second else SECOND


@dataclass(frozen=True)
class Pair:
    """Everything that is said of two systems."""

    first: BoardSystem
    second: BoardSystem
    tasks: list[PairTask]
    ranks: list[PairRank]
    profile: ScoreProfile
    ahead: float
    behind: float
    level: float
    not_both: float
    sentence: str
    test_sentence: str
    p_value: float
    probability: float  # that the first is ahead on most such clusters of tasks on which the two differ
    n_units: int
    n_ahead: int  # clusters on which the first is ahead, each counted once
    n_behind: int
    difference: float
    precision_text: str  # to what the scores are rounded; empty where they are not
    instances: list[InstanceShare]  # who is ahead on single instances, by task; empty where they are hidden
    measured: MeasuredDifference | None  # the mean difference with its standard error; None where none is known
    no_measured: str  # why it is not known although instances have scores; may be empty

    @property
    def null_hypothesis(self) -> str:
        """What the test supposes."""
        return in_page_language(NULL_HYPOTHESIS)

    @property
    def p_text(self) -> str:
        """The p-value to the digits that the sentence has."""
        return localise(self.p_value, ".3g")

    @property
    def probability_text(self) -> str:
        """The probability in percents, never quite 0 or 100."""
        if self.probability < 0.001:
            return gettext("under %(share)s") % {"share": localise(0.1, "g") + " %"}
        if self.probability > 0.999:
            return gettext("above %(share)s") % {"share": localise(99.9, "g") + " %"}
        return f"{localise(100 * self.probability, '.1f')} %"

    @property
    def n_level(self) -> int:
        """Clusters on which neither is ahead."""
        return self.n_units - self.n_ahead - self.n_behind

    @property
    def units_text(self) -> str:
        """The clusters that the probability rests on."""
        return gettext("%(n_ahead)s ahead, %(n_behind)s behind, %(n_level)s tied") % {
            "n_ahead": self.n_ahead,
            "n_behind": self.n_behind,
            "n_level": self.n_level,
        }

    @property
    def margin_text(self) -> str:
        """The weighted margin of the first over the second, signed."""
        return signed_percent(self.ahead - self.behind)

    @property
    def shares(self) -> list[tuple[str, str, float]]:
        """(what, its key, share of the weight) of the four things that a task can be, those that occur."""
        lines = [
            (gettext("%(name)s is ahead") % {"name": self.first.name}, FIRST, self.ahead),
            (gettext("tied"), LEVEL_SCORES, self.level),
            (gettext("not both have a score"), NOT_BOTH, self.not_both),
            (gettext("%(name)s is ahead") % {"name": self.second.name}, SECOND, self.behind),
        ]
        return [line for line in lines if line[2] > 0]


def pair_of(
    publication: Publication,
    board: PublishedBoard,
    systems: Sequence[BoardSystem],
    pair: tuple[int, int],
    *,
    audience_level: str,
    has_instances: bool,
) -> Pair:
    """Hold two systems against each other.

    Args:
        publication: what is published.
        board: its board.
        systems: of its revision, in its order.
        pair: two different places in `systems`.
        audience_level: who reads; part of the cache's key.
        has_instances: whether they see what scores of single instances say (`sees_instances`).

    Raises:
        TooLargeError: the board is too large for an answer on demand.
    """
    revision = publication.revision
    configuration = configuration_of(revision)
    tasks = configuration.tasks
    refuse_beyond_budget(len(systems), len(tasks))
    key = f"pair-4:{inputs_of(revision)}:{pair[0]}:{pair[1]}:{audience_level}"

    def make() -> dict[str, Any]:
        table = revision_matrix(revision)
        if table is None:
            raise ValueError("a published revision without systems or tasks has no pairs")
        return compute(two_held_together, weighed(table.matrix, revision), pair)

    figures = single_flight(key, make)
    # Counts, and the error of paired differences, tell how much two systems agree on instances that are hidden.
    common = common_instances(revision, *(systems[i].id for i in pair)) if has_instances else []
    first, second = (systems[i] for i in pair)
    measured, no_measured = measured_difference(revision, (first, second), common)
    lines, profile_tasks = [], []
    for t, task in enumerate(tasks):
        line = PairTask.of(task, configuration.group_names, figures, t)
        lines.append(line)
        profile_tasks.append(
            ProfileTask(
                line.name,
                figures["positions"][:, t].tolist(),
                float(figures["medians"][t]),
                f"{line.name}: {first.name} {line.first_text or missing_text('not_reported')}, "
                f"{second.name} {line.second_text or missing_text('not_reported')}",
                line.is_voting,
                end_texts(figures["ends"][t]),
            )
        )
    shares = {outcome: sum(line.weight for line in lines if line.outcome == outcome) for outcome in
              (FIRST, SECOND, LEVEL_SCORES, NOT_BOTH)}  # fmt: skip
    return Pair(
        first=first,
        second=second,
        tasks=lines,
        ranks=[
            PairRank(
                column.rule,
                column.name,
                first_rank or None,
                second_rank or None,
                column.n_ranked,
                (column.predicted_of(pair[0]), column.predicted_of(pair[1])),
            )
            for column in board.columns
            if column.is_ranked
            for first_rank, second_rank in [(max(0, int(column.ranks[i])) for i in pair)]
        ],
        profile=score_profile(
            gettext("%(names)s on every task") % {"names": in_words([first.name, second.name])},
            gettext(
                "One line per task, from the worst score on this board at the left to the best at the right. A small "
                "tick marks the median of all systems."
            ),
            [first.name, second.name],
            profile_tasks,
        ),
        ahead=shares[FIRST],
        behind=shares[SECOND],
        level=shares[LEVEL_SCORES],
        not_both=shares[NOT_BOTH],
        sentence=_sentence(first.name, second.name, lines, figures["sign"]),
        test_sentence=_test_sentence(first.name, second.name, figures, overlap_text(board)),
        p_value=figures["p_value"],
        probability=figures["probability"],
        n_units=figures["n_units"],
        n_ahead=figures["n_ahead"],
        n_behind=figures["n_behind"],
        difference=figures["difference"],
        precision_text=precision_sentence(configuration.precisions),
        instances=instance_shares(common),
        measured=measured,
        no_measured=no_measured,
    )


def end_texts(ends: Sequence[float]) -> tuple[str, str]:
    """The worst and the best score on a task as texts; empty where no one has a score."""
    worst, best = ("" if math.isnan(end) else figure_text(end) for end in ends)
    return worst, best


def _sentence(first: str, second: str, lines: list[PairTask], sign: int) -> str:
    voting = [line for line in lines if line.is_voting]
    won = sum(line.outcome == FIRST for line in voting)
    lost = sum(line.outcome == SECOND for line in voting)
    level = sum(line.outcome == LEVEL_SCORES for line in voting)
    n_both = won + lost + level
    if not n_both:
        return gettext("%(first)s and %(second)s have no task in common, so they cannot be compared.") % {
            "first": first,
            "second": second,
        }
    by_tasks = ngettext(
        "%(first)s is ahead on %(won)s of %(n)s common task, %(second)s on %(lost)s",
        "%(first)s is ahead on %(won)s of %(n)s common tasks, %(second)s on %(lost)s",
        n_both,
    ) % {"first": first, "won": won, "n": n_both, "second": second, "lost": lost}
    by_tasks += gettext("; %(n)s tied") % {"n": level} if level else ""
    ahead, behind = (sum(line.weight for line in voting if line.outcome == side) for side in (FIRST, SECOND))
    if not sign:
        return gettext("%(by_tasks)s. By weight they are tied (%(ahead)s against %(behind)s).") % {
            "by_tasks": by_tasks,
            "ahead": percent(ahead, 2),
            "behind": percent(behind, 2),
        }
    winner, loser, more, less = (first, second, ahead, behind) if sign > 0 else (second, first, behind, ahead)
    return gettext("%(by_tasks)s. By weight %(winner)s beats %(loser)s, %(more)s against %(less)s.") % {
        "by_tasks": by_tasks,
        "winner": winner,
        "loser": loser,
        "more": percent(more, 2),
        "less": percent(less, 2),
    }


def _test_sentence(first: str, second: str, figures: dict[str, Any], overlap: str) -> str:
    n, p = figures["n_units"], figures["p_value"]
    if not n:
        return gettext("There is nothing to test: no task has a score of both.")
    tasks = tasks_phrase(n, figures["n_tasks"])
    how = gettext("the exact sign-flip test")
    if figures["is_drawn"]:
        how = gettext("a sign-flip test with random signs")
    if figures["verdict"] == TOO_FEW:
        least = 2.0 ** (1 - n)
        return ngettext(
            "%(tasks)s, is too few to tell: even a system ahead on all of them would have p = %(least)s, which is not "
            "below %(level)s. That is not the same as a tie.",
            "%(tasks)s, are too few to tell: even a system ahead on all of them would have p = %(least)s, which is "
            "not below %(level)s. That is not the same as a tie.",
            n,
        ) % {"tasks": tasks, "least": localise(least, ".3g"), "level": localise(LEVEL, "g")}
    leader, other = (first, second) if figures["difference"] >= 0 else (second, first)
    if p <= LEVEL:
        sentence = gettext(
            "On %(tasks)s, %(leader)s is ahead of %(other)s on average by more than chance would explain: p = %(p)s by "
            "%(how)s, if you chose this pair beforehand."
        )
    else:
        sentence = gettext(
            "On %(tasks)s, the average difference between %(leader)s and %(other)s could be luck: p = %(p)s by "
            "%(how)s, if you chose this pair beforehand."
        )
    sentence %= {"tasks": tasks, "leader": leader, "other": other, "p": localise(p, ".3g"), "how": how}
    if p <= LEVEL and overlap:
        sentence += gettext(" Less certain than this: %(overlap)s.") % {"overlap": overlap}
    return sentence


def signed_percent(share: float) -> str:
    """A margin in whole percents with its sign."""
    value = round(100 * share)
    return "0 %" if not value else f"{'+' if value > 0 else chr(0x2212)}{abs(value)} %"
