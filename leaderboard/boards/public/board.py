"""What leaves the site by itself: badges, embedded tables, feeds, social cards.

All of these are shown on other sites, to readers whom no one knows. So they say what someone who is not signed in
may see, for every reader: no session is read, and an answer that may be kept is the same for all.
"""

from dataclasses import dataclass

from django.contrib.auth.models import AnonymousUser

from leaderboard.access.audience import Audience, audience_of, readable_benchmark
from leaderboard.models import Benchmark
from leaderboard.rankings.published import Column, PublishedBoard, published_board
from leaderboard.rankings.redaction import redacted
from leaderboard.rankings.scores import BoardSystem, systems_at
from leaderboard.rankings.verdict import Camp, camps_of

ANYBODY = AnonymousUser()


@dataclass(frozen=True)
class PublicBoard:
    """What anyone may see of a published board."""

    published: PublishedBoard
    systems: list[BoardSystem]  # in the board's order
    columns: list[Column]  # of the rules that have something to say, or will have

    @property
    def electing(self) -> list[Column]:
        """The columns of the rules that have a winner."""
        return [column for column in self.columns if column.elects]

    @property
    def camps(self) -> list[Camp]:
        """Who is elected by which rules, the largest camp first."""
        return camps_of([(c.name, c.winner_names, c.n_winners) for c in self.electing])

    def column(self, rule: str) -> Column | None:
        """What a rule says, also that it says nothing; None where it is no rule of this board."""
        return next((column for column in self.published.columns if column.rule == rule), None)


def open_benchmark(key: str) -> tuple[Benchmark, Audience]:
    """The benchmark of this key, and what someone who is not signed in is to it.

    Raises:
        Http404: there is none, or it is private.
    """
    return readable_benchmark(ANYBODY, key, restricted=True)


def is_open(benchmark: Benchmark) -> bool:
    """Whether anyone who has its address may read the benchmark."""
    return audience_of(ANYBODY, benchmark).may_read


def public_board(anybody: Audience) -> PublicBoard | None:
    """What `anybody`, who is not signed in, sees of what is published; None while nothing is."""
    publication = anybody.benchmark.publication
    if publication is None:
        return None
    published = published_board(publication)
    published, systems = redacted(published, systems_at(published.revision), anybody)
    return PublicBoard(
        published=published,
        systems=systems,
        columns=[column for column in published.columns if not column.is_undefined],
    )
