"""The shapes of answers about single instances: ranks by them, their errors, items, and their scores."""

from typing import Any

from rest_framework import serializers as s

from leaderboard.api.protocol.base import NamedSystemSerializer, PublishedSerializer
from leaderboard.api.protocol.fields import Shape
from leaderboard.studies.instances_page import NeighbourRow, SystemRow
from ranking_engine.core.decimals import finite_or_none
from ranking_engine.core.first_places import SharedFirstPlaces
from ranking_engine.core.instances import AGGREGATIONS


class RankAndScoreSerializer(Shape):
    """What one aggregation says of a system."""

    rank = s.IntegerField()
    score = s.FloatField(help_text="Borda points, or the mean, oriented so that higher is better.")


class RedrawnRankSerializer(Shape):
    """A system's rank under one statistic, and between which ranks it is if something is drawn again."""

    rank = s.IntegerField()
    instances = s.ListField(child=s.IntegerField(), allow_null=True, help_text="Both ends; instances are drawn again.")
    tasks = s.ListField(child=s.IntegerField(), allow_null=True, help_text="Tasks are; null with fewer than 8.")
    both = s.ListField(child=s.IntegerField(), allow_null=True, help_text="Tasks are, and instances within them.")
    instance_share = s.FloatField(
        allow_null=True, help_text="The part of the uncertainty of its lead over the average that instances cause."
    )


class RedrawnRanksSerializer(Shape):
    """By the mean of the tasks' means, and by the mean of the places on them."""

    mean = RedrawnRankSerializer()
    places = RedrawnRankSerializer()


class InstanceRowSerializer(NamedSystemSerializer):
    """A system with scores of single instances."""

    system = s.CharField(source="key")
    n_instances = s.IntegerField(help_text="On which it has a score.")
    two_level = RankAndScoreSerializer()
    one_level = RankAndScoreSerializer()
    mean = RankAndScoreSerializer()
    rank_intervals = RedrawnRanksSerializer(
        allow_null=True, help_text="From `n_redrawn` draws of each kind; null in reports of earlier versions."
    )

    def value_of_rank_intervals(self, row: SystemRow) -> dict[str, Any] | None:
        """The ends, by statistic."""
        return {
            statistic: {"rank": one.rank, "instance_share": finite_or_none(one.instance_share), **one.intervals}
            for statistic, one in row.redrawn.items()
        } or None

    def value_of_two_level(self, row: SystemRow) -> dict[str, Any]:
        """By tasks, then by instances."""
        return row.cells[AGGREGATIONS.index("two_level")]

    def value_of_one_level(self, row: SystemRow) -> dict[str, Any]:
        """By all instances alike."""
        return row.cells[AGGREGATIONS.index("one_level")]

    def value_of_mean(self, row: SystemRow) -> dict[str, Any]:
        """By the mean of the scores."""
        return row.cells[AGGREGATIONS.index("mean")]


class InstanceTaskSerializer(Shape):
    """A task whose instances count."""

    task = s.CharField(help_text="Its key.")
    n_instances = s.IntegerField()
    n_clusters = s.IntegerField(help_text="That count as one in errors and tests; all instances where none are stated.")
    n_systems = s.IntegerField()
    n_other_set = s.IntegerField(help_text="Systems that are left out, because they were scored on other instances.")


class InstancePairSerializer(Shape):
    """Two systems that follow each other on the board."""

    systems = s.ListField(child=s.CharField(), help_text="Their keys, the one ahead first.")
    difference = s.FloatField(allow_null=True, help_text="Mean over tasks of the mean over common instances.")
    lower = s.FloatField(allow_null=True)
    upper = s.FloatField(allow_null=True)
    n_common = s.IntegerField(help_text="Instances on which both have a score.")
    p_adjusted = s.FloatField(help_text="Of the sign-flip test, after Holm's adjustment over these pairs.")
    verdict = s.CharField()
    standard_error = s.FloatField(
        allow_null=True, help_text="Of the paired difference, if instances were drawn again; null with too few."
    )
    detectable = s.FloatField(
        allow_null=True, help_text="The least true difference that a test of this pair finds in 80 % of cases."
    )
    task_error = s.FloatField(
        allow_null=True, help_text="The standard error if tasks were drawn again, and instances with them."
    )
    instance_share = s.FloatField(
        allow_null=True, help_text="The part of the square of `task_error` that comes from instances, 0 to 1."
    )

    def value_of_systems(self, pair: NeighbourRow) -> list[str]:
        """The keys of both."""
        return [pair.first.key, pair.second.key]

    def value_of_difference(self, pair: NeighbourRow) -> float | None:
        """The mean over tasks."""
        return finite_or_none(pair.difference)

    def value_of_lower(self, pair: NeighbourRow) -> float | None:
        """The lower end of its interval."""
        return finite_or_none(pair.lower)

    def value_of_upper(self, pair: NeighbourRow) -> float | None:
        """The upper end of its interval."""
        return finite_or_none(pair.upper)

    def value_of_standard_error(self, pair: NeighbourRow) -> float | None:
        """Of the difference."""
        return finite_or_none(pair.standard_error)

    def value_of_detectable(self, pair: NeighbourRow) -> float | None:
        """The least difference that is found."""
        return finite_or_none(pair.detectable)

    def value_of_task_error(self, pair: NeighbourRow) -> float | None:
        """For tasks drawn again."""
        return finite_or_none(pair.task_error)

    def value_of_instance_share(self, pair: NeighbourRow) -> float | None:
        """What instances contribute to it."""
        return finite_or_none(pair.instance_share)


class SharedFirstPlacesSerializer(Shape):
    """Two of `two_level`, `one_level` and `mean`, at several numbers of first places."""

    first = s.CharField()
    second = s.CharField()
    places = s.ListField(child=s.IntegerField(), help_text="The numbers k.")
    agreement = s.ListField(
        child=s.FloatField(allow_null=True),
        help_text="The share of the first k places that both give to the same systems.",
    )
    n_common = s.ListField(child=s.IntegerField(), help_text="Systems at rank k or better in both.")
    tau = s.ListField(child=s.FloatField(allow_null=True), help_text="Kendall's tau-b on these.")

    def value_of_agreement(self, shared: SharedFirstPlaces) -> list[float | None]:
        """The shares; null where fewer than k systems are ranked."""
        return [finite_or_none(rate) for rate in shared.agreement]

    def value_of_tau(self, shared: SharedFirstPlaces) -> list[float | None]:
        """The correlations; null where there is none."""
        return [finite_or_none(tau) for tau in shared.tau]


class SuspectItemSerializer(Shape):
    """An instance whose label may be wrong."""

    instance = s.CharField(help_text="Its name, at most 120 letters of it.")
    share_right = s.FloatField(help_text="Of the systems.")
    discrimination = s.FloatField()
    chance_negative = s.FloatField(
        help_text="That the discrimination is below 0, by a normal approximation; too high with few systems."
    )


class AnchorItemSerializer(Shape):
    """An instance that stands for several."""

    instance = s.CharField(help_text="Its name, at most 120 letters of it.")
    weight = s.FloatField(help_text="The share of the task that it counts for.")


class AnchorCostSerializer(Shape):
    """What using fewer instances costs, on systems without a part in their choice."""

    n_items = s.IntegerField()
    error = s.FloatField(help_text="The mean absolute error of a system's score from so many anchors.")
    random_error = s.FloatField(help_text="The same from as many instances at random.")


class TaskItemsSerializer(Shape):
    """The instances of a task as items of a test."""

    task = s.CharField(help_text="Its key.")
    n_items = s.IntegerField()
    n_all_right = s.IntegerField(help_text="Every system gets them right.")
    n_none_right = s.IntegerField()
    reason = s.CharField(allow_blank=True, help_text="Why no response model was fitted; otherwise empty.")
    suspects = SuspectItemSerializer(many=True, help_text="At most 20, the likeliest first.")
    costs = AnchorCostSerializer(many=True)
    anchors = AnchorItemSerializer(many=True, help_text="The fewest with a mean error of at most 0.02.")


class InstancesSerializer(PublishedSerializer):
    """Ranks by single instances."""

    state = s.ChoiceField(choices=["none", "computing", "failed", "undefined", "there"], source="page.state")
    reason = s.CharField(source="page.reason", allow_blank=True)
    parameters = s.DictField(help_text="Of the intervals and the tests; empty while they are not there.")
    tasks = InstanceTaskSerializer(many=True, source="page.tasks")
    neighbours_under = s.CharField(source="page.rule", allow_blank=True, help_text="The rule's key, or `two_level`.")
    neighbours = InstancePairSerializer(many=True, source="page.neighbours")
    first_places = SharedFirstPlacesSerializer(many=True, source="page.first_places")
    task_subsets = s.DictField(
        child=s.ListField(child=s.FloatField(allow_null=True)),
        help_text="For `two_level`, `one_level` and `mean`: Kendall's tau-b between the ranking on k tasks, drawn at "
        "random, and the one on all, for k = 1, 2, ...; the mean of `n_task_subset_draws` draws. Empty without draws.",
    )
    n_task_subset_draws = s.IntegerField(source="page.n_subset_draws")
    items = TaskItemsSerializer(
        many=True, source="page.items_summary", help_text="By task; empty in reports of earlier versions."
    )
    n_redrawn = s.IntegerField(source="page.n_redrawn", help_text="Draws behind each of `rank_intervals`; 0 without.")
    count = s.IntegerField(help_text="Of all pages.")
    next = s.URLField(allow_null=True)
    results = InstanceRowSerializer(many=True)

    def value_of_parameters(self, content: dict[str, Any]) -> dict[str, Any]:
        """Those of the intervals and tests."""
        return content["page"].parameters or {}

    def value_of_task_subsets(self, content: dict[str, Any]) -> dict[str, list[float | None]]:
        """The curves."""
        return {key: [finite_or_none(tau) for tau in taus] for key, taus in content["page"].subset_taus.items()}


class InstanceVectorSerializer(NamedSystemSerializer):
    """A system's scores on the instances of a task."""

    system = s.CharField(source="system.key")
    name = s.CharField(source="system.name")
    submission = s.UUIDField(help_text="The submission that they come from.")
    scores = s.ListField(child=s.FloatField(allow_null=True), source="values", help_text="In the order of `instances`.")


class InstanceScorePageSerializer(PublishedSerializer):
    """A page of systems, by key, with their scores on the instances of one task."""

    task = s.CharField(help_text="Its key.")
    instances = s.ListField(child=s.CharField(), help_text="Their names; empty where the task has none.")
    clusters = s.ListField(
        child=s.CharField(allow_blank=True),
        help_text="The cluster of each, empty for one by itself; empty where no clusters are stated.",
    )
    n_other_set = s.IntegerField(help_text="Systems that are left out, because they were scored on other instances.")
    count = s.IntegerField(help_text="Of all pages.")
    next = s.URLField(allow_null=True)
    results = InstanceVectorSerializer(many=True)
