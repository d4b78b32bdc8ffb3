"""Whether the tasks of a board are as independent as its tests take them to be: what is stored of it, and in words."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.utils.translation import gettext

from leaderboard.common.language.numbers import localise
from leaderboard.common.text import in_words, signed
from leaderboard.models import Publication
from leaderboard.queue.kinds import SIGNIFICANCE
from leaderboard.rankings.confidence.independence import tasks_phrase
from leaderboard.rankings.configuration import ConfiguredTask, configuration_of
from leaderboard.rankings.published import PublishedBoard

MATTERS_BELOW = 2 / 3  # of the clusters: then the board itself says that they are not as independent as taken
MAX_PAIRS = 10
MAX_NAMES = 3  # of one cluster of a pair


@dataclass(frozen=True)
class DependentPair:
    """Two clusters of tasks that favour the same systems, by name, with their correlation and common systems."""

    first: str
    second: str
    correlation: str
    n_systems: int


@dataclass(frozen=True)
class ClusterSuggestion:
    """Tasks that would better be one cluster.

    Attributes:
        number: its place among the suggestions of this revision, from 0.
        task_keys, task_names: the tasks, in the benchmark's order.
        correlation: the average over the pairs of their clusters, as text.
        cluster: a name for it.
    """

    number: int
    task_keys: tuple[str, ...]
    task_names: tuple[str, ...]
    correlation: str
    cluster: str


@dataclass(frozen=True)
class Dependence:
    """How far the tasks of a revision depend on each other, in words and as tables.

    Attributes:
        sentence: what was measured.
        short: the same for the board, in half a sentence; empty where the assumption is about right.
        pairs: the most correlated ones; `n_pairs` counts all that luck does not explain.
        suggestions: what to declare, strongest first.
    """

    sentence: str
    short: str = ""
    pairs: list[DependentPair] = field(default_factory=list)
    n_pairs: int = 0
    suggestions: list[ClusterSuggestion] = field(default_factory=list)

    @property
    def pairs_note(self) -> str:
        """How many pairs there are where only the strongest are listed."""
        return (
            ""
            if self.n_pairs <= len(self.pairs)
            else gettext("The strongest %(n_pairs)s of %(n_pairs2)s pairs.")
            % {"n_pairs": len(self.pairs), "n_pairs2": f"{self.n_pairs:,}"}
        )


def dependence_of(summary: Mapping[str, Any] | None, tasks: Sequence[ConfiguredTask]) -> Dependence | None:
    """What the report of significance says of the dependence of tasks; None where it is not stored.

    Args:
        summary: the report's; None where there is no report.
        tasks: those of the revision's configuration, in its order.
    """
    measured = None if summary is None else summary.get("dependence")
    if measured is None:
        return None
    if measured["reason"]:
        return Dependence(
            gettext("The scores cannot show whether the tasks are independent: %(reason)s.")
            % {"reason": measured["reason"]}
        )
    names = [task.name for task in tasks]
    clusters: list[list[int]] = measured["clusters"]
    effective, n_clusters, n_tasks = measured["effective_number"], len(clusters), sum(map(len, clusters))
    text = localise(effective, ".0f") if effective >= 10 else localise(effective, ".1f")
    what = tasks_phrase(n_clusters, n_tasks)
    if effective < MATTERS_BELOW * n_clusters:
        sentence = gettext(
            "The tests assume %(what)s. The scores disagree: the tasks carry about as much information as %(text)s "
            "independent ones. The tests find differences too easily and the rank intervals are too narrow until "
            "tasks that belong together are declared as clusters."
        ) % {"what": what, "text": text}
        short = gettext("the %(n)s tasks overlap and carry the information of about %(text)s independent ones")
        if n_clusters != n_tasks:
            short = gettext("the %(n)s clusters overlap and carry the information of about %(text)s independent ones")
        short %= {"n": n_clusters, "text": text}
    else:
        sentence = gettext(
            "The tests assume %(what)s. The scores agree with that: the tasks carry about as much information as "
            "%(text)s independent ones."
        )
        if measured["pairs"]:
            sentence = gettext(
                "The tests assume %(what)s. As a whole the tasks carry about as much information as %(text)s "
                "independent ones, but some of them favour the same systems more than luck explains."
            )
        sentence, short = sentence % {"what": what, "text": text}, ""
    return Dependence(
        sentence,
        short,
        [
            DependentPair(
                _cluster_text([tasks[t] for t in clusters[pair["first"]]]),
                _cluster_text([tasks[t] for t in clusters[pair["second"]]]),
                signed(pair["correlation"]),
                pair["n_systems"],
            )
            for pair in measured["pairs"][:MAX_PAIRS]
        ],
        len(measured["pairs"]),
        [
            ClusterSuggestion(
                number,
                tuple(tasks[t].key for t in suggestion["tasks"]),
                tuple(names[t] for t in suggestion["tasks"]),
                signed(suggestion["correlation"]),
                cluster_name([names[t] for t in suggestion["tasks"]]),
            )
            for number, suggestion in enumerate(measured["suggested"])
        ],
    )


def published_dependence(publication: Publication | None) -> Dependence | None:
    """What is said of the tasks of a publication; None where nothing is stored of them."""
    if publication is None:
        return None
    report = publication.revision.reports.filter(
        kind=SIGNIFICANCE, engine_version=publication.engine_version
    ).defer("arrays").order_by("pk").last()  # fmt: skip
    tasks = configuration_of(publication.revision).tasks
    return dependence_of(None if report is None else report.summary, tasks)


def overlap_text(published: PublishedBoard) -> str:
    """What the tasks carry less than they count for, as half a sentence; empty where nothing says so."""
    dependence = dependence_of(published.tests, configuration_of(published.revision).tasks)
    return dependence.short if dependence else ""


def cluster_name(names: Sequence[str]) -> str:
    """A name for a cluster of tasks: the words that their names begin with, or the first of them `and others`."""
    shared: list[str] = []
    for words in zip(*(name.split() for name in names), strict=False):
        if len(set(words)) > 1:
            break
        shared.append(words[0])
    return " ".join(shared).rstrip(" -:,") or gettext("%(name)s and others") % {"name": names[0]}


def _cluster_text(tasks: Sequence[ConfiguredTask]) -> str:
    """The name of a task, or of the cluster that the owners declared; of a group the names of its tasks."""
    declared = tasks[0].cluster if len(tasks) > 1 else None
    return declared or in_words([task.name for task in tasks], MAX_NAMES)
