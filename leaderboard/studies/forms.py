"""Forms for when a benchmark's studies run, and for their time budget."""

from collections.abc import Iterable
from typing import Any

from django import forms
from django.utils.translation import gettext

from leaderboard.models import StudyChoice

LONGEST = 24 * 3600  # seconds


class StudiesForm(forms.Form):
    """A choice and a budget a study."""

    def __init__(self, choices: Iterable[StudyChoice], *args: Any, **kwargs: Any) -> None:  # noqa: ANN401
        super().__init__(*args, **kwargs)
        self.studies = [choice.study for choice in choices]
        for choice in choices:
            self.fields[f"{choice.study}-when"] = forms.ChoiceField(
                choices=StudyChoice.When.choices, initial=choice.when, label=gettext("When")
            )
            self.fields[f"{choice.study}-budget"] = forms.IntegerField(
                min_value=1, max_value=LONGEST, initial=choice.budget_seconds, label=gettext("Budget in seconds")
            )

    def chosen(self) -> dict[str, tuple[str, int]]:
        """What was chosen of each study: when, and the budget."""
        data = self.cleaned_data
        return {study: (data[f"{study}-when"], data[f"{study}-budget"]) for study in self.studies}
