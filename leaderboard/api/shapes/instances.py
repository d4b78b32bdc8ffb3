"""The shapes of answers about single instances, for the schema alone."""

from rest_framework import serializers as s

from leaderboard.api.shapes.parts import NamedSystem, Published


class RankAndScore(s.Serializer):
    """What one aggregation says of a system."""

    rank = s.IntegerField()
    score = s.FloatField(help_text="Borda points, or the mean, oriented so that higher is better.")


class InstanceRow(NamedSystem):
    """A system with scores of single instances."""

    n_instances = s.IntegerField(help_text="On which it has a score.")
    two_level = RankAndScore()
    one_level = RankAndScore()
    mean = RankAndScore()


class InstanceTask(s.Serializer):
    """A task whose instances count."""

    task = s.CharField(help_text="Its key.")
    n_instances = s.IntegerField()
    n_systems = s.IntegerField()
    n_other_set = s.IntegerField(help_text="Systems that are left out, because they were scored on other instances.")


class InstancePair(s.Serializer):
    """Two systems that follow each other on the board."""

    systems = s.ListField(child=s.CharField(), help_text="Their keys, the one ahead first.")
    difference = s.FloatField(allow_null=True, help_text="Mean over tasks of the mean over common instances.")
    lower = s.FloatField(allow_null=True)
    upper = s.FloatField(allow_null=True)
    n_common = s.IntegerField(help_text="Instances on which both have a score.")
    p_adjusted = s.FloatField(help_text="Of the sign-flip test, after Holm's adjustment over these pairs.")
    verdict = s.CharField()


class Instances(Published):
    """Ranks by single instances."""

    state = s.ChoiceField(choices=["none", "computing", "failed", "undefined", "there"])
    reason = s.CharField(allow_blank=True)
    parameters = s.DictField(help_text="Of the intervals and the tests; empty while they are not there.")
    tasks = InstanceTask(many=True)
    neighbours_under = s.CharField(allow_blank=True, help_text="The rule's key, or `two_level`.")
    neighbours = InstancePair(many=True)
    next = s.URLField(allow_null=True)
    results = InstanceRow(many=True)


class InstanceVector(NamedSystem):
    """A system's scores on the instances of a task."""

    submission = s.UUIDField(help_text="The submission that they come from.")
    scores = s.ListField(child=s.FloatField(allow_null=True), help_text="In the order of `instances`.")


class InstanceScorePage(Published):
    """A page of systems, by key, with their scores on the instances of one task."""

    task = s.CharField(help_text="Its key.")
    instances = s.ListField(child=s.CharField(), help_text="Their names; empty where the task has none.")
    n_other_set = s.IntegerField(help_text="Systems that are left out, because they were scored on other instances.")
    next = s.URLField(allow_null=True)
    results = InstanceVector(many=True)
