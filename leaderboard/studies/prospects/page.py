"""What the pages say of prospects: every system's verdict with its evidence."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from django.utils.translation import gettext, ngettext

from leaderboard.common.language.engine import in_page_language
from leaderboard.common.names import is_called
from leaderboard.common.text import in_words
from leaderboard.models import Job, Publication
from leaderboard.queue.kinds import PROSPECTS
from leaderboard.queue.places import places
from leaderboard.queue.queries import error_line, job_of
from leaderboard.rankings.configuration import configuration_of
from leaderboard.studies.prospects.stored import (
    StoredProspects,
    earlier_prospects,
    stored_prospects,
    system_names,
)
from leaderboard.studies.prospects.text import (
    VERDICT_WORDS,
    counts_sentence,
    evidence,
    share_of_weight,
    share_text,
    weights_in_words,
)
from ranking_engine.prospects import Prospect, Prospects
from ranking_engine.text.names import fold_name

PAGE_ROWS = 100
ALL = "all"  # in place of a verdict
LISTED_WHOLE = 20  # systems: longer lists leave out those that cannot win, until somebody asks
MAX_LISTED = 1000  # names among which a form lets choose
ORDER = ("strict", "tie_only", "undecided", "none", "no_scores")


@dataclass(frozen=True)
class TaskWeight:
    """One task of a weighting."""

    name: str
    percent_text: str
    exact: str  # the fraction as it was verified
    width: float  # of a bar, 0 to 100


@dataclass(frozen=True)
class ProspectRow:
    """One system, as the pages tell it."""

    key: str
    name: str
    verdict: str
    verdict_text: str
    is_prospective: bool
    share_text: str
    share_width: float | None  # 0 to 100; None where no share is known
    evidence: str
    weights: list[TaskWeight]
    weights_text: str
    columns: str  # an SVG path: one column a voting task, as high as its weight
    n_tasks: int
    needed_text: str
    incomparable_text: str
    url: str = ""


@dataclass(frozen=True)
class ProspectsQuery:
    """What an address asks of the list."""

    q: str = ""
    verdict: str = ""
    all_tasks: bool = False
    page: int = 1


@dataclass(frozen=True)
class ProspectsPage:
    """One page of the prospects of one revision."""

    stored: StoredProspects
    counts: dict[str, int]  # systems by verdict
    sentence: str
    difference: str  # what counting the tasks of weight 0 changes; empty where there are none
    n_systems: int
    n_shown: int
    n_hidden_losers: int  # that cannot win, and are not listed before somebody asks for all
    n_hidden_unscored: int  # that are not listed either, and have no score to compare
    n_pages: int
    page: int
    rows: list[ProspectRow] = field(default_factory=list)
    names: list[str] = field(default_factory=list)  # of all systems, by the alphabet; none where there are too many

    @property
    def n_hidden(self) -> int:
        """How many systems are not listed before all are asked for."""
        return self.n_hidden_losers + self.n_hidden_unscored


def prospects_page(publication: Publication, query: ProspectsQuery) -> tuple[ProspectsPage | None, str]:
    """The prospects of what is published, and where there are none why not; both empty while they are computed."""
    stored, reason = stored_prospects(publication)
    if stored is None:
        return None, in_page_language(reason)
    visible = stored.with_all_tasks if query.all_tasks and stored.with_all_tasks else stored.prospects
    names, task_names = system_names(publication.revision), configuration_of(publication.revision).task_names
    chosen = [
        prospect
        for prospect in visible.systems
        if is_called(query.q, names.get(prospect.system, prospect.system), prospect.system)
        and query.verdict in ("", ALL, prospect.verdict)
    ]
    # A long list begins with those who can win, and has nobody else before all are asked for.
    n_losers, n_unscored = 0, 0
    if not query.verdict and not query.q and len(chosen) > LISTED_WHOLE:
        winners = [prospect for prospect in chosen if prospect.verdict in ("strict", "tie_only", "undecided")]
        if winners:
            n_losers, n_unscored = (
                sum(prospect.verdict == verdict for prospect in chosen) for verdict in ("none", "no_scores")
            )
            chosen = winners
    chosen.sort(key=lambda prospect: prospect_order(prospect, names))
    n_pages = max(1, -(-len(chosen) // PAGE_ROWS))
    page = min(max(1, query.page), n_pages)
    rows = chosen[(page - 1) * PAGE_ROWS : page * PAGE_ROWS]
    return (
        ProspectsPage(
            stored=stored,
            counts=visible.summary()["verdicts"],
            sentence=counts_sentence(visible.summary()["verdicts"]),
            difference=difference(stored, task_names),
            n_systems=len(visible.systems),
            n_shown=len(chosen),
            n_hidden_losers=n_losers,
            n_hidden_unscored=n_unscored,
            n_pages=n_pages,
            page=page,
            rows=[prospect_row(prospect, visible, names, task_names) for prospect in rows],
            names=sorted(names.values(), key=fold_name) if len(names) <= MAX_LISTED else [],
        ),
        "",
    )


def key_of_system(publication: Publication, name: str) -> str:
    """The key of the published system of this name; empty where there is none."""
    folded = fold_name(name)
    if not folded:
        return ""
    keys = (key for key, other in system_names(publication.revision).items() if fold_name(other) == folded)
    return next(keys, "")


def prospect_order(prospect: Prospect, names: Mapping[str, str]) -> tuple[Any, ...]:
    """Most wins over weightings first, then by the best margin, then by name."""
    return (
        ORDER.index(prospect.verdict),
        -(prospect.share or 0.0),
        -(prospect.margin if prospect.margin is not None else -2.0),
        fold_name(names.get(prospect.system, prospect.system)),
    )


def prospect_row(
    prospect: Prospect,
    prospects: Prospects,
    names: Mapping[str, str],
    task_names: Mapping[str, str],
    conditions: Sequence[str] = (),
) -> ProspectRow:
    """A system's prospect as pages tell it.

    Args:
        prospect: one of `prospects`.
        prospects: all of them; its tasks are the columns of the chart.
        names: of the systems, by key.
        task_names: of the tasks, by key.
        conditions: as the page tells them, where there are any.
    """
    incomparable_text = ""
    if (n_rivals := prospect.n_incomparable) and prospect.weights:
        incomparable_text = ngettext(
            "At these weights %(n)s rival shares no task with it that counts, and can neither beat it nor lose to it.",
            "At these weights %(n)s rivals share no task with it that counts, and can neither beat it nor lose to it.",
            n_rivals,
        ) % {"n": n_rivals}
    elif n_rivals:
        incomparable_text = ngettext(
            "%(n)s rival shares no task with it and can neither beat it nor lose to it.",
            "%(n)s rivals share no task with it and can neither beat it nor lose to it.",
            n_rivals,
        ) % {"n": n_rivals}
    heaviest = max((float(weight) for weight in prospect.weights.values()), default=1.0)  # as high as the chart, 10
    columns = [
        f"M{t + 0.15} 10V{10 - 10 * float(prospect.weights[task]) / heaviest:.2f}h0.7V10z"
        for t, task in enumerate(prospects.tasks)
        if task in prospect.weights
    ]
    return ProspectRow(
        key=prospect.system,
        name=names.get(prospect.system, prospect.system),
        verdict=prospect.verdict,
        verdict_text=str(VERDICT_WORDS[prospect.verdict]),
        is_prospective=prospect.is_prospective,
        share_text=share_text(prospect),
        share_width=None if prospect.share is None else round(100 * prospect.share, 2),
        evidence=evidence(prospect, names, conditions, prospects.rule),
        weights=task_weights(prospect.weights, task_names),
        weights_text=weights_in_words(prospect.weights, task_names),
        columns="".join(columns),
        n_tasks=len(prospects.tasks),
        needed_text=in_words([task_names.get(task, task) for task in prospect.needed_tasks], 6),
        incomparable_text=incomparable_text,
    )


def task_weights(weights: Mapping[str, Fraction], task_names: Mapping[str, str]) -> list[TaskWeight]:
    """Weights as the pages tell them, the heaviest first."""
    return [
        TaskWeight(task_names.get(task, task), share_of_weight(weight), str(weight), round(100 * float(weight), 2))
        for task, weight in sorted(weights.items(), key=lambda item: (-item[1], item[0]))
    ]


def difference(stored: StoredProspects, task_names: Mapping[str, str]) -> str:
    """What counting the tasks of weight 0 would change."""
    whole = stored.with_all_tasks
    if whole is None:
        return ""
    unweighted = in_words([task_names.get(task, task) for task in stored.unweighted], 4)
    changed = [
        (before, after)
        for before, after in zip(stored.prospects.systems, whole.systems, strict=True)
        if before.is_prospective != after.is_prospective
    ]
    n_gained = sum(after.is_prospective for _, after in changed)
    counts = whole.summary()["verdicts"]
    n_winners, n_tied = counts["strict"] + counts["tie_only"], counts["tie_only"]
    winners = ngettext("%(n)s system could win", "%(n)s systems could win", n_winners)
    if n_tied:
        winners = ngettext(
            "%(n)s system could win (only by a tie)", "%(n)s systems could win (only by a tie)", n_winners
        )
    if 0 < n_tied < n_winners:
        winners = gettext("%(n)s systems could win (%(tied)s of them only by a tie)")
    n_lost = len(changed) - n_gained
    if n_gained and n_lost:
        changes = gettext("%(n_gained)s more could and %(n_lost)s no longer could")
    elif n_gained:
        changes = gettext("%(n_gained)s more could")
    elif n_lost:
        changes = gettext("%(n_lost)s no longer could")
    else:
        changes = gettext("the same ones as without")
    return ngettext(
        "%(tasks)s weighs nothing here and does not vote. If it counted, %(winners)s and %(n_others)s could not: "
        "%(changes)s.",
        "%(tasks)s weigh nothing here and do not vote. If they counted, %(winners)s and %(n_others)s could not: "
        "%(changes)s.",
        len(stored.unweighted),
    ) % {
        "tasks": unweighted,
        "winners": winners % {"n": n_winners, "tied": n_tied},
        "n_others": counts["none"],
        "changes": changes % {"n_gained": n_gained, "n_lost": n_lost},
    }


@dataclass(frozen=True)
class Waiting:
    """Why there are no prospects yet, and where earlier ones are."""

    state: str  # of the job; empty where there is none
    text: str
    progress_percent: int | None
    earlier_revision: int | None

    @property
    def is_open(self) -> bool:
        """Whether they come by themselves, so that the page asks for them again."""
        return self.state != Job.State.FAILED


def waiting_for(publication: Publication) -> Waiting:
    """How far the prospects of what is published have come."""
    job = job_of(publication.revision_id, PROSPECTS)
    state = job.state if job else ""
    texts = {
        Job.State.WAITING.value: gettext("The results of this revision are queued."),
        Job.State.RUNNING.value: gettext("The results of this revision are being computed."),
        Job.State.SUPERSEDED.value: gettext("The results come with the next revision."),
        Job.State.FAILED.value: gettext("The results of this revision could not be computed."),
    }
    text = texts.get(state, texts[Job.State.RUNNING.value])
    if job and state == Job.State.FAILED and job.error:
        text = gettext("The results of this revision could not be computed: %(error)s") % {
            "error": error_line(job.error)
        }
    place = places(job.queue).get(job.pk) if job and state == Job.State.WAITING else None
    if place is not None:
        text = gettext("The results of this revision are queued: it is next; expect them in %(time)s.")
        if place.n_ahead:
            text = ngettext(
                "The results of this revision are queued: %(n)s job before it; expect them in %(time)s.",
                "The results of this revision are queued: %(n)s jobs before it; expect them in %(time)s.",
                place.n_ahead,
            )
        text %= {"n": f"{place.n_ahead:,}", "time": place.text}
    is_running = job is not None and state == Job.State.RUNNING
    percent_done = round(100 * job.progress) if job and is_running else None
    return Waiting(state, text, percent_done, earlier_prospects(publication))
