"""Shapes that many answers have in common: errors, the revision, jobs."""

from rest_framework import serializers as s

from leaderboard.models import Job

REVISION = "The revision that everything here belongs to; null while nothing is published."


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
