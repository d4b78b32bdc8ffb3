"""The page of submitters: their counts beside the best of their systems on the board."""

from collections.abc import Iterable
from dataclasses import dataclass

from leaderboard.access.audience import Audience
from leaderboard.common.language.engine import rule_name
from leaderboard.rankings.published import published_board
from leaderboard.rankings.scores import BoardSystem, systems_at
from leaderboard.submissions.disclosure import Disclosure, Submitter, disclosure


@dataclass(frozen=True)
class SubmitterRow:
    """A submitter with the best of their systems on the board."""

    submitter: Submitter
    best: BoardSystem | None
    rank: int | None  # of it, under the benchmark's default rule
    n_predicted: int = 0  # scores that this rank rests on and no one measured


@dataclass(frozen=True)
class SubmittersPage:
    """What the page shows."""

    disclosure: Disclosure
    rows: list[SubmitterRow]
    rule_name: str

    @property
    def has_predictions(self) -> bool:
        """Whether a rank that is shown rests on predicted scores."""
        return any(row.n_predicted for row in self.rows)

    @property
    def n_unlisted(self) -> int:
        """Submitters that are named in files alone."""
        return len(self.disclosure.submitters) - len(self.rows)


def submitters_page(audience: Audience, *, is_whole: bool = False) -> SubmittersPage:
    """The submitters of a benchmark, as far as this reader may know.

    Args:
        audience: who reads; a restricted reader is told of their own systems alone.
        is_whole: with every submitter, as programs ask for them.
    """
    disclosed = disclosure(audience)
    benchmark = audience.benchmark
    return SubmittersPage(
        disclosed,
        _best_systems(audience, disclosed.submitters if is_whole else disclosed.named),
        rule_name(benchmark.default_rule),
    )


def _best_systems(audience: Audience, submitters: Iterable[Submitter]) -> list[SubmitterRow]:
    """Each submitter with the best of their systems on the published board, under the benchmark's default rule.

    Args:
        audience: who reads; of a restricted one no system is named.
        submitters: those that they are told of.
    """
    publication = audience.benchmark.publication
    if publication is None or audience.is_restricted:
        return [SubmitterRow(submitter, None, None) for submitter in submitters]
    board, systems = published_board(publication), systems_at(publication.revision)
    column = next((one for one in board.columns if one.rule == audience.benchmark.default_rule), None)
    rank_of = {system.id: int(column.ranks[i]) for i, system in enumerate(systems)} if column else {}
    n_predicted = {system.id: column.predicted_of(i) for i, system in enumerate(systems)} if column else {}
    by_id = {system.id: system for system in systems}
    rows = []
    for submitter in submitters:
        here = [by_id[pk] for pk in submitter.system_ids if pk in by_id]
        ranked = [system for system in here if rank_of.get(system.id, 0) >= 1]
        best = min(ranked, key=lambda system: (rank_of[system.id], system.name)) if ranked else None
        if best is None:
            rows.append(SubmitterRow(submitter, None, None))
        else:
            rows.append(SubmitterRow(submitter, best, rank_of[best.id], n_predicted[best.id]))
    return rows
