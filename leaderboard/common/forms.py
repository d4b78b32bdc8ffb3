"""What is asked before something is deleted for good."""

from django import forms
from django.core.exceptions import ValidationError
from django.forms import BaseForm

from leaderboard.common.form_fields import REASON_LENGTH, LineField


class TakedownForm(forms.Form):
    """Why scores are taken down."""

    reason = LineField(
        max_length=REASON_LENGTH,
        label="Why",
        help_text="Kept for good with what happened to the submission, so do not repeat the scores here.",
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )
    with_note = forms.BooleanField(required=False, label="The submitter's note on the whole batch goes as well.")
    is_sure = forms.BooleanField(
        label="I know that this cannot be undone.", error_messages={"required": "Tick this to go on."}
    )


class CloseForm(forms.Form):
    """That an account is to be closed."""

    is_sure = forms.BooleanField(
        label="I know that this cannot be undone.", error_messages={"required": "Tick this to go on."}
    )


def take_errors(form: BaseForm, error: ValidationError) -> None:
    """Put what a service refused to the fields that it concerns."""
    stated = error.message_dict if hasattr(error, "error_dict") else {"": error.messages}
    for name, texts in stated.items():
        for text in texts:
            form.add_error(name if name in form.fields else None, text)
