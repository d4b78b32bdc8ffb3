"""The properties of rules on a benchmark, and all benchmarks side by side."""

from rest_framework import serializers as s

from leaderboard.api.shapes.parts import Published


class PropertyEntry(s.Serializer):
    """A property, whether the rule has it, and what was found in the benchmark's own scores."""

    name = s.CharField()
    definition = s.CharField()
    holds = s.BooleanField(help_text="With complete scores, on every board.")
    source = s.CharField(allow_blank=True)  # type: ignore[assignment]
    found = s.CharField(allow_blank=True, help_text="A violation here, or how hard one was looked for.")
    is_violated = s.BooleanField(help_text="Whether `found` is a violation.")


class RulePropertiesDetail(Published):
    """The properties of one rule."""

    rule = s.CharField()
    state = s.ChoiceField(choices=["computed", "computing", "failed", "undefined"])
    reason = s.CharField(allow_blank=True, help_text="Why there is no search, where `state` is `undefined`.")
    results = PropertyEntry(many=True)


class Bounds(s.Serializer):
    """What is known of a share."""

    lower = s.FloatField()
    upper = s.FloatField()


class LandscapeEntry(s.Serializer):
    """One benchmark; null where nothing is computed."""

    key = s.CharField()
    name = s.CharField()
    diversity = s.FloatField(allow_null=True, help_text="1 - Kendall's W of the tasks, corrected for ties.")
    cardinal_sensitivity = Bounds(allow_null=True, help_text="The share of pairs that other weights turn round.")
    ordinal_sensitivity = Bounds(allow_null=True, help_text="The share of pairs that other systems turn round.")


class LandscapePage(s.Serializer):
    """A page of benchmarks, by key."""

    next = s.URLField(allow_null=True)
    results = LandscapeEntry(many=True)
