"""Hosting: bodies and answers of what owners and moderators do."""

from rest_framework import serializers as s

from leaderboard.api.shapes.benchmarks import BenchmarkDetail
from leaderboard.api.shapes.submissions import PreviewedRule
from leaderboard.models import Benchmark, Membership, Task
from leaderboard.services.audit_page import SUBJECTS


class GroupBody(s.Serializer):
    """A task group. `key` names one that there is; what is left out stays."""

    key = s.CharField(required=False)
    name = s.CharField(required=False)
    weight = s.CharField(required=False, help_text="A decimal as text; a number is taken, too.")


class TaskBody(s.Serializer):
    """A task. `key` names one that there is, and what is left out stays; a new one has a name."""

    key = s.CharField(required=False)
    name = s.CharField(required=False)
    group = s.CharField(required=False, allow_null=True, help_text="The name or key of a group; null for none.")
    direction = s.ChoiceField(choices=Task.Direction.values, required=False)
    weight = s.CharField(required=False, help_text="A decimal as text; a number is taken, too.")
    metric = s.CharField(required=False, allow_blank=True)
    unit = s.CharField(required=False, allow_blank=True)
    minimum = s.FloatField(required=False, allow_null=True)
    maximum = s.FloatField(required=False, allow_null=True)
    chance = s.FloatField(required=False, allow_null=True)
    precision = s.CharField(
        required=False,
        allow_null=True,
        help_text="The smallest difference that means anything: a decimal as text; null for none.",
    )
    cluster = s.CharField(
        required=False,
        allow_blank=True,
        allow_null=True,
        help_text="Tasks of one cluster are not independent of each other; null for none.",
    )
    is_archived = s.BooleanField(required=False, help_text="An archived task keeps its scores and votes no more.")


class Counting(s.Serializer):
    """How scores count."""

    missing_policy = s.ChoiceField(choices=Benchmark.MissingPolicy.values, required=False)
    aggregation = s.ChoiceField(choices=Benchmark.Aggregation.values, required=False)
    replacement = s.ChoiceField(choices=Benchmark.Replacement.values, required=False)
    gamma = s.FloatField(required=False, allow_null=True)


class Settings(s.Serializer):
    """Settings that no rank depends on."""

    name = s.CharField(required=False)
    description = s.CharField(required=False, allow_blank=True, help_text="Markdown.")
    visibility = s.ChoiceField(choices=Benchmark.Visibility.values, required=False)
    submission_policy = s.ChoiceField(choices=Benchmark.SubmissionPolicy.values, required=False)
    daily_cap = s.IntegerField(required=False, allow_null=True, min_value=0)
    total_cap = s.IntegerField(required=False, allow_null=True, min_value=0)
    deadline = s.DateTimeField(required=False, allow_null=True)
    embargo_until = s.DateTimeField(required=False, allow_null=True)
    decision_days = s.IntegerField(required=False, min_value=1, max_value=365, help_text="For a moderator to decide.")
    rejects_overdue = s.BooleanField(required=False, help_text="Whether what nobody decided on in time is rejected.")
    score_view = s.ChoiceField(choices=Benchmark.ScoreView.values, required=False)
    anonymous_until = s.DateTimeField(required=False, allow_null=True)
    default_rule = s.CharField(required=False)
    source_url = s.CharField(required=False, allow_blank=True)
    licence = s.CharField(required=False, allow_blank=True)
    citation = s.CharField(required=False, allow_blank=True)
    tags = s.ListField(child=s.CharField(), required=False)


class SettingsBody(Settings):
    """Settings that are to change; what is left out stays."""

    reason = s.CharField(required=False, help_text="Kept with the change.")


class BenchmarkBody(Settings, Counting):
    """A new benchmark."""

    name = s.CharField()
    key = s.CharField(required=False, help_text="For addresses, for good; made from the name where it is left out.")
    tasks = TaskBody(many=True)
    groups = GroupBody(many=True, required=False)


class HostedBenchmark(BenchmarkDetail):
    """A benchmark with what only its owners are told."""

    daily_cap = s.IntegerField(allow_null=True)
    total_cap = s.IntegerField(allow_null=True)
    deadline = s.DateTimeField(allow_null=True)
    embargo_until = s.DateTimeField(allow_null=True)
    decision_days = s.IntegerField()
    rejects_overdue = s.BooleanField()
    score_view = s.ChoiceField(choices=Benchmark.ScoreView.values)
    anonymous_until = s.DateTimeField(allow_null=True)
    is_archived = s.BooleanField()
    n_changed = s.IntegerField(help_text="How many settings this call changed.")


class TasksBody(Counting):
    """Tasks and groups that are new or change, and how they count."""

    tasks = TaskBody(many=True, required=False)
    groups = GroupBody(many=True, required=False)
    reason = s.CharField(required=False, help_text="The history shows it.")


class ChangeEntry(s.Serializer):
    """One field of one thing, before and after."""

    subject = s.CharField()
    of = s.CharField()
    field = s.CharField()
    before = s.CharField(allow_blank=True)
    after = s.CharField(allow_blank=True)


class MovedSystem(s.Serializer):
    """A system whose rank would change; null is unranked."""

    name = s.CharField()
    before = s.IntegerField(allow_null=True)
    after = s.IntegerField(allow_null=True)


class RuleEffect(s.Serializer):
    """What a change would do under one rule."""

    rule = s.CharField(help_text="The rule's name.")
    winner_before = s.CharField(allow_blank=True)
    winner_after = s.CharField(allow_blank=True)
    n_ranks_changed = s.IntegerField()
    largest_moves = MovedSystem(many=True)


class TaskChange(s.Serializer):
    """What a change of tasks did, or would do."""

    dry_run = s.BooleanField()
    changes_ranking = s.BooleanField(help_text="Whether ranks can depend on it, so that a revision is made.")
    revision = s.IntegerField(allow_null=True, help_text="The revision that was made.")
    changes = ChangeEntry(many=True)
    rules = RuleEffect(many=True, help_text="Of a dry run.")
    too_large = s.CharField(allow_blank=True, help_text="Why a dry run shows no ranks.")


class ArchiveBody(s.Serializer):
    """Whether a benchmark is to be archived."""

    archived = s.BooleanField()
    reason = s.CharField(required=False)


class ReleaseBody(s.Serializer):
    """A published revision that is to be frozen under a name."""

    revision = s.IntegerField()
    name = s.CharField()
    note = s.CharField(required=False)


class ReleaseEntry(s.Serializer):
    """A frozen revision."""

    key = s.CharField()
    name = s.CharField()
    revision = s.IntegerField()
    note = s.CharField(allow_blank=True)
    created_at = s.DateTimeField()
    url = s.URLField(help_text="Its permanent address.")
    citation = s.CharField()
    bibtex = s.CharField()


class ReleasePage(s.Serializer):
    """A page of frozen revisions, by key."""

    next = s.URLField(allow_null=True)
    results = ReleaseEntry(many=True)


class EditionBody(s.Serializer):
    """Another benchmark with the same tasks."""

    name = s.CharField()
    key = s.CharField(required=False)
    with_scores = s.BooleanField(required=False)


class Person(s.Serializer):
    """Somebody with a role."""

    user = s.IntegerField(help_text="Their number.")
    name = s.CharField()
    role = s.ChoiceField(choices=Membership.Role.values)


class BannedPerson(s.Serializer):
    """Somebody whose submissions are not taken."""

    user = s.IntegerField()
    name = s.CharField()
    reason = s.CharField()


class OpenInvitation(s.Serializer):
    """An invitation that nobody has used yet."""

    role = s.ChoiceField(choices=Membership.Role.values)
    author = s.CharField()
    expires_at = s.DateTimeField()


class PeoplePage(s.Serializer):
    """A page of those with a role, by number; with all bans and open invitations."""

    next = s.URLField(allow_null=True)
    results = Person(many=True)
    bans = BannedPerson(many=True)
    invitations = OpenInvitation(many=True)


class PersonBody(s.Serializer):
    """A change of somebody's role, or the end of a ban."""

    role = s.ChoiceField(choices=Membership.Role.values, required=False, allow_null=True, help_text="Null for none.")
    banned = s.BooleanField(required=False, help_text="False lifts a ban.")
    reason = s.CharField(required=False)


class PersonState(s.Serializer):
    """What somebody is to the benchmark now."""

    user = s.IntegerField()
    role = s.ChoiceField(choices=Membership.Role.values, allow_null=True)
    banned = s.BooleanField()


class InvitationBody(s.Serializer):
    """The role that a link is to give."""

    role = s.ChoiceField(choices=Membership.Role.values)


class Invitation(s.Serializer):
    """A link that gives a role to the first who follows it."""

    role = s.ChoiceField(choices=Membership.Role.values)
    url = s.URLField(allow_null=True, help_text="Shown once; null in a dry run.")


class WaitingEntry(s.Serializer):
    """A submission that waits for a decision, or for the end of an embargo."""

    uuid = s.UUIDField()
    title = s.CharField()
    submitted_by = s.CharField()
    submitted_at = s.DateTimeField()
    n_systems = s.IntegerField()
    state = s.CharField()
    note = s.CharField(allow_blank=True)
    flags = s.ListField(child=s.CharField(), help_text="What is unusual about it; the first of it.")


class WaitingPage(s.Serializer):
    """A page of the queue, oldest first."""

    n_waiting = s.IntegerField()
    next = s.URLField(allow_null=True)
    results = WaitingEntry(many=True)


class DecisionsBody(s.Serializer):
    """One decision about several submissions, a revision each."""

    submissions = s.ListField(child=s.UUIDField(), help_text="At most 100.")
    decision = s.ChoiceField(choices=["accept", "reject", "reject_and_ban"])
    reason = s.CharField(required=False, help_text="Needed for a rejection; the submitter reads it.")


class Decisions(s.Serializer):
    """What came of it."""

    n_decided = s.IntegerField()
    refused = s.ListField(child=s.CharField(), help_text="Why others were not decided.")
    rules = PreviewedRule(
        many=True,
        required=False,
        allow_null=True,
        help_text="Of a dry run: what all of them together would change under each rule. Null where the board is too "
        "large to be ranked on demand.",
    )


class TakedownBody(s.Serializer):
    """Why scores are to be deleted for good."""

    reason = s.CharField(help_text="It stays on record, so do not repeat the scores in it.")
    with_note = s.BooleanField(required=False, help_text="Whether the note on the whole submission goes as well.")
    is_sure = s.BooleanField(help_text="true: this cannot be undone.")


class Takedown(s.Serializer):
    """What was deleted."""

    submission = s.UUIDField()
    n_scores = s.IntegerField()
    n_vectors = s.IntegerField(help_text="Of single instances.")
    held_at = s.CharField(allow_blank=True, help_text="The revisions at which they held, which are shown no more.")
    releases = s.ListField(child=s.CharField(), help_text="The keys of frozen revisions among these.")
    n_drafts = s.IntegerField(help_text="Unconfirmed drafts that may have held the same scores, and are gone.")
    revision = s.IntegerField(allow_null=True, help_text="The revision without them, where they were on the board.")


class ClosingBody(s.Serializer):
    """That an account is to be closed."""

    password = s.CharField()
    is_sure = s.BooleanField(help_text="true: this cannot be undone.")


class ClosedAccount(s.Serializer):
    """That an account is closed."""

    closed = s.BooleanField()


class AuditEntry(s.Serializer):
    """One change: who, what, from what to what, when and why."""

    at = s.DateTimeField()
    who = s.CharField(allow_blank=True)
    subject = s.CharField(help_text=f"One of {', '.join(label for _, label in SUBJECTS)}.")
    of = s.CharField(allow_blank=True)
    field = s.CharField(allow_blank=True)
    before = s.CharField(allow_blank=True)
    after = s.CharField(allow_blank=True)
    revision = s.IntegerField(allow_null=True)
    reason = s.CharField(allow_blank=True)


class AuditPage(s.Serializer):
    """A page of the trail, newest first."""

    next = s.URLField(allow_null=True)
    results = AuditEntry(many=True)
