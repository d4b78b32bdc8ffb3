"""Rofin et al. 2023, Vote'n'Rank: how many of eight properties a rule has (table 8)."""

from __future__ import annotations

from functools import cache

from ranking_engine import RULES
from ranking_engine.axioms import PROPERTIES, convention_of, entry, sentence, stored_witnesses, witness
from ranking_engine.axioms.stored import StoredWitness
from reproduction.rofin.boards import PRINTED
from reproduction.rofin.small_boards import RULES_OF_PAPER, boards_of_three, is_strict, orders_of
from reproduction.tables import Grid, Progress, Result, Section, compared, ours_alone

EIGHT = (
    "transitivity", "non_dictatorship", "unanimity", "iia", "monotonicity", "majority", "condorcet_winner",
    "condorcet_loser",
)  # fmt: skip
TIED_LOSERS = ("plurality", "minimax")
STRICT = {"ties": "average"}  # any convention is the same on a board without ties within a task
COUNTED_TWICE = (
    "The text at our disposal lost the ticks of table 8 and kept its row *Sum*. Its eight properties are ours of the "
    "same names, except that its row *Anonymity* is our non-dictatorship: appendix A.2 calls it "
    '"Non-dictatorship (Anonymity)", and says that no single criterion defines the final ranking. We count the '
    "eight twice: for the rules as they are computed here, and for boards without ties within a task, which is what "
    "the literature speaks of. As the caption says that Pareto-dominated systems that do not win can be tied, on such "
    "boards Plurality and Minimax have unanimity: a system that is below another on every task is never above it, and "
    "does not win."
)
STORED = "Behind every *no* is a stored board that the tests check."


def properties(progress: Progress) -> Result:
    """Count the properties of the paper's rules, and say which rule has which of our properties (table 8)."""
    del progress
    rows = []
    for rule, text in PRINTED["table_8"].items():
        with_ties = [key for key in EIGHT if entry(rule, key).holds]
        strict = [key for key in EIGHT if holds_without_ties(rule, key)]
        what = f"{RULES[rule].name}, of eight"
        rows.append(compared(f"{what}: on boards without ties", len(strict), printed=text, because=_why_fewer(rule)))
        lost = "; ".join(PROPERTIES[key].name for key in strict if key not in with_ties)
        rows.append(ours_alone(f"{what}: with ties", f"{len(with_ties)}{f' (without {lost})' if lost else ''}"))
    header = ["rule", "ties or variant", *(prop.name for prop in PROPERTIES.values())]
    lines = [
        [RULES[rule].name, convention_of(rule, {}) or "-", *(_yes_or_no(entry(rule, key).holds) for key in PROPERTIES)]
        for rule in RULES_OF_PAPER
    ]
    grids = [
        Grid("Properties of the rules as they are computed, ties included", header, lines),
        Grid(
            "Boards without ties for what a rule lacks", ["rule", "property", "the tasks", "what happens"], _lacking()
        ),
    ]
    return Result(rows, grids, [COUNTED_TWICE, STORED])


def holds_without_ties(rule: str, key: str) -> bool:
    """Whether a rule has a property on all boards without ties within a task.

    What it has with ties it has without. What it lacks on such boards a board without ties shows; see
    `strict_witness`.
    """
    if key == "unanimity" and rule in TIED_LOSERS:
        return True
    options = STRICT if RULES[rule].tie_convention is not None else {}
    return entry(rule, key, options).holds


@cache
def strict_witness(rule: str, key: str) -> StoredWitness | None:
    """Return a board without ties within a task on which a rule violates a property.

    Stored boards come first, then those of three systems in order of size. None where neither has one.
    """
    for (of_rule, convention, of_property), stored in stored_witnesses().items():
        is_default = RULES[rule].tie_convention is not None or convention == convention_of(rule, {})
        if (of_rule, of_property) == (rule, key) and is_default and is_strict(stored.board):
            return stored
    for matrix in boards_of_three():
        violation = witness(rule, key, matrix).witness
        if violation is not None:
            return StoredWitness(matrix, violation)
    return None


def _why_fewer(rule: str) -> str:
    """Return what a rule lacks, and on which board."""
    lacking = [key for key in EIGHT if not holds_without_ties(rule, key)]
    stored = strict_witness(rule, "majority") if "majority" in lacking else None
    if stored is None:
        return ""
    names = ", ".join(PROPERTIES[key].name for key in lacking)
    return (
        f"it lacks {names}; the boards below show each of them. For majority: {'; '.join(orders_of(stored.board))}. "
        f"{sentence(stored.witness)}"
    )


def _lacking() -> list[list[str]]:
    """Return the lines of the grid of boards without ties."""
    lines = []
    for rule in PRINTED["table_8"]:
        for key in EIGHT:
            if not holds_without_ties(rule, key):
                stored = strict_witness(rule, key)
                board, text = (
                    ("-", "-") if stored is None else ("; ".join(orders_of(stored.board)), sentence(stored.witness))
                )
                lines.append([RULES[rule].name, PROPERTIES[key].name, board, text])
    return lines


def _yes_or_no(holds: bool) -> str:
    return "yes" if holds else "no"


SECTIONS = (Section("rofin-properties", "Table 8: properties of the rules", (), properties),)
