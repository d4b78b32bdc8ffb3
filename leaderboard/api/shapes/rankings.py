"""Rankings, and the catalogue of rules."""

from rest_framework import serializers as s

from leaderboard.api.shapes.parts import JobState, NamedSystem, Published
from leaderboard.models import Benchmark

STATUS = ["ranked", "winner_only", "no_winner", "undefined", "failed", "computing"]


class RankingHead(s.Serializer):
    """What a rule makes of the board as a whole."""

    rule = s.CharField()
    name = s.CharField()
    family = s.CharField()
    status = s.ChoiceField(choices=STATUS)
    reason = s.CharField(allow_blank=True, help_text="Why there is no ranking or no winner.")
    remark = s.CharField(allow_blank=True, help_text="What to know beside the ranks, such as a proof of optimality.")
    n_ranked = s.IntegerField()
    winners = NamedSystem(many=True)


class Rankings(Published):
    """All rules of a revision."""

    missing = s.ChoiceField(choices=Benchmark.MissingPolicy.values, help_text="The policy for missing scores in force.")
    aggregation = s.ChoiceField(choices=Benchmark.Aggregation.values, help_text="How tasks and groups count together.")
    weights = s.DictField(child=s.CharField(), help_text="Of tasks: those that differ from the revision's own.")
    group_weights = s.DictField(child=s.CharField(), help_text="Of groups: those that differ from the revision's own.")
    verdict = s.CharField(allow_blank=True, help_text="Who is elected by which rules, in a sentence.")
    jobs = JobState(many=True)
    results = RankingHead(many=True)


class RankingRow(NamedSystem):
    """One system under the rule."""

    rank = s.IntegerField(allow_null=True)
    score = s.FloatField(allow_null=True, help_text="The rule's own score; higher is better.")
    interval = s.ListField(
        child=s.IntegerField(),
        allow_null=True,
        help_text="Least and greatest rank if the same tasks were drawn anew with replacement; of it by itself.",
    )
    simultaneous_interval = s.ListField(
        child=s.IntegerField(),
        allow_null=True,
        help_text="Least and greatest rank likewise, wide enough to hold for all systems at once.",
    )
    possibly_best = s.BooleanField(
        allow_null=True, help_text="Whether no other system is clearly ahead; null where that is not computed."
    )
    reason = s.CharField(allow_null=True, help_text="Why it has no rank.")
    inseparable = s.ListField(
        child=s.IntegerField(),
        allow_null=True,
        help_text="The ranks between which it cannot be told apart from others; null where from none, or not tested.",
    )


class Intervals(s.Serializer):
    """What the rank intervals are: so many draws of the same tasks with replacement, with this seed."""

    status = s.CharField()
    reason = s.CharField(allow_blank=True, help_text="Why there are none.")
    level = s.FloatField(help_text="Of each interval by itself, and of the simultaneous ones together.")
    n_resamples = s.IntegerField()
    n_clusters = s.IntegerField(
        allow_null=True, help_text="How many tasks are drawn, those of one cluster together: at least 8."
    )
    seed = s.IntegerField()
    typical_error = s.IntegerField(
        allow_null=True, help_text="By how many ranks other draws of as many would move half of the intervals at most."
    )
    largest_error = s.IntegerField(allow_null=True, help_text="By how many they would move any interval at most.")
    no_simultaneous = s.CharField(allow_blank=True, help_text="Why there are none of all systems at once.")


class RankingDetail(Published, RankingHead):
    """One rule's ranking: best first, unranked systems last."""

    missing = s.ChoiceField(choices=Benchmark.MissingPolicy.values, help_text="The policy for missing scores in force.")
    aggregation = s.ChoiceField(choices=Benchmark.Aggregation.values, help_text="How tasks and groups count together.")
    weights = s.DictField(child=s.CharField(), help_text="Of tasks: those that differ from the revision's own.")
    group_weights = s.DictField(child=s.CharField(), help_text="Of groups: those that differ from the revision's own.")
    jobs = JobState(many=True)
    intervals = Intervals(
        allow_null=True, help_text="Null while they are not computed, and where anything but the stored was asked for."
    )
    separability = s.CharField(
        allow_null=True, help_text="Which systems sign-flip tests over tasks tell apart; null while not computed."
    )
    next = s.URLField(allow_null=True)
    results = RankingRow(many=True)


class WeightsBody(s.Serializer):
    """How to rank: what is left out is the revision's own."""

    missing = s.ChoiceField(choices=Benchmark.MissingPolicy.values, required=False)
    aggregation = s.ChoiceField(choices=Benchmark.Aggregation.values, required=False)
    weights = s.DictField(
        child=s.CharField(), required=False, help_text="Of tasks by key: numbers, or texts such as `0.1` and `1/3`."
    )
    group_weights = s.DictField(child=s.CharField(), required=False, help_text="Of groups by key.")


class RuleEntry(s.Serializer):
    """A ranking rule."""

    key = s.CharField()
    name = s.CharField()
    family = s.CharField()
    summary = s.CharField()
    needs_complete = s.BooleanField(help_text="Whether a missing-score policy applies to it.")
    tie_convention = s.CharField(allow_null=True)
    omission = s.DictField(
        child=s.CharField(), help_text="By missing-score policy: whether leaving out a score can improve one's rank."
    )
    source = s.CharField()  # type: ignore[assignment]


class RuleList(s.Serializer):
    """The catalogue."""

    engine_version = s.CharField()
    next = s.URLField(allow_null=True)
    results = RuleEntry(many=True)
