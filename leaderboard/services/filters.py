"""Which systems of a board are asked for: by words, tag, completeness and rank."""

from collections.abc import Sequence
from dataclasses import dataclass

from leaderboard.selectors.scores import BoardSystem
from leaderboard.selectors.systems import about_systems
from leaderboard.services.columns import Column, PublishedBoard
from ranking_engine.names import fold_name


@dataclass(frozen=True)
class Filters:
    """What is asked for; what is empty leaves all."""

    query: str = ""  # in the name or the key
    organisation: str = ""
    tag: str = ""
    is_complete: bool = False  # only systems with a score on every voting task
    top: int | None = None  # only ranks up to this one


def is_called(system: BoardSystem, text: str) -> bool:
    """Whether a system's name or key has `text` in it: what `q` asks everywhere."""
    return fold_name(text) in fold_name(system.name) or text.strip().casefold() in system.key


def kept(
    systems: Sequence[BoardSystem], board: PublishedBoard, column: Column, chosen: Filters, *, knows_about: bool
) -> set[int]:
    """The places of the systems that `chosen` leaves.

    Args:
        systems: of the board, in its order, under the names that are shown.
        board: as whoever asks may see it.
        column: the rule that `top` is about.
        chosen: what is asked for.
        knows_about: whether organisations and tags may be looked at; where names are hidden they would tell them.
    """
    found = set(range(len(systems)))
    is_asked = bool(chosen.organisation or chosen.tag)
    about = about_systems([system.id for system in systems]) if knows_about and is_asked else {}
    if chosen.query:
        found = {i for i in found if is_called(systems[i], chosen.query)}
    if chosen.organisation:
        words = chosen.organisation.casefold()
        found = {i for i in found if systems[i].id in about and words in about[systems[i].id].organisation.casefold()}
    if chosen.tag:
        found = {i for i in found if systems[i].id in about and chosen.tag in about[systems[i].id].tags}
    if chosen.is_complete:
        found = {i for i in found if board.n_scored[i] == board.facts["n_voting_tasks"]}
    if chosen.top is not None:
        found = {i for i in found if 1 <= column.ranks[i] <= chosen.top}
    return found
