"""What owners fill in: references of a task with their metric, phases, and the error that a quota is computed from."""

from typing import Any

from django import forms
from django.conf import settings
from django.utils.translation import gettext, gettext_lazy

from leaderboard.common.form_fields import LineFormField, MomentField
from leaderboard.common.language.numbers import localise
from leaderboard.evaluation.references import EVALUATOR
from leaderboard.models import Phase
from ranking_engine.evaluation.metrics import METRICS, Metric, is_available

MAX_CAP = 1_000_000
LONGEST_OPTION = 200  # characters


def metric_choices() -> list[tuple[str, str]]:
    """The metrics by key; of those whose library is not installed, the name says so."""
    named = [
        (
            key,
            metric.name
            if is_available(metric)
            else gettext("%(metric)s (not installed here)") % {"metric": metric.name},
        )
        for key, metric in METRICS.items()
    ]
    return [*sorted(named, key=lambda one: one[1].casefold()), (EVALUATOR.key, EVALUATOR.name)]


class ReferencesForm(forms.Form):
    """A file of references, with the options of the metric that was chosen before."""

    file = forms.FileField(
        label=gettext_lazy("References"),
        help_text=gettext_lazy(
            "CSV, JSON lines or Parquet with the columns <code>id</code> and <code>reference</code>, and, if you "
            "want, <code>split</code> (development, public, private or test), <code>weight</code>, "
            "<code>cluster</code> "
            "and <code>category</code>."
        ),
        widget=forms.ClearableFileInput(attrs={"accept": ".csv,.jsonl,.parquet"}),
    )

    def __init__(self, metric: Metric, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401
        super().__init__(*args, **kwargs)
        for option in metric.options:
            about: dict[str, Any] = {
                "label": option.key.replace("_", " ").capitalize(),
                "help_text": option.description,
                "required": option.is_needed,
            }
            field: forms.Field = LineFormField(max_length=LONGEST_OPTION, initial=option.default, **about)
            if option.kind == "choice":
                choices = [(one, one.replace("_", " ")) for one in option.choices]
                field = forms.ChoiceField(choices=choices, initial=option.default, **about)
            elif option.kind == "yes_no":
                choices = [("yes", "yes"), ("no", "no")]
                field = forms.ChoiceField(choices=choices, initial="yes" if option.default else "no", **about)
            self.fields[f"option-{option.key}"] = field
        if metric.key == EVALUATOR.key:
            self.fields["file"].label = gettext("Instances")

    def clean_file(self) -> Any:  # noqa: ANN401
        """A file that is not larger than what is read."""
        file = self.cleaned_data["file"]
        if file.size > settings.UPLOAD_BYTES:
            raise forms.ValidationError(
                gettext("The file has %(size)s MB; the limit is %(limit)s MB.")
                % {"size": localise(file.size / 1e6, ".1f"), "limit": localise(settings.UPLOAD_BYTES / 1e6, ".1f")}
            )
        return file

    def options(self) -> dict[str, Any]:
        """What was chosen, as the metric reads it."""
        return {
            name.removeprefix("option-"): value
            for name, value in self.cleaned_data.items()
            if name.startswith("option-") and value not in (None, "")
        }


class PhaseForm(forms.Form):
    """A phase."""

    name = LineFormField(max_length=80, widget=forms.TextInput(attrs={"autocomplete": "off"}))
    kind = forms.ChoiceField(choices=Phase.Kind.choices, initial=Phase.Kind.TEST)
    opens_at = MomentField(gettext_lazy("Opens"))
    closes_at = MomentField(gettext_lazy("Closes"), gettext_lazy("Leave it empty if it stays open."))
    split = forms.ChoiceField(
        choices=Phase.Split.choices,
        initial=Phase.Split.TEST,
        label=gettext_lazy("What counts"),
        help_text=gettext_lazy("The board shows scores on these instances."),
    )
    private_at = MomentField(
        gettext_lazy("Private board appears"),
        gettext_lazy(
            "Only with the public split, after the phase has closed: the board then goes over to scores on the private "
            "split, for all systems at once."
        ),
    )
    daily_cap = forms.IntegerField(
        required=False,
        min_value=1,
        max_value=MAX_CAP,
        label=gettext_lazy("Submissions per day"),
        help_text=gettext_lazy("Of a team, or a person."),
    )
    total_cap = forms.IntegerField(
        required=False, min_value=1, max_value=MAX_CAP, label=gettext_lazy("Submissions in all")
    )
    max_systems = forms.IntegerField(
        required=False,
        min_value=1,
        max_value=MAX_CAP,
        label=gettext_lazy("Systems"),
        help_text=gettext_lazy("How many a team, or a person, has."),
    )
    counts = forms.ChoiceField(
        choices=Phase.Counts.choices,
        initial=Phase.Counts.BEST,
        label=gettext_lazy("Which one counts"),
        help_text=gettext_lazy(
            "A new submission is better than the one that counts if it has better scores on tasks of more weight than "
            "those on which it has worse ones. With several tasks, which one counts can depend on the order in which "
            "they come in."
        ),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401
        super().__init__(*args, **kwargs)
        self.fields["opens_at"].required = True


class QuotaForm(forms.Form):
    """How much a board may leak."""

    error = forms.DecimalField(
        min_value=0,
        max_value=50,
        max_digits=6,
        decimal_places=3,
        initial="1",
        label=gettext_lazy("Largest gain by overfitting, in percent"),
        help_text=gettext_lazy(
            "Such as 1: submitting often may raise a score by one percentage point more than a system is worth."
        ),
    )

    def clean_error(self) -> float:
        """As a share, above 0."""
        error = float(self.cleaned_data["error"]) / 100
        if error <= 0:
            raise forms.ValidationError(gettext("Write a number above 0."))
        return error
