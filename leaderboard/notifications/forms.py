"""The form of what one wants to hear of, and where."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy

from leaderboard.common.form_fields import LineFormField
from leaderboard.models import NoticeChoice, NoticeKind, Webhook
from leaderboard.models.webhooks import ADDRESS_LENGTH


class NoticeChoicesForm(forms.Form):
    """A choice a kind of notice."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401
        super().__init__(*args, **kwargs)
        for kind, label in NoticeKind.choices:
            self.fields[kind] = forms.ChoiceField(choices=NoticeChoice.Way.choices, label=label)


class WebhookForm(forms.Form):
    """An address, and what it is told of."""

    address = LineFormField(
        max_length=ADDRESS_LENGTH,
        label=gettext_lazy("URL"),
        help_text=gettext_lazy("The URL to post a JSON body to; it begins with <code>https://</code>."),
        widget=forms.URLInput(attrs={"autocomplete": "off", "placeholder": "https://"}),
    )
    events = forms.MultipleChoiceField(
        choices=Webhook.Event.choices,
        initial=[Webhook.Event.PUBLICATION.value],
        label=gettext_lazy("Events"),
        widget=forms.CheckboxSelectMultiple,
    )
    file = forms.TypedChoiceField(
        choices=Webhook.File.choices,
        required=False,
        empty_value=Webhook.File.NONE.value,
        label=gettext_lazy("What it gets of a new board"),
    )
