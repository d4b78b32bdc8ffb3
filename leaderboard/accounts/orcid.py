"""ORCID iDs: https://support.orcid.org/hc/en-us/articles/360006897674."""

import re

from allauth.socialaccount.models import SocialAccount

from leaderboard.models import User

ORCID = re.compile(r"[0-9]{4}-[0-9]{4}-[0-9]{4}-[0-9]{3}[0-9X]")


def is_orcid(text: str) -> bool:
    """Whether a text is an ORCID iD such as 0000-0002-1825-0097, its check digit included (ISO 7064, mod 11-2)."""
    if not ORCID.fullmatch(text):
        return False
    digits = text.replace("-", "")
    total = 0
    for digit in digits[:-1]:
        total = (total + int(digit)) * 2
    return digits[-1] == "0123456789X"[(12 - total % 11) % 11]


def orcid_of(account: SocialAccount) -> str:
    """The iD that an account at another site proves, or nothing."""
    return account.uid if account.provider == "orcid" and is_orcid(account.uid) else ""


def is_confirmed_orcid(user: User) -> bool:
    """Whether the person signed in at ORCID with the iD on their profile, and did not only type it."""
    return bool(user.orcid) and SocialAccount.objects.filter(user=user, provider="orcid", uid=user.orcid).exists()
