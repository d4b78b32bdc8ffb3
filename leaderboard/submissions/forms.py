"""Forms of the pages."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from django import forms
from django.utils.translation import gettext, gettext_lazy

from leaderboard.common.form_fields import NOTE_LENGTH, REASON_LENGTH, LineFormField, LinesFormField
from leaderboard.common.language.numbers import typed_number
from leaderboard.common.text import typeset
from leaderboard.models import Submission, Task
from leaderboard.submissions.corrections import Correctable, stated_scores
from leaderboard.submissions.rows import SubmittedRow
from leaderboard.submissions.system_form import SystemForm
from ranking_engine.files.metadata import MetadataField


class SubmissionForm(SystemForm):
    """One system and a text field a task; what the texts mean is for `make_draft` to say."""

    def __init__(
        self,
        *args: Any,  # noqa: ANN401
        tasks: Sequence[Task],
        fields: Sequence[MetadataField] = (),
        is_merging: bool = False,
        **kwargs: Any,  # noqa: ANN401
    ) -> None:
        super().__init__(*args, fields=fields, **kwargs)
        self._tasks = tasks
        self.is_merging = is_merging  # a task whose field is empty is not mentioned, and keeps its score
        for task in tasks:
            widget = forms.TextInput(attrs={"inputmode": "decimal", "autocomplete": "off", "list": "missing-reasons"})
            field = LineFormField(required=False, max_length=60, label=task.name, widget=widget)
            low, high = ("" if bound is None else typeset(f"{bound:zg}") for bound in (task.minimum, task.maximum))
            if low and high:
                field.help_text = gettext("from %(low)s to %(high)s") % {"low": low, "high": high}
            elif low:
                field.help_text = gettext("at least %(low)s") % {"low": low}
            elif high:
                field.help_text = gettext("at most %(high)s") % {"high": high}
            self.fields[self.field_name(task.key)] = field

    @classmethod
    def initial_of(cls, submission: Submission) -> dict[str, str]:
        """What the form has in its fields where scores are submitted again."""
        scores = {score.task.key: score for score in submission.scores.select_related("task")}
        texts = {cls.field_name(key): text for key, text in stated_scores(scores).items()}
        return texts | {"system_name": submission.shown_name, "note": submission.batch.note}

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

    def raw_row(self) -> SubmittedRow:
        """What was typed."""
        return replace(self.about(), scores=self._typed_scores())

    def _typed_scores(self) -> dict[str, str]:
        typed = {task.key: self.cleaned_data.get(self.field_name(task.key), "") for task in self._tasks}
        return {
            key: typed_number(text)
            for key, text in typed.items()
            if text or not self.is_merging or self.initial.get(self.field_name(key))
        }


class CorrectionForm(SubmissionForm):
    """The scores of a system that are to be in place of those of one of its submissions."""

    organisation = url = description = system_name = None  # type: ignore[assignment]
    note = LinesFormField(
        max_length=NOTE_LENGTH,
        label=gettext_lazy("What was wrong, and how you know it"),
        help_text=gettext_lazy("Shown with the correction, on the pages of the submission and in the history."),
        widget=forms.Textarea(attrs={"rows": 3}),
    )

    def __init__(self, *args: Any, corrected: Correctable, **kwargs: Any) -> None:  # noqa: ANN401
        present_scores = stated_scores(corrected.scores)
        initial = {self.field_name(key): text for key, text in present_scores.items()}
        super().__init__(*args, initial=initial, **kwargs)
        self._submission = corrected.submission
        # Where a later submission brought a task's score, that one is to be corrected.
        self._tasks = [task for task in self._tasks if task.key not in corrected.newer]

    def raw_row(self) -> SubmittedRow:
        """What was typed, of the system that is corrected."""
        return SubmittedRow(
            system_name=self._submission.system.name,
            scores=self._typed_scores(),
            corrects=str(self._submission.uuid),
        )


class TakedownForm(forms.Form):
    """Why scores are taken down."""

    reason = LineFormField(
        max_length=REASON_LENGTH,
        label=gettext_lazy("Why"),
        help_text=gettext_lazy("Kept permanently in the submission’s history, so do not repeat the scores here."),
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )
    with_note = forms.BooleanField(
        required=False, label=gettext_lazy("Also delete the submitter’s note on the whole batch.")
    )
    is_sure = forms.BooleanField(
        label=gettext_lazy("I understand that this cannot be undone."),
        error_messages={"required": gettext_lazy("Select this to continue.")},
    )
