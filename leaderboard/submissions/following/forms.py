"""The form of an address that a benchmark is to follow."""

from django import forms
from django.utils.translation import gettext_lazy

from leaderboard.common.form_fields import LineFormField
from leaderboard.models import FollowedAddress
from leaderboard.models.webhooks import ADDRESS_LENGTH

JOINING = gettext_lazy("New scores join the board at once. Otherwise you get a draft to confirm.")
CREATING = gettext_lazy(
    "New systems join the board at once, too. Otherwise scores with a new system among them become a draft."
)


class FollowForm(forms.Form):
    """An address, its content, and what becomes of it."""

    address = LineFormField(
        max_length=ADDRESS_LENGTH,
        label=gettext_lazy("URL"),
        help_text=gettext_lazy(
            "It begins with <code>https://</code>. For a list it can be the page of a folder on GitHub, GitLab, Gitea "
            "or Forgejo."
        ),
        widget=forms.URLInput(attrs={"autocomplete": "off", "placeholder": "https://"}),
    )
    kind = forms.ChoiceField(choices=FollowedAddress.Kind.choices, label=gettext_lazy("Content"))
    every_minutes = forms.TypedChoiceField(
        choices=FollowedAddress.Every.choices,
        coerce=int,
        initial=FollowedAddress.Every.DAY,
        label=gettext_lazy("How often"),
    )
    is_direct = forms.BooleanField(required=False, label=JOINING)
    creates_systems = forms.BooleanField(required=False, label=CREATING)
