"""The catalogue of rules as pages show it: what each does, an example computed as it is asked for, its properties."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from django.utils.translation import gettext, gettext_noop

from leaderboard.boards.rows import score_text
from leaderboard.common.documents import section_html
from leaderboard.common.language.engine import in_page_language, violation_text
from leaderboard.common.language.numbers import in_language, localise
from leaderboard.common.text import ranking_remark, value_text
from ranking_engine import MISSING_POLICIES, RULES, TIES, Rule
from ranking_engine.axioms import PROPERTIES, Property, entry, stored_witnesses
from ranking_engine.axioms.table import convention_of, conventions
from ranking_engine.catalogue.example import TOY, example_of
from ranking_engine.catalogue.omission import NATIVE, omission_sentence, policies_of
from ranking_engine.catalogue.rule import DUELS, FAMILIES, POSITIONS
from ranking_engine.core.score_matrix import ScoreMatrix

NOTHING_FILLED_IN = gettext_noop(
    "Two systems are compared on the tasks for which both have scores; nothing is filled in."
)
SIZES = ((30, 10), (300, 80), (2000, 50))  # systems x tasks, for which the time is estimated


@dataclass(frozen=True)
class RuleFilter:
    """Which rules of the catalogue someone wants to see; unknown values are ignored."""

    family: str = ""
    properties: tuple[str, ...] = ()  # those that a rule must have
    gaps: bool = False  # only rules that need no policy for missing scores


@dataclass(frozen=True)
class CatalogueRow:
    """One rule in the table of properties."""

    rule: Rule
    convention: str
    has: list[bool]  # property by property
    winners: str  # on the toy table

    @property
    def n_properties(self) -> int:
        """How many properties it has."""
        return sum(self.has)


@dataclass(frozen=True)
class ToyTable:
    """A small table in texts: heads of columns, and rows with their names."""

    heads: list[str]
    rows: list[tuple[str, list[str]]]


@dataclass(frozen=True)
class ToyRank:
    """One system of the toy table under the rule."""

    name: str
    score: str
    rank: int | None
    is_tied: bool


@dataclass(frozen=True)
class ShownExample:
    """The toy table under one rule, step by step: the scores, what the rule reads in them, what comes out."""

    scores: ToyTable
    reads: str  # `scores`, `positions` or `duels`
    steps: ToyTable | None  # what the rule reads, where that is not the scores themselves
    ranks: list[ToyRank]
    winners: list[str]
    given: str  # what the rule needs beside the scores
    remark: str


@dataclass(frozen=True)
class ShownProperty:
    """One property of a rule; where it fails, the smallest board known on which it does."""

    property: Property
    holds: bool
    source: str
    witness: str
    board: ToyTable | None


@dataclass(frozen=True)
class RuleEntry:
    """Everything that the page of one rule shows."""

    rule: Rule
    definition_html: str
    options_html: str
    cost_html: str
    when: str
    convention: str
    conventions: list[tuple[str, str]]  # (what it is called, what it means), the rule's own first
    example: ShownExample
    properties: list[ShownProperty]
    missing: list[tuple[str, str, str]]  # (policy, what it does, what leaving out a score can do)
    costs: list[tuple[str, str]]  # (size, seconds)

    @property
    def n_held(self) -> int:
        """How many properties it has."""
        return sum(row.holds for row in self.properties)


def catalogue(wanted_rules: RuleFilter) -> list[CatalogueRow]:
    """The rules that are asked for, in the catalogue's order, each under its own convention."""
    wanted = [key for key in wanted_rules.properties if key in PROPERTIES]
    return [
        _row(rule.key)
        for rule in RULES.values()
        if (wanted_rules.family not in FAMILIES or rule.family == wanted_rules.family)
        and not (wanted_rules.gaps and rule.needs_complete)
        and all(entry(rule.key, key).holds for key in wanted)
    ]


@lru_cache
def _row(rule: str) -> CatalogueRow:
    """A rule's line of the table, worked out once: its example takes time."""
    winners = ", ".join(TOY.system_names[i] for i in example_of(rule).ranking.winners)
    return CatalogueRow(RULES[rule], convention_of(rule, {}), [entry(rule, key).holds for key in PROPERTIES], winners)


def rule_entry(key: str, convention: str = "") -> RuleEntry:
    """The page of one rule, under a tie convention or variant of its own or another one.

    Args:
        key: of the rule.
        convention: one of its conventions; its own where there is no such one.
    """
    rule = RULES[key]
    known = {convention_of(key, options): options for options in conventions(key)}
    options = known.get(convention) or next(iter(known.values()))
    own_convention, properties = convention_of(key, options), []
    for prop in PROPERTIES.values():
        property_entry = entry(key, prop.key, options)
        stored = None if property_entry.holds else stored_witnesses().get((key, own_convention, prop.key))
        properties.append(
            ShownProperty(
                prop,
                holds=property_entry.holds,
                source=gettext(property_entry.source) if property_entry.source else "",
                witness=violation_text(stored.witness) if stored else "",
                board=board_table(stored.board) if stored else None,
            )
        )
    example = example_of(key, options)
    ranking, steps = example.ranking, None
    if example.reads in (POSITIONS, DUELS):
        heads = (
            [gettext("above %(name)s") % {"name": name} for name in TOY.system_names]
            if example.reads == DUELS
            else [gettext("Task %(name)s") % {"name": name} for name in TOY.task_names]
        )
        cells = [["" if value < 0 else str(value) for value in row] for row in example.table.tolist()]
        steps = ToyTable(heads, list(zip(TOY.system_names, cells, strict=True)))
    ranks = [
        ToyRank(name, score_text(float(score), key), int(rank) if rank > 0 else None, (ranking.ranks == rank).sum() > 1)
        for name, score, rank in zip(TOY.system_names, ranking.scores, ranking.ranks, strict=True)
    ]
    costs = []
    for n, T in SIZES:
        seconds = rule.cost(n, T)  # about so many on one core
        text = gettext("about %(n)s s") % {"n": localise(seconds, ".0f")}
        if seconds < 1:
            text = gettext("about %(n)s ms") % {"n": localise(1000 * seconds, ".0f")}
        text = gettext("less than 1 ms") if seconds < 0.001 else text
        size = gettext("%(n_systems)s systems × %(n_tasks)s tasks") % {"n_systems": localise(n, ","), "n_tasks": T}
        costs.append((size, in_page_language(rule.why_not_computed(n)) or text))
    return RuleEntry(
        rule=rule,
        definition_html=section_html(f"rules/{key}", "Definition"),
        options_html=section_html(f"rules/{key}", "Options and ties").partition("The example table")[0],
        cost_html=section_html(f"rules/{key}", "Cost"),
        when=gettext(rule.advice),
        convention=own_convention,
        conventions=[(name, gettext(TIES[name]) if rule.tie_convention else "") for name in known if name],
        example=ShownExample(
            scores=board_table(TOY),
            reads=example.reads,
            steps=steps,
            ranks=ranks,
            winners=[TOY.system_names[i] for i in ranking.winners],
            given=gettext(rule.example_note) if rule.example_note else "",
            remark=in_page_language(ranking_remark(ranking)),
        ),
        properties=properties,
        missing=[
            ("", gettext(NOTHING_FILLED_IN), in_page_language(omission_sentence(key, "undefined")))
            if policy == NATIVE
            else (policy, gettext(MISSING_POLICIES[policy]), in_page_language(omission_sentence(key, policy)))
            for policy in policies_of(rule)
        ],
        costs=costs,
    )


def board_table(matrix: ScoreMatrix) -> ToyTable:
    """A small board in texts; weights are in the heads where they differ."""
    heads = [gettext("Task %(name)s") % {"name": name} if name.isdigit() else name for name in matrix.task_names]
    if len(set(matrix.weights)) > 1:
        weights = [str(w) if w.denominator == 1 else localise(float(w), "g") for w in matrix.weights]
        heads = [
            gettext("%(task)s (weight %(weight)s)") % {"task": head, "weight": weight}
            for head, weight in zip(heads, weights, strict=True)
        ]
    cells = [
        ["–" if np.isnan(value) else in_language(value_text(value)) for value in row] for row in matrix.values.tolist()
    ]
    return ToyTable(heads, list(zip(matrix.system_names, cells, strict=True)))
