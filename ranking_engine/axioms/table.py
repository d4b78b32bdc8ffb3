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
  literature's relations and not ours. Winners are the literature's: under Schulze's rule all that nobody beats, under
  ranked pairs all that some order of equal strengths puts first (Brill and Fischer 2012), wherever the order that is
  shown puts them. Names choose no winner; where they chose the order, it proves nothing about orders.
- Nanson's rule drops those strictly below the average; one just on it stays, and may win both a board and the board
  turned upside down, without any tie within a task.
- Independence is lost by any change of order, ties included, when *systems are removed*; scores of single systems stay,
  so that rules on a system's own scores have it.
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
from ranking_engine.registry import RULES, get_rule


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
    holds = property in _held(rule, convention)
    return Entry(rule, property, convention, holds, _source(rule, property, holds=holds))


def table() -> dict[str, dict[str, Entry]]:
    """Return all entries by rule and property, for each rule's own conventions."""
    return {rule: {key: entry(rule, key) for key in PROPERTIES} for rule in RULES}


def convention_of(rule: str, options: Mapping[str, Any]) -> str:
    """Return the tie convention, variant or strength in force; empty where the rule knows none."""
    stated = get_rule(rule)
    if stated.tie_convention is not None:
        return str(options.get("ties") or stated.tie_convention)
    for name, values in stated.options.items():
        return str(options.get(name, values[0]))
    return ""


def conventions(rule: str) -> list[dict[str, str]]:
    """Return the options for every convention of `rule`, its own first."""
    stated = get_rule(rule)
    if stated.tie_convention is not None:
        others = [ties for ties in ("worst", "best", "average") if ties != stated.tie_convention]
        return [{"ties": ties} for ties in (stated.tie_convention, *others)]
    for name, values in stated.options.items():
        return [{name: value} for value in values]
    return [{}]


_ALWAYS = frozenset({"transitivity", "anonymity", "non_dictatorship"})
_ADDITIVE = _ALWAYS | {"monotonicity", "consistency", "participation"}
_PARETIAN = _ADDITIVE | {"unanimity"}
_BORDA = _PARETIAN | {"condorcet_loser", "reversal_symmetry"}
_OWN_SCORES = _PARETIAN | {"iia", "local_iia"}
_MAJORITY = _ALWAYS | {"majority", "condorcet_winner", "condorcet_loser"}
_BY_MARGINS = _MAJORITY | {"unanimity", "monotonicity", "reversal_symmetry"}

# By rule, or by rule and convention.
_HELD: Mapping[str | tuple[str, str], frozenset[str]] = {
    "mean": _OWN_SCORES | {"reversal_symmetry"},
    "normalized_mean": _OWN_SCORES | {"reversal_symmetry"},
    "geometric_mean": _OWN_SCORES,
    "median": _OWN_SCORES - {"consistency", "participation"},
    "optimality_gap": _OWN_SCORES - {"unanimity"},
    "plurality": _ADDITIVE | {"majority"},
    "borda": _PARETIAN,
    ("borda", "average"): _BORDA,
    "dowdall": _PARETIAN,
    "average_rank": _BORDA,
    ("average_rank", "worst"): _PARETIAN,
    ("average_rank", "best"): _PARETIAN,
    "veto": _ADDITIVE,
    "positional": _ADDITIVE,
    "threshold": _PARETIAN,
    "baldwin": _ALWAYS | {"unanimity", "majority"},
    ("baldwin", "best"): _ALWAYS | {"unanimity"},
    ("baldwin", "average"): _MAJORITY | {"unanimity"},
    "nanson": _ALWAYS | {"majority"},
    ("nanson", "best"): _ALWAYS,
    ("nanson", "average"): _MAJORITY,
    "instant_runoff": _ALWAYS | {"majority"},
    "coombs": _ALWAYS | {"unanimity"},
    ("coombs", "best"): _ALWAYS,
    "condorcet": (_MAJORITY | _ADDITIVE | {"reversal_symmetry"}) - {"transitivity"},
    "copeland": _BY_MARGINS,
    ("copeland", "lower"): _BY_MARGINS - {"reversal_symmetry"},
    ("copeland", "upper"): _BY_MARGINS - {"reversal_symmetry"},
    "minimax": _ALWAYS | {"monotonicity", "majority", "condorcet_winner"},
    ("minimax", "pairwise_opposition"): _ALWAYS | {"monotonicity", "majority"},
    "schulze": _BY_MARGINS | {"clones"},
    "ranked_pairs": _BY_MARGINS,
    "kemeny": _BY_MARGINS | {"local_iia"},
    "win_rate": _BORDA,
    ("win_rate", "success_rate"): _PARETIAN,
    ("win_rate", "benchbench"): _PARETIAN,
    "relative_difference": _PARETIAN,
    "bradley_terry": _BORDA,
}


def _held(rule: str, convention: str) -> frozenset[str]:
    return _HELD.get((rule, convention), _HELD[rule])


def _source(rule: str, key: str, *, holds: bool) -> str:
    """Return where an entry comes from: the first line that is about the rule."""
    for rules, source in _SOURCES[key, holds]:
        if rule in rules or rules == _ALL:
            return source
    raise AssertionError(f"no source for {key} of {rule}")


_ALL = ("",)
_CARDINAL = ("mean", "normalized_mean", "geometric_mean", "median", "optimality_gap")
_POSITIONAL = ("plurality", "borda", "dowdall", "average_rank", "veto", "positional")
_ROUNDS = ("baldwin", "nanson", "instant_runoff", "coombs")
_LIKE_BORDA = ("win_rate", "bradley_terry")
_WITNESS = "a stored board"
_SAME_AS_BORDA = (
    "on complete scores it orders systems as Borda does (ties within a task one half each; benchbench and success_rate "
    "as Borda under worst)"
)

_SOURCES: Mapping[tuple[str, bool], tuple[tuple[tuple[str, ...], str], ...]] = {
    ("transitivity", True): ((_ALL, "every system gets a number, and numbers are ordered"),),
    ("transitivity", False): ((_ALL, "Condorcet 1785: majorities may run in a circle"),),
    ("anonymity", True): ((_ALL, "tasks enter by sums over tasks, or by sorted scores, with their weights alone"),),
    ("non_dictatorship", True): (
        (_ALL, "by anonymity: of two tasks with opposite orders and equal weight at most one could be obeyed"),
    ),
    ("unanimity", True): (
        (("mean", "normalized_mean", "geometric_mean", "median"), "each term, or each sorted score, is greater"),
        ((*_POSITIONAL, "threshold"), "what a position is worth falls with every place, so each term is greater"),
        (("baldwin",), "among any that remain the system above has the greater Borda score, so it leaves later"),
        (("coombs",), "a system above another is never last while that one remains"),
        (("copeland",), "who is above beats the other and all that the other beats (Fishburn 1977)"),
        (("schulze",), "Schulze 2011: no chain back is as strong as a victory by all tasks"),
        (("ranked_pairs",), "Tideman 1987: victories by all tasks are locked in first and make no circle"),
        (("kemeny",), "Young and Levenglick 1978: exchanging the two makes the order better"),
        (_LIKE_BORDA, _SAME_AS_BORDA),
        (("relative_difference",), "differences to each rival are no less, and those between the two decide"),
    ),
    ("unanimity", False): (
        (("optimality_gap",), "above the threshold better scores count nothing"),
        (("plurality", "veto", "positional"), "two positions may be worth the same"),
        (("nanson", "instant_runoff", "coombs"), "systems tied for removal leave in the same round"),
        (("condorcet",), "it ranks nobody but the winner"),
        (("minimax",), "a third system may beat both equally"),
        (_ALL, _WITNESS),
    ),
    ("iia", True): ((_ALL, "a system's score rests on its own scores alone"),),
    ("iia", False): (
        (("relative_difference", *_LIKE_BORDA), "a system's score is a mean over its rivals"),
        (_ALL, "Arrow 1951: no rule on orders that has unanimity and no dictator has it"),
    ),
    ("local_iia", True): (
        (("kemeny",), "Young 1988; where the best order is unique"),
        (_ALL, "a system's score rests on its own scores alone"),
    ),
    ("local_iia", False): (
        (("ranked_pairs",), "only where pairs are drawn; without draws Tideman's order has it"),
        (_ALL, "who is far above or below decides about points, rounds and defeats"),
    ),
    ("monotonicity", True): (
        (_CARDINAL, "scores rise with each of their terms"),
        ((*_POSITIONAL, "threshold"), "Smith 1973, for scoring functions"),
        (("condorcet", "copeland", "minimax"), "Fishburn 1977: victories of the winner only grow"),
        (("schulze",), "Schulze 2011: chains from the winner only grow, chains to it only weaken"),
        (("ranked_pairs",), "an order of equal strengths that made it a winner does so again (Tideman 1987)"),
        (("kemeny",), "an order that begins with the winner gains at least as much as any other (Fishburn 1977)"),
        (_LIKE_BORDA, _SAME_AS_BORDA),
        (("relative_difference",), "each difference to a rival rises with the system's score"),
    ),
    ("monotonicity", False): (
        (_ROUNDS, "Smith 1973: scoring in rounds is not monotonic"),
        (_ALL, _WITNESS),
    ),
    ("majority", True): (
        (("plurality",), "more than half of all first places"),
        (("baldwin", "nanson"), "a majority of places alone first keeps a Borda score above the average"),
        (("instant_runoff",), "more than half of all first places, in every round"),
        (("minimax",), "less than half the weight is against it and more than half against every other"),
        (_ALL, "it beats every other system, so it is a Condorcet winner"),
    ),
    ("majority", False): (
        ((*_CARDINAL, "relative_difference"), "far behind on few tasks outweighs little ahead on many"),
        ((*_POSITIONAL, "threshold", *_LIKE_BORDA), "Fishburn 1974; lower places count too"),
        (("coombs",), "last places alone decide, without a majority stop"),
        (("baldwin", "nanson"), "under best a tie raises all who share it"),
        (_ALL, _WITNESS),
    ),
    ("condorcet_winner", True): (
        (("baldwin", "nanson"), "Nanson 1882: its Borda score, with ties shared, is always above the average"),
        (("condorcet",), "by definition"),
        (("copeland", "minimax"), "Fishburn 1977"),
        (("schulze",), "Schulze 2011"),
        (("ranked_pairs",), "Tideman 1987"),
        (("kemeny",), "Young and Levenglick 1978"),
    ),
    ("condorcet_winner", False): (
        (("baldwin", "nanson"), "ties within a task change Borda scores and no victory; not so under average"),
        (("minimax",), "pairwise opposition counts weight against a system even where it wins"),
        (("instant_runoff", "coombs"), "it may be first, or not last, on too few tasks in the first round"),
        ((*_POSITIONAL, "threshold", *_LIKE_BORDA), "Fishburn 1974: no scoring rule elects it always"),
        (_ALL, "how far a system is ahead counts, not on how many tasks"),
    ),
    ("condorcet_loser", True): (
        (("borda", "average_rank", *_LIKE_BORDA), "Fishburn and Gehrlein 1976: its Borda score is below the average"),
        (("baldwin", "nanson"), "its Borda score, with ties shared, is always below the average"),
        (("condorcet",), "it wins against nobody"),
        (("copeland",), "it beats nobody and all others beat it"),
        (("schulze",), "Schulze 2011"),
        (("ranked_pairs",), "Tideman 1987: its defeats are all locked in"),
        (("kemeny",), "Young and Levenglick 1978: moved to the end it makes the order better"),
    ),
    ("condorcet_loser", False): (
        (("borda", "average_rank", "win_rate", "baldwin", "nanson"), "by ties within a task; not under average"),
        (("minimax",), "its defeats may be narrow"),
        (("instant_runoff", "coombs"), "systems tied for removal leave or win together"),
        ((*_POSITIONAL, "threshold"), "Fishburn and Gehrlein 1976: Borda's is the only scoring rule that never does"),
        (_ALL, "how far a system is ahead counts, not on how many tasks"),
    ),
    ("consistency", True): (
        ((*_POSITIONAL, "threshold"), "Young 1975: scoring functions, composed ones too"),
        (("condorcet",), "who beats all others on both parts beats them on all tasks"),
        (_LIKE_BORDA, _SAME_AS_BORDA),
        (_ALL, "sums over tasks add up"),
    ),
    ("consistency", False): (
        (("median",), "medians of parts say little about the median"),
        (_ROUNDS, "Young 1975: only scoring functions are consistent"),
        (("kemeny",), "Young and Levenglick 1978: its orders are consistent, its winners are not"),
        (_ALL, "Young and Levenglick 1978: no rule that elects Condorcet winners and ranks is"),
    ),
    ("participation", True): (
        ((*_POSITIONAL, "threshold"), "Moulin 1988: the task adds no less to X than to Y"),
        (("condorcet",), "X still beats Y"),
        (_LIKE_BORDA, _SAME_AS_BORDA),
        (_ALL, "the task adds no less to X than to Y"),
    ),
    ("participation", False): (
        (("median",), "a task above X's median and Y's may move them differently"),
        (_ROUNDS, "Fishburn and Brams 1983; Moulin 1988"),
        (_ALL, "Moulin 1988: no rule that elects Condorcet winners has it"),
    ),
    ("clones", True): (
        (("schulze",), "Schulze 2011: a chain to one of the clones is as strong as one to any other"),
        (_ALL, "Tideman 1987"),
    ),
    ("clones", False): (
        (_CARDINAL, "neighbours on every task may differ in scores; an exact copy changes nothing"),
        (("ranked_pairs",), "a clone gives equal strengths more orders; where none are equal it has it"),
        (("instant_runoff",), "tied systems share or lose first places, and leave together; else Tideman 1987"),
        (_ALL, "Tideman 1987"),
    ),
    ("reversal_symmetry", True): (
        (("mean", "normalized_mean"), "the mean of the scores turned upside down is a constant minus the mean"),
        (("borda", "average_rank", *_LIKE_BORDA), "Saari and Barney 2003: points fall evenly from place to place"),
        (("schulze",), "Schulze 2011: a system that wins alone beats all others, and all chains turn round with it"),
        (("ranked_pairs",), "each order of equal strengths locks in the same victories, turned upside down"),
        (_ALL, "every victory is turned upside down"),
    ),
    ("reversal_symmetry", False): (
        (_CARDINAL, "scores turned upside down do not turn the rule's score upside down"),
        (("copeland",), "only wins, or only losses, are counted"),
        (("nanson",), "who is just on the average stays both ways, with other rivals each time"),
        (("borda", "average_rank", "win_rate"), "a tie turned upside down still costs all who share it"),
        (_ALL, "Saari and Barney 2003: points, rounds or defeats that are uneven from top to bottom"),
    ),
}  # fmt: skip
