"""Two revisions compared: systems that joined or left, changed scores, and changed ranks under each rule."""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from django.utils.translation import gettext, ngettext

from leaderboard.common.charts.rank_lines import RankedSystem, RankLines, rank_lines
from leaderboard.common.language.engine import rule_name
from leaderboard.common.language.numbers import in_language, localise
from leaderboard.common.text import by_catalogue, in_words, value_text
from leaderboard.comparisons.history import configuration_changes
from leaderboard.comparisons.iia_violations import stored_iia_violations
from leaderboard.computing.rankings import split_rules
from leaderboard.models import Benchmark, Publication, Revision
from leaderboard.on_demand.budget import (
    KEPT_SECONDS,
    PARTLY_KEPT_SECONDS,
    rank_in_time,
    refuse_beyond_budget,
    single_flight,
)
from leaderboard.rankings.configuration import configuration_of
from leaderboard.rankings.published import published_board
from leaderboard.rankings.reports import FAILED
from leaderboard.rankings.revisions import RemovedRanksError, publication_at
from leaderboard.rankings.score_matrix import revision_matrix
from leaderboard.rankings.scores import (
    NOT_SUBMITTED,
    BoardSystem,
    CurrentScore,
    current_scores,
    differing_systems,
    systems_at,
)
from leaderboard.rankings.text import missing_text
from ranking_engine import Ranking, __version__ as engine_version
from ranking_engine.core.comparison import RankDifference, RankMove
from ranking_engine.core.ranking import average_ranks

SHOWN_SCORES = 200
SHOWN_MOVES = 100
DRAWN = 30


@dataclass(frozen=True)
class RevisedScore:
    """One score that differs."""

    system: BoardSystem  # as it is called at the newer one
    task_key: str
    task_name: str
    old: CurrentScore | None
    new: CurrentScore | None

    @property
    def system_name(self) -> str:
        """Whose it is."""
        return self.system.name

    @property
    def before(self) -> str:
        """The older score, or why there was none, in words."""
        return _score_text(self.old)

    @property
    def after(self) -> str:
        """The newer score, or why there is none, in words."""
        return _score_text(self.new)


SystemMove = RankMove[BoardSystem]


@dataclass(frozen=True)
class RuleMoves:
    """What became of the ranks under one rule."""

    rule: str
    name: str
    first_before: str
    first_after: str
    n_moved: int  # of those that have a rank at both
    n_common: int
    most: SystemMove | None  # who moved furthest
    is_order: bool  # whether the rule ranks more than its winners at one of the two
    has_other_first: bool  # whether its winners are others than before
    is_chosen: bool = False
    url: str = ""


@dataclass(frozen=True)
class RevisionChanges:
    """Everything that is said of two revisions."""

    older: Revision
    newer: Revision
    sentence: str
    joined: list[str]
    left: list[str]
    renamed: list[tuple[str, str]]
    scores: list[RevisedScore]
    n_scores: int
    configuration: list[str]
    rules: list[RuleMoves]
    not_compared: list[str]  # names of rules of which it is not known at one of the two whom they rank
    without_ranks: list[str]  # names of those that rank no one at either
    chosen: str
    chosen_name: str
    moves: list[SystemMove]
    n_moves: int
    slopes: RankLines | None
    iia_violations: str
    has_boards: tuple[bool, bool]  # whether the board of each can be looked at


class RuleThen(NamedTuple):
    """One rule at a revision; systems by their ids."""

    ranks: dict[int, int]  # unranked ones are not there
    winners: frozenset[int]
    is_order: bool  # whether it ranks more than its winners


RANKS_NO_ONE = RuleThen({}, frozenset(), is_order=False)


@dataclass(frozen=True)
class RulesThen:
    """The rules at a revision.

    Attributes:
        known: those of which it is known whom they rank, and be it no one.
        listed: all rules of its board; none where there is nothing to rank, so that every rule ranks no one.
    """

    known: dict[str, RuleThen]
    listed: list[str]

    def of(self, rule: str) -> RuleThen | None:
        """A rule; None where it is not known whom it ranks."""
        return self.known.get(rule) if self.listed else RANKS_NO_ONE


def revision_changes(
    benchmark: Benchmark,
    older: Revision,
    newer: Revision,
    *,
    rule: str,
    audience_level: str,
    is_whole: bool = False,
) -> RevisionChanges:
    """Compare two revisions.

    Args:
        benchmark: of both.
        older: with its configuration.
        newer: with its configuration.
        rule: whose ranks are told one by one.
        audience_level: who reads, from whom nothing is hidden; part of the cache's key.
        is_whole: with all scores and moves, as programs ask for them; a page shows the first ones.

    Raises:
        TooLargeError: rankings are not stored and too large to be computed on demand.
    """
    then, now = systems_at(older), systems_at(newer)
    before, after = {s.id: s for s in then}, {s.id: s for s in now}
    tasks = {task.id: task for task in configuration_of(newer).tasks}
    kept = {task.id for task in configuration_of(older).tasks} & tasks.keys()
    common = before.keys() & after.keys() & differing_systems(older, newer)
    old_scores, new_scores = current_scores(older, common), current_scores(newer, common)
    cells = [cell for cell in old_scores.keys() | new_scores.keys() if cell[1] in kept]
    scores = [
        RevisedScore(
            after[system],
            tasks[task].key,
            tasks[task].name,
            old_scores.get((system, task)),
            new_scores.get((system, task)),
        )
        for system, task in sorted(cells, key=lambda cell: (after[cell[0]].name, tasks[cell[1]].name))
    ]
    scores = [change for change in scores if change.before != change.after]
    sides = [_rules_at(benchmark, revision, systems, audience_level)
             for revision, systems in ((older, then), (newer, now))]  # fmt: skip
    names = {**{s.id: s for s in then}, **after}
    compared: dict[str, tuple[RuleThen, RuleThen]] = {}
    not_compared, without_ranks = [], []
    for key in by_catalogue(dict.fromkeys([*sides[0].listed, *sides[1].listed])):
        old, new = sides[0].of(key), sides[1].of(key)
        if old is None or new is None:
            not_compared.append(rule_name(key))
        elif old.ranks or new.ranks:
            compared[key] = (old, new)
        else:
            without_ranks.append(rule_name(key))
    # Every system with a rank at one of the two, in the order of the newer ranks.
    moves: dict[str, list[SystemMove]] = {}
    rules = []
    for key, (old, new) in compared.items():
        ranked = RankDifference(old.ranks, new.ranks).moves()
        moves[key] = [RankMove(names[move.system], move.before, move.after) for move in ranked]
        moves[key].sort(key=lambda move: (move.after or 10**9, move.before or 10**9, move.system.name))
        # Of the systems that both revisions rank, among these alone: a system that joins pushes no one down.
        in_common = [(move.system, move.before, move.after) for move in moves[key] if move.before and move.after]
        befores, afters = (sorted(places) for places in ([m[1] for m in in_common], [m[2] for m in in_common]))
        among = [
            RankMove(system, 1 + bisect_left(befores, place_before), 1 + bisect_left(afters, place_after))
            for system, place_before, place_after in in_common
        ]
        moved = [move for move in among if not move.is_same]
        first_before, first_after = (in_words(sorted(names[i].name for i in side.winners)) for side in (old, new))
        rules.append(
            RuleMoves(
                rule=key,
                name=rule_name(key),
                first_before=first_before,
                first_after=first_after,
                n_moved=len(moved),
                n_common=len(in_common),
                most=max(moved, key=lambda move: (abs(move.places), move.system.name)) if moved else None,
                is_order=old.is_order or new.is_order,
                has_other_first=old.winners != new.winners,
            )
        )
    chosen = rule if rule in moves else next(iter(moves), rule)
    changed = [move for move in moves.get(chosen, []) if not move.is_same]
    configuration = []
    if older.configuration_id != newer.configuration_id:
        configuration = configuration_changes(configuration_of(older), configuration_of(newer))
    are_adjacent = newer.number == older.number + 1
    violations = stored_iia_violations({newer.pk: benchmark.default_rule}) if are_adjacent else {}
    joined = sorted(s.name for s in now if s.id not in before)
    left = sorted(s.name for s in then if s.id not in after)
    return RevisionChanges(
        older=older,
        newer=newer,
        sentence=_sentence(joined, left, scores, configuration, rules),
        joined=joined,
        left=left,
        renamed=sorted((before[i].name, s.name) for i, s in after.items() if i in before and before[i].name != s.name),
        scores=scores if is_whole else scores[:SHOWN_SCORES],
        n_scores=len(scores),
        configuration=configuration,
        rules=rules,
        not_compared=not_compared,
        without_ranks=without_ranks,
        chosen=chosen,
        chosen_name=rule_name(chosen),
        moves=changed if is_whole else changed[:SHOWN_MOVES],
        n_moves=len(changed),
        slopes=_slopes(older, newer, chosen, moves[chosen], compared[chosen]) if changed else None,
        iia_violations=violations.get(newer.pk, ""),
        has_boards=(_stored_board(benchmark, older) is not None, _stored_board(benchmark, newer) is not None),
    )


def _score_text(score: CurrentScore | None) -> str:
    if score is not None and score.value is not None:
        return in_language(value_text(score.value))
    return missing_text(score.missing_reason if score else NOT_SUBMITTED)


def _rules_at(
    benchmark: Benchmark, revision: Revision, systems: Sequence[BoardSystem], audience_level: str
) -> RulesThen:
    """The rules as they are stored, or computed on demand where none are stored."""
    publication = _stored_board(benchmark, revision)
    if publication is not None:
        board = published_board(publication)
        ids, left_out = board.system_ids, board.facts.get("rules_left_out", {})
        known = {
            column.rule: RuleThen(
                _by_system(ids.tolist(), column.ranks), frozenset(ids[column.is_winner].tolist()), column.is_ranked
            )
            for column in board.columns
            if not column.is_computing and column.status != FAILED and column.rule not in left_out
        }
        return RulesThen(known, board.rules)
    if not systems or revision.withdrawn_at is not None:  # what holds material taken down is not rebuilt
        return RulesThen({}, [])
    settings = configuration_of(revision)
    n_tasks = len(settings.tasks)
    split = split_rules(len(systems), n_tasks, settings.variants)
    refuse_beyond_budget(len(systems), n_tasks, len(split.quick))

    def make() -> tuple[RulesThen, bool]:
        table = revision_matrix(revision)
        if table is None:
            return RulesThen({}, []), True
        ranked = rank_in_time(table.matrix, settings.missing_policy, settings.aggregation, split.quick)
        ids = [system.id for system in table.systems]
        known = {
            rule: RuleThen(
                _by_system(ids, outcome.ranks), frozenset(ids[i] for i in outcome.winners), outcome.status == "ranked"
            )
            for rule, outcome in ranked.outcomes.items()
            if isinstance(outcome, Ranking)
        }
        return RulesThen(known, [*split.quick, *split.slow, *split.left_out]), not ranked.too_long

    key = f"rules-at:{revision.pk}:{engine_version}:{audience_level}"
    return single_flight(key, make, lambda made: KEPT_SECONDS if made[1] else PARTLY_KEPT_SECONDS)[0]


def _by_system(ids: Sequence[int], ranks: np.ndarray) -> dict[int, int]:
    return {system: int(rank) for system, rank in zip(ids, ranks, strict=True) if rank >= 1}


def _slopes(
    older: Revision, newer: Revision, rule: str, moves: Sequence[SystemMove], sides: tuple[RuleThen, RuleThen]
) -> RankLines:
    """Both rankings side by side: the first of either, and those that moved."""
    averages = []
    for then in sides:
        average = average_ranks(np.array([*then.ranks.values()], dtype=int))
        averages.append(dict(zip(then.ranks, average.tolist(), strict=True)))
    no_rank = gettext("not ranked")
    drawn = [*moves[:DRAWN], *[move for move in moves[DRAWN:] if move.before and move.before <= DRAWN][:DRAWN]]
    return rank_lines(
        gettext("Ranks under %(rule)s at both revisions") % {"rule": rule_name(rule)},
        gettext("One line per system; the dark ones moved. Rank 1 is at the top."),
        [gettext("Revision %(number)s") % {"number": revision.number} for revision in (older, newer)],
        [
            RankedSystem(
                key=move.system.key,
                name=move.system.name,
                ranks=[ranks_then.get(move.system.id) for ranks_then in averages],
                said=gettext("%(name)s: %(before)s before, %(after)s after")
                % {"name": move.system.name, "before": move.before or no_rank, "after": move.after or no_rank},
                pinned=0 if move.is_same else 1 if move.places > 0 or not move.before else 2,
            )
            for move in drawn
        ],
    )


def _stored_board(benchmark: Benchmark, revision: Revision) -> Publication | None:
    """The publication whose ranks are stored; None where there is none, or where retention removed them."""
    try:
        return publication_at(benchmark, revision.number)
    except RemovedRanksError:
        return None


def _sentence(
    joined: Sequence[str],
    left: Sequence[str],
    scores: Sequence[RevisedScore],
    configuration: Sequence[str],
    rules: Sequence[RuleMoves],
) -> str:
    parts = []
    if joined:
        parts.append(gettext("%(names)s joined") % {"names": in_words(joined)})
    if left:
        parts.append(gettext("%(names)s left") % {"names": in_words(left)})
    if scores:
        systems = list(dict.fromkeys(change.system_name for change in scores))
        n_scores = ngettext("%(n)s score of %(names)s changed", "%(n)s scores of %(names)s changed", len(scores))
        parts.append(n_scores % {"n": localise(len(scores), ","), "names": in_words(systems)})
    if configuration:
        n_settings = ngettext("%(n)s setting changed", "%(n)s settings changed", len(configuration))
        parts.append(n_settings % {"n": len(configuration)})
    if not parts:
        return gettext("Nothing that affects ranks differs between the two revisions.")
    # Of rules that order the systems; the first place is that of rules with a winner alone, too, as in a preview.
    orders = [rule for rule in rules if rule.is_order]
    with_winner = [rule for rule in rules if rule.first_before or rule.first_after]
    n_moving, n_firsts = sum(rule.n_moved > 0 for rule in orders), sum(rule.has_other_first for rule in with_winner)
    if joined or left:
        end = gettext("The order of the other systems changed under %(n)s of %(of)s rules, and no first place changed.")
        if n_firsts:
            end = gettext(
                "The order of the other systems changed under %(n)s of %(of)s rules, and the first place changed under "
                "%(n_firsts)s of %(of_firsts)s rules with a winner."
            )
    else:
        end = gettext("The order of the systems changed under %(n)s of %(of)s rules, and no first place changed.")
        if n_firsts:
            end = gettext(
                "The order of the systems changed under %(n)s of %(of)s rules, and the first place changed under "
                "%(n_firsts)s of %(of_firsts)s rules with a winner."
            )
    figures = {"n": n_moving, "of": len(orders), "n_firsts": n_firsts, "of_firsts": len(with_winner)}
    return f"{'; '.join(parts)}. {end % figures}"
