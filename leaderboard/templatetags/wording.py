"""Names in words."""

from collections.abc import Sequence

from django import template

from leaderboard.services import wording

register = template.Library()


@register.simple_tag
def in_words(names: Sequence[str], total: int, most: int = 5) -> str:
    """`A, B and 4 more`, where `names` are at least the first of `total`; long names are shortened."""
    return wording.in_words([wording.shortened(name) for name in names], most, total)
