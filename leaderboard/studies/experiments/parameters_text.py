"""The parameters of an experiment in words."""

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext

from leaderboard.common.language.engine import rule_name
from leaderboard.rankings.text import POLICY_NAMES
from leaderboard.studies.study_findings import StudyNames
from ranking_engine.stability import parameters as kinds
from ranking_engine.stability.catalogue import declared_parameters
from ranking_engine.stability.parameters import Parameter

TASKS = "copied_tasks"  # the parameter that lists tasks of the board
MISSING = "missing"  # the one that is a policy for missing scores
SYSTEMS = ("systems", "pool")  # those that list systems


def parameter_rows(study: str, parameters: Mapping[str, Any], names: StudyNames) -> list[tuple[str, str]]:
    """The parameters of an experiment as label and text, all of them, the seed last; systems and tasks by `names`."""
    rows = []
    for parameter in declared_parameters(study):
        if parameter.name in parameters:
            value = parameters[parameter.name]
            rows.append((gettext(parameter.label), _text(parameter, value, names)))
    return [*rows, (gettext("Seed"), str(parameters["seed"]))]


def choice_text(parameter: Parameter, choice: str) -> str:
    """One of the things that a parameter may be, in the language of the page; nothing is as Plurank has it."""
    if parameter.name == MISSING:
        return str(POLICY_NAMES[choice])
    return gettext(choice.replace("_", " ")) if choice else "Plurank"


def names_systems(parameters: Mapping[str, Any]) -> bool:
    """Whether the parameters of an experiment name systems."""
    return any(parameters.get(name) for name in SYSTEMS)


def _text(parameter: Parameter, value: Any, names: StudyNames) -> str:  # noqa: ANN401
    if value is None:
        return gettext("all") if parameter.kind == kinds.RULES else gettext("default")
    if isinstance(value, bool):
        return gettext("yes") if value else gettext("no")
    if isinstance(value, list):
        return ", ".join(_text(parameter, item, names) for item in value)
    if parameter.kind in (kinds.RULE, kinds.RULES):
        return rule_name(value)
    if parameter.name == TASKS:
        return names.tasks.get(value, value)
    if parameter.name in SYSTEMS:
        return names.systems.get(value, value)
    return f"{value:g}" if isinstance(value, float) else choice_text(parameter, str(value))
