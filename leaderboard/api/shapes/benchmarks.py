"""Benchmarks and their tasks."""

from rest_framework import serializers as s

from leaderboard.api.shapes.parts import REVISION, JobState, Published
from leaderboard.models import Benchmark, Task


class ListedBenchmark(s.Serializer):
    """One benchmark of the list."""

    key = s.CharField()
    name = s.CharField()
    summary = s.CharField(allow_blank=True, help_text="The first line of the description.")
    visibility = s.ChoiceField(choices=Benchmark.Visibility.values)
    revision = s.IntegerField(allow_null=True, help_text=REVISION)
    published_at = s.DateTimeField(allow_null=True)
    is_computing = s.BooleanField(help_text="A newer revision waits to be published.")
    n_systems = s.IntegerField()
    n_tasks = s.IntegerField()
    default_rule = s.CharField()
    is_failed = s.BooleanField(help_text="The newest revision could not be computed.")
    winner_names = s.ListField(child=s.CharField(), help_text="Of the default rule, at most 20.")
    n_winners = s.IntegerField()
    n_rules_electing = s.IntegerField()
    n_rules_electing_others = s.IntegerField(help_text="Rules that elect somebody else than the default rule.")


class BenchmarkPage(s.Serializer):
    """A page of benchmarks, by key."""

    next = s.URLField(allow_null=True)
    results = ListedBenchmark(many=True)


class BenchmarkDetail(Published):
    """A benchmark, and where its board stands."""

    key = s.CharField()
    name = s.CharField()
    description = s.CharField(allow_blank=True, help_text="Markdown.")
    visibility = s.ChoiceField(choices=Benchmark.Visibility.values)
    submission_policy = s.ChoiceField(choices=Benchmark.SubmissionPolicy.values)
    replacement = s.ChoiceField(choices=Benchmark.Replacement.values)
    default_rule = s.CharField()
    missing_policy = s.ChoiceField(choices=Benchmark.MissingPolicy.values)
    aggregation = s.ChoiceField(choices=Benchmark.Aggregation.values)
    gamma = s.FloatField(allow_null=True)
    source_url = s.CharField(allow_blank=True)
    licence = s.CharField(allow_blank=True)
    citation = s.CharField(allow_blank=True)
    tags = s.ListField(child=s.CharField())
    created_at = s.DateTimeField()
    last_revision = s.IntegerField(help_text="The last revision, published or not; 0 before the first scores.")
    is_computing = s.BooleanField()
    n_systems = s.IntegerField()
    n_tasks = s.IntegerField()
    n_voting_tasks = s.IntegerField()
    n_missing = s.IntegerField(help_text="Missing scores on voting tasks.")
    condorcet_winner = s.CharField(allow_null=True, help_text="The name of who wins every head-to-head.")
    may_submit = s.BooleanField(help_text="Whether the user of this request may submit here.")
    jobs = JobState(many=True)


class TaskEntry(s.Serializer):
    """A task as it was at the revision."""

    key = s.CharField()
    name = s.CharField()
    group = s.CharField(allow_null=True, help_text="The key of its group.")
    direction = s.ChoiceField(choices=Task.Direction.values, help_text="1 higher is better, -1 lower, 0 never votes.")
    weight = s.CharField(help_text="A decimal, exactly.")
    metric = s.CharField(allow_blank=True)
    unit = s.CharField(allow_blank=True)
    minimum = s.FloatField(allow_null=True)
    maximum = s.FloatField(allow_null=True)
    chance = s.FloatField(allow_null=True, help_text="The score of guessing.")
    precision = s.CharField(
        allow_null=True,
        help_text="A decimal: the smallest difference that means anything; scores are rounded to its multiples.",
    )
    cluster = s.CharField(
        allow_blank=True,
        help_text="Tasks of one cluster are not independent; where it is empty, the tasks of one group are one.",
    )


class GroupEntry(s.Serializer):
    """A task group as it was at the revision."""

    key = s.CharField()
    name = s.CharField()
    weight = s.CharField()


class TaskPage(s.Serializer):
    """A page of tasks, by key, with all groups."""

    revision = s.IntegerField(allow_null=True, help_text=f"{REVISION} Then the tasks are the present ones.")
    groups = GroupEntry(many=True)
    next = s.URLField(allow_null=True)
    results = TaskEntry(many=True)
