"""What templates need to know of sign-in and sign-up."""

from django.conf import settings
from django.http import HttpRequest

from leaderboard.accounts.sign_in import sign_in_sites


def sign_in(request: HttpRequest) -> dict[str, object]:
    """The sites by which people sign in, asked for where they are shown, and whether everyone is offered an account."""
    return {"sign_in_sites": sign_in_sites, "offers_sign_up": settings.SIGN_UP in {"open", "domains"}}
