"""Fields of forms for texts that people write, and such a text where no form asks for it."""

from django import forms
from django.core.exceptions import BadRequest
from django.http import HttpRequest

from leaderboard.models.texts import is_line, is_lines
from ranking_engine.text.characters import lines_problem

REASON_LENGTH = 5000  # of why somebody did something, on pages and in the API alike


class LineField(forms.CharField):
    """One line, without control and invisible characters."""

    default_validators = [is_line]


class LinesField(forms.CharField):
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
