"""Result files of other programs: what is sent, and what was recognised."""

from rest_framework import serializers as s

from leaderboard.api.shapes.parts import ErrorDetail
from leaderboard.api.shapes.submissions import SubmissionPreview
from leaderboard.services.imports import SCALES


class ImportFile(s.Serializer):
    """A file."""

    name = s.CharField(max_length=255)
    text = s.CharField(help_text="What it holds, as UTF-8.")


class Mapping(s.Serializer):
    """What is which, over what can be told without doubt; a dry run says what the files call things."""

    tasks = s.DictField(
        child=s.CharField(allow_blank=True, max_length=400),
        required=False,
        help_text="By column: the name or key of the task; empty where it is none.",
    )
    scales = s.DictField(
        child=s.ChoiceField(choices=list(SCALES)), required=False, help_text="By column: what is done to its scores."
    )
    systems = s.DictField(
        child=s.CharField(allow_blank=True, max_length=400),
        required=False,
        help_text="By system of the files: its name here; empty where it is left out.",
    )


class ImportBody(s.Serializer):
    """Result files, all of one format."""

    files = ImportFile(many=True)
    mapping = Mapping(required=False)
    note = s.CharField(required=False, max_length=5000)
    create_systems = s.BooleanField(required=False, help_text="Whether names that are not on the board are new.")


class ImportForm(s.Serializer):
    """The same as a form: the files as they are."""

    files = s.ListField(child=s.FileField())
    mapping = s.CharField(required=False, help_text="The mapping as JSON.")
    note = s.CharField(required=False, max_length=5000)
    create_systems = s.BooleanField(required=False)


class ImportColumn(s.Serializer):
    """A column that was recognised."""

    column = s.CharField(help_text="What a mapping calls it.")
    task = s.CharField(allow_blank=True)
    subset = s.CharField(allow_blank=True)
    split = s.CharField(allow_blank=True)
    metric = s.CharField(allow_blank=True)
    higher_is_better = s.BooleanField(allow_null=True)
    n_scores = s.IntegerField()
    least = s.FloatField(allow_null=True)
    greatest = s.FloatField(allow_null=True)
    assigned = s.CharField(allow_blank=True, help_text="The task that it is taken for.")


class ImportSystem(s.Serializer):
    """A system that was recognised."""

    system = s.CharField(allow_blank=True, help_text="What a mapping calls it.")
    n_scores = s.IntegerField()
    assigned = s.CharField(allow_blank=True, help_text="Its name here.")


class ImportPreview(s.Serializer):
    """What was recognised, and what it would change; nothing is stored."""

    dry_run = s.BooleanField()
    importer = s.CharField(help_text="The format, in words.")
    columns = ImportColumn(many=True)
    systems = ImportSystem(many=True)
    notes = s.ListField(child=s.CharField(), help_text="What was left out, and how figures were read.")
    warnings = s.ListField(child=s.CharField())
    problems = ErrorDetail(many=True, help_text="What has to be said before it can be stored.")
    preview = SubmissionPreview(allow_null=True, help_text="Null where there are problems.")
