"""The form of an experiment: a field for each parameter that the engine declares, under the same name."""

from collections.abc import Iterable
from typing import Any

from django import forms
from django.utils.datastructures import MultiValueDict
from django.utils.translation import gettext

from leaderboard.common.form_fields import LineFormField
from leaderboard.common.language.engine import in_page_language, rule_name
from leaderboard.computing.rankings import site_rules
from leaderboard.studies.experiments.parameters_text import TASKS, choice_text
from leaderboard.studies.experiments.start import LARGEST_SEED
from ranking_engine import RULES
from ranking_engine.catalogue.registry import get_rule
from ranking_engine.catalogue.variants import variant_key
from ranking_engine.stability import parameters as kinds
from ranking_engine.stability.catalogue import declared_parameters
from ranking_engine.stability.parameters import Parameter
from ranking_engine.stability.scope import SCOPE_NAMES

VECTOR, COMBINED, SEED = "vector", "combined", "seed"
LONGEST = 200  # of a list of numbers, as it is written
NOT_OFFERED = ("budget", "more_repeats")  # the command line and the API take it


def rule_choices() -> list[tuple[str, str]]:
    """The rules that an experiment may be about, each followed by its variants: key and name."""
    choices = []
    for rule in (RULES[key] for key in site_rules() if not RULES[key].elects_only):
        variants = [variant_key(rule, {name: value}) for name, values in rule.options.items() for value in values[1:]]
        choices += [(rule.key, rule_name(rule.key)), *((variant, rule_name(variant)) for variant in variants)]
    return choices


class ExperimentForm(forms.Form):
    """The parameters of one study."""

    def __init__(
        self,
        study: str,
        data: MultiValueDict[str, Any] | None = None,
        *,
        tasks: Iterable[tuple[str, str]] = (),
        default_rule: str = "",
    ) -> None:
        """A form.

        Args:
            study: its key.
            data: what was sent; None for an empty form.
            tasks: key and name of the board's tasks.
            default_rule: the board's, which is chosen where one rule is studied.
        """
        super().__init__(data)
        self.study = study
        self.parameters = [one for one in declared_parameters(study) if one.name not in NOT_OFFERED]
        suggested = {"rule": default_rule, "first_by": default_rule}
        for parameter in self.parameters:
            choices = list(tasks) if parameter.name == TASKS else rule_choices()
            initial = suggested.get(parameter.name) or parameter.default
            self.fields[parameter.name] = _field(parameter, choices, initial)
            if parameter.name == "rule" or (parameter.name == "rules" and "rule" not in self.fields):
                instead = ""
                if parameter.kind == kinds.RULE:
                    instead = f" {gettext('It is studied in place of the rule above.')}"
                self.fields[VECTOR] = LineFormField(
                    required=False,
                    max_length=LONGEST,
                    label=gettext("Your own points"),
                    help_text=gettext(
                        "A rule that gives these points for the places on each task, such as "
                        "<code>12,10,8,7,6,5,4,3,2,1</code>."
                    )
                    + instead,
                )
                self.fields[COMBINED] = LineFormField(
                    required=False,
                    max_length=LONGEST,
                    label=gettext("A rule combined from others"),
                    help_text=gettext(
                        "<code>plurality[then=borda]</code> breaks the ties of plurality by Borda; "
                        "<code>mean[with=borda,copeland]</code> ranks by the mean rank under three rules; "
                        "<code>mean[unit=accuracy]</code> turns scores into the unit of that task."
                    )
                    + instead,
                )
        self.fields[SEED] = forms.IntegerField(
            min_value=0,
            max_value=LARGEST_SEED,
            initial=0,
            label=gettext("Seed"),
            help_text=gettext("The same seed gives the same result."),
        )

    def given(self) -> dict[str, Any]:
        """The parameters that the form states; a wrong one becomes an error of its field."""
        parameters: dict[str, Any] = {}
        for parameter in self.parameters:
            value = self.cleaned_data.get(parameter.name)
            if value is None or value in ("", []):
                if value == "" and "" in parameter.choices:  # nothing is one of its choices
                    parameters[parameter.name] = ""
                continue
            try:
                is_text = isinstance(value, str) and parameter.is_list
                parameters[parameter.name] = parameter.read(value) if is_text else parameter.checked(value)
            except ValueError as error:
                self.add_error(parameter.name, f"{in_page_language(str(error))}.")
        vector, combined = self.cleaned_data.get(VECTOR), self.cleaned_data.get(COMBINED)
        own = []
        if vector:
            try:
                own.append(get_rule(f"positional[vector={vector}]").key)
            except ValueError:
                self.add_error(
                    VECTOR, gettext("Write numbers with commas, none larger than the one before, such as 12,10,8.")
                )
        if combined:
            try:
                own.append(get_rule(combined).key)
            except ValueError as error:
                self.add_error(COMBINED, f"{in_page_language(str(error))}.")
        if own and "rule" not in self.fields:
            parameters["rules"] = [*parameters.get("rules", []), *own]
        elif len(own) == 1:
            parameters["rule"] = own[0]
        elif own:
            self.add_error(
                COMBINED, gettext("This study is about one rule: state points or a combined rule, not both.")
            )
        if "first" not in parameters:
            parameters.pop("first_by", None)
        return parameters

    @property
    def groups(self) -> list[dict[str, Any]]:
        """The fields as fieldsets: what is studied, lists of rules and tasks, which part of the board."""
        scope = [*SCOPE_NAMES]
        ticks = [name for name, field in self.fields.items() if isinstance(field, forms.MultipleChoiceField)]
        if "rule" not in self.fields:  # those of one rule follow it among the other parameters
            ticks += [name for name in (VECTOR, COMBINED) if name in self.fields]
        own = [name for name in self.fields if name not in {*scope, *ticks}]
        part = [name for name in scope if name not in ticks]
        named = [
            (gettext("Parameters"), own, False),
            (gettext("Part of the board"), part, False),
            (gettext("Rules and tasks"), ticks, True),
        ]
        return [
            {"legend": legend, "fields": [self[name] for name in names], "is_lists": is_lists}
            for legend, names, is_lists in named
            if names
        ]

    @property
    def seed(self) -> int:
        """The seed that was stated."""
        return int(self.cleaned_data[SEED])


def _field(parameter: Parameter, choices: list[tuple[str, str]], initial: Any) -> forms.Field:  # noqa: ANN401
    kind, help_text = parameter.kind, gettext(parameter.help) if parameter.help else ""
    if kind in (kinds.INTEGERS, kinds.NUMBERS):
        how = gettext("Write up to %(n)s numbers, with commas.") % {"n": parameter.most_items}
        help_text = f"{help_text} {how}"
    about: dict[str, Any] = {"label": gettext(parameter.label), "help_text": help_text, "required": False}
    if kind == kinds.FLAG:
        return forms.BooleanField(initial=initial, **about)
    if kind in (kinds.INTEGER, kinds.NUMBER):
        bounds: dict[str, Any] = {"min_value": parameter.least, "max_value": parameter.most}
        return (forms.IntegerField if kind == kinds.INTEGER else forms.FloatField)(initial=initial, **bounds, **about)
    if kind == kinds.RULE:
        return forms.ChoiceField(choices=choices, initial=initial, **about)
    if kind == kinds.CHOICE:
        named = [(choice, choice_text(parameter, choice)) for choice in parameter.choices]
        return forms.ChoiceField(choices=named, initial=initial, **about)
    if kind in (kinds.RULES, kinds.CHOICES) or parameter.name == TASKS:
        offered = [(choice, gettext(choice)) for choice in parameter.choices] if kind == kinds.CHOICES else choices
        widget = forms.CheckboxSelectMultiple
        return forms.MultipleChoiceField(choices=offered, initial=initial, widget=widget, **about)
    text = ", ".join(map(str, initial)) if initial is not None else ""
    return LineFormField(initial=text, max_length=LONGEST, **about)
