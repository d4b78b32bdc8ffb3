"""Forms of the pages."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django import forms
from django.conf import settings

from leaderboard.common.form_fields import NOTE_LENGTH, REASON_LENGTH, LineFormField, LinesFormField
from leaderboard.models import Task
from leaderboard.models.benchmarks import NAME_LENGTH
from leaderboard.submissions.checks import DESCRIPTION_LENGTH, URL_LENGTH
from leaderboard.submissions.corrections import Correctable, stated_scores
from leaderboard.submissions.imports import SCALES, Assignment
from leaderboard.submissions.rows import SubmittedRow
from ranking_engine.files.metadata import COLUMN_PREFIX, MAX_TEXT, MetadataField
from ranking_engine.files.problems import Problems
from ranking_engine.importers.results_table import Import


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


class SeveralFilesInput(forms.ClearableFileInput):
    """A field in which several files may be chosen."""

    allow_multiple_selected = True


class SeveralFilesField(forms.FileField):
    """Several files; its value is their list."""

    widget = SeveralFilesInput

    def clean(self, data: Any, initial: Any = None) -> list[Any]:  # noqa: ANN401
        """Every file by itself."""
        return [super(SeveralFilesField, self).clean(one, initial) for one in data or []]


class UploadForm(forms.Form):
    """A table of scores, as a file or pasted, a file with those of single instances, or both; or result files."""

    results = SeveralFilesField(
        required=False,
        allow_empty_file=True,
        label="Files with results",
        help_text="You can choose several files that belong together, in the same format. No archives.",
        widget=SeveralFilesInput(attrs={"accept": ".json,.yaml,.yml,.md,.csv,.toml"}),
    )

    file = forms.FileField(
        required=False,
        label="A CSV file",
        help_text="UTF-8; columns separated by commas, semicolons or tabs.",
        widget=forms.ClearableFileInput(attrs={"accept": ".csv,text/csv"}),
    )
    text = forms.CharField(
        required=False,
        strip=False,
        label="or the table itself",
        widget=forms.Textarea(attrs={"rows": 8, "class": "is-code", "spellcheck": "false", "autocomplete": "off"}),
    )
    instances = forms.FileField(
        required=False,
        label="A CSV file of single instances",
        help_text="Columns system, task, instance, score; or system, instance and one column per task.",
        widget=forms.ClearableFileInput(attrs={"accept": ".csv,text/csv"}),
    )
    system_column = LineFormField(
        required=False,
        max_length=NAME_LENGTH,
        label="Its column with the systems",
        help_text="Only if it is not called system.",
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
    )
    note = LinesFormField(
        required=False,
        max_length=NOTE_LENGTH,
        label="Note",
        help_text="How the scores were measured; shown with the submissions.",
        widget=forms.Textarea(attrs={"rows": 3}),
    )

    def clean(self) -> dict[str, Any]:
        """One table at most, at least something, and no more than is read."""
        cleaned = super().clean() or self.cleaned_data
        file, text, instances = cleaned.get("file"), (cleaned.get("text") or "").strip(), cleaned.get("instances")
        results = cleaned.get("results") or []
        if results and not self.errors:
            if file or text or instances:
                raise forms.ValidationError("Choose either result files or a table.")
            if sum(chosen.size for chosen in results) > settings.UPLOAD_BYTES:
                limit = settings.UPLOAD_BYTES // 2**20
                raise forms.ValidationError({"results": f"More than {limit} MB together; import them in parts."})
            return cleaned
        if not self.errors and ((file and text) or not (file or text or instances)):
            raise forms.ValidationError("Either choose a file or paste a table.")
        for name, chosen in (("file", file), ("instances", instances)):
            if chosen and chosen.size > settings.UPLOAD_BYTES:
                limit = settings.UPLOAD_BYTES // 2**20
                message = f"The file has {chosen.size / 2**20:.0f} MB; the limit is {limit} MB."
                raise forms.ValidationError({name: message})
        return cleaned

    def result_files(self) -> list[tuple[str, bytes]]:
        """The name and the bytes of every chosen file with results."""
        return [(chosen.name, chosen.read()) for chosen in self.cleaned_data["results"]]

    def content(self) -> bytes:
        """The table's bytes; none where there are instances only."""
        file = self.cleaned_data["file"]
        return file.read() if file else self.cleaned_data["text"].encode()

    def instance_content(self) -> bytes:
        """The bytes of the file of single instances, if there is one."""
        file = self.cleaned_data["instances"]
        return file.read() if file else b""


def scale_text(task: Task) -> str:
    """The task's stated range in words, if it has one."""
    if task.minimum is not None and task.maximum is not None:
        return f"from {_shown(task.minimum)} to {_shown(task.maximum)}"
    if task.minimum is not None:
        return f"at least {_shown(task.minimum)}"
    return "" if task.maximum is None else f"at most {_shown(task.maximum)}"


def _shown(number: float) -> str:
    return f"{number:g}".replace("-", "\N{MINUS SIGN}")


LONGEST = 400
SCALE_LABELS = {"": "not stated", "as-is": "as they are", "times-100": "times 100", "by-100": "divided by 100"}


@dataclass(frozen=True)
class ColumnField:
    """One column of the import, with what is said of it."""

    number: int
    task: str
    split: str
    subset: str
    metric: str
    aside: str  # why it is left empty; empty itself for most
    direction: str
    n_scores: int
    least: float | None
    greatest: float | None
    given: str
    scale: str
    errors: Sequence[str]


@dataclass(frozen=True)
class SystemField:
    """One system of the import, with its name."""

    number: int
    name: str
    revision: str
    n_scores: int
    given: str
    errors: Sequence[str]


def assignment_of(data: Mapping[str, str], results: Import) -> Assignment:
    """What was sent in."""
    columns, systems = range(len(results.columns)), range(len(results.systems))
    return Assignment(
        tasks={c: data.get(f"task-{c}", "")[:LONGEST] for c in columns},
        scales={c: scale for c in columns if (scale := data.get(f"scale-{c}", "")) in SCALES},
        names={s: data.get(f"system-{s}", "")[:LONGEST] for s in systems},
    )


def column_fields(results: Import, said: Assignment, errors: Mapping[str, Sequence[str]]) -> list[ColumnField]:
    """The columns as the page shows them."""
    values = results.values
    directions = {None: "not stated", True: "higher is better", False: "lower is better"}
    return [
        ColumnField(
            number=c,
            task=column.task,
            split=column.split,
            subset=column.subset,
            metric=column.metric,
            aside=column.aside,
            direction=directions[column.higher_is_better],
            n_scores=len(values.get(c, [])),
            least=min(values[c]) if c in values else None,
            greatest=max(values[c]) if c in values else None,
            given=said.tasks.get(c, ""),
            scale=said.scales.get(c, ""),
            errors=[*errors.get(f"task-{c}", []), *errors.get(f"scale-{c}", [])],
        )
        for c, column in enumerate(results.columns)
    ]


def system_fields(results: Import, said: Assignment, errors: Mapping[str, Sequence[str]]) -> list[SystemField]:
    """The systems as the page shows them."""
    counts = [0] * len(results.systems)
    for s, _, value, _, _ in results.cells:
        counts[s] += value is not None
    return [
        SystemField(s, name, revision, counts[s], said.names.get(s, ""), errors.get(f"system-{s}", []))
        for s, (name, revision) in enumerate(results.systems)
    ]


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
