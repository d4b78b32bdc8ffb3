"""The form of a system's page."""

from django import forms
from django.utils.translation import gettext_lazy

from leaderboard.common.form_fields import REASON_LENGTH, LineFormField
from leaderboard.models import Baseline

KINDS = [(kind, label.capitalize() if kind != Baseline.OTHER else "Other baseline") for kind, label in Baseline.choices]


class BaselineForm(forms.Form):
    """Whether others are measured against a system."""

    baseline = forms.ChoiceField(choices=KINDS, label=gettext_lazy("Mark"))
    reason = LineFormField(required=False, max_length=REASON_LENGTH, label="Why")
