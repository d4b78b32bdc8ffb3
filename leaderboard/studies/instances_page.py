"""What the page of single instances shows: ranks under each aggregation, and neighbours that differ significantly."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import isnan, nan
from typing import Any

from django.utils.translation import gettext, gettext_noop

from leaderboard.common.language.engine import in_page_language
from leaderboard.common.language.numbers import localise
from leaderboard.common.text import figure_text, in_words, signed
from leaderboard.computing.task_distances import published_ranking
from leaderboard.models import Job, Publication
from leaderboard.queue.kinds import INSTANCES
from leaderboard.queue.queries import error_line, job_of
from leaderboard.rankings.configuration import configuration_of
from leaderboard.rankings.scores import BoardSystem, systems_at
from leaderboard.studies.instance_sentences import neighbours_sentence, winners_sentence
from leaderboard.studies.instances import instance_report
from leaderboard.studies.items import ItemsOfTask, items_sentence, items_shown
from leaderboard.studies.redrawn_ranks import RedrawnRow, RedrawnTable, redrawn_tables
from ranking_engine.core.first_places import SharedFirstPlaces, shared_first_places
from ranking_engine.core.instances import AGGREGATIONS
from ranking_engine.stability.instance_subsets import shown_sizes

NAMES = {"two_level": gettext_noop("Two levels"), "one_level": gettext_noop("One level"), "mean": gettext_noop("Mean")}
NAMES_OF_TWO = {
    ("two_level", "one_level"): gettext_noop("Two levels and one level"),
    ("two_level", "mean"): gettext_noop("Two levels and mean"),
    ("one_level", "mean"): gettext_noop("One level and mean"),
}
# As VERDICTS of the engine, whose tests are of tasks: as the API says them, and as the page does.
INSTANCE_VERDICTS = ("too few instances to tell", "not separable", "separable", "contradicted", "tied")
VERDICT_TEXTS = {
    "too few instances to tell": gettext_noop("too few instances to tell"),
    "not separable": gettext_noop("not significant"),
    "separable": gettext_noop("significant"),
    "contradicted": gettext_noop("contradicted"),
    "tied": gettext_noop("tied"),
}
ERRORS = ("standard_error", "detectable", "task_error", "instance_share")
NONE, COMPUTING, FAILED, UNDEFINED, THERE = "none", "computing", "failed", "undefined", "there"


def _figure(number: float) -> str:
    """As `figure_text`; nothing for NaN."""
    return "" if isnan(number) else figure_text(number)


@dataclass(frozen=True)
class SystemRow:
    """One system with instance scores."""

    key: str
    name: str
    n_instances: int
    cells: list[dict[str, Any]]  # rank, whether others share it, and score under each of AGGREGATIONS
    redrawn: dict[str, RedrawnRow]  # by statistic; empty in reports of earlier versions

    @property
    def shown_mean(self) -> str:
        """The mean over tasks, for a page."""
        return _figure(self.cells[AGGREGATIONS.index("mean")]["score"])


@dataclass(frozen=True)
class NeighbourRow:
    """Two systems that follow each other on the board."""

    first: BoardSystem
    second: BoardSystem
    difference: float
    lower: float
    upper: float
    n_common: int
    p_adjusted: float
    verdict: str
    # NaN where there are too few instances or tasks, and in reports of earlier versions:
    standard_error: float
    detectable: float
    task_error: float
    instance_share: float

    @property
    def difference_text(self) -> str:
        """The difference, for a page."""
        return _figure(self.difference)

    @property
    def interval_text(self) -> str:
        """The interval; nothing where there are too few instances for one."""
        if isnan(self.lower):
            return ""
        return gettext("%(low)s to %(high)s") % {"low": _figure(self.lower), "high": _figure(self.upper)}

    @property
    def error_text(self) -> str:
        """The standard error of the difference."""
        return _figure(self.standard_error)

    @property
    def detectable_text(self) -> str:
        """The least true difference that a test finds in four of five cases; nothing where it is not known."""
        return _figure(self.detectable)

    @property
    def share_text(self) -> str:
        """The part of the uncertainty that comes from instances, and the rest from tasks."""
        if isnan(self.instance_share):
            return ""
        instances = round(100 * self.instance_share)
        shares = {"instances": instances, "tasks": 100 - instances}
        return gettext("%(instances)s %% instances, %(tasks)s %% tasks") % shares

    @property
    def verdict_text(self) -> str:
        """The verdict, for a page."""
        return gettext(VERDICT_TEXTS[self.verdict])

    @property
    def p_text(self) -> str:
        """The p-value, for a page."""
        return f"< {localise(0.001, 'g')}" if self.p_adjusted < 0.001 else localise(self.p_adjusted, ".3f")


@dataclass(frozen=True)
class FirstPlacesRow:
    """Two aggregations at several numbers of first places, as texts."""

    name: str
    agreement: list[str]
    tau: list[str]


@dataclass(frozen=True)
class InstancesPage:
    """What is known of a publication's instances.

    Attributes:
        state: `none` where no system has instance scores, `computing`, `failed`, `undefined`, or `there`.
        reason: why it failed, or is undefined.
        sentence: what the aggregations say of the first rank, and on which tasks where it is not all.
        separability: how many neighbours differ significantly, and under which rule they are neighbours.
        rows: by their rank under `two_level`.
        subset_taus: by aggregation the mean tau-b of the ranking on k tasks with that on all, for k = 1, 2, ...
        n_subset_draws: over so many orders of the tasks.
        first_places: how far every two aggregations share the first places.
        neighbours: in the order of the board.
        power: how small a difference the instances can show, in a sentence.
        redrawn: rank intervals by statistic; none in reports of earlier versions.
        n_redrawn: over so many draws.
        items: the instances as items of a test, by task; none in reports of earlier versions.
        items_summary: what is stored of them.
        tasks: with their numbers of instances and systems.
        parameters: of the intervals and tests.
        rule: under which systems are neighbours: a rule's key, or `two_level`.
        n_unscored: systems on the board without instance scores.
        n_board_tasks: how many tasks count on the board, with those without instance scores.
    """

    state: str
    reason: str = ""
    sentence: str = ""
    separability: str = ""
    rows: Sequence[SystemRow] = ()
    subset_taus: Mapping[str, list[float]] = field(default_factory=dict)
    n_subset_draws: int = 0
    first_places: Sequence[SharedFirstPlaces] = ()
    neighbours: Sequence[NeighbourRow] = ()
    power: str = ""
    redrawn: Sequence[RedrawnTable] = ()
    items: Sequence[ItemsOfTask] = ()
    items_summary: Sequence[Mapping[str, Any]] = ()
    n_redrawn: int = 0
    tasks: Sequence[dict[str, Any]] = ()
    parameters: dict[str, Any] | None = None
    rule: str = ""
    n_unscored: int = 0
    n_board_tasks: int = 0

    @property
    def is_of_more_tasks(self) -> bool:
        """Whether the order of the neighbours is that of the board, some tasks of which have no instance scores."""
        return len(self.tasks) < self.n_board_tasks and self.rule != "two_level"

    @property
    def task_names(self) -> str:
        """The tasks that have scores of single instances, in words."""
        return in_words([task["name"] for task in self.tasks])

    @property
    def items_sentence(self) -> str:
        """How many instances separate no one; empty without items."""
        return items_sentence(self.items)

    @property
    def level_text(self) -> str:
        """In what share of the draws a rank is within its interval."""
        return f"{localise(100 * (1 - self.parameters['level']), 'g')} %" if self.parameters else ""

    @property
    def places(self) -> tuple[int, ...]:
        """How many first places are compared; none where a single task gives all three the same order."""
        figures = [value for one in self.first_places for value in (*one.agreement, *one.tau)]
        if not self.first_places or (len(self.tasks) == 1 and all(isnan(value) or value == 1 for value in figures)):
            return ()
        return self.first_places[0].places

    @property
    def subset_sizes(self) -> list[int]:
        """The numbers of tasks that the table has."""
        return shown_sizes(len(self.subset_taus["mean"])) if self.subset_taus else []

    @property
    def subset_rows(self) -> list[tuple[str, list[str]]]:
        """A row for every aggregation: its name, and the tau-b at each of these numbers."""
        return [
            (gettext(NAMES[key]), [signed(taus[k - 1]) for k in self.subset_sizes])
            for key, taus in self.subset_taus.items()
        ]

    @property
    def first_places_rows(self) -> list[FirstPlacesRow]:
        """A row for every two aggregations."""
        return [
            FirstPlacesRow(
                gettext(NAMES_OF_TWO[one.first, one.second]),
                ["–" if isnan(rate) else f"{localise(100 * rate, '.0f')} %" for rate in one.agreement],
                [signed(tau) for tau in one.tau],
            )
            for one in self.first_places
        ]


def instances_page(publication: Publication | None, *, has_items: bool) -> InstancesPage:
    """What the instances of a publication say, or why nothing is there.

    Args:
        publication: None while nothing is published.
        has_items: whether it says something of single instances, which readers of hidden references do not see.
    """
    if publication is None:
        return InstancesPage(NONE)
    report = instance_report(publication)
    if report is None:
        job = job_of(publication.revision_id, INSTANCES)
        if job is None:
            return InstancesPage(NONE)
        if job.state == Job.State.FAILED:
            return InstancesPage(FAILED, reason=error_line(job.error))
        if job.state == Job.State.SUPERSEDED:
            return InstancesPage(UNDEFINED, reason=gettext("it was cancelled because a newer revision exists"))
        return InstancesPage(COMPUTING)
    if report.summary["status"] != THERE:
        return InstancesPage(UNDEFINED, reason=in_page_language(report.summary["reason"]))
    systems = systems_at(publication.revision)
    configuration = configuration_of(publication.revision)
    names, n_voting = configuration.task_names, sum(task.votes for task in configuration.tasks)
    arrays = report.arrays
    ranks = {key: report.ranks(key) for key in AGGREGATIONS}
    two_level = ranks["two_level"]
    ranked = sorted((int(two_level[i]), i) for i in range(len(systems)) if two_level[i] >= 1)
    neighbours = [
        NeighbourRow(
            systems[i],
            systems[j],
            float(arrays["difference"][k]),
            float(arrays["lower"][k]),
            float(arrays["upper"][k]),
            int(arrays["n_common"][k]),
            float(arrays["p_adjusted"][k]),
            INSTANCE_VERDICTS[arrays["verdicts"][k]],
            *(float(arrays[name][k]) if name in arrays else nan for name in ERRORS),
        )
        for k, (i, j) in enumerate(arrays["pairs"].tolist())
    ]
    # Reports of earlier versions know no clusters.
    tasks = [
        {"n_clusters": task["n_instances"]} | task | {"name": names.get(task["task"], task["task"])}
        for task in report.summary["tasks"]
    ]
    redrawn = redrawn_tables(arrays, systems, len(tasks))
    redrawn_of = {table.statistic: {row.key: row for row in table.rows} for table in redrawn}
    return InstancesPage(
        THERE,
        sentence=winners_sentence(
            {key: [systems[i].name for i in places] for key, places in report.winners.items()},
            [task["name"] for task in tasks],
            n_voting,
        ),
        separability=neighbours_sentence(report.summary, report.parameters["level"]),
        rows=[
            SystemRow(
                systems[i].key,
                systems[i].name,
                int(arrays["n_instances"][i]),
                [
                    {
                        "rank": int(ranks[key][i]),
                        "is_tied": int((ranks[key] == ranks[key][i]).sum()) > 1,
                        "score": float(arrays[f"scores_{key}"][i]),
                    }
                    for key in AGGREGATIONS
                ],
                {statistic: by_key[systems[i].key] for statistic, by_key in redrawn_of.items()},
            )
            for _, i in ranked
        ],
        subset_taus=report.subset_taus,
        n_subset_draws=report.summary.get("n_subset_draws", 0),
        first_places=shared_first_places({key: published_ranking(key, ranks[key]) for key in AGGREGATIONS}),
        neighbours=neighbours,
        power=_power_sentence(neighbours),
        redrawn=redrawn if len(tasks) > 1 else redrawn[:1],  # of a single task all are the same
        items=items_shown(report.summary, arrays, names) if has_items else (),
        items_summary=report.summary.get("items", []) if has_items else (),
        n_redrawn=report.summary.get("n_redrawn", 0),
        tasks=tasks,
        parameters=report.parameters,
        rule=report.summary["rule"],
        n_unscored=int((two_level < 1).sum()),
        n_board_tasks=n_voting,
    )


def _power_sentence(neighbours: Sequence[NeighbourRow]) -> str:
    """How small a difference between two systems the instances can show, in a sentence; empty where it is not known."""
    known = [row for row in neighbours if not isnan(row.detectable)]
    if not known:
        return ""
    first, second = known[0].first.name, known[0].second.name
    return gettext(
        "With %(n_common)s common instances a true difference of %(detectable_text)s between %(first)s and %(second)s "
        "is found in 80 %% of cases by a test of this pair alone. Smaller ones are missed more often; the verdicts "
        "below, adjusted over all pairs, need larger ones."
    ) % {
        "n_common": localise(known[0].n_common, ","),
        "detectable_text": known[0].detectable_text,
        "first": first,
        "second": second,
    }
