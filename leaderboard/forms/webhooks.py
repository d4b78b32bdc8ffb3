"""The form of a new webhook."""

from django import forms

from leaderboard.forms.texts import LineField
from leaderboard.models import Webhook
from leaderboard.models.webhooks import ADDRESS_LENGTH


class WebhookForm(forms.Form):
    """An address, and what it is told of."""

    address = LineField(
        max_length=ADDRESS_LENGTH,
        help_text="Where a JSON body is posted to; it begins with <code>https://</code>.",
        widget=forms.URLInput(attrs={"autocomplete": "off", "placeholder": "https://"}),
    )
    events = forms.MultipleChoiceField(
        choices=Webhook.Event.choices,
        initial=[Webhook.Event.PUBLICATION.value],
        label="What it is told of",
        widget=forms.CheckboxSelectMultiple,
    )
