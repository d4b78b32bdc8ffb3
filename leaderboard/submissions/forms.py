"""Forms of the pages."""

from collections.abc import Sequence
from typing import Any

from django import forms

from leaderboard.common.form_fields import NOTE_LENGTH, REASON_LENGTH, LineFormField, LinesFormField
from leaderboard.models import Task
from leaderboard.models.benchmarks import NAME_LENGTH
from leaderboard.submissions.checks import DESCRIPTION_LENGTH, URL_LENGTH
from leaderboard.submissions.corrections import Correctable, stated_scores
from leaderboard.submissions.rows import SubmittedRow
from ranking_engine.files.metadata import COLUMN_PREFIX, MAX_TEXT, MetadataField
from ranking_engine.files.problems import Problems


class SubmissionForm(forms.Form):
    """One system and a text field a task; what the texts mean is for `make_draft` to say."""

    system_name = LineFormField(
        max_length=NAME_LENGTH,
        label="Name of the system",
        help_text="The name of a system on the board replaces its scores; a new name adds a system.",
    )
    organisation = LineFormField(max_length=NAME_LENGTH, required=False)
    url = forms.URLField(
        max_length=URL_LENGTH,
        required=False,
        label="Address",
        assume_scheme="https",
        help_text="Link to the paper or model card.",
    )
    description = LinesFormField(
        required=False, max_length=DESCRIPTION_LENGTH, widget=forms.Textarea(attrs={"rows": 3})
    )
    note = LinesFormField(
        required=False,
        max_length=NOTE_LENGTH,
        label="Note",
        help_text="How the scores were measured; shown with the submission.",
        widget=forms.Textarea(attrs={"rows": 3}),
    )

    def __init__(
        self,
        *args: Any,  # noqa: ANN401
        tasks: Sequence[Task],
        fields: Sequence[MetadataField] = (),
        **kwargs: Any,  # noqa: ANN401
    ) -> None:
        super().__init__(*args, **kwargs)
        self._tasks, self._fields = tasks, fields
        self.fields |= metadata_form_fields(fields)
        for task in tasks:
            widget = forms.TextInput(attrs={"inputmode": "decimal", "autocomplete": "off", "list": "missing-reasons"})
            field = LineFormField(required=False, max_length=60, label=task.name, widget=widget)
            field.help_text = scale_text(task)
            self.fields[self.field_name(task.key)] = field

    @staticmethod
    def field_name(task_key: str) -> str:
        """The name of a task's field."""
        return f"score-{task_key}"

    @property
    def task_fields(self) -> list[forms.BoundField]:
        """The score fields, each with its task."""
        fields = []
        for task in self._tasks:
            bound = self[self.field_name(task.key)]
            bound.task = {  # type: ignore[attr-defined]
                "name": task.name,
                "unit": task.unit,
                "direction_text": task.get_direction_display(),
                "group_name": task.group.name if task.group else "",
            }
            fields.append(bound)
        return fields

    @property
    def metadata_fields(self) -> list[forms.BoundField]:
        """The fields of the system's metadata."""
        return [self[f"{COLUMN_PREFIX}{field.key}"] for field in self._fields]

    def raw_row(self) -> SubmittedRow:
        """What was typed."""
        data = self.cleaned_data
        return SubmittedRow(
            metadata={field.key: data[f"{COLUMN_PREFIX}{field.key}"] for field in self._fields},
            system_name=data["system_name"],
            organisation=data["organisation"],
            url=data["url"],
            description=data["description"],
            scores={task.key: data[self.field_name(task.key)] for task in self._tasks},
        )

    def take_problems(self, problems: Problems) -> list[str]:
        """Put each problem to its field; what has no field is returned."""
        others = []
        for place, texts in problems.by_place.items():
            # A task may be called "note" or "url", so its own field goes first.
            name = self.field_name(place) if self.field_name(place) in self.fields else place
            if name in self.fields:
                for text in texts:
                    self.add_error(name, text)
            else:
                others += texts
        return others


def metadata_form_fields(fields: Sequence[MetadataField]) -> dict[str, forms.Field]:
    """A field of a form for each field of the metadata, by `meta:` and its key; what is typed is checked later."""
    form_fields: dict[str, forms.Field] = {}
    for field in fields:
        label = f"{field.name}, {field.unit}" if field.unit else field.name
        choices = {"yes_no": ("yes", "no"), "choice": field.choices}.get(field.kind)
        if choices is not None:
            options = [("", "not said"), *((choice, choice) for choice in choices)]
            form_fields[f"{COLUMN_PREFIX}{field.key}"] = forms.ChoiceField(
                required=False,
                label=label,
                choices=options,
                error_messages={"invalid_choice": f"Choose {field.allowed}."},
            )
        else:
            help_text = "" if field.kind == "text" else f"{field.allowed.capitalize()}."
            widget = forms.TextInput(attrs={"autocomplete": "off"})
            form_fields[f"{COLUMN_PREFIX}{field.key}"] = LineFormField(
                required=False, max_length=MAX_TEXT, label=label, help_text=help_text, widget=widget
            )
    return form_fields


class CorrectionForm(SubmissionForm):
    """The scores of a system that are to be in place of those of one of its submissions."""

    organisation = url = description = system_name = None  # type: ignore[assignment]
    note = LinesFormField(
        max_length=NOTE_LENGTH,
        label="What was wrong, and how you know it",
        help_text="Shown with the correction, on the pages of the submission and in the history.",
        widget=forms.Textarea(attrs={"rows": 3}),
    )

    def __init__(self, *args: Any, corrected: Correctable, **kwargs: Any) -> None:  # noqa: ANN401
        present_scores = stated_scores(corrected)
        initial = {self.field_name(key): text for key, text in present_scores.items()}
        super().__init__(*args, initial=initial, **kwargs)
        self._submission = corrected.submission
        # Where a later submission brought a task's score, that one is to be corrected.
        self._tasks = [task for task in self._tasks if task.key not in corrected.newer]

    def raw_row(self) -> SubmittedRow:
        """What was typed, of the system that is corrected."""
        return SubmittedRow(
            system_name=self._submission.system.name,
            scores={task.key: self.cleaned_data[self.field_name(task.key)] for task in self._tasks},
            corrects=str(self._submission.uuid),
        )


def scale_text(task: Task) -> str:
    """The task's stated range in words, if it has one."""
    if task.minimum is not None and task.maximum is not None:
        return f"from {_shown(task.minimum)} to {_shown(task.maximum)}"
    if task.minimum is not None:
        return f"at least {_shown(task.minimum)}"
    return "" if task.maximum is None else f"at most {_shown(task.maximum)}"


def _shown(number: float) -> str:
    return f"{number:g}".replace("-", "\N{MINUS SIGN}")


class TakedownForm(forms.Form):
    """Why scores are taken down."""

    reason = LineFormField(
        max_length=REASON_LENGTH,
        label="Why",
        help_text="Kept permanently in the submission’s history, so do not repeat the scores here.",
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )
    with_note = forms.BooleanField(required=False, label="Also delete the submitter’s note on the whole batch.")
    is_sure = forms.BooleanField(
        label="I understand that this cannot be undone.", error_messages={"required": "Select this to continue."}
    )
