"""The properties that a ranking rule may have, with their definitions here.

Rules rank systems by tasks, so systems are the alternatives and tasks the voters, with weights. All properties are
about complete scores: a rule that compares two systems on the tasks that both have can lose any of them, unanimity
included, where scores are missing. *Wins* means rank 1, alone or jointly; a system is *above* another on a task if
its score is better, so that equal scores put neither above.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True)
class Property:
    """One property.

    Attributes:
        key: its name in code, reports and links.
        name: its name for readers.
        definition: one sentence that says what holds for every board under a rule that has it.
        source: who stated it, and how the form used here departs from that.
    """

    key: str
    name: str
    definition: str
    source: str


_PROPERTIES = (
    Property(
        "transitivity",
        "Universality and transitivity",
        "The rule puts all systems in one order, ties allowed, whatever the scores.",
        "Arrow 1951, collective rationality, and what Zhang and Hardt 2024 call universality; where a rule gives no "
        "answer at all that is not counted against it",
    ),
    Property(
        "anonymity",
        "Anonymity",
        "If two tasks of equal weight exchange their scores, the ranking does not change.",
        "May 1952",
    ),
    Property(
        "non_dictatorship",
        "Non-dictatorship",
        "At equal weights and with two tasks or more, no task imposes its order whatever the others say.",
        "Arrow 1951",
    ),
    Property(
        "unanimity",
        "Unanimity",
        "A system that is above another on every task is ranked above it.",
        "Pareto's principle, in the strict form of Arrow 1951: a tie between the two violates it",
    ),
    Property(
        "iia",
        "Independence of irrelevant alternatives",
        "If some systems are removed, the order of the others does not change, ties included.",
        "Arrow 1951, in the form of Nash 1950 and Luce and Raiffa 1957, which removes alternatives",
    ),
    Property(
        "monotonicity",
        "Monotonicity",
        "A winner whose scores rise on some tasks, everything else being equal, still wins.",
        "Smith 1973; about winners, as in the literature, and not about lower ranks",
    ),
    Property(
        "majority",
        "Majority",
        "A system that is alone first on tasks of more than half the weight wins, and wins alone.",
        "Fishburn 1974",
    ),
    Property(
        "condorcet_winner",
        "Condorcet winner",
        "A system that beats every other head to head wins, and wins alone.",
        "Condorcet 1785, Fishburn 1977",
    ),
    Property(
        "condorcet_loser",
        "Condorcet loser",
        "A system that loses to every other head to head does not win, not even jointly.",
        "Condorcet 1785, Fishburn 1977",
    ),
    Property(
        "consistency",
        "Consistency",
        "If the tasks are split in two and some systems win on both parts, exactly these win on all tasks.",
        "Young 1975; about winners: for whole orders see Young and Levenglick 1978",
    ),
    Property(
        "participation",
        "Participation",
        "If a task that puts X above Y is added where X wins, Y does not win instead of X.",
        "Fishburn and Brams 1983, Moulin 1988",
    ),
    Property(
        "local_iia",
        "Local independence of irrelevant alternatives",
        "Systems that are neighbours in the ranking keep their order when all others above and below them are removed.",
        "Young 1988, there for orders without ties",
    ),
    Property(
        "clones",
        "Independence of clones",
        "If a system joins some that no other system separates from it on any task, no other system starts or stops "
        "winning, nor do these together.",
        "Tideman 1987, Zavist and Tideman 1989",
    ),
    Property(
        "copies",
        "Independence of copies",
        "If an exact copy of a system joins or leaves, the order of all other systems does not change, ties included.",
        "Pavao et al. 2021, section 2.2, there called independence of clones; the system that is copied is one of the "
        "others here",
    ),
    Property(
        "reversal_symmetry",
        "Reversal symmetry",
        "A system that wins alone does not win when every task is reversed.",
        "Saari 1994; a task is reversed by taking a score x to its minimum plus its maximum minus x",
    ),
)

PROPERTIES: Mapping[str, Property] = MappingProxyType({prop.key: prop for prop in _PROPERTIES})


def get_property(key: str) -> Property:
    """Return the property called `key`, or raise a ValueError that lists the properties there are."""
    if key not in PROPERTIES:
        raise ValueError(f"`property` is {key!r}; expected one of {', '.join(PROPERTIES)}")
    return PROPERTIES[key]
