"""The form of what one wants to hear of, and where."""

from typing import Any

from django import forms

from leaderboard.models import NoticeChoice, NoticeKind


class NoticeChoicesForm(forms.Form):
    """A choice a kind of notice."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401
        super().__init__(*args, **kwargs)
        for kind, label in NoticeKind.choices:
            self.fields[kind] = forms.ChoiceField(choices=NoticeChoice.Way.choices, label=label)
