"""The shapes of bodies and answers about prospects, for the schema alone."""

from rest_framework import serializers as s

from leaderboard.api.shapes.parts import JobState, NamedSystem, Published
from ranking_engine.prospects import RULES, VERDICTS


class NearestChange(s.Serializer):
    """Weights under which a system loses to nobody, and how far they are from where it started."""

    weights = s.DictField(child=s.CharField(), help_text="By task key, exact fractions as `3/7`; only positive ones.")
    change = s.FloatField()


class NearestWeights(s.Serializer):
    """The smallest changes of weights that make a system lose to nobody."""

    total_change = NearestChange(help_text="Least half of the sum of all changes: how much weight has to move.")
    largest_change = NearestChange(help_text="Least largest change of a single task's weight.")


class Nearest(s.Serializer):
    """By where one starts."""

    own = NearestWeights(required=False, help_text="From the benchmark's own weights.")
    equal = NearestWeights(required=False, help_text="From equal weights.")


class ProspectEntry(NamedSystem):
    """Whether one system can win, with the evidence."""

    verdict = s.ChoiceField(choices=list(VERDICTS))
    prospective = s.BooleanField(help_text="Whether weights exist under which it loses to nobody.")
    weights = s.DictField(
        child=s.CharField(), help_text="Such weights by task key, exact fractions; empty where there are none."
    )
    margin = s.FloatField(
        allow_null=True, help_text="The largest share of weight by which some weighting puts it ahead of every rival."
    )
    certificate = s.DictField(
        child=s.CharField(),
        help_text="By system key, exact fractions: a mixture of rivals against which it loses on balance on every task "
        "(`none`), or gains on none (`tie_only`).",
    )
    condition_shares = s.DictField(
        child=s.CharField(), help_text="By condition, what the certificate adds of each; empty without conditions."
    )
    nearest = Nearest(help_text="Empty where it cannot win, and under conditions.")
    share = s.FloatField(
        allow_null=True, help_text="The share of all weightings, each counted alike, under which it wins, estimated."
    )
    share_error = s.FloatField(allow_null=True, help_text="The standard error of `share`.")
    share_bound = s.FloatField(allow_null=True, help_text="Where no draw hit: the share is below this.")
    share_lower = s.FloatField(allow_null=True, help_text="Where one draw hit: the lower end of the exact interval.")
    share_upper = s.FloatField(allow_null=True, help_text="Where one draw hit: its upper end, with 95 % confidence.")
    needed_tasks = s.ListField(child=s.CharField(), help_text="Tasks without weight on which it never wins.")
    objective = s.CharField(allow_null=True, help_text="What the set that is minimised or maximised weighs.")
    n_incomparable = s.IntegerField(help_text="Rivals without a common task that votes.")
    reason = s.CharField(allow_blank=True, help_text="Why there is no verdict.")


class ProspectsHead(Published):
    """What the verdicts of a revision rest on."""

    status = s.ChoiceField(choices=["computed", "computing", "failed", "undefined"])
    reason = s.CharField(allow_blank=True, help_text="Why there are none.")
    all_tasks = s.BooleanField(help_text="Whether tasks of weight 0 counted, too.")
    unweighted_tasks = s.ListField(child=s.CharField(), help_text="The tasks of weight 0 that `all_tasks` counts.")
    tasks = s.ListField(child=s.CharField(), help_text="The keys of the tasks that voted.")
    n_draws = s.IntegerField()
    seed = s.IntegerField()
    is_complete = s.BooleanField(help_text="False where the steps ran out: what is left is undecided.")
    jobs = JobState(many=True)


class ProspectsDetail(ProspectsHead):
    """Every system's prospect, whoever wins most weightings first; empty while they are computed."""

    n_prospective = s.IntegerField()
    next = s.URLField(allow_null=True)
    results = ProspectEntry(many=True)


class ProspectDetail(ProspectsHead):
    """One system's prospect; null while it is computed."""

    result = ProspectEntry(allow_null=True)


class ConditionsBody(s.Serializer):
    """Conditions on the weights."""

    conditions = s.ListField(
        child=s.CharField(),
        help_text="Each like `CoLA + RTE >= 0.3`, `0.1 <= group:QA <= 1/2`, `CoLA >= RTE` or `minimise group:QA`; "
        "tasks and groups by name or key, in double quotes where a name holds `+`, `<`, `>` or `=`.",
    )
    all_tasks = s.BooleanField(required=False, help_text="Whether tasks of weight 0 count, too.")
    rule = s.ChoiceField(
        choices=list(RULES),
        required=False,
        help_text="What is to be won: losing to nobody head to head (`majority`), or coming first on points.",
    )


class ConditionsAnswer(Published):
    """Who can win under conditions."""

    rule = s.ChoiceField(choices=list(RULES))

    conditions = s.ListField(child=s.CharField(), help_text="As they were read, with keys.")
    feasible = s.BooleanField(help_text="False where no weights satisfy the conditions, whoever is to win.")
    reason = s.CharField(allow_blank=True)
    all_tasks = s.BooleanField()
    tasks = s.ListField(child=s.CharField())
    is_complete = s.BooleanField()
    n_prospective = s.IntegerField()
    results = ProspectEntry(many=True)
