"""What the author of a meta-board fills in."""

from typing import Any

from django import forms

from leaderboard.benchmarks.meta_boards import FIELDS, MAX_BENCHMARKS, MAX_DESCRIPTION, MetaBoardSpec
from leaderboard.boards.page import POLICY_NAMES
from leaderboard.common.form_fields import LineFormField, LinesFormField
from leaderboard.computing.rankings import site_rules
from leaderboard.explore.benchmarks import SCORES
from leaderboard.models import MetaBoard
from leaderboard.models.benchmarks import KEY_LENGTH, NAME_LENGTH
from ranking_engine.catalogue.registry import get_rule

CODE = {"spellcheck": "false", "autocomplete": "off", "autocapitalize": "off", "rows": 6}


class MetaBoardForm(forms.Form):
    """A meta-board."""

    name = LineFormField(max_length=NAME_LENGTH, widget=forms.TextInput(attrs={"autocomplete": "off"}))
    description = LinesFormField(required=False, max_length=MAX_DESCRIPTION, widget=forms.Textarea(attrs={"rows": 3}))
    benchmarks = LinesFormField(
        max_length=MAX_BENCHMARKS * (KEY_LENGTH + 2) * 2,
        help_text="Their keys, one per line.",
        widget=forms.Textarea(attrs=CODE),
    )
    rule = forms.ChoiceField(required=False, label="Ranks on each benchmark under")
    worth = forms.ChoiceField(label="What a rank is worth", choices=[(key, name) for key, (name, _) in SCORES.items()])
    missing_policy = forms.ChoiceField(label="If a system is not on a benchmark", choices=list(POLICY_NAMES.items()))
    default_rule = forms.ChoiceField(label="Rule that orders the board")
    least = forms.IntegerField(min_value=2, max_value=MAX_BENCHMARKS, label="On at least … benchmarks")
    is_public = forms.BooleanField(required=False, label="Public: listed, everyone can read it")

    def __init__(self, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401
        super().__init__(*args, **kwargs)
        rules = [(key, get_rule(key).name) for key in site_rules()]
        self.fields["rule"].choices = [("", "its own default rule"), *rules]  # type: ignore[attr-defined]
        self.fields["default_rule"].choices = rules  # type: ignore[attr-defined]

    def spec(self) -> MetaBoardSpec:
        """What was filled in; the form is valid."""
        data = self.cleaned_data
        keys = [line.strip() for line in data["benchmarks"].splitlines() if line.strip()]
        return MetaBoardSpec(keys, {name: data[name] for name in FIELDS})


def filled_in(board: MetaBoard) -> dict[str, Any]:
    """The fields of the form as a meta-board has them."""
    keys = "\n".join(benchmark.key for benchmark in board.benchmarks.all())
    return {name: getattr(board, name) for name in FIELDS} | {"benchmarks": keys}
