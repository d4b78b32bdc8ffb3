"""Submissions: bodies, previews, where they stand."""

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers as s

from leaderboard.api.shapes.parts import NamedSystem
from leaderboard.models import Submission
from leaderboard.models.submissions import Source
from leaderboard.services.upload_checks import MISSING_WORDS

MEASURED = {
    "type": "object",
    "required": ["value"],
    "additionalProperties": False,
    "properties": {
        "value": {"type": "number"},
        "standard_error": {"type": ["number", "null"], "minimum": 0},
        "n_instances": {"type": ["integer", "null"], "minimum": 0, "maximum": 2**31 - 1},
    },
}


@extend_schema_field(
    {"oneOf": [{"type": "number"}, {"type": "string", "enum": sorted(MISSING_WORDS.values())}, MEASURED]}
)
class ScoreOrReason(s.Field):
    """A number, a number with its standard error and number of instances, or why there is none."""


class SubmittedSystem(s.Serializer):
    """One system's scores."""

    name = s.CharField(required=False, help_text="The name of a system on the board, or of a new one.")
    key = s.CharField(required=False, help_text="In place of the name of a system on the board, or for a new one.")
    organisation = s.CharField(required=False)
    url = s.URLField(required=False)
    description = s.CharField(required=False)
    scores = s.DictField(
        child=ScoreOrReason(allow_null=True),
        required=False,
        help_text="By the name or key of a task; null where a score is not reported, a text that says why there is "
        "none, or an object with `value` and, where known, `standard_error` and `n_instances`. Tasks may be left out; "
        "a correction leaves the scores that it does not mention as they were.",
    )
    corrects = s.UUIDField(
        required=False,
        help_text="The `submission` of one system that this corrects: it takes that one's place. The upload's `note` "
        "says what was wrong.",
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

    system = s.CharField(allow_null=True, help_text="Its key; null until something of it is accepted.")
    states = s.DictField(
        help_text="What it states of its system, of `key`, `organisation`, `url`, `description`, `tags`, `metadata`; "
        "the board says it once it is accepted."
    )
    submission = s.UUIDField(help_text="Names this system's part, for withdrawing or correcting it.")
    state = s.ChoiceField(choices=Submission.State.values)
    corrects = s.UUIDField(allow_null=True, help_text="The `submission` in whose place it stands once accepted.")


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


class DecidedStatus(SubmissionStatus):
    """Where a submission stands after a decision; a dry run says what that would change."""

    rules = PreviewedRule(
        many=True,
        required=False,
        allow_null=True,
        help_text="Of a dry run: what would change under each rule; under an embargo, when that ends. Null where the "
        "board is too large to be ranked on demand.",
    )


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
