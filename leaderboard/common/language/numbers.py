"""Numbers as the language of the page writes them."""

import re
from functools import cache

from django.conf import settings
from django.utils import translation
from django.utils.formats import get_format

PROGRAMS = "en"  # the language of files and of the API
TYPED = re.compile(r"\s*[+\-\N{MINUS SIGN}]?\d*,\d+\s*")


def in_language(figure: str) -> str:
    """A figure with the marks of the language of the page: `0.812` is `0,812` in German, `1,000` is `1.000`.

    Args:
        figure: digits with a decimal point and commas between thousands, and what belongs to them. Names and sentences
            are none: every point and comma of the text is taken for a mark.
    """
    if settings.LANGUAGE_CODE == PROGRAMS:  # a board asks ten thousand times
        return figure
    marks = _marks(translation.get_language())
    return figure.translate(marks) if marks else figure


def localise(value: float, form: str) -> str:
    """A number for people.

    Args:
        value: the number.
        form: how it is written, as `format` takes it.
    """
    return in_language(format(value, form))


def typed_number(text: str) -> str:
    """What was typed as one number, with a decimal point; `0,812` is one only in a language that writes it so."""
    if _marks(translation.get_language()).get(ord(".")) == "," and TYPED.fullmatch(text):
        return text.replace(",", ".")
    return text


@cache
def _marks(language: str | None) -> dict[int, str]:
    """What replaces the decimal point and commas between thousands; nothing where they stay."""
    point, comma = (get_format(name, language) for name in ("DECIMAL_SEPARATOR", "THOUSAND_SEPARATOR"))
    return {} if (point, comma) == (".", ",") else {ord("."): point, ord(","): comma}
