"""Forms of the pages that take files with results, and that ask what is in them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django import forms
from django.conf import settings
from django.utils.translation import gettext, gettext_lazy

from leaderboard.common.form_fields import (
    NOTE_LENGTH,
    TWO_TABLES,
    CsvFileField,
    LineFormField,
    LinesFormField,
    PastedTableField,
    TableForm,
)
from leaderboard.models.benchmarks import NAME_LENGTH
from leaderboard.submissions.imports import SCALES, Assignment
from ranking_engine.files.roles import ABOUT, ROLES, ColumnChoices
from ranking_engine.importers.archives import is_hidden
from ranking_engine.importers.results_table import Import
from ranking_engine.importers.table import SourceTable

ACCEPTED = ".json,.jsonl,.eval,.yaml,.yml,.md,.csv,.tsv,.txt,.html,.tex,.xlsx,.xls,.ods,.parquet,.gz,.zip,.toml"


FOLDER_NAMES_LENGTH = 300_000  # of 1,000 files


class SeveralFilesInput(forms.ClearableFileInput):
    """A field in which several files may be chosen."""

    allow_multiple_selected = True


class SeveralFilesField(forms.FileField):
    """Several files; its value is their list."""

    widget = SeveralFilesInput

    def clean(self, data: Any, initial: Any = None) -> list[Any]:  # noqa: ANN401
        """Every file by itself."""
        return [super(SeveralFilesField, self).clean(one, initial) for one in data or []]


class UploadForm(TableForm):
    """A table of scores, as a file or pasted, a file with those of single instances, or both; or result files."""

    results = SeveralFilesField(
        required=False,
        allow_empty_file=True,
        label=gettext_lazy("Files with results"),
        help_text=gettext_lazy("You can choose several files of the same format, or a folder as a .zip archive."),
        widget=SeveralFilesInput(attrs={"accept": ACCEPTED}),
    )
    folder = SeveralFilesField(
        required=False,
        allow_empty_file=True,
        label=gettext_lazy("or a folder with them"),
        help_text=gettext_lazy("Every file in it is sent. If your browser cannot choose folders, choose the files."),
        widget=SeveralFilesInput(attrs={"webkitdirectory": True, "data-names": "folder-names"}),
    )
    # The files of the folder with their folders, one a line, which a script fills in: browsers leave folders out.
    folder_names = LinesFormField(
        required=False,
        max_length=FOLDER_NAMES_LENGTH,
        widget=forms.HiddenInput(attrs={"id": "folder-names"}),
    )

    file = CsvFileField(
        required=False,
        label=gettext_lazy("A CSV file"),
        help_text=gettext_lazy("Columns separated by commas, semicolons or tabs. Other tables: choose them below."),
    )
    text = PastedTableField(
        required=False,
        label=gettext_lazy("or the table itself"),
        rows=8,
    )
    instances = CsvFileField(
        required=False,
        label=gettext_lazy("A CSV file of single instances"),
        help_text=gettext_lazy("Columns system, task, instance, score; or system, instance and one column per task."),
    )
    asks_columns = forms.BooleanField(
        required=False,
        label=gettext_lazy("Ask me what the columns of a table are"),
        help_text=gettext_lazy("Without it, you are asked only where it is not clear."),
    )
    system_column = LineFormField(
        required=False,
        max_length=NAME_LENGTH,
        label=gettext_lazy("Its column with the systems"),
        help_text=gettext_lazy("Only if it is not called system."),
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
    )
    note = LinesFormField(
        required=False,
        max_length=NOTE_LENGTH,
        label=gettext_lazy("Note"),
        help_text=gettext_lazy("How the scores were measured; shown with the submissions."),
        widget=forms.Textarea(attrs={"rows": 3}),
    )

    def clean(self) -> dict[str, Any]:
        """One table at most, at least something, and no more than is read."""
        cleaned = super().clean() or self.cleaned_data
        file, text, instances = cleaned.get("file"), (cleaned.get("text") or "").strip(), cleaned.get("instances")
        results = [*(cleaned.get("results") or []), *(cleaned.get("folder") or [])]
        if (file or results) and self.is_text_kept:
            text = ""
        if results and not self.errors:
            if file or text or instances:
                raise forms.ValidationError(gettext("Choose either result files or a table."))
            if sum(chosen.size for chosen in results) > settings.IMPORT_BYTES:
                limit = settings.IMPORT_BYTES // 2**20
                raise forms.ValidationError(
                    {"results": gettext("More than %(limit)s MB together; import them in parts.") % {"limit": limit}}
                )
            return cleaned
        if not self.errors and file and text:
            raise forms.ValidationError(TWO_TABLES)
        if not self.errors and not (file or text or instances):
            raise forms.ValidationError(gettext("Choose a file or paste a table."))
        for name, chosen in (("file", file), ("instances", instances)):
            if chosen and chosen.size > settings.UPLOAD_BYTES:
                limit = settings.UPLOAD_BYTES // 2**20
                message = gettext("The file has %(size)s MB; the limit is %(limit)s MB.") % {
                    "size": f"{chosen.size / 2**20:.0f}",
                    "limit": limit,
                }
                raise forms.ValidationError({name: message})
        return cleaned

    def result_files(self) -> list[tuple[str, bytes]]:
        """The name and the bytes of every chosen file with results; the name with folders, where they are known."""
        cleaned = self.cleaned_data
        in_folder = cleaned["folder"] or []
        names = [name.strip() for name in cleaned["folder_names"].splitlines() if name.strip()]
        if [name.rpartition("/")[2] for name in names] != [chosen.name for chosen in in_folder]:
            names = [chosen.name for chosen in in_folder]
        named = [*((chosen.name, chosen) for chosen in cleaned["results"]), *zip(names, in_folder, strict=True)]
        return [(name, chosen.read()) for name, chosen in named if chosen not in in_folder or not is_hidden(name)]

    def content(self) -> bytes:
        """The table's bytes; none where there are instances only."""
        file = self.cleaned_data["file"]
        return file.read() if file else self.cleaned_data["text"].encode()

    def instance_content(self) -> bytes:
        """The bytes of the file of single instances, if there is one."""
        file = self.cleaned_data["instances"]
        return file.read() if file else b""


LONGEST = 400
SCALE_LABELS = {
    "": gettext_lazy("not stated"),
    "as-is": gettext_lazy("as they are"),
    "times-100": gettext_lazy("times 100"),
    "by-100": gettext_lazy("divided by 100"),
}


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
    directions = {
        None: gettext("not stated"),
        True: gettext("higher is better"),
        False: gettext("lower is better"),
    }
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


EXAMPLES = 3  # cells of a column that the page shows
EXAMPLE_LENGTH = 40


@dataclass(frozen=True)
class TableColumnField:
    """One column of a table, with what it is said to be."""

    number: int
    name: str
    examples: Sequence[str]
    role: str
    about: str  # the column that its errors or counts are about; empty for every other role


def table_column_fields(table: SourceTable) -> list[TableColumnField]:
    """The columns of a table as the page shows them."""
    fields = []
    for place, (name, given) in enumerate(zip(table.columns.names, table.columns.roles, strict=True)):
        role, _, about = given.partition(":")
        cells = (row[place].strip() for _, row in table.rows if place < len(row))
        examples = [cell[:EXAMPLE_LENGTH] for cell, _ in zip((cell for cell in cells if cell), range(EXAMPLES))]  # noqa: B905
        fields.append(TableColumnField(place, name, examples, role, about))
    return fields


def column_choices_of(data: Mapping[str, str], names: Sequence[str]) -> ColumnChoices:
    """What was sent in of a table with these columns."""
    roles = {}
    for place, name in enumerate(names):
        role = data.get(f"role-{place}", "")
        about = data.get(f"about-{place}", "").strip()[:LONGEST]
        if role in ROLES:
            roles[name] = f"{role}:{about}" if role in ABOUT else role
    return ColumnChoices(
        roles=roles,
        decimal=data.get("decimal", "")[:1],
        spread=data.get("spread", "")[:LONGEST],
        sheet=data.get("sheet", "")[:LONGEST],
    )
