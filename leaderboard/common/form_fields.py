"""Fields of forms for texts that people write, such a text where no form asks for it, and errors beside fields."""

from django import forms
from django.core.exceptions import BadRequest, ValidationError
from django.forms import BaseForm
from django.http import HttpRequest

from leaderboard.models.texts import is_line, is_lines
from ranking_engine.text.characters import lines_problem

# On pages and in the API alike: of why somebody did something, and of what they say of their submission.
REASON_LENGTH = NOTE_LENGTH = 5000


class LineFormField(forms.CharField):
    """One line, without control and invisible characters."""

    default_validators = [is_line]


class LinesFormField(forms.CharField):
    """Several lines, without control characters but tabs and line breaks."""

    default_validators = [is_lines]


def sent_lines(request: HttpRequest, name: str, most: int) -> str:
    """A text of several lines that a button's form sent along, cut to its length.

    Raises:
        BadRequest: it holds what no keyboard writes.
    """
    text = request.POST.get(name, "").strip()[:most]
    if problem := lines_problem(text):
        raise BadRequest(f"The {name} {problem}.")
    return text


def take_errors(form: BaseForm, error: ValidationError) -> None:
    """Put what a service refused to the fields that it concerns."""
    messages = error.message_dict if hasattr(error, "error_dict") else {"": error.messages}
    for name, texts in messages.items():
        for text in texts:
            form.add_error(name if name in form.fields else None, text)
