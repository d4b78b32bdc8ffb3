"""What sign-up asks for. allauth imports it before its own forms, so it imports none of them."""

import re

from django import forms
from django.http import HttpRequest

from leaderboard.accounts.display_names import is_taken
from leaderboard.common.form_fields import LineFormField
from leaderboard.models import User
from ranking_engine.text.confusables import skeleton
from ranking_engine.text.names import name_problem

SITES_OWN = re.compile(r"user\d+|formermember")  # what it calls people without a name, by their skeletons


class DisplayNameForm(forms.Form):
    """What sign-up asks for beside email and password."""

    display_name = LineFormField(
        max_length=80,
        required=False,
        label="Display name",
        help_text="How others see you; your email address is never shown.",
        widget=forms.TextInput(attrs={"autocomplete": "nickname"}),
    )

    def clean_display_name(self) -> str:
        """A name that reads as what it is: no invisible characters, nothing that turns its letters round."""
        name = self.cleaned_data["display_name"]
        if name and (problem := name_problem(name, allow_formula=True)):
            raise forms.ValidationError(f"The display name {problem}.")
        if SITES_OWN.fullmatch(skeleton(name)):
            raise forms.ValidationError("This name is reserved; choose another display name.")
        if is_taken(name):
            raise forms.ValidationError("This display name, or one that looks like it, is already taken.")
        return name

    def signup(self, request: HttpRequest, user: User) -> None:
        """Called by allauth after the user is stored; the adapter has kept the name already."""
