"""Forms of the pages."""

import re
from collections.abc import Sequence
from typing import Any

from django import forms
from django.conf import settings
from django.http import HttpRequest

from leaderboard.forms.texts import LineField, LinesField
from leaderboard.models import ApiToken, Task, User
from leaderboard.models.benchmarks import NAME_LENGTH
from leaderboard.services.corrections import Correctable, stated_scores
from leaderboard.services.display_names import is_taken
from leaderboard.services.tokens import LIFETIMES
from leaderboard.services.upload_checks import RawRow
from leaderboard.services.upload_problems import Problems
from ranking_engine.confusables import skeleton
from ranking_engine.names import name_problem

SITES_OWN = re.compile(r"user\d+|formermember")  # what it calls people without a name, by their skeletons


class DisplayNameForm(forms.Form):
    """What sign-up asks for beside e-mail and password."""

    display_name = LineField(
        max_length=80,
        required=False,
        label="Display name",
        help_text="How others see you; your e-mail address is never shown.",
        widget=forms.TextInput(attrs={"autocomplete": "nickname"}),
    )

    def clean_display_name(self) -> str:
        """A name that reads as what it is: no invisible characters, nothing that turns its letters round."""
        name = self.cleaned_data["display_name"]
        if name and (problem := name_problem(name, allow_formula=True)):
            raise forms.ValidationError(f"The display name {problem}.")
        if SITES_OWN.fullmatch(skeleton(name)):
            raise forms.ValidationError("The site itself calls people so; choose another display name.")
        if is_taken(name):
            raise forms.ValidationError("Somebody here has this display name, or one that looks like it.")
        return name

    def signup(self, request: HttpRequest, user: User) -> None:
        """Called by allauth after the user is stored; the adapter has kept the name already."""


class SubmissionForm(forms.Form):
    """One system and a text field a task; what the texts mean is for `make_draft` to say."""

    system_name = LineField(
        max_length=NAME_LENGTH,
        label="Name of the system",
        help_text="The name of a system on the board replaces its scores; a new name adds a system.",
    )
    organisation = LineField(max_length=NAME_LENGTH, required=False)
    url = forms.URLField(
        max_length=500, required=False, label="Address", assume_scheme="https", help_text="Where one reads about it."
    )
    description = LinesField(required=False, max_length=5000, widget=forms.Textarea(attrs={"rows": 3}))
    note = LinesField(
        required=False,
        max_length=5000,
        label="Note",
        help_text="How the scores were measured; shown with the submission.",
        widget=forms.Textarea(attrs={"rows": 3}),
    )

    def __init__(self, *args: Any, tasks: Sequence[Task], **kwargs: Any) -> None:  # noqa: ANN401
        super().__init__(*args, **kwargs)
        self._tasks = tasks
        for task in tasks:
            widget = forms.TextInput(attrs={"inputmode": "decimal", "autocomplete": "off", "list": "missing-reasons"})
            field = LineField(required=False, max_length=60, label=task.name, widget=widget)
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

    def raw_row(self) -> RawRow:
        """What was typed."""
        data = self.cleaned_data
        return RawRow(
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


class CorrectionForm(SubmissionForm):
    """The scores of a system that are to stand in place of those of one of its submissions."""

    organisation = url = description = system_name = None  # type: ignore[assignment]
    note = LinesField(
        max_length=5000,
        label="What was wrong, and how you know",
        help_text="Shown with the correction, on the pages of the submission and in the history.",
        widget=forms.Textarea(attrs={"rows": 3}),
    )

    def __init__(self, *args: Any, corrected: Correctable, **kwargs: Any) -> None:  # noqa: ANN401
        stated = stated_scores(corrected)
        initial = {self.field_name(key): text for key, text in stated.items()}
        super().__init__(*args, initial=initial, **kwargs)
        self._submission = corrected.submission
        # Where a later submission brought a task's score, that one is to be corrected.
        self._tasks = [task for task in self._tasks if task.key not in corrected.newer]

    def raw_row(self) -> RawRow:
        """What was typed, of the system that is corrected."""
        return RawRow(
            system_name=self._submission.system.name,
            scores={task.key: self.cleaned_data[self.field_name(task.key)] for task in self._tasks},
            corrects=str(self._submission.uuid),
        )


class TokenForm(forms.Form):
    """What a new API token is called and may do, and how long."""

    name = LineField(
        max_length=80,
        label="Name",
        help_text="What it is for, or where it is kept.",
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )
    scopes = forms.MultipleChoiceField(
        choices=[
            (ApiToken.Scope.READ, "read what you may read"),
            (ApiToken.Scope.SUBMIT, "submit scores"),
            (ApiToken.Scope.MANAGE, "host: decide where you moderate, change what you own, create benchmarks"),
        ],
        initial=[ApiToken.Scope.READ],
        label="What it may do",
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": "Choose at least one."},
    )
    days = forms.TypedChoiceField(
        choices=[(days, f"{days} days") for days in LIFETIMES], initial=LIFETIMES[1], coerce=int, label="Expires after"
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
        help_text="Several at once where they belong together, but of one format. No archives.",
        widget=SeveralFilesInput(attrs={"accept": ".json,.yaml,.yml,.md,.csv,.toml"}),
    )

    file = forms.FileField(
        required=False,
        label="A CSV file",
        help_text="UTF-8; commas, semicolons or tabs between the columns.",
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
        help_text="Columns system, task, instance, score; or system, instance and a column for each task.",
        widget=forms.ClearableFileInput(attrs={"accept": ".csv,text/csv"}),
    )
    system_column = LineField(
        required=False,
        max_length=NAME_LENGTH,
        label="Its column of systems",
        help_text="Only where it is not called system.",
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
    )
    note = LinesField(
        required=False,
        max_length=5000,
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
                raise forms.ValidationError("Choose files with results, or a table; one of the two.")
            if sum(chosen.size for chosen in results) > settings.UPLOAD_BYTES:
                limit = settings.UPLOAD_BYTES // 2**20
                raise forms.ValidationError({"results": f"More than {limit} MB together; import them in parts."})
            return cleaned
        if not self.errors and ((file and text) or not (file or text or instances)):
            raise forms.ValidationError("Choose a file or paste a table; one of the two.")
        for name, chosen in (("file", file), ("instances", instances)):
            if chosen and chosen.size > settings.UPLOAD_BYTES:
                limit = settings.UPLOAD_BYTES // 2**20
                message = f"The file has {chosen.size / 2**20:.0f} MB; at most {limit} MB are read."
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
