"""A table that someone brings along, and how it is to be ranked."""

import contextlib
from typing import TYPE_CHECKING, Any

from django import forms
from django.conf import settings
from django.core.exceptions import ValidationError
from django.utils.text import format_lazy
from django.utils.translation import gettext, gettext_lazy

from leaderboard.common.language.engine import in_page_language, rule_name
from leaderboard.common.text import as_sentence
from leaderboard.computing.rankings import site_rules
from leaderboard.explore.try_table import TryOptions
from ranking_engine import AGGREGATIONS, MISSING_POLICIES, TIES
from ranking_engine.catalogue.registry import MAX_VARIANTS, read_variants
from ranking_engine.catalogue.variants import LONGEST_KEY

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise

CODE = {"spellcheck": "false", "autocomplete": "off", "autocapitalize": "off"}
POLICIES: "dict[str, StrOrPromise]" = {
    "": gettext_lazy("the file’s, else incomplete systems unranked"),
    "undefined": gettext_lazy("no ranking"),
    "drop_systems": gettext_lazy("incomplete systems unranked"),
    "drop_tasks": gettext_lazy("incomplete tasks left out"),
    "median": gettext_lazy("task median filled in"),
    "worst": gettext_lazy("task’s worst score filled in"),
    "predicted": gettext_lazy("predicted from the other scores"),
}
COUNTING: "dict[str, StrOrPromise]" = {
    "": gettext_lazy("groups balanced, where there are any"),
    "basic": gettext_lazy("tasks by their own weight"),
    "weighted": gettext_lazy("weighted by group"),
    "balanced": gettext_lazy("groups balanced"),
    "two_step": gettext_lazy("two steps"),
}
EXAMPLES = (
    "<code>copeland[variant=lower]</code>, <code>positional[vector=12,10,8]</code>, <code>plurality[then=borda]</code>"
)
PLACES: "dict[str, StrOrPromise]" = {
    "": gettext_lazy("rule default"),
    "average": gettext_lazy("average place"),
    "best": gettext_lazy("best place"),
    "worst": gettext_lazy("worst place"),
}


def _rules(first: str) -> list[tuple[str, str]]:
    return [("", first), *((key, rule_name(key)) for key in site_rules())]


def _choices(words: "dict[str, StrOrPromise]", known: Any) -> "list[tuple[str, StrOrPromise]]":  # noqa: ANN401
    return [(key, text) for key, text in words.items() if not key or key in known]


def variants_in(text: str) -> tuple[str, ...]:
    """The keys of the variants of rules that a text has, one per line.

    Raises:
        ValidationError: the text is too long, there are too many, or one is none.
    """
    if len(text) > MAX_VARIANTS * (LONGEST_KEY + 2):
        raise ValidationError(gettext("That is too long for variants of rules."))
    try:
        return read_variants([line.strip() for line in text.splitlines() if line.strip()])
    except ValueError as error:
        raise ValidationError(as_sentence(in_page_language(str(error)))) from error


class TryForm(forms.Form):
    """The table, what describes it, and the options of a board."""

    text = forms.CharField(
        required=False,
        strip=False,
        label=gettext_lazy("A table"),
        help_text=gettext_lazy(
            "The first line names the columns: <code>system</code>, then the tasks. Then one line per system; "
            "an empty cell is a missing score. You can paste cells from a spreadsheet."
        ),
        widget=forms.Textarea(attrs={"rows": 9, **CODE}),
    )
    file = forms.FileField(
        required=False,
        allow_empty_file=True,
        label=gettext_lazy("or a CSV file"),
        help_text=gettext_lazy(
            "UTF-8; columns separated by commas, semicolons or tabs. You can drop a file on the button."
        ),
        widget=forms.FileInput(attrs={"accept": ".csv,.tsv,.txt,text/csv,text/tab-separated-values"}),
    )
    about = forms.CharField(
        required=False,
        strip=False,
        label=gettext_lazy("benchmark.toml, or weights"),
        help_text=gettext_lazy(
            "Directions, groups, weights and scales of the tasks; or weights alone, such as "
            "<code>{&quot;RTE&quot;: 2, &quot;CoLA&quot;: &quot;1/3&quot;}</code>."
        ),
        widget=forms.Textarea(attrs={"rows": 4, **CODE}),
    )
    about_file = forms.FileField(
        required=False,
        allow_empty_file=True,
        label=gettext_lazy("or the same as a file"),
        widget=forms.FileInput(attrs={"accept": ".toml,.json"}),
    )
    reference = forms.ChoiceField(
        required=False,
        choices=lambda: _rules(gettext("Borda; Copeland where scores are missing")),
        label=gettext_lazy("Sort by, compare with"),
    )
    policy = forms.ChoiceField(
        required=False,
        choices=_choices(POLICIES, MISSING_POLICIES),
        label=gettext_lazy("If a rule needs a score that is missing"),
    )
    aggregation = forms.ChoiceField(
        required=False, choices=_choices(COUNTING, AGGREGATIONS), label=gettext_lazy("How groups of tasks count")
    )
    ties = forms.ChoiceField(required=False, choices=_choices(PLACES, TIES), label=gettext_lazy("Ties within a task"))
    rules = forms.MultipleChoiceField(
        required=False,
        choices=lambda: _rules("")[1:],
        label=gettext_lazy("Columns"),
        help_text=gettext_lazy("If none is selected, all."),
        widget=forms.CheckboxSelectMultiple,
    )
    variants = forms.CharField(
        required=False,
        max_length=MAX_VARIANTS * (LONGEST_KEY + 2),  # with a line break, as browsers write it
        label=gettext_lazy("Variants of rules"),
        help_text=format_lazy(
            gettext_lazy("Further columns, one per line, up to {n}: {examples}."), n=MAX_VARIANTS, examples=EXAMPLES
        ),
        widget=forms.Textarea(attrs={"rows": 3, **CODE}),
    )
    scores = forms.BooleanField(required=False, label=gettext_lazy("Show the rules’ scores"))

    def __init__(self, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401 -- those of a form
        super().__init__(*args, **kwargs)
        reference = self.fields["reference"]
        if self.is_bound and isinstance(reference, forms.ChoiceField):  # a board can be sorted by its variants, too
            with contextlib.suppress(ValidationError):
                names = [(key, rule_name(key)) for key in variants_in(self.data.get("variants", ""))]
                reference.choices = [*_rules(gettext("Borda; Copeland where scores are missing")), *names]

    def clean_variants(self) -> tuple[str, ...]:
        """Their keys, in the order of a board."""
        return variants_in(self.cleaned_data["variants"])

    def clean(self) -> dict[str, Any]:
        """A table from one place, and no more than is read."""
        cleaned = super().clean() or self.cleaned_data
        for text, file, what in (
            ("text", "file", gettext("the table")),
            ("about", "about_file", gettext("what describes it")),
        ):
            if cleaned.get(file) is not None:  # a file just chosen stands for what was pasted before
                cleaned[text] = cleaned[file].read(settings.TRY_BYTES + 1)
            else:
                cleaned[text] = (cleaned.get(text) or "").encode("utf-8", "surrogatepass")
            if len(cleaned[text]) > settings.TRY_BYTES:
                sentence = gettext(
                    "More than %(n)s kB is too large for this page (%(what)s). The command line has no limit: python "
                    "-m ranking_engine rank scores.csv"
                )
                self.add_error(text, sentence % {"n": settings.TRY_BYTES // 1000, "what": what})
        if not self.errors and not cleaned["text"].strip():
            self.add_error("text", gettext("Paste a table, choose a file, or take the example."))
        return cleaned

    def options(self) -> TryOptions:
        """How it is to be ranked."""
        cleaned = self.cleaned_data
        return TryOptions(
            reference=cleaned["reference"],
            policy=cleaned["policy"],
            aggregation=cleaned["aggregation"],
            ties=cleaned["ties"],
            rules=tuple(cleaned["rules"]),
            variants=cleaned["variants"],
            scores=cleaned["scores"],
        )
