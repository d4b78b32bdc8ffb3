"""The page of submitters: their counts beside the best of their systems on the board."""

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
    disclosed, benchmark = disclosure(audience), audience.benchmark
    ranked: dict[int, tuple[BoardSystem, int, int]] = {}
    if benchmark.publication is not None and not audience.is_restricted:  # to a restricted reader no system is named
        columns = published_board(benchmark.publication).columns
        if column := next((one for one in columns if one.rule == benchmark.default_rule), None):
            ranked = {
                system.id: (system, int(column.ranks[i]), column.predicted_of(i))
                for i, system in enumerate(systems_at(benchmark.publication.revision))
                if column.ranks[i] >= 1
            }
    rows = []
    for submitter in disclosed.submitters if is_whole else disclosed.named:
        places = [ranked[pk] for pk in submitter.system_ids if pk in ranked]
        best = min(places, key=lambda place: (place[1], place[0].name), default=(None, None, 0))
        rows.append(SubmitterRow(submitter, *best))
    return SubmittersPage(disclosed, rows, rule_name(benchmark.default_rule))
