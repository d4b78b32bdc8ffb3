"""The form that takes predictions."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from django import forms
from django.conf import settings
from django.utils.translation import gettext, gettext_lazy

from leaderboard.common.language.numbers import localise
from leaderboard.evaluation.receiving import PredictionUpload
from leaderboard.models import Task
from leaderboard.models.submissions import Source
from leaderboard.submissions.system_form import SystemForm
from ranking_engine.files.metadata import MetadataField
from ranking_engine.files.problems import Problem, Problems

ACCEPTED = ".csv,.tsv,.txt,.jsonl,.ndjson,.parquet"


class PredictionForm(SystemForm):
    """What is said of a system, and a file of predictions a task, or one for all."""

    table = forms.FileField(
        required=False,
        allow_empty_file=True,
        label=gettext_lazy("One file for all tasks"),
        help_text=gettext_lazy("With a column task beside id and prediction."),
        widget=forms.ClearableFileInput(attrs={"accept": ACCEPTED}),
    )
    is_trial = forms.BooleanField(
        required=False,
        label=gettext_lazy("Only a trial run on the development split"),
        help_text=gettext_lazy("It is scored in the same way and never gets onto the board."),
    )

    def __init__(
        self,
        *args: Any,  # noqa: ANN401
        tasks: Sequence[Task],
        fields: Sequence[MetadataField] = (),
        has_trials: bool = True,
        **kwargs: Any,  # noqa: ANN401
    ) -> None:
        super().__init__(*args, fields=fields, **kwargs)
        self._predicted = tasks
        self.fields["system_name"].help_text = gettext("The name of a system on the board, or a new one.")
        self.fields["note"].help_text = gettext("How the predictions were made; shown with the submission.")
        if not has_trials:
            del self.fields["is_trial"]
        for task in tasks:
            self.fields[f"file-{task.key}"] = forms.FileField(
                required=False,
                allow_empty_file=True,
                label=task.name,
                widget=forms.ClearableFileInput(attrs={"accept": ACCEPTED}),
            )

    @property
    def file_fields(self) -> list[tuple[Task, forms.BoundField]]:
        """Each task with its field."""
        return [(task, self[f"file-{task.key}"]) for task in self._predicted]

    def clean(self) -> dict[str, Any]:
        """At least one file, and no more bytes than are read."""
        cleaned = super().clean() or self.cleaned_data
        files = [cleaned.get("table"), *(cleaned.get(f"file-{task.key}") for task in self._predicted)]
        size = sum(file.size for file in files if file)
        if size > settings.PREDICTIONS_BYTES:
            limit = settings.PREDICTIONS_BYTES // 2**20
            raise forms.ValidationError(
                gettext("The files have %(size)s MB together; the limit is %(limit)s MB.")
                % {"size": f"{size / 2**20:.0f}", "limit": limit}
            )
        if not any(files) and not self.errors:
            raise forms.ValidationError(gettext("Choose a file with predictions."))
        return cleaned

    def take_problems(self, problems: Problems) -> list[str]:
        """Put each problem of the system to its field; those of files are returned, with task, file and line.

        Their fields point to that list.
        """
        names = {f"files.{task.key}": task.name for task in self._predicted}  # by the place of a problem
        by_file: dict[str, list[Problem]] = {}
        for problem in problems.listed:
            task_name = names.get(problem.place, "")
            # Files of several tasks are often called the same.
            source = f"{task_name} ({problem.source})" if task_name and problem.source else problem.source
            by_file.setdefault(source, []).append(replace(problem, source=""))
        chosen = {name for name, file in self.cleaned_data.items() if file}  # add_error takes fields out of the data
        for place in dict.fromkeys(problem.place for problem in problems.listed if problem.place in names):
            field = f"file-{place.removeprefix('files.')}"
            if field not in chosen and "table" in chosen:
                field = "table"
            if field not in self.errors:
                self.add_error(field, gettext("The list at the top of this page says what is wrong here."))
        others = super().take_problems(Problems(by_file.pop("", [])))
        for name, listed in by_file.items():
            others += [f"{name}: {text}" for text in Problems(listed).lines]
        if problems.n_more:
            others.append(gettext("and %(n)s more") % {"n": localise(problems.n_more, ",")})
        return others

    def upload(self) -> PredictionUpload:
        """What was sent."""
        cleaned = self.cleaned_data
        table = cleaned["table"]
        files = {task.key: cleaned[f"file-{task.key}"] for task in self._predicted}
        return PredictionUpload(
            self.about(),
            {key: (file.name, file.read()) for key, file in files.items() if file},
            (table.name, table.read()) if table else None,
            note=cleaned["note"],
            is_trial=cleaned.get("is_trial", False),
            source=Source.FORM,
        )
