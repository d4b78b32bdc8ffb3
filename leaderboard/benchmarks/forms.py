"""What owners fill in: a new benchmark, its settings, a frozen revision, another edition."""

from typing import Any

from django import forms
from django.conf import settings
from django.urls import reverse
from django.utils.functional import lazy
from django.utils.html import format_html
from django.utils.translation import gettext, gettext_lazy

from leaderboard.access.setting_names import SETTING_NAMES
from leaderboard.common.form_fields import (
    NOTE_LENGTH,
    REASON_LENGTH,
    TWO_TABLES,
    CsvFileField,
    LineFormField,
    LinesFormField,
    MomentField,
    PastedTableField,
    TableForm,
)
from leaderboard.common.language.numbers import localise
from leaderboard.models import Benchmark
from leaderboard.models.benchmarks import KEY_LENGTH, NAME_LENGTH, is_doi, is_key
from leaderboard.rankings.configuration import default_rule_choices
from ranking_engine.text.characters import writable
from ranking_engine.text.names import shorten

TEXT = {"autocomplete": "off"}
ABOUT_BYTES = 1_000_000


class TagsField(LineFormField):
    """Tags, with commas between them."""

    def prepare_value(self, value: Any) -> Any:  # noqa: ANN401
        """The list as a text."""
        return ", ".join(map(str, value)) if isinstance(value, list) else value

    def clean(self, value: Any) -> list[str]:  # noqa: ANN401
        """The text as a list, each tag once."""
        text = super().clean(value)
        return list(dict.fromkeys(tag.strip().lower() for tag in text.split(",") if tag.strip()))

    def has_changed(self, initial: Any, data: Any) -> bool:  # noqa: ANN401
        """Compared as texts."""
        return super().has_changed(self.prepare_value(initial), data)


class NewBenchmarkForm(TableForm):
    """What a new benchmark begins with: a table of scores, or the names of its tasks."""

    name = LineFormField(
        required=False,
        max_length=NAME_LENGTH,
        label=gettext_lazy("Name of the benchmark"),
        help_text=gettext_lazy("You can leave this empty if a benchmark.toml states a title."),
        widget=forms.TextInput(attrs=TEXT),
    )
    file = CsvFileField(
        required=False,
        label=gettext_lazy("Scores, as a CSV file"),
        help_text=gettext_lazy(
            "First column <code>system</code>, then one column per task. An empty cell is a missing score."
        ),
    )
    text = PastedTableField(
        required=False,
        label=gettext_lazy("or the table itself"),
        rows=6,
    )
    about = forms.FileField(
        required=False,
        label=gettext_lazy("benchmark.toml"),
        help_text=gettext_lazy(
            "Directions, groups, weights and scales of the tasks. Without it you set them on the next page."
        ),
        widget=forms.ClearableFileInput(attrs={"accept": ".toml"}),
    )
    tasks = LinesFormField(
        required=False,
        max_length=200_000,
        label=gettext_lazy("or, without scores: the tasks, one per line"),
        widget=forms.Textarea(attrs={"rows": 4, "autocomplete": "off"}),
    )

    def clean(self) -> dict[str, Any]:
        """One of the three ways is taken, and no file is larger than what is read; for votes, none of them."""
        cleaned = super().clean() or self.cleaned_data
        if self.is_for_votes:
            if not cleaned.get("name") and "name" not in self.errors:
                self.add_error("name", gettext("Enter a name."))
            if cleaned.get("file") or cleaned.get("about") or (cleaned.get("text") or "").strip() or self.task_names():
                self.add_error(
                    None,
                    gettext(
                        "A benchmark for votes starts without scores and tasks: its tasks are the categories of its "
                        "votes. To create one, empty the fields of scores and tasks. To create a benchmark with these "
                        "scores or tasks, press “Preview”."
                    ),
                )
            return cleaned
        has_file = bool(cleaned.get("file"))
        has_text = bool((cleaned.get("text") or "").strip()) and not (has_file and self.is_text_kept)
        given = [has_file, has_text, bool(self.task_names())]
        only_about = bool(cleaned.get("about")) and not any(given)
        if given == [True, True, False] and not self.errors:
            raise forms.ValidationError(TWO_TABLES)
        if sum(given) != 1 and not only_about and not self.errors:
            raise forms.ValidationError(
                gettext("Choose a file, paste a table or list the tasks: exactly one of the three.")
            )
        for name, most in (("file", settings.UPLOAD_BYTES), ("about", ABOUT_BYTES)):
            file = cleaned.get(name)
            if file and file.size > most:
                size, limit = localise(file.size / 1e6, ".1f"), localise(most / 1e6, ".1f")
                message = gettext("The file has %(size)s MB; the limit is %(limit)s MB.") % {
                    "size": size,
                    "limit": limit,
                }
                self.add_error(name, message)
        return cleaned

    @property
    def is_for_votes(self) -> bool:
        """Whether the benchmark is to collect votes: then nothing but its name counts."""
        return str(self.data.get("action")) == "votes"

    def task_names(self) -> list[str]:
        """The lines of the third way."""
        return [line.strip() for line in self.cleaned_data.get("tasks", "").splitlines() if line.strip()]

    def contents(self) -> dict[str, Any]:
        """What was sent, as `make_benchmark_draft` takes it."""
        data = self.cleaned_data
        table = data["file"].read() if data["file"] else data["text"].strip().encode()
        named = {"source": shorten(writable(data["file"].name))} if data["file"] else {}
        return named | {
            "name": data["name"],
            "table": table,
            "about": data["about"].read() if data["about"] else b"",
            "task_names": self.task_names(),
        }


def _rule_help() -> str:
    text = gettext(
        'Lists show its winner, and the board compares the other rules with it. <a href="{}">Six questions</a> '
        "help you choose."
    )
    return format_html(text, reverse("choose_rule"))


class AboutForm(forms.ModelForm):
    """What a benchmark says of itself, and who reads it and submits."""

    default_rule = forms.ChoiceField(
        choices=default_rule_choices, label=SETTING_NAMES["default_rule"], help_text=lazy(_rule_help, str)()
    )
    source_url = forms.URLField(
        required=False,
        max_length=500,
        assume_scheme="https",
        label=SETTING_NAMES["source_url"],
        help_text=gettext_lazy("Where the data comes from."),
    )
    licence = LineFormField(
        required=False, max_length=500, label=SETTING_NAMES["licence"], widget=forms.TextInput(attrs=TEXT)
    )
    description = LinesFormField(
        required=False,
        max_length=20_000,
        label=SETTING_NAMES["description"],
        help_text=gettext_lazy("Markdown; its first paragraph is shown in lists."),
        widget=forms.Textarea(attrs={"rows": 5}),
    )
    citation = LinesFormField(
        required=False, max_length=5000, label=SETTING_NAMES["citation"], widget=forms.Textarea(attrs={"rows": 3})
    )
    doi = LineFormField(
        required=False,
        max_length=200,
        label=SETTING_NAMES["doi"],
        validators=[is_doi],
        widget=forms.TextInput(attrs=TEXT),
        help_text=gettext_lazy("Such as 10.5281/zenodo.1234567, if the data are archived under one."),
    )
    tags = TagsField(
        required=False,
        max_length=500,
        label=SETTING_NAMES["tags"],
        help_text=gettext_lazy("Separated by commas."),
    )

    class Meta:
        model = Benchmark
        fields: tuple[str, ...] = (
            "name", "description", "visibility", "submission_policy", "default_rule",
            "source_url", "licence", "citation", "doi", "tags",
        )  # fmt: skip
        labels = SETTING_NAMES

    def __init__(self, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401 -- those of a form
        super().__init__(*args, **kwargs)
        default_rule = self.fields["default_rule"]
        if isinstance(default_rule, forms.ChoiceField):  # variants can be it, too
            default_rule.choices = default_rule_choices(self.instance)

    def clean_description(self) -> str:
        """As it was where only the ends of its lines differ, which browsers write in their own way."""
        return self._as_before("description")

    def clean_citation(self) -> str:
        """As `clean_description`."""
        return self._as_before("citation")

    def _as_before(self, name: str) -> str:
        given = str(self.cleaned_data[name]).replace("\r\n", "\n")
        before = str(getattr(self.instance, name))
        return before if before.replace("\r\n", "\n").strip() == given.strip() else given

    def _post_clean(self) -> None:
        """The instance stays as it is: a service checks and stores what was sent."""


class CreateForm(AboutForm):
    """A new benchmark, before it is created."""

    key = LineFormField(
        required=False,
        max_length=KEY_LENGTH,
        label=gettext_lazy("Key"),
        help_text=gettext_lazy(
            "Its short name in URLs: lower-case letters, digits and hyphens; derived from the name if empty. It "
            "cannot be changed later."
        ),
        validators=[is_key],
        widget=forms.TextInput(attrs=TEXT),
    )


class SettingsForm(AboutForm):
    """A benchmark's settings that no rank depends on."""

    deadline = MomentField(SETTING_NAMES["deadline"], gettext_lazy("Owners can still submit afterwards."))
    embargo_until = MomentField(
        SETTING_NAMES["embargo_until"],
        gettext_lazy("Scores accepted before this date join the board on it, in the order of acceptance."),
    )
    anonymous_until = MomentField(
        SETTING_NAMES["anonymous_until"],
        gettext_lazy("Systems are shown as numbers, and only moderators see scores."),
    )
    reason = LineFormField(
        required=False,
        max_length=REASON_LENGTH,
        label=gettext_lazy("Why"),
        help_text=gettext_lazy("Stored with the change."),
        widget=forms.TextInput(attrs=TEXT),
    )

    class Meta(AboutForm.Meta):
        fields = (*AboutForm.Meta.fields, "daily_cap", "total_cap", "deadline", "embargo_until", "score_view",
                  "anonymous_until", "decision_days", "rejects_overdue", "submitters_withdraw",
                  "shows_submitters")  # fmt: skip
        help_texts = {
            "daily_cap": gettext_lazy("No limit if empty."),
            "total_cap": gettext_lazy("No limit if empty."),
            "score_view": gettext_lazy("Moderators and owners see everything."),
            "decision_days": gettext_lazy("Shown to submitters; applies to new submissions."),
            "rejects_overdue": gettext_lazy("Otherwise they stay in the queue, marked overdue."),
            "submitters_withdraw": gettext_lazy(
                "While submissions are open. Otherwise they ask, and a moderator decides."
            ),
            "shows_submitters": gettext_lazy(
                "Only counts, and only of submitters with an accepted system; not while an embargo is in force or "
                "names or scores are hidden."
            ),
        }

    def values(self) -> dict[str, Any]:
        """What was sent, by the names of the settings."""
        return {name: self.cleaned_data[name] for name in self._meta.fields or ()}


class ReleaseForm(forms.Form):
    """A revision frozen under a name."""

    number = forms.IntegerField(min_value=1, max_value=2**31 - 1, label=gettext_lazy("Revision"))
    name = LineFormField(
        max_length=NAME_LENGTH,
        label=gettext_lazy("Name"),
        help_text=gettext_lazy("For example 2026.1."),
        widget=forms.TextInput(attrs=TEXT),
    )
    note = LinesFormField(required=False, max_length=NOTE_LENGTH, widget=forms.Textarea(attrs={"rows": 3}))


class TemplateForm(forms.Form):
    """A new benchmark with the tasks of another."""

    name = LineFormField(max_length=NAME_LENGTH, label=gettext_lazy("Name"), widget=forms.TextInput(attrs=TEXT))
    key = LineFormField(
        required=False,
        max_length=KEY_LENGTH,
        label=gettext_lazy("Short name for URLs"),
        help_text=gettext_lazy("Derived from the name if empty."),
        validators=[is_key],
        widget=forms.TextInput(attrs=TEXT),
    )


class EditionForm(TemplateForm):
    """Another benchmark with the same tasks and settings."""

    with_scores = forms.BooleanField(required=False, label=gettext_lazy("Copy the current scores"))


class ReasonForm(forms.Form):
    """A step with its reason."""

    reason = LineFormField(required=False, max_length=REASON_LENGTH, label="Why", widget=forms.TextInput(attrs=TEXT))
