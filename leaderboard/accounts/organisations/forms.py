"""Forms of an organisation."""

from django import forms
from django.utils.translation import gettext_lazy

from leaderboard.accounts.organisations.founding import DESCRIPTION_LENGTH, URL_LENGTH
from leaderboard.common.form_fields import LineFormField, LinesFormField
from leaderboard.models.benchmarks import KEY_LENGTH, NAME_LENGTH, is_key


class DescriptionForm(forms.Form):
    """What an organisation says of itself."""

    name = LineFormField(max_length=NAME_LENGTH)
    description = LinesFormField(
        max_length=DESCRIPTION_LENGTH, required=False, widget=forms.Textarea(attrs={"rows": 4})
    )
    url = forms.URLField(max_length=URL_LENGTH, required=False, label=gettext_lazy("Web site"), assume_scheme="https")


class FoundingForm(DescriptionForm):
    """A new organisation."""

    key = LineFormField(
        max_length=KEY_LENGTH,
        validators=[is_key],
        help_text=gettext_lazy("For its URL: lower-case letters, digits and single hyphens. It cannot be changed."),
    )

    field_order = ["name", "key", "description", "url"]
