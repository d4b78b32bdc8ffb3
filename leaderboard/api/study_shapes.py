"""The shapes of answers about studies, for the schema alone."""

from rest_framework import serializers as s

from leaderboard.api.shapes import Published
from leaderboard.models import Job
from leaderboard.services.study_states import LEFT_OUT, UNPLANNED

STATES = [*Job.State.values, UNPLANNED, LEFT_OUT]


class StudyEntry(s.Serializer):
    """A study of a revision, and how far it is."""

    study = s.CharField(help_text="Its key.")
    name = s.CharField()
    question = s.CharField()
    source = s.CharField(help_text="The publication that it follows.")  # type: ignore[assignment]
    state = s.ChoiceField(
        choices=STATES, help_text="`unplanned`: nobody asked for it yet; `left_out`: `reason` says why it does not run."
    )
    reason = s.CharField(allow_blank=True)
    progress = s.FloatField(help_text="The share that is done, 0 to 1.")
    n_chunks = s.IntegerField(help_text="How many jobs it is cut into; the figures do not depend on who runs them.")
    estimate = s.FloatField(allow_null=True, help_text="Seconds on one core, before it ran.")
    seconds = s.FloatField(allow_null=True, help_text="What it took.")
    parameters = s.DictField(help_text="With the steps that its budget bought and the seed; empty before it is planned.")


class StudyList(Published):
    """All studies of a revision, in the catalogue's order."""

    results = StudyEntry(many=True)


class StudyDetail(Published, StudyEntry):
    """One study with what it found."""

    summary = s.DictField(allow_null=True, help_text="Null until it is done.")
    arrays = s.ListField(child=s.CharField(), help_text="The names of the arrays of the distribution (`?format=npz`).")
