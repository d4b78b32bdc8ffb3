"""How accounts come into being."""

from allauth.account.adapter import DefaultAccountAdapter
from django.http import HttpRequest

from leaderboard.models import User


class AccountAdapter(DefaultAccountAdapter):
    """Keeps the display name that the sign-up form asked for."""

    def save_user(self, request: HttpRequest, user: User, form: object, commit: bool = True) -> User:
        """Store the new user with their e-mail in lower case."""
        user = super().save_user(request, user, form, commit=False)
        user.email = user.email.lower()
        user.display_name = getattr(form, "cleaned_data", {}).get("display_name", "")
        if commit:
            user.save()
        return user
