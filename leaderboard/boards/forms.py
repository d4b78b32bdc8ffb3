"""The form of a system's page."""

from django import forms
from django.utils.translation import gettext_lazy

from leaderboard.common.form_fields import REASON_LENGTH, LineFormField
from leaderboard.models import Baseline

KINDS = {
    Baseline.NONE: gettext_lazy("No baseline"),
    Baseline.HUMAN: gettext_lazy("Human baseline"),
    Baseline.OTHER: gettext_lazy("Other baseline"),
    Baseline.GUEST: gettext_lazy("Out of competition"),
}


class BaselineForm(forms.Form):
    """Whether others are measured against a system."""

    baseline = forms.ChoiceField(choices=KINDS.items, label=gettext_lazy("Mark"))
    reason = LineFormField(required=False, max_length=REASON_LENGTH, label=gettext_lazy("Why"))
