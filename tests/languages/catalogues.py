"""What a process has read of catalogues."""

from django.utils import translation
from django.utils.translation import trans_real


def forget_catalogues() -> None:
    """Read catalogues again when they are next asked for, and no language is chosen any more."""
    trans_real._translations.clear()
    trans_real._default = None
    translation.deactivate()
