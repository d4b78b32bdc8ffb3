"""The shapes of bodies and answers, for the schema alone: nothing is parsed or rendered by these classes."""

from rest_framework import serializers as s

from leaderboard.models import Benchmark, Job, Revision, Score, Submission, Task
from leaderboard.models.submissions import Source
from leaderboard.selectors.scores import NOT_SUBMITTED

MISSING = [*Score.MissingReason.choices, (NOT_SUBMITTED, "not submitted")]
STATUS = ["ranked", "winner_only", "no_winner", "undefined", "failed", "computing"]
REVISION = "The revision that everything here belongs to; null while nothing is published."


# --- Errors ----------------------------------------------------------------------------------------------------------


class ErrorDetail(s.Serializer):
    """One thing that is wrong, and where."""

    message = s.CharField()
    place = s.CharField(required=False, help_text="The path of a JSON value, such as `systems[0].scores.qnli`.")
    line = s.IntegerField(required=False, help_text="The line of the body, from 1.")
    column = s.CharField(required=False, help_text="The name of the column of a CSV body.")


class ErrorContent(s.Serializer):
    """What an error says."""

    code = s.CharField(help_text="For programs; the message is for people.")
    message = s.CharField()
    details = ErrorDetail(many=True)


class Error(s.Serializer):
    """The one shape of errors."""

    error = ErrorContent()


# --- Parts -----------------------------------------------------------------------------------------------------------


class Published(s.Serializer):
    """Which revision an answer belongs to, and what computed it."""

    revision = s.IntegerField(allow_null=True, help_text=REVISION)
    published_at = s.DateTimeField(allow_null=True)
    engine_version = s.CharField(allow_null=True)
    input_hash = s.CharField(allow_null=True, help_text="SHA-256 of everything that the figures depend on.")


class JobState(s.Serializer):
    """Background work, and how far it is."""

    kind = s.CharField()
    state = s.ChoiceField(choices=Job.State.values)
    error = s.CharField(allow_blank=True)


class NamedSystem(s.Serializer):
    """A system's key and its name at the revision."""

    system = s.CharField()
    name = s.CharField()


# --- Benchmarks ------------------------------------------------------------------------------------------------------


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


# --- Systems and scores ----------------------------------------------------------------------------------------------


class SystemEntry(s.Serializer):
    """A system on the board."""

    system = s.CharField(help_text="Its key, which never changes.")
    name = s.CharField()
    organisation = s.CharField(allow_blank=True)
    url = s.CharField(allow_blank=True)
    description = s.CharField(allow_blank=True)
    tags = s.ListField(child=s.CharField())


class SystemPage(Published):
    """A page of systems, by key."""

    next = s.URLField(allow_null=True)
    results = SystemEntry(many=True)


class ScoreCell(s.Serializer):
    """One score, or why there is none."""

    value = s.FloatField(allow_null=True)
    missing = s.ChoiceField(choices=MISSING, allow_null=True)
    submission = s.UUIDField(allow_null=True, help_text="The submission that it comes from.")


class SystemRank(s.Serializer):
    """A system under one rule."""

    rule = s.CharField()
    rank = s.IntegerField(allow_null=True)
    score = s.FloatField(allow_null=True, help_text="The rule's own score; higher is better.")
    interval = s.ListField(
        child=s.IntegerField(), allow_null=True, help_text="Least and greatest rank when the tasks are drawn anew."
    )
    reason = s.CharField(allow_null=True, help_text="Why it has no rank.")


class SystemDetail(Published, SystemEntry):
    """A system: its scores by task key, and its rank under every rule."""

    scores = s.DictField(child=ScoreCell())
    ranks = SystemRank(many=True)


class ScoreRow(NamedSystem):
    """One system's scores by task key."""

    scores = s.DictField(child=ScoreCell())


class ScorePage(Published):
    """A page of the score matrix: rows are systems by key."""

    tasks = s.ListField(child=s.CharField(), help_text="The keys of the tasks, in the benchmark's order.")
    next = s.URLField(allow_null=True)
    results = ScoreRow(many=True)


# --- Rankings --------------------------------------------------------------------------------------------------------


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
    jobs = JobState(many=True)
    results = RankingHead(many=True)


class RankingRow(NamedSystem):
    """One system under the rule."""

    rank = s.IntegerField(allow_null=True)
    score = s.FloatField(allow_null=True, help_text="The rule's own score; higher is better.")
    interval = s.ListField(child=s.IntegerField(), allow_null=True)
    reason = s.CharField(allow_null=True, help_text="Why it has no rank.")
    inseparable = s.ListField(
        child=s.IntegerField(),
        allow_null=True,
        help_text="The ranks between which it cannot be told apart from others; null where from none, or not tested.",
    )


class Intervals(s.Serializer):
    """What the rank intervals are: so many resamples of the tasks, drawn with this seed."""

    status = s.CharField()
    reason = s.CharField(allow_blank=True, help_text="Why there are none.")
    level = s.FloatField()
    n_resamples = s.IntegerField()
    seed = s.IntegerField()


class RankingDetail(Published, RankingHead):
    """One rule's ranking: best first, unranked systems last."""

    missing = s.ChoiceField(choices=Benchmark.MissingPolicy.values, help_text="The policy for missing scores in force.")
    aggregation = s.ChoiceField(choices=Benchmark.Aggregation.values, help_text="How tasks and groups count together.")
    jobs = JobState(many=True)
    intervals = Intervals(
        allow_null=True, help_text="Null while they are not computed, and where anything but the stored was asked for."
    )
    separability = s.CharField(
        allow_null=True, help_text="Which systems sign-flip tests over tasks tell apart; null while not computed."
    )
    results = RankingRow(many=True)


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


# --- Revisions -------------------------------------------------------------------------------------------------------


class RevisionEntry(s.Serializer):
    """One state of a benchmark's inputs."""

    revision = s.IntegerField()
    cause = s.ChoiceField(choices=Revision.Cause.values)
    author = s.CharField(allow_null=True, help_text="The display name of who caused it.")
    note = s.CharField(allow_blank=True)
    created_at = s.DateTimeField()
    input_hash = s.CharField(allow_null=True)
    is_published = s.BooleanField()
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


# --- Submissions -----------------------------------------------------------------------------------------------------


class SubmittedSystem(s.Serializer):
    """One system's scores."""

    name = s.CharField(required=False, help_text="The name of a system on the board, or of a new one.")
    key = s.CharField(required=False, help_text="In place of the name of a system on the board, or for a new one.")
    organisation = s.CharField(required=False)
    url = s.URLField(required=False)
    description = s.CharField(required=False)
    scores = s.DictField(
        child=s.FloatField(allow_null=True),
        required=False,
        help_text="By the name or key of a task; null where a score is not reported. Tasks may be left out.",
    )
    instances = s.DictField(
        child=s.DictField(child=s.FloatField(allow_null=True)),
        required=False,
        help_text="Scores of single instances, by the name or key of a task, then by instance. Their mean is the "
        "task's score where `scores` states none.",
    )


class SubmissionBody(s.Serializer):
    """An upload, taken whole or not at all."""

    systems = SubmittedSystem(many=True)
    note = s.CharField(required=False, help_text="How the scores were measured; shown with the submission.")
    create_systems = s.BooleanField(required=False, help_text="Whether names that are not on the board are new.")


class Stage(s.Serializer):
    """One stage on the way from submitted to published."""

    name = s.CharField()
    state = s.ChoiceField(choices=["done", "running", "waiting", "failed"])
    text = s.CharField(allow_blank=True)


class SubmissionOfSystem(NamedSystem):
    """One system of a submission."""

    submission = s.UUIDField(help_text="Names this system's part, for withdrawing it.")
    state = s.ChoiceField(choices=Submission.State.values)


class Event(s.Serializer):
    """What happened to a submission."""

    at = s.DateTimeField()
    who = s.CharField(allow_blank=True)
    text = s.CharField()
    reason = s.CharField(allow_blank=True)


class SubmissionStatus(s.Serializer):
    """Where a submission stands."""

    uuid = s.UUIDField()
    url = s.URLField()
    benchmark = s.CharField()
    state = s.ChoiceField(
        choices=["pending", "approved", "rejected", "retracted", "accepted", "failed", "published"],
        help_text="A moderator has to decide; decided; its board is being computed, cannot be computed, is published.",
    )
    revision = s.IntegerField(allow_null=True, help_text="The revision that accepted it.")
    published_revision = s.IntegerField(allow_null=True, help_text="The published revision, once that includes it.")
    source = s.ChoiceField(choices=Source.values)  # type: ignore[assignment]
    submitted_at = s.DateTimeField()
    submitted_by = s.CharField()
    note = s.CharField(allow_blank=True)
    systems = SubmissionOfSystem(many=True)
    stages = Stage(many=True)
    events = Event(many=True)


class RankMove(NamedSystem):
    """A system whose rank would change; null is unranked."""

    system = s.CharField(allow_null=True, help_text="Its key; null where it is new.")
    before = s.IntegerField(allow_null=True)
    after = s.IntegerField(allow_null=True)


class PreviewedRule(s.Serializer):
    """What an upload would change under one rule."""

    rule = s.CharField()
    winners_before = s.ListField(child=s.CharField())
    winners_after = s.ListField(child=s.CharField())
    n_changes = s.IntegerField()
    changes = RankMove(many=True, help_text="At most 100.")


class PreviewedSystem(NamedSystem):
    """A system of the upload."""

    system = s.CharField(allow_null=True, help_text="Its key; null where it is new.")
    is_new = s.BooleanField()


class DifferingScore(s.Serializer):
    """A stated score further than 1e-6 from the mean of the scores on its instances. It is kept as stated."""

    name = s.CharField(help_text="Of the system.")
    task = s.CharField(help_text="Its key.")
    stated = s.FloatField()
    mean = s.FloatField()


class SubmissionPreview(s.Serializer):
    """What an upload would change; nothing is stored."""

    revision = s.IntegerField(help_text="The revision that the upload was held against; 0 before the first scores.")
    dry_run = s.BooleanField()
    would_be_accepted = s.BooleanField(help_text="False where a moderator would have to decide.")
    systems = PreviewedSystem(many=True)
    differing_scores = DifferingScore(many=True)
    rules = PreviewedRule(many=True)


class Reason(s.Serializer):
    """Why."""

    reason = s.CharField()


class OptionalReason(s.Serializer):
    """Why, if there is something to say."""

    reason = s.CharField(required=False)


