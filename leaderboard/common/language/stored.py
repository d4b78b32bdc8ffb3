"""Texts that are stored: in English, whatever the language of the site is."""

from typing import TYPE_CHECKING

from django.utils import translation

from leaderboard.common.language.numbers import PROGRAMS

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise

    from leaderboard.common.language.sentences import Sentence


def in_english(text: "StrOrPromise | Sentence") -> str:
    """A text that is translated where it is shown, as files, the API and the database have it."""
    with translation.override(PROGRAMS):
        return str(text)
