"""Tasks, groups and how they count, as a page edits them: one row per task, all of them sent together."""

from collections.abc import Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from django import forms
from django.forms import BoundField
from django.forms.formsets import BaseFormSet, formset_factory
from django.http import QueryDict
from django.utils.text import format_lazy
from django.utils.translation import gettext, gettext_lazy

from leaderboard.access.setting_names import SETTING_NAMES
from leaderboard.benchmarks.tasks import COUNTING, MAX_TASKS, GroupEdit, Proposal, TaskEdit
from leaderboard.common.form_fields import LineFormField, LinesFormField
from leaderboard.common.language.numbers import typed_number
from leaderboard.common.text import decimal_text
from leaderboard.models import Benchmark, Task
from leaderboard.models.benchmarks import KEY_LENGTH, NAME_LENGTH
from ranking_engine.catalogue.registry import MAX_VARIANTS, read_variants
from ranking_engine.catalogue.variants import LONGEST_KEY
from ranking_engine.text.names import clean_name, fold_name

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise

NEW_ROWS = 3
SHORT = {"autocomplete": "off"}
NO_NUMBER = gettext_lazy("Enter a number with a decimal point, such as 0.5.")
FIGURE = {"inputmode": "decimal", "autocomplete": "off", "class": "figure"}


class FigureField(forms.FloatField):
    """A number that may be left out."""

    def __init__(self, label: "StrOrPromise", help_text: "StrOrPromise" = "") -> None:
        super().__init__(
            required=False,
            label=label,
            help_text=help_text,
            widget=forms.TextInput(attrs=FIGURE),
            error_messages={"invalid": NO_NUMBER},
        )

    def to_python(self, value: Any) -> Any:  # noqa: ANN401
        """The number; its decimal mark may be the one of the language."""
        return super().to_python(typed_number(value) if isinstance(value, str) else value)

    def prepare_value(self, value: Any) -> Any:  # noqa: ANN401
        """The shortest text that reads back to the same number."""
        return repr(value).removesuffix(".0") if isinstance(value, float) else value


class ExactField(forms.DecimalField):
    """A decimal that is not negative and is stored as it is written, or nothing."""

    def __init__(self, label: "StrOrPromise") -> None:
        super().__init__(
            required=False,
            label=label,
            min_value=Decimal(0),
            max_digits=20,
            decimal_places=10,
            widget=forms.TextInput(attrs=FIGURE),
            error_messages={"invalid": NO_NUMBER},
        )

    def to_python(self, value: Any) -> Any:  # noqa: ANN401
        """The number; its decimal mark may be the one of the language."""
        return super().to_python(typed_number(value) if isinstance(value, str) else value)

    def prepare_value(self, value: Any) -> Any:  # noqa: ANN401
        """Without trailing zeros."""
        return decimal_text(value) if isinstance(value, Decimal) else value


class WeightField(ExactField):
    """A weight."""

    def __init__(self) -> None:
        super().__init__("Weight")

    def clean(self, value: Any) -> Decimal:  # noqa: ANN401
        """An empty field weighs 1."""
        weight = super().clean(value)
        return Decimal(1) if weight is None else abs(weight)  # -0 is 0


class VariantsFormField(LinesFormField):
    """Variants of rules, one per line."""

    def prepare_value(self, value: Any) -> Any:  # noqa: ANN401
        """The list as lines."""
        return value if isinstance(value, str) or value is None else "\n".join(value)

    def clean(self, value: Any) -> list[str]:  # noqa: ANN401
        """The lines as a list, each checked, so that all that are wrong are said at once."""
        lines = [line.strip() for line in super().clean(value).splitlines() if line.strip()]
        problems = []
        for line in lines:
            try:
                read_variants([line])
            except ValueError as problem:
                problems.append(f"{problem}.")
        if problems:
            raise forms.ValidationError(problems)
        return lines


class RowForm(forms.Form):
    """One row; its key says which stored thing it is, and is empty for a new one."""

    use_required_attribute = False
    key = LineFormField(required=False, max_length=KEY_LENGTH, widget=forms.HiddenInput)
    name = LineFormField(
        required=False,
        max_length=NAME_LENGTH,
        label=gettext_lazy("Name"),
        widget=forms.TextInput(attrs={**SHORT, "class": "name"}),
    )

    def clean(self) -> dict[str, Any]:
        """A row of which anything is stated has a name."""
        cleaned = super().clean() or self.cleaned_data
        is_stated = bool(cleaned.get("key")) or self.has_changed()
        if is_stated and not cleaned.get("name") and "name" not in self.errors:
            self.add_error("name", gettext("It has a name."))
        return cleaned


class TaskForm(RowForm):
    """One task."""

    direction = forms.TypedChoiceField(
        choices=Task.Direction.choices, coerce=int, initial=Task.Direction.HIGHER, label=gettext_lazy("Direction")
    )
    weight = WeightField()
    group = LineFormField(
        required=False,
        max_length=NAME_LENGTH,
        label=gettext_lazy("Group"),
        widget=forms.TextInput(attrs={**SHORT, "list": "groups"}),
    )
    metric = LineFormField(
        required=False, max_length=NAME_LENGTH, label=gettext_lazy("Metric"), widget=forms.TextInput(SHORT)
    )
    unit = LineFormField(required=False, max_length=40, label=gettext_lazy("Unit"), widget=forms.TextInput(SHORT))
    minimum = FigureField(gettext_lazy("Minimum"))
    maximum = FigureField(gettext_lazy("Maximum"))
    chance = FigureField(gettext_lazy("Chance level"))
    precision = ExactField(gettext_lazy("Precision"))
    cluster = LineFormField(
        required=False,
        max_length=NAME_LENGTH,
        label=gettext_lazy("Cluster"),
        widget=forms.TextInput(attrs={**SHORT, "list": "clusters"}),
    )
    is_archived = forms.BooleanField(required=False, label=gettext_lazy("Archived"))

    def edit(self) -> TaskEdit:
        """What it says."""
        names = {name: clean_name(self.cleaned_data[name]) for name in ("group", "cluster")}
        return TaskEdit(**{**self.cleaned_data, **names})


class GroupForm(RowForm):
    """One task group."""

    weight = WeightField()

    def edit(self) -> GroupEdit:
        """What it says."""
        return GroupEdit(**self.cleaned_data)


class CountingForm(forms.Form):
    """How scores count."""

    aggregation = forms.ChoiceField(
        choices=Benchmark.Aggregation.choices,
        label=SETTING_NAMES["aggregation"],
        help_text=gettext_lazy(
            "Under weighted aggregation, if some tasks are in no group, ranks depend on the unit of the weights: twice "
            "the weight of everything counts twice for these tasks, and four times for tasks in groups."
        ),
    )
    missing_policy = forms.ChoiceField(
        choices=[
            ("undefined", gettext_lazy("no ranking under rules that need every score")),
            ("drop_systems", gettext_lazy("incomplete systems are unranked")),
            ("drop_tasks", gettext_lazy("incomplete tasks are left out")),
            ("median", gettext_lazy("the task’s median is filled in")),
            ("worst", gettext_lazy("the task’s worst score is filled in")),
            ("predicted", gettext_lazy("predicted from the other scores, and marked")),
        ],
        label=SETTING_NAMES["missing_policy"],
        help_text=gettext_lazy("For rules that need every score. Readers can switch to the other policies."),
    )
    replacement = forms.ChoiceField(
        choices=Benchmark.Replacement.choices, label=SETTING_NAMES["replacement"], required=False
    )
    gamma = FigureField(
        SETTING_NAMES["gamma"],
        help_text=gettext_lazy(
            "In the unit of the scores, such as 95 for percentages. If empty, it is 95 % of the maximum, provided that "
            "all tasks of weight above 0 have the same maximum and higher is better on all of them."
        ),
    )
    variants = VariantsFormField(
        required=False,
        max_length=MAX_VARIANTS * (LONGEST_KEY + 2),  # with a line break, as browsers write it
        label=SETTING_NAMES["variants"],
        help_text=format_lazy(
            gettext_lazy(
                "Rules with other options, or with your own points, as additional columns. One per line, up to "
                "{max_variants}: {examples}."
            ),
            max_variants=MAX_VARIANTS,
            examples="<code>copeland[variant=lower]</code>, <code>win_rate[variant=helm]</code>, "
            "<code>borda[ties=average]</code>, <code>positional[vector=12,10,8]</code>",
        ),
        widget=forms.Textarea(attrs={"rows": 3, "class": "is-code", "spellcheck": "false", "autocomplete": "off"}),
    )

    def clean_replacement(self) -> str:
        """The whole row where nothing is said."""
        return self.cleaned_data["replacement"] or Benchmark.Replacement.ROW


class ProposalForms:
    """The three parts of a proposal as one: rows of tasks, rows of groups, how they count.

    Args:
        present: what the fields show at first.
        data: what was sent, if anything was.
        new_tasks: how many empty rows are below the tasks.
    """

    def __init__(self, present: Proposal, data: QueryDict | None = None, *, new_tasks: int = NEW_ROWS) -> None:
        tasks = [_initial(edit, TaskForm) for edit in present.tasks]
        groups = [_initial(edit, GroupForm) for edit in present.groups]
        self.tasks = _formset(TaskForm, new_tasks)(data, initial=tasks, prefix="task")
        self.groups = _formset(GroupForm, NEW_ROWS)(data, initial=groups, prefix="group")
        self.counting = CountingForm(data, initial={name: getattr(present, name) for name in COUNTING})
        self.general: list[str] = []

    def is_valid(self) -> bool:
        """Whether every part is."""
        return all([self.tasks.is_valid(), self.groups.is_valid(), self.counting.is_valid()])

    @property
    def has_errors(self) -> bool:
        """Whether something is to be said at the top."""
        return bool(self.general or self.counting.errors or any(self.tasks.errors) or any(self.groups.errors))

    @property
    def row_fields(self) -> list[BoundField]:
        """The fields of all rows."""
        return [field for row in (*self.tasks.forms, *self.groups.forms) for field in row.visible_fields()]

    @property
    def problems_text(self) -> list[str]:
        """What is wrong with the rows as a whole."""
        return [*self.general, *self.tasks.non_form_errors(), *self.groups.non_form_errors()]

    @property
    def directions(self) -> list[tuple[str, int]]:
        """Name and direction of each task as the fields show them, whether they can be stored or not."""
        known = {str(direction.value): direction.value for direction in Task.Direction}
        rows = [(form["name"].value(), form["direction"].value()) for form in self.tasks.forms]
        return [(str(name), known.get(str(int(way) if isinstance(way, int) else way), 1)) for name, way in rows if name]

    @property
    def cluster_names(self) -> list[str]:
        """The clusters that the rows name, each once."""
        named = (str(form["cluster"].value() or "") for form in self.tasks.forms)
        return sorted({fold_name(name): name for name in named if name.strip()}.values())

    def proposal(self) -> Proposal:
        """What was sent. A group that only tasks name weighs 1."""
        tasks = [form.edit() for form in _stated(self.tasks)]
        groups = [form.edit() for form in _stated(self.groups)]
        known = {fold_name(group.name) for group in groups}
        for task in tasks:
            if task.group and fold_name(task.group) not in known:
                known.add(fold_name(task.group))
                groups.append(GroupEdit(task.group))
        return Proposal(tasks=tasks, groups=groups, **self.counting.cleaned_data)

    def take_problems(self, problems: Sequence[tuple[str, int | None, str, str]]) -> None:
        """Put each problem to its field; what has none is at the top."""
        rows = {"tasks": _stated(self.tasks), "groups": _stated(self.groups)}
        for place, i, name, message in problems:
            forms_there = rows.get(place, [])
            form = self.counting if place == "counting" else None
            if i is not None and i < len(forms_there):
                form = forms_there[i]
            if form is None:
                self.general.append(message)
            else:
                form.add_error(name if name in form.fields else None, message)


def _formset(form: type[RowForm], extra: int) -> type[BaseFormSet]:
    return formset_factory(form, extra=extra, max_num=MAX_TASKS, absolute_max=MAX_TASKS + NEW_ROWS)


def _initial(edit: TaskEdit | GroupEdit, form: type[RowForm]) -> dict[str, Any]:
    return {name: getattr(edit, name) for name in form.base_fields}


def _stated(formset: BaseFormSet) -> list[Any]:
    """The rows that say something."""
    return [form for form in formset.forms if getattr(form, "cleaned_data", None) and form.cleaned_data.get("name")]
