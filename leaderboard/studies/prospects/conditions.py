"""Conditions on the weights as a reader fills them in: read from an address, solved, told in words."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from django.utils.translation import gettext, ngettext

from leaderboard.common.language.engine import in_page_language, rule_name
from leaderboard.common.text import as_sentence
from leaderboard.models import Revision
from leaderboard.rankings.configuration import configuration_of
from leaderboard.studies.prospects.page import PAGE_ROWS, ProspectRow, prospect_order, prospect_row
from leaderboard.studies.prospects.stored import (
    StoredProspects,
    in_own_words,
    prospects_under,
    read_conditions,
    system_names,
)
from leaderboard.studies.prospects.text import share_of_weight
from ranking_engine.prospects import (
    MAJORITY,
    RULES,
    Bound,
    ConditionError,
    Conditions,
    Objective,
    Order,
    Prospect,
    TaskSet,
)

N_BOUNDS = 3  # rows of the form
TEXT_LENGTH = 2000
FIELDS = (
    *(f"{name}{row}" for row in range(1, N_BOUNDS + 1) for name in ("of", "least", "most")),
    "more", "less", "goal", "goal_of", "conditions", "rule",
)  # fmt: skip
GOALS = ("minimise", "maximise")


def rule_choices() -> dict[str, str]:
    """What can be won, in words, by the key of the rule."""
    first = {
        rule: gettext("coming first under %(rule)s") % {"rule": rule_name(rule)} for rule in RULES if rule != MAJORITY
    }
    return {MAJORITY: gettext("losing to no rival head to head")} | first


@dataclass(frozen=True)
class ConditionsForm:
    """What a reader filled in, as it is in the address."""

    values: dict[str, str]
    problem: str = ""
    conditions: Conditions | None = None

    @property
    def rule(self) -> str:
        """What is to be won."""
        return self.values["rule"] or MAJORITY

    @property
    def bounds(self) -> list[dict[str, str]]:
        """What each row of bounds has: of which task or group, at least how much and at most."""
        rows = range(1, N_BOUNDS + 1)
        return [{name: self.values[f"{name}{row}"] for name in ("of", "least", "most")} for row in rows]

    @property
    def is_asked(self) -> bool:
        """Whether any condition is stated."""
        return any(self.values.values())


@dataclass(frozen=True)
class ConditionsAnswer:
    """Who can win under the conditions."""

    rule_name: str  # what is to be won, where it is not a head-to-head
    conditions: list[str]
    impossible: str  # why no weights satisfy the conditions; empty where some do
    sentence: str
    is_complete: bool
    winners: list[ProspectRow]
    others: list[ProspectRow]
    objectives: dict[str, str] = field(default_factory=dict)  # of the winners, by key


def read_form(parameters: Mapping[str, str], revision: Revision) -> ConditionsForm:
    """Read the form; what is wrong with it is its `problem`."""
    values = {name: parameters.get(name, "").strip()[:TEXT_LENGTH] for name in FIELDS}
    form = ConditionsForm(values)
    if not form.is_asked:
        return form
    try:
        return ConditionsForm(values, conditions=_conditions(values, revision))
    except ConditionError as error:
        return ConditionsForm(values, problem=problem_text(error))


def problem_text(error: ConditionError) -> str:
    """What is wrong with conditions, as a sentence in the language of the page."""
    return as_sentence(in_page_language(str(error)))


def _conditions(values: Mapping[str, str], revision: Revision) -> Conditions:
    if values["rule"] and values["rule"] not in RULES:
        raise ConditionError(
            gettext("%(rule)s is not a way to win; choose one of %(rules)s")
            % {"rule": repr(values["rule"][:40]), "rules": ", ".join(RULES)}
        )
    own_conditions = read_conditions(values["conditions"].splitlines(), revision)
    bounds = []
    for row in range(1, N_BOUNDS + 1):
        of, least, most = (values[f"{name}{row}"] for name in ("of", "least", "most"))
        if (least or most) and not of:
            raise ConditionError(gettext("condition %(n)s has a bound and no task or group") % {"n": row})
        if least or most:
            bounds.append(
                Bound(_set_of(of), _share(least, row) if least else None, _share(most, row) if most else None)
            )
    orders = []
    if values["more"] or values["less"]:
        orders.append(Order(_set_of(values["more"]), _set_of(values["less"])))
    objective = own_conditions.objective
    if values["goal"] in GOALS and values["goal_of"]:
        if objective is not None:
            raise ConditionError(gettext("only one set can be minimised or maximised"))
        objective = Objective("minimise" if values["goal"] == "minimise" else "maximise", _set_of(values["goal_of"]))
    conditions = Conditions((*bounds, *own_conditions.bounds), (*orders, *own_conditions.orders), objective)
    if not conditions.texts and not values["rule"]:
        raise ConditionError(gettext("no condition is complete: choose a task or a group and enter a weight"))
    return conditions


def _share(text: str, row: int) -> Fraction:
    """A percentage as a share."""
    try:
        share = Fraction(text.removesuffix("%").strip().replace(",", ".")) / 100 if len(text) <= 20 else Fraction(-1)
    except (ValueError, ZeroDivisionError) as error:
        raise ConditionError(
            gettext("condition %(n)s: %(share)s is not a percentage") % {"n": row, "share": repr(text[:20])}
        ) from error
    if not 0 <= share <= 1:
        raise ConditionError(
            gettext("condition %(n)s: %(share)s is not between 0 and 100 %%") % {"n": row, "share": repr(text[:20])}
        )
    return share


def _set_of(choice: str) -> TaskSet:
    """A choice of the form: `task:cola` or `group:qa`."""
    kind, _, key = choice.partition(":")
    if kind not in {"task", "group"} or not key:
        raise ConditionError(gettext("an inequality needs a task or a group on both sides"))
    return TaskSet((key,)) if kind == "task" else TaskSet(groups=(key,))


def answer(
    revision: Revision, form: ConditionsForm, stored: StoredProspects | None, *, audience_level: str
) -> ConditionsAnswer:
    """Who can win under the conditions, and who else could win without them.

    Args:
        revision: whose scores.
        form: with conditions that could be read.
        stored: the prospects without conditions, where they are there.
        audience_level: who reads.

    Raises:
        ConditionError: the conditions name something that there is not.
        TooLargeError: the board is too large for an answer on demand.
    """
    conditions = form.conditions or Conditions()
    prospects = prospects_under(revision, conditions, audience_level, rule=form.rule)
    names, task_names = system_names(revision), configuration_of(revision).task_names
    texts = in_own_words(conditions, revision)
    ordered = sorted(prospects.systems, key=lambda prospect: prospect_order(prospect, names))

    def row(prospect: Prospect) -> ProspectRow:
        return prospect_row(prospect, prospects, names, task_names, texts)

    # Anyone who could win without the conditions is told of first.
    is_head_to_head = form.rule == MAJORITY
    could = {p.system for p in stored.prospects.systems if p.is_prospective} if stored and is_head_to_head else set()
    others = [p for p in ordered if not p.is_prospective]
    others.sort(key=lambda prospect: prospect.system not in could)
    winners = [prospect for prospect in ordered if prospect.is_prospective]
    sentence = ""
    if not prospects.conditions_reason:
        n_ranked = sum(prospect.verdict != "no_scores" for prospect in prospects.systems)
        if prospects.conditions and is_head_to_head:
            sentence = gettext("%(n_winners)s of %(n_ranked)s systems can win under these conditions.")
        elif prospects.conditions:
            sentence = gettext("%(n_winners)s of %(n_ranked)s systems can win %(rule)s under these conditions.")
        elif is_head_to_head:
            sentence = gettext("%(n_winners)s of %(n_ranked)s systems can win under some weighting of the tasks.")
        else:
            sentence = gettext(
                "%(n_winners)s of %(n_ranked)s systems can win %(rule)s under some weighting of the tasks."
            )
        sentence %= {"n_winners": len(winners), "n_ranked": n_ranked, "rule": rule_name(form.rule)}
        if n_kept_out := len(could - {prospect.system for prospect in winners}):
            more = ngettext("%(n)s more could win without them.", "%(n)s more could win without them.", n_kept_out)
            sentence = f"{sentence} {more % {'n': n_kept_out}}"
    return ConditionsAnswer(
        rule_name="" if is_head_to_head else rule_name(form.rule),
        conditions=texts,
        impossible=prospects.conditions_reason,
        sentence=sentence,
        is_complete=prospects.is_complete,
        winners=[row(prospect) for prospect in winners[:PAGE_ROWS]],
        others=[row(prospect) for prospect in others[:PAGE_ROWS]],
        objectives={p.system: share_of_weight(p.objective) for p in winners if p.objective is not None},
    )


def choices(revision: Revision, voting: tuple[str, ...]) -> list[dict[str, Any]]:
    """What the selects of the form offer: the groups that have voting tasks, and the voting tasks."""
    configuration = configuration_of(revision)
    tasks = [task for task in configuration.tasks if task.key in voting]
    in_use = {task.group for task in tasks}
    groups = [group for group in configuration.groups if group.key in in_use]
    return [
        {
            "label": gettext("Groups"),
            "options": [{"value": f"group:{group.key}", "name": group.name} for group in groups],
        },
        {"label": gettext("Tasks"), "options": [{"value": f"task:{task.key}", "name": task.name} for task in tasks]},
    ]
