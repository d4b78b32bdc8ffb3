"""What owners fill in of their systems' metadata: the fields, a row each, and a table of values."""

from collections.abc import Sequence
from typing import Any

from django import forms
from django.utils.translation import gettext, gettext_lazy

from leaderboard.benchmarks.metadata import MAX_REASON
from leaderboard.common.form_fields import CsvFileField, LineFormField, PastedTableField
from ranking_engine.files.metadata import (
    KINDS,
    MAX_CHOICE,
    MAX_CHOICES,
    MAX_FIELD_NAME,
    MAX_FIELDS,
    MAX_UNIT,
    MetadataField,
)

NEW_ROWS = 3  # empty ones below the fields that there are
MAX_TEXT_BYTES = 2_000_000
TEXT = {"autocomplete": "off"}


class FieldForm(forms.Form):
    """One field. Without a name it is none."""

    key = forms.CharField(required=False, max_length=MAX_FIELD_NAME, widget=forms.HiddenInput)
    name = LineFormField(required=False, max_length=MAX_FIELD_NAME, widget=forms.TextInput(attrs=TEXT))
    kind = forms.ChoiceField(choices=lambda: [(key, gettext(name)) for key, name in KINDS.items()], initial="text")
    unit = LineFormField(required=False, max_length=MAX_UNIT, widget=forms.TextInput(attrs=TEXT | {"size": 12}))
    choices = LineFormField(
        required=False, max_length=MAX_CHOICES * (MAX_CHOICE + 2), widget=forms.TextInput(attrs=TEXT)
    )
    is_column = forms.BooleanField(required=False, label=gettext_lazy("Column on the board"))
    is_removed = forms.BooleanField(required=False, label=gettext_lazy("Removal"))

    def declaration(self) -> dict[str, Any] | None:
        """The field as `read_fields` takes it; None where there is none."""
        data = self.cleaned_data
        if data["is_removed"] or not data["name"].strip():
            return None
        choices = [choice.strip() for choice in data["choices"].split(",") if choice.strip()]
        texts = {name: data[name] for name in ("key", "name", "kind", "unit", "is_column")}
        return texts | {"choices": choices if data["kind"] == "choice" else []}


FieldForms = forms.formset_factory(
    FieldForm, extra=NEW_ROWS, max_num=MAX_FIELDS + NEW_ROWS, absolute_max=MAX_FIELDS + NEW_ROWS, validate_max=True
)


class DeclareForm(forms.Form):
    """Why the fields change."""

    reason = LineFormField(
        required=False,
        max_length=MAX_REASON,
        label=gettext_lazy("Why"),
        help_text=gettext_lazy("Kept with the change."),
        widget=forms.TextInput(attrs=TEXT),
    )


class ValuesForm(DeclareForm):
    """A table of values, as a file or pasted."""

    file = CsvFileField(
        required=False,
        label=gettext_lazy("A CSV file"),
        help_text=gettext_lazy(
            "First column <code>system</code>, by name or key; then a column for each field to set."
        ),
    )
    text = PastedTableField(
        required=False,
        max_length=MAX_TEXT_BYTES,
        label=gettext_lazy("or the table itself"),
        rows=6,
    )
    field_order = ("file", "text", "reason")

    def clean(self) -> dict[str, Any]:
        """There is one table, and no larger one than a page takes."""
        cleaned = super().clean() or self.cleaned_data
        file, text = cleaned.get("file"), (cleaned.get("text") or "").strip()
        if not self.errors and bool(file) == bool(text):
            raise forms.ValidationError(gettext("Choose a file or paste a table; one of the two."))
        if file and file.size > MAX_TEXT_BYTES:
            message = gettext("The file has %(size)s MB; at most %(limit)s MB are read at once.") % {
                "size": f"{file.size / 1e6:.1f}",
                "limit": f"{MAX_TEXT_BYTES / 1e6:.0f}",
            }
            raise forms.ValidationError({"file": message})
        return cleaned

    def content(self) -> bytes:
        """The table's bytes."""
        file = self.cleaned_data["file"]
        return bytes(file.read()) if file else self.cleaned_data["text"].encode()


def field_rows(fields: Sequence[MetadataField]) -> list[dict[str, Any]]:
    """The fields as the rows of the form have them."""
    return [{**vars(field), "choices": ", ".join(field.choices)} for field in fields]
