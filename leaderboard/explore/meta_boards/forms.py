"""What the author of a meta-board fills in."""

from typing import Any

from django import forms
from django.http import QueryDict
from django.utils.translation import gettext, gettext_lazy

from leaderboard.access.audience import Viewer
from leaderboard.benchmarks.meta_boards import FIELDS, MAX_BENCHMARKS, MAX_DESCRIPTION, MetaBoardSpec
from leaderboard.common.form_fields import LineFormField, LinesFormField
from leaderboard.common.language.engine import rule_name
from leaderboard.computing.rankings import site_rules
from leaderboard.explore.benchmarks import SCORES, CompareQuery, choices
from leaderboard.models import MetaBoard
from leaderboard.models.benchmarks import KEY_LENGTH, NAME_LENGTH
from leaderboard.rankings.text import POLICY_NAMES

MAX_TICKED = 100  # boxes that are kept ticked when others are looked for


def _may_be_key(value: str) -> bool:
    """Whether a benchmark could have this key; PostgreSQL refuses a question with a NUL in it."""
    return len(value) <= KEY_LENGTH and "\0" not in value


class KeysField(forms.MultipleChoiceField):
    """Keys of benchmarks that are ticked; whether they are there is checked when the board is saved."""

    widget = forms.CheckboxSelectMultiple

    def valid_value(self, value: Any) -> bool:  # noqa: ANN401
        """Whether it may be a key."""
        return _may_be_key(str(value))


class MetaBoardForm(forms.Form):
    """A meta-board. Its boxes offer the benchmarks that are ticked, then those that the words `find` find.

    Attributes:
        offered: the benchmarks of the boxes.
        find: words in their names.
    """

    name = LineFormField(max_length=NAME_LENGTH, widget=forms.TextInput(attrs={"autocomplete": "off"}))
    description = LinesFormField(required=False, max_length=MAX_DESCRIPTION, widget=forms.Textarea(attrs={"rows": 3}))
    benchmarks = KeysField(label=gettext_lazy("Benchmarks"))
    most = MAX_BENCHMARKS
    rule = forms.ChoiceField(required=False, label=gettext_lazy("Ranks on each benchmark under"))
    worth = forms.ChoiceField(
        label=gettext_lazy("What a rank is worth"),
        choices=lambda: [(key, gettext(name)) for key, (name, _) in SCORES.items()],
    )
    missing_policy = forms.ChoiceField(
        label=gettext_lazy("If a system is not on a benchmark"), choices=list(POLICY_NAMES.items())
    )
    default_rule = forms.ChoiceField(label=gettext_lazy("Rule that orders the board"))
    least = forms.IntegerField(
        min_value=2, max_value=MAX_BENCHMARKS, label=gettext_lazy("Least number of benchmarks for a system")
    )
    is_public = forms.BooleanField(required=False, label=gettext_lazy("Public: listed, everyone can read it"))

    def __init__(self, *args: Any, viewer: Viewer, find: str = "", **kwargs: Any) -> None:  # noqa: ANN401
        super().__init__(*args, **kwargs)
        keys = self["benchmarks"].value() or []
        self.find, self.ticked = find, [str(key) for key in keys if _may_be_key(str(key))][:MAX_TICKED]
        self.offered = choices(viewer, CompareQuery(keys=tuple(self.ticked), find=find))
        rules = [(key, rule_name(key)) for key in site_rules()]
        self.fields["rule"].choices = [("", gettext("its own default rule")), *rules]  # type: ignore[attr-defined]
        self.fields["default_rule"].choices = rules  # type: ignore[attr-defined]

    def spec(self) -> MetaBoardSpec:
        """What was filled in; the form is valid."""
        data = self.cleaned_data
        return MetaBoardSpec(data["benchmarks"], {name: data[name] for name in FIELDS})

    @property
    def boxes(self) -> list[tuple[str, str, bool]]:
        """Key and name of each benchmark that is offered, and whether it is ticked."""
        return [(*one, True) for one in self.offered.chosen] + [(*one, False) for one in self.offered.others]


def filled_in(board: MetaBoard) -> dict[str, Any]:
    """The fields of the form as a meta-board has them."""
    keys = [benchmark.key for benchmark in board.benchmarks.all()]
    return {name: getattr(board, name) for name in FIELDS} | {"benchmarks": keys}


def typed_so_far(posted: QueryDict) -> dict[str, Any]:
    """The fields of the form as they were sent, without being checked."""
    typed: dict[str, Any] = {name: posted.get(name, "") for name in FIELDS}
    return typed | {"is_public": "is_public" in posted, "benchmarks": posted.getlist("benchmarks")}
