"""The part of forms that says what system something is submitted for."""

from collections.abc import Sequence
from typing import Any

from django import forms
from django.utils.translation import gettext, gettext_lazy

from leaderboard.common.form_fields import NOTE_LENGTH, LineFormField, LinesFormField
from leaderboard.models.benchmarks import NAME_LENGTH
from leaderboard.submissions.checks import DESCRIPTION_LENGTH, URL_LENGTH
from leaderboard.submissions.rows import SubmittedRow
from ranking_engine.files.metadata import COLUMN_PREFIX, MAX_TEXT, MetadataField
from ranking_engine.files.problems import Problems


class SystemForm(forms.Form):
    """What is said of a system that someone submits something for."""

    system_name = LineFormField(
        max_length=NAME_LENGTH,
        label=gettext_lazy("Name of the system"),
        help_text=gettext_lazy("The name of a system on the board replaces its scores; a new name adds a system."),
    )
    organisation = LineFormField(max_length=NAME_LENGTH, required=False)
    url = forms.URLField(
        max_length=URL_LENGTH,
        required=False,
        label=gettext_lazy("URL"),
        assume_scheme="https",
        help_text=gettext_lazy("Link to the paper or model card."),
    )
    description = LinesFormField(
        required=False, max_length=DESCRIPTION_LENGTH, widget=forms.Textarea(attrs={"rows": 3})
    )
    note = LinesFormField(
        required=False,
        max_length=NOTE_LENGTH,
        label=gettext_lazy("Note"),
        help_text=gettext_lazy("How the scores were measured; shown with the submission."),
        widget=forms.Textarea(attrs={"rows": 3}),
    )

    def __init__(self, *args: Any, fields: Sequence[MetadataField] = (), **kwargs: Any) -> None:  # noqa: ANN401
        super().__init__(*args, **kwargs)
        self._fields = fields
        # By `meta:` and the key of the field; what is typed is checked later.
        for field in fields:
            label = f"{field.name}, {field.unit}" if field.unit else field.name
            choices = {"yes_no": ("yes", "no"), "choice": field.choices}.get(field.kind)
            if choices is not None:
                options = [("", gettext("not said")), *((choice, choice) for choice in choices)]
                self.fields[f"{COLUMN_PREFIX}{field.key}"] = forms.ChoiceField(
                    required=False,
                    label=label,
                    choices=options,
                    error_messages={
                        "invalid_choice": gettext("Choose one of %(choices)s.") % {"choices": ", ".join(choices)}
                    },
                )
            else:
                help_text = "" if field.kind == "text" else f"{field.allowed.capitalize()}."
                widget = forms.TextInput(attrs={"autocomplete": "off"})
                self.fields[f"{COLUMN_PREFIX}{field.key}"] = LineFormField(
                    required=False, max_length=MAX_TEXT, label=label, help_text=help_text, widget=widget
                )

    @staticmethod
    def field_name(task_key: str) -> str:
        """The name of a task's field."""
        return f"score-{task_key}"

    @property
    def metadata_fields(self) -> list[forms.BoundField]:
        """The fields of the system's metadata."""
        return [self[f"{COLUMN_PREFIX}{field.key}"] for field in self._fields]

    def about(self) -> SubmittedRow:
        """What was typed of the system, without any score; fields that have an error are empty."""
        data = self.cleaned_data
        return SubmittedRow(
            metadata={field.key: data.get(f"{COLUMN_PREFIX}{field.key}", "") for field in self._fields},
            system_name=data.get("system_name", ""),
            organisation=data.get("organisation", ""),
            url=data.get("url", ""),
            description=data.get("description", ""),
        )

    def take_problems(self, problems: Problems) -> list[str]:
        """Put each problem to its field; what has no field is returned.

        A field that has an error already was checked as if it were empty, so that only that error is said of it.
        """
        others = []
        wrong = set(self.errors)
        for place, texts in problems.by_place.items():
            # A task may be called "note" or "url", so its own field goes first.
            name = self.field_name(place) if self.field_name(place) in self.fields else place
            if name in self.fields:
                for text in texts if name not in wrong else ():
                    self.add_error(name, text)
            elif place != "scores" or not any(field.startswith(self.field_name("")) for field in wrong):
                others += texts
        return others
