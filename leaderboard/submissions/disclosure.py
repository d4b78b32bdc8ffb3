"""How many systems each submitter entered, withdrew or kept off the board, beside those that are on it.

A board that shows only the best of many tries flatters those who try often: Singh et al., "The Leaderboard Illusion",
2025, arXiv 2504.20879. What is counted are systems, not submissions: a correction is no further try.

Who sees which counts:

* Moderators and owners see every submitter, and what waits for a decision.
* Submitters see their own counts, with what waits.
* Other readers see the counts only where the owners let them (`shows_submitters`), nothing is hidden from them, and no
  embargo is in force. They see nothing of what waits, and no name that the board does not show anyway:
  submitters without a system on the board are counted together.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass, fields

from django.utils.translation import gettext, ngettext

from leaderboard.access.audience import UNDECIDED, Audience, is_embargoed
from leaderboard.models import Submission, User
from leaderboard.submissions.corrections import replaced_among

State = Submission.State
REPLACED = "replaced"  # of accepted submissions: a later one of the same system is in their place
# What became of a system, by the submissions of it that one submitter made: the first that one of them is in.
KINDS = (
    ("n_on_board", {State.ACCEPTED.value}),
    ("n_replaced", {REPLACED}),
    ("n_withdrawn", {State.WITHDRAWN.value}),
    ("n_waiting", {state.value for state in UNDECIDED}),
    ("n_rejected", {State.REJECTED.value}),
    ("n_retracted", {State.RETRACTED.value}),
)
MAX_NAMED = 200  # submitters that a page names; the API and files have all


@dataclass(frozen=True)
class SystemCounts:
    """Systems by what became of them; each is counted once.

    Attributes:
        n_on_board: with an accepted submission that no later one replaced.
        n_replaced: accepted once, and replaced by a later submission of someone else.
        n_withdrawn: accepted once, and withdrawn.
        n_waiting: waiting for a decision or the end of an embargo, and never accepted.
        n_rejected: rejected.
        n_retracted: withdrawn by the submitter before a decision.
    """

    n_on_board: int = 0
    n_replaced: int = 0
    n_withdrawn: int = 0
    n_waiting: int = 0
    n_rejected: int = 0
    n_retracted: int = 0

    @property
    def n_entered(self) -> int:
        """All of them."""
        return sum(getattr(self, field.name) for field in fields(SystemCounts))

    @property
    def n_never_on_board(self) -> int:
        """Those that were never on the board."""
        return self.n_waiting + self.n_rejected + self.n_retracted

    def plus(self, other: "SystemCounts") -> "SystemCounts":
        """Both together."""
        return SystemCounts(
            **{field.name: getattr(self, field.name) + getattr(other, field.name) for field in fields(SystemCounts)}
        )


@dataclass(frozen=True)
class Submitter:
    """One submitter with their counts."""

    id: int
    name: str
    counts: SystemCounts
    is_viewer: bool
    counts_waiting: bool  # else what waits is kept from the reader
    system_ids: tuple[int, ...]  # of those on the board

    @property
    def sentence(self) -> str:
        """The counts, in words."""
        counts = self.counts
        parts = [gettext("%(n)s on the board") % {"n": counts.n_on_board}]
        if counts.n_replaced:
            parts.append(gettext("%(n)s replaced by later submissions") % {"n": counts.n_replaced})
        if counts.n_withdrawn:
            parts.append(gettext("%(n)s withdrawn") % {"n": counts.n_withdrawn})
        if counts.n_never_on_board:
            parts.append(gettext("%(n)s never on the board") % {"n": counts.n_never_on_board})
        if self.counts_waiting:
            sentence = ngettext(
                "%(name)s entered %(n)s system here: %(parts)s.",
                "%(name)s entered %(n)s systems here: %(parts)s.",
                counts.n_entered,
            )
        else:
            sentence = ngettext(
                "%(name)s entered %(n)s system here that was decided on: %(parts)s.",
                "%(name)s entered %(n)s systems here that were decided on: %(parts)s.",
                counts.n_entered,
            )
        return sentence % {"name": self.name, "n": counts.n_entered, "parts": ", ".join(parts)}


@dataclass(frozen=True)
class Disclosure:
    """What one reader is told.

    Attributes:
        submitters: who is named, those who entered most first.
        n_others: submitters who are not named, because they have no system on the board.
        others: their counts together.
        why_own_alone: why the reader is told of their own systems alone; empty where they are told of others', too.
    """

    submitters: list[Submitter]
    n_others: int = 0
    others: SystemCounts = SystemCounts()
    why_own_alone: str = ""

    @property
    def named(self) -> list[Submitter]:
        """Those that a page lists."""
        return self.submitters[:MAX_NAMED]

    @property
    def total(self) -> SystemCounts:
        """Everyone's together: a system that two submitters entered counts for each."""
        total = self.others
        for submitter in self.submitters:
            total = total.plus(submitter.counts)
        return total


def why_own_alone(audience: Audience) -> str:
    """Why this reader is told nothing of other submitters; empty where they are."""
    if audience.may_moderate:
        return ""
    if audience.is_restricted:
        return gettext("The owners hide names or scores on this board, so you see only the counts of your own systems.")
    if is_embargoed(audience.benchmark):
        return gettext("An embargo is in force. Until it ends you see only the counts of your own systems.")
    if not audience.benchmark.shows_submitters:
        return gettext(
            "The owners of this benchmark do not show these counts. You see those of your own systems alone."
        )
    return ""


def disclosure(audience: Audience, only: Collection[int] | None = None) -> Disclosure:
    """How many systems each submitter entered, as far as this reader may know.

    Args:
        audience: who reads.
        only: the ids of the submitters that are asked for; everyone where None.
    """
    why = why_own_alone(audience)
    rows = Submission.objects.filter(benchmark=audience.benchmark).order_by()
    viewer_id = audience.viewer.pk if audience.viewer.is_authenticated else None
    if why:
        rows = rows.filter(batch__uploader=viewer_id) if viewer_id is not None else rows.none()
    if only is not None:
        rows = rows.filter(batch__uploader__in=only)
    states: dict[int, dict[int, set[str]]] = defaultdict(lambda: defaultdict(set))
    entered = rows.filter(corrects=None)  # a correction enters no system
    replaced_ids = {one.submission_id for one in replaced_among(entered)}
    for pk, uploader, system, state in entered.values_list("pk", "batch__uploader", "system", "state"):
        if state in UNDECIDED and not audience.may_moderate and uploader != viewer_id:
            continue
        states[uploader][system].add(REPLACED if pk in replaced_ids else state)
    users = User.objects.in_bulk(list(states))
    submitters, n_others, others = [], 0, SystemCounts()
    for pk, by_system in states.items():
        counts = counts_of(by_system.values())
        if not (audience.may_moderate or pk == viewer_id or counts.n_on_board):
            n_others, others = n_others + 1, others.plus(counts)
            continue
        on_board = tuple(system for system, its in by_system.items() if State.ACCEPTED in its)
        is_viewer = pk == viewer_id
        counts_waiting = audience.may_moderate or is_viewer
        submitters.append(Submitter(pk, users[pk].shown_name, counts, is_viewer, counts_waiting, on_board))
    submitters.sort(key=lambda one: (-one.counts.n_entered, one.name, one.id))
    return Disclosure(submitters, n_others, others, why)


def counts_of(systems: Iterable[Collection[str]]) -> SystemCounts:
    """Systems by what became of them.

    Args:
        systems: of each the states of its submissions, at least one; REPLACED is one, too.
    """
    counts = dict.fromkeys((name for name, _ in KINDS), 0)
    for states in systems:
        counts[next(name for name, kind in KINDS if kind & set(states))] += 1
    return SystemCounts(**counts)
