"""Which rule has which property, for the tie convention and the variant in force.

A *fails* rests on a small board that is stored (see stored.py); a *holds* on the argument or the paper that its entry
names. The entries are about the rules as they are computed here, so they differ from tables in the literature, those
of Rofin et al. 2023 (Vote'n'Rank, appendix A.2) and Pavao et al. 2021 (table 2) among them, wherever such a table
speaks of strict orders without ties, of winners picked by a tie-break, or of another form of a property:

- Under `worst` a tie lowers all who share it, so that Baldwin and Nanson are not Condorcet-consistent, and Borda can
  elect a Condorcet loser and lacks reversal symmetry; under `average` they have what the literature says. Pairwise
  opposition counts ties neither way, with the same effect on Minimax.
- Elimination rules drop all systems that tie for removal together, where the literature drops one: joint winners may
  include a Condorcet loser, and instant runoff depends on clones.
- Schulze's and Tideman's orders are by systems beaten minus systems that beat; pairs without a victory tie the
  literature's relations and not ours. Winners are the literature's: under Schulze's rule all that no one beats, under
  ranked pairs all that some order of equal strengths puts first (Brill and Fischer 2012), wherever the order that is
  shown puts them. Names choose no winner; where they chose the order, it proves nothing about orders.
- Nanson's rule drops those strictly below the average; one just on it stays, and may win both a board and the board
  turned upside down, without any tie within a task.
- Independence is lost by any change of order, ties included, when *systems are removed*; scores of single systems stay,
  so that rules on a system's own scores have it.
- An exact copy is one further system, and the system that it copies is one of the others: who loses a place to its own
  copy, as a winner does under Condorcet's rule, violates independence of copies. Ties that a copy brings and names
  break prove nothing about orders; there winners decide.
- Clones are next to each other on every task. The mean, which keeps its winner when an exact copy joins, can lose it
  when a neighbour with other scores does.
- Where a rule gives no answer (a geometric mean of negative scores, Bradley-Terry without finite strengths) it
  violates nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ranking_engine.axioms.properties import PROPERTIES, get_property
from ranking_engine.catalogue.registry import RULES, get_rule


@dataclass(frozen=True)
class Entry:
    """Whether a rule has a property.

    Attributes:
        rule, property: keys of RULES and PROPERTIES.
        convention: the tie convention or variant that it is about, as in options; empty where the rule knows none.
        holds: for complete scores, on every board.
        source: the paper, or the argument in a few words.
    """

    rule: str
    property: str
    convention: str
    holds: bool
    source: str


def entry(rule: str, property: str, options: Mapping[str, Any] | None = None) -> Entry:  # noqa: A002 -- the word of the trade
    """Return whether `rule` has `property` under `options` (ties, variant, strength; defaults where not given)."""
    get_property(property)
    convention = convention_of(rule, options or {})
    held = get_rule(rule).held
    holds = property in held.under.get(convention, held.own)
    # What the rule's record says, or what is true of every such rule.
    source = (held.why if holds else held.why_not).get(property) or _OF_EVERY_RULE.get((property, holds), "")
    return Entry(rule, property, convention, holds, source)


def table() -> dict[str, dict[str, Entry]]:
    """Return all entries by rule and property, for each rule's own conventions."""
    return {rule: {key: entry(rule, key) for key in PROPERTIES} for rule in RULES}


def convention_of(rule: str, options: Mapping[str, Any]) -> str:
    """Return the tie convention, variant or strength in force; empty where the rule knows none."""
    record = get_rule(rule)
    if record.tie_convention is not None:
        return str(options.get("ties") or record.tie_convention)
    for name, values in record.options.items():
        return str(options.get(name, values[0]))
    return ""


def conventions(rule: str) -> list[dict[str, str]]:
    """Return the options for every convention of `rule`, its own first."""
    record = get_rule(rule)
    if record.tie_convention is not None:
        others = [ties for ties in ("worst", "best", "average") if ties != record.tie_convention]
        return [{"ties": ties} for ties in (record.tie_convention, *others)]
    for name, values in record.options.items():
        return [{name: value} for value in values]
    return [{}]


# Why a rule that has, or lacks, a property does so, where its record does not say more.
_OF_EVERY_RULE: Mapping[tuple[str, bool], str] = {
    ("transitivity", True): "every system gets a number, and numbers are ordered",
    ("transitivity", False): "Condorcet 1785: majorities may run in a circle",
    ("anonymity", True): "tasks enter by sums over tasks, or by sorted scores, with their weights alone",
    (
        "non_dictatorship",
        True,
    ): "by anonymity: of two tasks with opposite orders and equal weight at most one could be obeyed",
    ("unanimity", False): "a stored board",
    ("iia", True): "a system's score rests on its own scores alone",
    ("iia", False): "Arrow 1951: no rule on orders that has unanimity and no dictator has it",
    ("local_iia", True): "a system's score rests on its own scores alone",
    ("local_iia", False): "who is far above or below decides about points, rounds and defeats",
    ("monotonicity", False): "a stored board",
    ("majority", True): "it beats every other system, so it is a Condorcet winner",
    ("majority", False): "a stored board",
    ("condorcet_winner", False): "how far a system is ahead counts, not on how many tasks",
    ("condorcet_loser", False): "how far a system is ahead counts, not on how many tasks",
    ("consistency", True): "sums over tasks add up",
    ("consistency", False): "Young and Levenglick 1978: no rule that picks Condorcet winners and ranks is",
    ("participation", True): "the task adds no less to X than to Y",
    ("participation", False): "Moulin 1988: no rule that picks Condorcet winners has it",
    ("clones", True): "Tideman 1987",
    ("clones", False): "Tideman 1987",
    ("copies", True): "a system's score rests on its own scores alone",
    ("copies", False): "a copy adds a rival, a place or a victory for or against each other system",
    ("reversal_symmetry", True): "every victory is reversed",
    ("reversal_symmetry", False): "Saari and Barney 2003: points, rounds or defeats that are uneven from top to bottom",
}
