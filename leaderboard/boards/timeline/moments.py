"""Who led a board when: by the dates of its systems, or by its revisions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import zip_longest

import numpy as np
from django.utils.translation import gettext

from leaderboard.boards.rows import AVERAGE_RANK
from leaderboard.common.charts.calendar import day_of
from leaderboard.common.moments import moment_in_words
from leaderboard.common.text import figure_text
from leaderboard.comparisons.rank_history import MAX_REVISIONS, PREDICTED_SIGN
from leaderboard.models import Benchmark, SystemChange
from leaderboard.rankings.published import Column
from leaderboard.rankings.reports import unpack_arrays
from leaderboard.rankings.revisions import stored_rankings
from leaderboard.rankings.scores import BoardSystem
from ranking_engine.catalogue.variants import rule_of_variant

DRAWN = 10  # systems whose ranks are followed
MAX_LEADERS = 20  # joint leaders of one date that are named: all of them at every date would be a square


@dataclass(frozen=True)
class Moment:
    """The board at one date.

    Attributes:
        day: as `day_of` has it.
        text: the date as people read it.
        revision: its number, where the moments are revisions; else 0.
        n_ranked: systems with a rank by then.
        leaders: those of rank 1, at most the first MAX_LEADERS of them.
        n_leaders: how many there are.
        has_new_leaders: whether others led before it.
        score: the rule's score of the leaders, as people read it; None where it has none.
        has_predicted: whether the rank of a leader rests on predicted scores.
        at: the very time; None where a day, a month or a year is all that is known.
    """

    day: float
    text: str
    revision: int
    n_ranked: int
    leaders: tuple[BoardSystem, ...]
    n_leaders: int
    has_new_leaders: bool
    score: float | None
    has_predicted: bool = False
    at: datetime | None = None

    @property
    def iso_text(self) -> str:
        """The date as programs read it."""
        return self.at.isoformat().replace("+00:00", "Z") if self.at else self.text


@dataclass(frozen=True)
class DatedScore:
    """One system at its date, with its score on the present board."""

    system: BoardSystem
    day: float
    text: str
    score: float


@dataclass(frozen=True)
class Course:
    """A board over time.

    Attributes:
        moments: oldest first.
        followed: the first systems of the newest moment, each with its rank at every moment, None where it had none.
        dated: every system at its date; empty where the moments are revisions.
        n_led: systems that led at some time.
        n_left_out: systems with a rank and without a date.
        predicted: the followed systems, by id, and the moments, by place, at which a rank rests on predicted scores.
    """

    moments: list[Moment]
    followed: list[tuple[BoardSystem, list[int | None]]]
    dated: list[DatedScore]
    n_led: int = 0
    n_left_out: int = 0
    predicted: frozenset[tuple[int, int]] = frozenset()

    def rank_texts(self, system: BoardSystem, ranks: Sequence[int | None]) -> list[str]:
        """The ranks of a followed system as people read them, with ≈ where they rest on predicted scores.

        Args:
            system: whose.
            ranks: at every moment, None where it had none.
        """
        return [
            f"{PREDICTED_SIGN if (system.id, k) in self.predicted else ''}{rank}" if rank else ""
            for k, rank in enumerate(ranks)
        ]

    @property
    def has_predicted(self) -> bool:
        """Whether a rank that the page shows rests on predicted scores."""
        return bool(self.predicted) or any(moment.has_predicted for moment in self.moments)

    def ranks_in_words(self, texts: Sequence[str]) -> str:
        """The first and the last rank of a system with their dates.

        Args:
            texts: of its ranks at every moment, empty where it had none; it has one at least.
        """
        known = [
            gettext("%(value)s at %(place)s") % {"value": rank, "place": moment.text}
            for moment, rank in zip(self.moments, texts, strict=True)
            if rank
        ]
        return known[0] if len(known) == 1 else f"{known[0]}, {known[-1]}"


@dataclass(frozen=True)
class Lead:
    """A time during which the same systems were first."""

    start: Moment
    end: Moment | None  # when others took over; None where they lead today

    @property
    def n_days(self) -> int | None:
        """How many days it lasted; None where it lasts."""
        return None if self.end is None else round(self.end.day - self.start.day)

    @property
    def score_text(self) -> str:
        """The score with which they took the lead."""
        return "–" if self.start.score is None else figure_text(self.start.score)

    @property
    def names(self) -> list[str]:
        """Who led, at most the first MAX_LEADERS."""
        return [system.name for system in self.start.leaders]


def leads_of(moments: Sequence[Moment]) -> list[Lead]:
    """The times during which the same systems led, oldest first."""
    starts = [moment for moment in moments if moment.has_new_leaders]
    return [Lead(start, end) for start, end in zip_longest(starts, starts[1:])]


def course_by_dates(
    column: Column,
    systems: Sequence[BoardSystem],
    dates: Mapping[int, tuple[float, str]],
    times: Mapping[int, datetime] | None = None,
) -> Course:
    """Who led among the systems that were there by each date, by their ranks on the present board.

    Args:
        column: a rule that ranks, on the present board.
        systems: of the board, in its order.
        dates: (day, its text) of systems by id; those without are left out.
        times: the very times of these days by the id of the system, where they are known.
    """
    ranked = [i for i in range(len(systems)) if column.ranks[i] >= 1]
    order = sorted((i for i in ranked if systems[i].id in dates), key=lambda i: (dates[systems[i].id][0], i))
    days = np.array([dates[systems[i].id][0] for i in order])
    ranks = column.ranks[order]
    ends = np.flatnonzero(np.append(np.diff(days) > 0, True)) + 1 if order else np.empty(0, int)
    moments: list[Moment] = []
    start, best, n_leaders, n_led = 0, 0, 0, 0
    named: list[int] = []
    for end in ends.tolist():
        best_of_day = int(ranks[start:end].min())
        if not best or best_of_day < best:
            best, n_leaders, named = best_of_day, 0, []
        new = [i for i in order[start:end] if column.ranks[i] == best]
        named = sorted(named + new)[:MAX_LEADERS]
        n_leaders += len(new)
        n_led += len(new)
        day, text = dates[systems[order[start]].id]
        leaders = tuple(systems[i] for i in named)
        score = _read_score(column.rule, column.scores[named[0]])
        has_predicted = any(column.predicted_of(i) for i in named)
        at = times.get(systems[order[start]].id) if times else None
        moments.append(Moment(day, text, 0, end, leaders, n_leaders, bool(new), score, has_predicted, at))
        start = end
    followed, predicted = [], set()
    for k in np.argsort(ranks, kind="stable")[:DRAWN].tolist():
        better = np.cumsum(ranks < ranks[k])
        if column.predicted_of(order[k]):
            predicted |= {(systems[order[k]].id, place) for place in range(len(ends))}
        followed.append((systems[order[k]], [int(better[end - 1]) + 1 if end > k else None for end in ends.tolist()]))
    dated = [
        DatedScore(systems[i], *dates[systems[i].id], score)
        for i in order
        if (score := _read_score(column.rule, column.scores[i])) is not None
    ]
    return Course(moments, followed, dated, n_led, len(ranked) - len(order), frozenset(predicted))


def course_by_revisions(benchmark: Benchmark, rule: str, until: int) -> Course:
    """Who led the board of every published revision whose ranks are stored, at most the last MAX_REVISIONS.

    Args:
        benchmark: whose revisions.
        rule: whose ranks.
        until: the number of the last revision that counts.
    """
    changes = SystemChange.objects.filter(revision__benchmark=benchmark, revision__number__lte=until)
    named = changes.order_by("revision__number", "pk").values_list("system_id", "system__key", "name")
    systems = {pk: BoardSystem(pk, key, name) for pk, key, name in named}
    moments: list[Moment] = []
    ranks_of: list[dict[int, int]] = []
    predicted_of: list[set[int]] = []
    leading: set[int] = set()
    ever_led: set[int] = set()
    for number, board, ranking in stored_rankings(benchmark, rule, most=MAX_REVISIONS, until=until):
        if ranking.summary["status"] != "ranked":
            continue
        ids = unpack_arrays(board.arrays, ["system_ids"]).get("system_ids", np.empty(0, np.int64)).tolist()
        arrays = unpack_arrays(ranking.arrays, ["ranks", "scores", "n_predicted"])
        n_predicted = arrays.get("n_predicted", np.zeros(len(ids), np.int32)).tolist()
        predicted_of.append({pk for pk, n in zip(ids, n_predicted, strict=True) if n})
        ranks = {pk: rank for pk, rank in zip(ids, arrays["ranks"].tolist(), strict=True) if rank >= 1}
        first = [k for k, rank in enumerate(arrays["ranks"].tolist()) if rank == 1]
        score = _read_score(rule, arrays["scores"][first[0]]) if first else None
        at = ranking.revision.created_at
        leaders = tuple(systems[ids[k]] for k in first[:MAX_LEADERS])
        before, leading = leading, {ids[k] for k in first}
        ever_led |= leading
        is_new = not moments or leading != before
        has_predicted = not leading.isdisjoint(predicted_of[-1])
        moments.append(
            Moment(
                day_of(at),
                moment_in_words(at),
                number,
                len(ranks),
                leaders,
                len(first),
                is_new,
                score,
                has_predicted,
                at,
            )
        )
        ranks_of.append(ranks)
    newest = ranks_of[-1] if ranks_of else {}
    chosen = sorted(newest, key=lambda pk: (newest[pk], systems[pk].name))[:DRAWN]
    followed = [(systems[pk], [ranks.get(pk) for ranks in ranks_of]) for pk in chosen]
    predicted = {(pk, k) for pk in chosen for k, ids in enumerate(predicted_of) if pk in ids}
    return Course(moments, followed, [], len(ever_led), predicted=frozenset(predicted))


def _read_score(rule: str, score: float) -> float | None:
    """A rule's score as people read it: the average rank, by whose negative systems are ranked, as it is called."""
    if np.isnan(score):
        return None
    return float(-score if rule_of_variant(rule) == AVERAGE_RANK else score) + 0.0
