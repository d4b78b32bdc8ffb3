"""Forms of the pages."""

from django import forms
from django.http import HttpRequest

from leaderboard.models import User


class DisplayNameForm(forms.Form):
    """What sign-up asks for beside e-mail and password."""

    display_name = forms.CharField(
        max_length=80,
        required=False,
        label="Display name",
        help_text="How others see you; your e-mail address is never shown.",
        widget=forms.TextInput(attrs={"autocomplete": "nickname"}),
    )

    def signup(self, request: HttpRequest, user: User) -> None:
        """Called by allauth after the user is stored; the adapter has kept the name already."""
