"""Forms for votes: the upload, and how they are rated."""

from typing import Any

from django import forms
from django.conf import settings
from django.utils.translation import gettext, gettext_lazy

from leaderboard.access.setting_names import SETTING_NAMES
from leaderboard.common.form_fields import NOTE_LENGTH, REASON_LENGTH, LineFormField, LinesFormField, PastedTableField
from leaderboard.models import VoteSettings
from leaderboard.votes.content import COLUMNS_LENGTH, read_columns
from leaderboard.votes.settings import CLUSTERS, MAX_RESAMPLES, checked_covariates, checked_resamples
from ranking_engine.votes.models import MODELS
from ranking_engine.votes.reading import MAX_LABEL

COVARIATES_LENGTH = 2_000


class SendVotesForm(forms.Form):
    """A file of votes, or the votes themselves."""

    file = forms.FileField(
        required=False,
        allow_empty_file=True,
        label=gettext_lazy("A file of votes"),
        help_text=gettext_lazy("CSV, JSON lines, a JSON list or Parquet, as Chatbot Arena and LMArena publish them."),
        widget=forms.FileInput(attrs={"accept": ".csv,.tsv,.txt,.json,.jsonl,.parquet"}),
    )
    text = PastedTableField(required=False, label=gettext_lazy("or the votes themselves"), rows=8)
    columns = LineFormField(
        required=False,
        max_length=COLUMNS_LENGTH,
        label=gettext_lazy("What columns are"),
        help_text=gettext_lazy("Only for names that are not known, such as <code>words=weight,topic=category</code>."),
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
    )
    note = LinesFormField(
        required=False,
        max_length=NOTE_LENGTH,
        label=gettext_lazy("Note"),
        help_text=gettext_lazy("How the votes were collected; shown with them."),
        widget=forms.Textarea(attrs={"rows": 3}),
    )

    def clean_columns(self) -> dict[str, str]:
        """The roles by column."""
        return read_columns(self.cleaned_data["columns"])

    def clean(self) -> dict[str, Any]:
        """Votes from one place, and no more than are read."""
        cleaned = super().clean() or self.cleaned_data
        file, text = cleaned.get("file"), cleaned.get("text") or ""
        if file and text.strip():
            raise forms.ValidationError(gettext("Choose either a file or paste the votes."))
        if file and file.size > settings.IMPORT_BYTES:
            limit = settings.IMPORT_BYTES // 2**20
            raise forms.ValidationError(
                {"file": gettext("More than %(limit)s MB; send the votes in parts.") % {"limit": limit}}
            )
        if not file and not text.strip() and not self.errors:
            raise forms.ValidationError(gettext("Choose a file of votes or paste them."))
        cleaned["data"] = file.read() if file else text.encode("utf-8", "surrogatepass")
        return cleaned


class VoteSettingsForm(forms.Form):
    """How the votes of a benchmark are rated."""

    tie_model = forms.ChoiceField(
        label=SETTING_NAMES["votes: tie_model"],
        choices=lambda: [(key, gettext(model.name)) for key, model in MODELS.items()],
        help_text=gettext_lazy("How ties count."),
    )
    cluster = forms.ChoiceField(
        label=SETTING_NAMES["votes: cluster"],
        choices=list(CLUSTERS.items()),
        help_text=gettext_lazy("People and prompts have many votes each, which are not independent."),
    )
    n_resamples = forms.IntegerField(
        required=False,
        min_value=0,
        max_value=MAX_RESAMPLES,
        label=SETTING_NAMES["votes: n_resamples"],
        help_text=gettext_lazy("0: intervals by the sandwich formula, which is much faster."),
    )
    covariates = LineFormField(
        required=False,
        max_length=COVARIATES_LENGTH,
        label=SETTING_NAMES["votes: covariates"],
        help_text=gettext_lazy(
            "What else may have decided votes, with commas between: <code>length, lists</code>. Each file needs "
            "the columns <code>length_a</code> and <code>length_b</code>, or is of Chatbot Arena’s shape."
        ),
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
    )
    shows_elo = forms.BooleanField(
        required=False,
        label=SETTING_NAMES["votes: shows_elo"],
        help_text=gettext_lazy("They depend on the order of the votes, and the page shows by how much."),
    )
    exports_voters = forms.BooleanField(
        required=False,
        label=SETTING_NAMES["votes: exports_voters"],
        help_text=gettext_lazy(
            "By a number without a name. Someone who knows a few votes of a person may find their others by it."
        ),
    )
    reason = LinesFormField(
        required=False, max_length=REASON_LENGTH, label=gettext_lazy("Reason"), widget=forms.Textarea(attrs={"rows": 2})
    )

    @classmethod
    def showing(cls, chosen: VoteSettings) -> "VoteSettingsForm":
        """The form with the settings as they are."""
        names = ("tie_model", "cluster", "n_resamples", "shows_elo", "exports_voters")
        initial = {name: getattr(chosen, name) for name in names}
        return cls(initial=initial | {"covariates": ", ".join(chosen.covariates)})

    def clean_covariates(self) -> list[str]:
        """Their names, each once."""
        return checked_covariates(self.cleaned_data["covariates"].split(","))

    def clean_n_resamples(self) -> int:
        """A number; 0 where none is given."""
        return checked_resamples(self.cleaned_data["n_resamples"] or 0)


class ForgetVoterForm(forms.Form):
    """A voter whose votes are no longer to say whose they are."""

    voter = LineFormField(
        max_length=MAX_LABEL,
        label=gettext_lazy("The person, as the files call them"),
        help_text=gettext_lazy("It is not stored."),
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
    )
    reason = LinesFormField(
        max_length=REASON_LENGTH,
        label=gettext_lazy("Reason"),
        help_text=gettext_lazy("It is kept for good: do not name the person."),
        widget=forms.Textarea(attrs={"rows": 2}),
    )
