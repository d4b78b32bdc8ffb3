"""Fields of forms for texts that people write, such a text where no form asks for it, and errors beside fields."""

import hashlib
from typing import TYPE_CHECKING, Any

from django import forms
from django.core.exceptions import BadRequest, ValidationError
from django.core.files.uploadedfile import UploadedFile
from django.forms import BaseForm
from django.http import HttpRequest
from django.utils.text import format_lazy
from django.utils.translation import gettext, gettext_lazy

from leaderboard.models.texts import is_line, is_lines
from ranking_engine.text.characters import refused_in_lines

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise

# On pages and in the API alike: of why someone did something, and of what they say of their submission.
REASON_LENGTH = NOTE_LENGTH = 5000
MAX_KEPT_BYTES = 500_000  # of a file whose text stays on the page; a field with more makes browsers slow


class LineFormField(forms.CharField):
    """One line, without control and invisible characters."""

    default_validators = [is_line]


class LinesFormField(forms.CharField):
    """Several lines, without control characters but tabs and line breaks."""

    default_validators = [is_lines]


class PastedTableField(forms.CharField):
    """A table as text. Nothing is cut off at its ends, where cells may be empty."""

    def __init__(self, *, rows: int, **kwargs: Any) -> None:  # noqa: ANN401
        code = {"rows": rows, "class": "is-code", "spellcheck": "false", "autocomplete": "off"}
        super().__init__(strip=False, widget=forms.Textarea(attrs=code), **kwargs)


class CsvFileField(forms.FileField):
    """A table as a CSV file."""

    def __init__(self, **kwargs: Any) -> None:  # noqa: ANN401
        super().__init__(widget=forms.ClearableFileInput(attrs={"accept": ".csv,text/csv"}), **kwargs)


class MomentField(forms.DateTimeField):
    """A moment in UTC, which may be left out."""

    def __init__(self, label: "StrOrPromise", help_text: "StrOrPromise" = "") -> None:
        widget = forms.DateTimeInput(attrs={"type": "datetime-local"}, format="%Y-%m-%dT%H:%M")
        super().__init__(required=False, label=format_lazy("{} (UTC)", label), help_text=help_text, widget=widget)


class TableForm(forms.Form):
    """A table as a file or as text. The text of a file that was refused stays in the field `text`.

    Attributes:
        kept: what the page itself put there, as `_digest`: a file that is chosen then replaces it, unless someone
            changed it.
    """

    kept = LineFormField(required=False, max_length=64, widget=forms.HiddenInput)

    @property
    def is_text_kept(self) -> bool:
        """Whether the text is, unchanged, what the page itself put into the field."""
        return bool(self.data.get("kept")) and _digest(self.data.get("text", "")) == self.data["kept"]


TWO_TABLES = gettext_lazy(
    "You chose a file, and there is also a table in the field. To send the file, empty the field and choose the file "
    "again. To send the table in the field, press the button again."
)  # browsers do not keep a chosen file


def sent_lines(request: HttpRequest, name: str, most: int) -> str:
    """A text of several lines that a button's form sent along, cut to its length.

    Raises:
        BadRequest: it holds what no keyboard writes.
    """
    text = request.POST.get(name, "").strip()[:most]
    if character := refused_in_lines(text):
        problem = gettext("The %(name)s holds the control character %(character)s; leave it out.")
        raise BadRequest(problem % {"name": name, "character": character})
    return text


def take_errors(form: BaseForm, error: ValidationError) -> None:
    """Put what a service refused to the fields that it concerns."""
    messages = error.message_dict if hasattr(error, "error_dict") else {"": error.messages}
    for name, texts in messages.items():
        for text in texts:
            form.add_error(name if name in form.fields else None, text)


def with_text_of_file(form: TableForm) -> TableForm | None:
    """The form with the text of the file chosen in `file` in its field `text`, for another try.

    Browsers forget the file. None where there is no file, or it is too large or no text, or a text was typed, too.
    """
    file, typed = form.files.get("file"), form.data.get("text", "")
    is_typed = bool(typed.strip()) and not form.is_text_kept
    if not isinstance(file, UploadedFile) or (file.size or 0) > MAX_KEPT_BYTES or is_typed:
        return None
    file.seek(0)
    try:
        text = file.read().decode("utf-8-sig").replace("\0", "")
    except UnicodeDecodeError:
        return None
    return type(form)({**{name: form.data[name] for name in form.data}, "text": text, "kept": _digest(text)})


def _digest(text: str) -> str:
    """The SHA-256 of a text whatever its line breaks, which browsers change, and the ones around it."""
    return hashlib.sha256("\n".join(text.splitlines()).strip("\n").encode("utf-8", "surrogatepass")).hexdigest()
