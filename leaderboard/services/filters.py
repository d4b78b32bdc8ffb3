"""Which systems of a board are asked for: by words, tag, completeness and rank."""

from collections.abc import Sequence
from dataclasses import dataclass

from leaderboard.selectors.scores import BoardSystem
from leaderboard.selectors.systems import about_systems
from leaderboard.services.columns import Column, PublishedBoard


@dataclass(frozen=True)
class Filters:
    """What is asked for; what is empty leaves all."""

    query: str = ""  # in the name or the organisation
    tag: str = ""
    is_complete: bool = False  # only systems with a score on every voting task
    top: int | None = None  # only ranks up to this one


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
    about = about_systems([system.id for system in systems]) if knows_about and (chosen.query or chosen.tag) else {}
    if chosen.query:
        words = chosen.query.casefold()
        organisations = {i: about[s.id].organisation if s.id in about else "" for i, s in enumerate(systems)}
        found = {i for i in found if words in f"{systems[i].name}\n{organisations[i]}".casefold()}
    if chosen.tag:
        found = {i for i in found if systems[i].id in about and chosen.tag in about[systems[i].id].tags}
    if chosen.is_complete:
        found = {i for i in found if board.n_scored[i] == board.facts["n_voting_tasks"]}
    if chosen.top is not None:
        found = {i for i in found if 1 <= column.ranks[i] <= chosen.top}
    return found
