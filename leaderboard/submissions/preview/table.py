"""What a draft of many systems would do to the board."""

import base64
import itertools
from collections import Counter
from dataclasses import dataclass, field, replace
from heapq import nsmallest

import numpy as np

from leaderboard.access.audience import Audience
from leaderboard.common.language.engine import rule_name
from leaderboard.common.text import in_words
from leaderboard.models import Draft
from leaderboard.on_demand.budget import TooLargeError
from leaderboard.rankings.configuration import BoardConfiguration
from leaderboard.rankings.instances import unpack_names
from leaderboard.submissions.drafts import rows_now
from leaderboard.submissions.instances.vectors import differing_means
from leaderboard.submissions.preview.draft import (
    BoardState,
    RankChange,
    latest_state,
    rankings_of,
    rules_left_out,
)
from leaderboard.submissions.preview.text import left_out_sentence, winners_sentence
from leaderboard.submissions.queries import other_submitters
from leaderboard.submissions.rows import CheckedRow
from ranking_engine import Ranking
from ranking_engine.core.comparison import RankDifference, RankMove
from ranking_engine.files.instance_tables import cluster_codes

SHOWN_SYSTEMS = 100
SHOWN_MOVES = 5


@dataclass(frozen=True)
class TableEffect:
    """What a draft of many systems would change under one rule."""

    rule_name: str
    winner_before: str
    winner_after: str
    n_ranks_changed: int  # of systems that are on the board now
    moves: list[RankChange]  # the largest of these changes
    arrivals: list[RankChange]  # the best of the new systems


@dataclass(frozen=True)
class TableRow:
    """One system of a draft."""

    system_name: str
    line: int | None
    is_new: bool
    near_misses: list[str]
    n_scores: int
    n_missing: int  # of the benchmark's tasks, as the row would be
    n_changed: int | None  # None where they are hidden: scores that differ from those on the board
    other_submitter: str = ""  # whose scores it would replace, where that is not the owner of the draft


@dataclass(frozen=True)
class DifferingScore:
    """A stated score that is not the mean of the scores on its instances. It is kept as stated."""

    system_name: str
    task_name: str
    score: float
    mean: float


@dataclass(frozen=True)
class StatedClusters:
    """The clusters that a draft states of a task's instances."""

    task_name: str
    n_clusters: int  # an instance by itself is one
    n_instances: int


@dataclass(frozen=True)
class TablePreview:
    """A draft of many systems compared with one revision."""

    revision_number: int
    n_systems: int
    n_new: int
    n_unchanged: int | None  # None where the board's scores are hidden
    rows: list[TableRow]  # the first of them, as `preview_table` sorts them
    effects: list[TableEffect]
    left_out: list[str] = field(default_factory=list)  # names of rules that take too long for a preview
    n_with_instances: int = 0  # systems with scores of single instances
    clusters: list[StatedClusters] = field(default_factory=list)
    differing: list[DifferingScore] = field(default_factory=list)
    too_large: str = ""  # why no effects were worked out
    other_submitters: list[tuple[str, int]] = field(default_factory=list)  # whose scores it would replace, of how many

    @property
    def summary(self) -> str:
        """What changes at the top, in a sentence; empty where no rule ranks."""
        return " ".join(filter(None, [winners_sentence(self.effects), left_out_sentence(self.left_out)]))

    @property
    def n_replaced(self) -> int:
        """How many of the systems are on the board now."""
        return self.n_systems - self.n_new

    @property
    def n_more(self) -> int:
        """How many systems are not in `rows`."""
        return self.n_systems - len(self.rows)


def preview_table(draft: Draft, audience: Audience) -> TablePreview:
    """Hold a draft against the benchmark's latest revision, under that revision's own policy.

    Raises:
        InputError: what the draft says can no longer be stored.
    """
    before = latest_state(audience.benchmark)
    rows = rows_now(draft, audience)
    after = before.with_rows(rows)
    is_hidden = audience.is_restricted
    if is_hidden:  # a comparison with the board would tell its scores to anyone who guesses them
        blank = replace(before, systems=[], values=before.values[:0])
        table = _table_rows(rows, blank, blank.with_rows(rows))
        known = [row["system"]["key"] is not None for row in rows]
        table = [replace(row, n_changed=None, is_new=not k) for row, k in zip(table, known, strict=True)]
    else:
        table = _table_rows(rows, before, after)
    others = other_submitters(audience, [key for row in rows if (key := row["system"]["key"])])
    table = [
        replace(line, other_submitter=others.get(row["system"]["key"] or "", ""))
        for line, row in zip(table, rows, strict=True)
    ]
    # First what needs a look: names that may be misspelt, new systems, scores of other people.
    table.sort(key=lambda row: (not row.near_misses, not row.is_new, not row.other_submitter, row.line or 0))
    old: dict[str, Ranking] = {}
    new: dict[str, Ranking] = {}
    too_large = ""
    if not is_hidden:
        try:
            old, new = rankings_of(before, after)
        except TooLargeError as error:
            too_large = str(error)
    # The clusters of instances that a draft states, for its author to compare with what was meant.
    clusters_of = {
        key: unpack_names(base64.b64decode(entry["clusters"]))
        for row in rows
        for key, entry in row.get("instances", {}).items()
        if "clusters" in entry
    }
    task_names = before.configuration.task_names
    return TablePreview(
        revision_number=before.revision_number,
        n_systems=len(rows),
        n_new=sum(row.is_new for row in table),
        n_unchanged=None if is_hidden else sum(not row.is_new and row.n_changed == 0 for row in table),
        rows=table[:SHOWN_SYSTEMS],
        effects=[
            table_effect(rule, old.get(rule), ranking, len(before.systems), [system.name for system in after.systems])
            for rule, ranking in new.items()
        ],
        left_out=rules_left_out(after, new),
        too_large=too_large,
        n_with_instances=sum("instances" in row for row in rows),
        clusters=[
            StatedClusters(task_names.get(key, key), len(set(cluster_codes(clusters)[0].tolist())), len(clusters))
            for key, clusters in clusters_of.items()
        ],
        differing=differing_scores(rows, before.configuration),
        other_submitters=Counter(others.values()).most_common(),
    )


def differing_scores(rows: list[CheckedRow], configuration: BoardConfiguration) -> list[DifferingScore]:
    """The first stated scores further than 1e-6 from the mean of their instances."""
    names = configuration.task_names
    return [
        DifferingScore(system, names.get(key, key), score, mean)
        for system, key, score, mean in differing_means(rows)[:SHOWN_SYSTEMS]
    ]


def _table_rows(rows: list[CheckedRow], before: BoardState, after: BoardState) -> list[TableRow]:
    places = {system.key: i for i, system in enumerate(before.systems)}
    n_before, arrivals = len(before.systems), itertools.count(len(before.systems))
    known_places = [places.get(row["system"]["key"] or "") for row in rows]
    new = after.values[[next(arrivals) if place is None else place for place in known_places]]
    old = np.full(new.shape, np.nan)
    is_known = np.array([place is not None for place in known_places], dtype=bool)
    old[is_known] = before.values[[place for place in known_places if place is not None]] if n_before else np.nan
    is_missing = np.isnan(new)
    is_changed = ~((old == new) | (np.isnan(old) & is_missing))
    counts = zip(is_missing.sum(axis=1).tolist(), is_changed.sum(axis=1).tolist(), strict=True)
    return [
        TableRow(
            system_name=row["system"]["name"],
            line=row["line"],
            is_new=place is None,
            near_misses=row["system"]["near_misses"],
            n_scores=new.shape[1] - n_missing,
            n_missing=n_missing,
            n_changed=n_changed,
        )
        for row, place, (n_missing, n_changed) in zip(rows, known_places, counts, strict=True)
    ]


def table_effect(rule: str, before: Ranking | None, after: Ranking, n_before: int, names: list[str]) -> TableEffect:
    """What changes under one rule.

    Args:
        rule: its key.
        before: its ranking of the first `n_before` systems; None where it gave none.
        after: its ranking of all of them.
        n_before: how many systems are on the board now.
        names: of all systems, in the order of `after`.
    """
    difference = RankDifference.between(before, after)
    last = len(names) + 1  # unranked is behind everyone

    def size(move: RankMove[int]) -> int:
        return abs((move.before or last) - (move.after or last))

    changed = [move for move in difference.changed() if move.system < n_before]
    largest = nsmallest(SHOWN_MOVES, changed, key=lambda move: (-size(move), names[move.system]))
    new = [difference.move(j) for j in range(n_before, len(names))]
    best = nsmallest(SHOWN_MOVES, new, key=lambda move: (move.after or last, names[move.system]))
    return TableEffect(
        rule_name=rule_name(rule),
        winner_before="" if before is None else in_words([names[j] for j in before.winners]),
        winner_after=in_words([names[j] for j in after.winners]),
        n_ranks_changed=len(changed),
        moves=[RankChange(names[move.system], move.before, move.after) for move in largest],
        arrivals=[RankChange(names[move.system], None, move.after) for move in best],
    )
