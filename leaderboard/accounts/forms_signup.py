"""What sign-up asks for. allauth imports it before its own forms, so it imports none of them."""

from django import forms
from django.http import HttpRequest
from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy

from leaderboard.accounts.display_names import display_name_problem
from leaderboard.common.form_fields import LineFormField
from leaderboard.models import User
from leaderboard.models.people import NAMELESS


class DisplayNameForm(forms.Form):
    """What sign-up asks for beside email and password."""

    display_name = LineFormField(
        max_length=80,
        required=False,
        label=gettext_lazy("Display name"),
        help_text=format_lazy(
            gettext_lazy(
                "How others see you; your email address is never shown. If you leave it empty, they see “{word}” and "
                "a number. You can change it later."
            ),
            word=NAMELESS,
        ),
        widget=forms.TextInput(attrs={"autocomplete": "nickname"}),
    )

    def clean_display_name(self) -> str:
        """A name that reads as what it is: no invisible characters, nothing that turns its letters round."""
        name = str(self.cleaned_data["display_name"])
        if problem := display_name_problem(name):
            raise forms.ValidationError(problem)
        return name

    def signup(self, request: HttpRequest, user: User) -> None:
        """Called by allauth after the user is stored; the adapter has kept the name already."""
