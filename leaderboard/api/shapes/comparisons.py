"""Systems held against each other, and rules: margins, pairs, what can be told apart, agreement."""

from rest_framework import serializers as s

from leaderboard.api.shapes.parts import NamedSystem, Published
from ranking_engine.stability.pair_tests import TIED, VERDICTS


class Margin(NamedSystem):
    """A system over one rival."""

    ahead = s.FloatField(help_text="The share of the voting weight on which the system is ahead of the rival.")
    behind = s.FloatField()
    verdict = s.ChoiceField(choices=["beats", "loses", "level"], help_text="By weight, exactly.")


class MarginRow(NamedSystem):
    """A system over all rivals with a common voting task."""

    n_beaten = s.IntegerField()
    n_lost = s.IntegerField()
    n_level = s.IntegerField()
    rivals = Margin(many=True)


class MarginPage(Published):
    """A page of systems, by key, each with all of its margins."""

    aggregation = s.CharField(help_text="How tasks and groups count together.")
    next = s.URLField(allow_null=True)
    results = MarginRow(many=True)


class PairTaskEntry(s.Serializer):
    """One task on which two systems are held against each other."""

    task = s.CharField(help_text="Its key.")
    name = s.CharField()
    first = s.FloatField(allow_null=True)
    second = s.FloatField(allow_null=True)
    ahead = s.ChoiceField(choices=["first", "second", "level", "not_both"])
    weight = s.FloatField(help_text="The task's share of the voting weight; 0 where it does not vote.")


class PairRankEntry(s.Serializer):
    """The ranks of both under one rule."""

    rule = s.CharField()
    first = s.IntegerField(allow_null=True)
    second = s.IntegerField(allow_null=True)


class PairDetail(Published):
    """Two systems task by task."""

    first = NamedSystem()
    second = NamedSystem()
    sentence = s.CharField(help_text="Who beats whom.")
    ahead = s.FloatField(help_text="The share of the voting weight on which the first is ahead.")
    behind = s.FloatField()
    level = s.FloatField()
    not_both = s.FloatField(help_text="The share of the tasks without a score of both.")
    test = s.CharField(help_text="Whether the difference could be luck, in a sentence.")
    p_value = s.FloatField(allow_null=True, help_text="Of the sign-flip test of this pair, chosen beforehand.")
    n_units = s.IntegerField(help_text="Clusters of tasks that both have a score on, taken as independent.")
    tasks = PairTaskEntry(many=True)
    ranks = PairRankEntry(many=True)


class NeighbourEntry(s.Serializer):
    """Two systems of consecutive ranks under the rule."""

    first = s.CharField(help_text="The key of the one ranked higher.")
    second = s.CharField()
    p_value = s.FloatField(allow_null=True)
    p_adjusted = s.FloatField(allow_null=True, help_text="After Holm's adjustment over all neighbours.")
    verdict = s.ChoiceField(
        choices=[verdict for verdict in VERDICTS if verdict != VERDICTS[TIED]],
        help_text="`separable`: significant, and the one ranked higher is ahead. `contradicted`: significant, and the "
        "one ranked lower is ahead.",
    )
    is_separable = s.BooleanField(help_text="Whether the verdict is `separable`.")


class Family(s.Serializer):
    """A family of pairs that is adjusted by itself."""

    verdict = s.CharField(help_text="`some` and `none` can be told apart, or `too_few_tasks` to tell.")
    n_pairs = s.IntegerField()
    n_separable = s.IntegerField(help_text="Told apart, the one ranked higher being ahead.")
    n_contradicted = s.IntegerField(help_text="Told apart, the one ranked lower being ahead.")
    n_tied = s.IntegerField(help_text="Pairs that share a rank.")
    n_not_separable = s.IntegerField()
    n_too_few_tasks = s.IntegerField()
    least_adjusted = s.FloatField(allow_null=True, help_text="The least p that so many tasks allow, adjusted.")
    n_draws = s.IntegerField(help_text="0 where all signs were tried.")


class SeparabilityDetail(Published):
    """Which systems can be told apart under a rule."""

    rule = s.CharField()
    status = s.ChoiceField(choices=["there", "computing", "undefined"])
    text = s.CharField(allow_blank=True, help_text="What the tests say, or why there are none.")
    level = s.FloatField(allow_null=True)
    tested = s.ChoiceField(
        choices=["contributions", "mean_differences"],
        allow_null=True,
        help_text="`contributions`: what each task adds to the rule's scores, where these are sums over tasks. "
        "`mean_differences`: of scores in units of each task's spread.",
    )
    tested_text = s.CharField(allow_null=True, help_text="The same in words, with the reason.")
    null_hypothesis = s.CharField(allow_null=True)
    n_clusters = s.IntegerField(allow_null=True, help_text="Clusters of tasks, taken as independent.")
    n_tasks = s.IntegerField(allow_null=True, help_text="The tasks in these clusters.")
    neighbours = Family(allow_null=True, help_text="All pairs across consecutive ranks.")
    top = Family(allow_null=True)
    every_pair = Family(allow_null=True)
    runs = s.ListField(
        child=s.ListField(child=s.CharField()),
        help_text="Runs of systems, by key, among which no two can be told apart; they may overlap.",
    )
    next = s.URLField(allow_null=True)
    results = NeighbourEntry(many=True)


class AgreementRow(s.Serializer):
    """One rule held against the others."""

    rule = s.CharField()
    name = s.CharField()
    kendall_tau = s.DictField(
        child=s.FloatField(allow_null=True),
        help_text="Kendall's tau-b with every rule, on the systems that both rank; null where it is undefined.",
    )
    mean_with_others = s.FloatField(allow_null=True)


class AgreementDetail(Published):
    """How far every two rules agree."""

    reference = s.CharField(help_text="The rule that the others are ordered from, each beside the one most like it.")
    results = AgreementRow(many=True)
