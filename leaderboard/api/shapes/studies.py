"""The shapes of answers about stability studies, for the schema alone."""

from rest_framework import serializers as s

from leaderboard.api.shapes.parts import Published
from leaderboard.models import Job
from leaderboard.services.study_states import LEFT_OUT, UNPLANNED

STATES = [*Job.State.values, UNPLANNED, LEFT_OUT]


class StudyEntry(s.Serializer):
    """One study, and where it stands for the revision."""

    study = s.CharField(help_text="Its key.")
    name = s.CharField()
    question = s.CharField()
    source = s.CharField()  # type: ignore[assignment]
    state = s.ChoiceField(choices=STATES)
    reason = s.CharField(allow_blank=True, help_text="Why it is left out, or why it failed.")
    progress = s.FloatField(help_text="The share that is done.")
    estimated_seconds = s.FloatField(allow_null=True, help_text="Before it ran; null before it is planned.")
    seconds = s.FloatField(allow_null=True, help_text="What it took on one core.")
    steps = s.IntegerField(allow_null=True, help_text="How many steps its budget bought.")


class Studies(Published):
    """Every study of a revision."""

    results = StudyEntry(many=True)


class StudyDetail(Published, StudyEntry):
    """What one study found."""

    parameters = s.DictField(help_text="What it was run with, the seed among it; empty while it is not there.")
    summary = s.DictField(help_text="What it found, by rule under `rules`; empty while it is not there.")
    distribution = s.DictField(
        child=s.ListField(child=s.IntegerField()),
        help_text="The names and shapes of the arrays in the file at `distribution_url`.",
    )
    distribution_url = s.URLField(allow_null=True, help_text="The whole distribution, a compressed .npz file.")
