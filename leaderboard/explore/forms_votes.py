"""Votes on pairs of systems that someone brings along, and how they are rated."""

from typing import Any

from django import forms
from django.conf import settings
from django.utils.translation import gettext, gettext_lazy

from leaderboard.explore.forms import CODE
from leaderboard.votes.settings import CLUSTERS
from ranking_engine.votes.models import MODELS


class TryVotesForm(forms.Form):
    """The votes, and the choices of `plurank votes`."""

    text = forms.CharField(
        required=False,
        strip=False,
        label=gettext_lazy("Votes"),
        help_text=gettext_lazy(
            "The first line names the columns: <code>model_a</code>, <code>model_b</code> and "
            "<code>winner</code>, which is <code>model_a</code>, <code>model_b</code>, <code>tie</code> or "
            "<code>tie (bothbad)</code>. A column <code>category</code> gives ratings by category."
        ),
        widget=forms.Textarea(attrs={"rows": 9, **CODE}),
    )
    file = forms.FileField(
        required=False,
        allow_empty_file=True,
        label=gettext_lazy("or a file"),
        help_text=gettext_lazy("CSV, JSON lines or a JSON list, as Chatbot Arena publishes them."),
        widget=forms.FileInput(attrs={"accept": ".csv,.tsv,.txt,.json,.jsonl"}),
    )
    model = forms.ChoiceField(
        required=False,
        choices=lambda: [(key, gettext(model.name)) for key, model in MODELS.items()],
        label=gettext_lazy("Model"),
    )
    cluster = forms.ChoiceField(
        required=False, choices=list(CLUSTERS.items()), label=gettext_lazy("Standard errors count")
    )

    def clean(self) -> dict[str, Any]:
        """Votes from one place, and no more than are read; choices that were not made have their defaults."""
        cleaned = super().clean() or self.cleaned_data
        if cleaned.get("file") is not None:  # a file just chosen stands for what was pasted before
            cleaned["text"] = cleaned["file"].read(settings.TRY_BYTES + 1)
        else:
            cleaned["text"] = (cleaned.get("text") or "").encode("utf-8", "surrogatepass")
        cleaned["model"] = cleaned.get("model") or next(iter(MODELS))
        cleaned["cluster"] = cleaned.get("cluster") or next(iter(CLUSTERS))
        if len(cleaned["text"]) > settings.TRY_BYTES:
            self.add_error(
                "text",
                gettext(
                    "More than %(n)s kB is too large for this page. The command line has no such limit: plurank votes "
                    "battles.csv"
                )
                % {"n": settings.TRY_BYTES // 1000},
            )
        elif not self.errors and not cleaned["text"].strip():
            self.add_error("text", gettext("Paste votes, choose a file, or take the example."))
        return cleaned
