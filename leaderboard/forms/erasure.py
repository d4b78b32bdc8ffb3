"""What is asked before something is deleted for good."""

from django import forms

from leaderboard.forms.texts import LineField


class TakedownForm(forms.Form):
    """Why scores are taken down."""

    reason = LineField(
        max_length=1000,
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
