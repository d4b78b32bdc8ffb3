"""The history of a benchmark."""

from rest_framework import serializers as s

from leaderboard.api.shapes.benchmarks import GroupEntry, TaskEntry
from leaderboard.api.shapes.parts import JobState
from leaderboard.models import Benchmark, Revision


class RevisionEntry(s.Serializer):
    """One state of a benchmark's inputs."""

    revision = s.IntegerField()
    cause = s.ChoiceField(choices=Revision.Cause.values)
    author = s.CharField(allow_null=True, help_text="The display name of who caused it.")
    note = s.CharField(allow_blank=True)
    created_at = s.DateTimeField()
    input_hash = s.CharField(allow_null=True)
    is_published = s.BooleanField()
    contains_withdrawn_material = s.BooleanField(help_text="Scores that held at it were taken down since.")
    published_at = s.DateTimeField(allow_null=True)
    engine_version = s.CharField(allow_null=True)
    jobs = JobState(many=True)


class RevisionPage(s.Serializer):
    """A page of revisions, newest first."""

    revision = s.IntegerField(allow_null=True, help_text="The published one.")
    next = s.URLField(allow_null=True)
    results = RevisionEntry(many=True)


class ConfigurationEntry(s.Serializer):
    """Tasks, groups, γ and policies as they were."""

    groups = GroupEntry(many=True)
    tasks = TaskEntry(many=True)
    gamma = s.FloatField(allow_null=True)
    missing_policy = s.ChoiceField(choices=Benchmark.MissingPolicy.values)
    aggregation = s.ChoiceField(choices=Benchmark.Aggregation.values)
    replacement = s.ChoiceField(choices=Benchmark.Replacement.values)


class RevisionDetail(RevisionEntry):
    """A revision with its configuration."""

    configuration = ConfigurationEntry()
