"""Six questions that lead to a rule: every answer is a requirement, and every rule is compared with the requirements.

Nothing here says which answers lead where. What a rule has is read from the catalogue (`registry`), from the table
of properties (`axioms.table`) and from shares of ties that were counted (`tied_shares`), under the convention for ties,
or the variant, that the rule has by itself. The rules that meet the most requirements come first; among these the one
with the most properties of all; then quick rules before slow ones; then the order of the catalogue.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from ranking_engine.axioms.properties import PROPERTIES
from ranking_engine.axioms.table import conventions, entry
from ranking_engine.catalogue.registry import RULES, Rule
from ranking_engine.catalogue.rule import SCORES
from ranking_engine.catalogue.tied_shares import N_BOARDS, N_SYSTEMS, N_TASKS, tied_share


def reads_orders(rule: Rule) -> bool:
    """Whether the rule looks only at who is above whom on a task: stretching a task's scores changes nothing."""
    return rule.looks_at != SCORES


def survives_units(rule: Rule) -> bool:
    """Whether the rule's order stays when a task, its chance level and its best score are told in another unit."""
    return reads_orders(rule) or rule.reads_scales


@dataclass(frozen=True)
class Requirement:
    """What someone asks of a rule.

    Attributes:
        key: its name in code; of a property that is asked for, the property's.
        text: what a rule does that meets it, as in "it ...".
        lack: what one does that does not.
        is_met: whether a rule meets it.
    """

    key: str
    text: str
    lack: str
    is_met: Callable[[Rule], bool]


@dataclass(frozen=True)
class Answer:
    """One of the answers to a question, with what it requires."""

    key: str
    text: str
    needs: tuple[Requirement, ...] = ()


@dataclass(frozen=True)
class Question:
    """A question, why it matters, and the answers that there are; the first is that of anyone who does not answer."""

    key: str
    text: str
    why: str
    answers: tuple[Answer, ...]

    def answer(self, key: str) -> Answer:
        """Return the answer called `key`; the first one where there is none."""
        return next((answer for answer in self.answers if answer.key == key), self.answers[0])


def _property(key: str) -> Requirement:
    name = PROPERTIES[key].name
    return Requirement(
        key,
        f"has the property “{name}”",
        f"lacks the property “{name}”",
        lambda rule: entry(rule.key, key).holds,
    )


_ORDER = Requirement(
    "transitivity",
    "puts all systems in one order",
    "puts no order between all systems",
    lambda rule: entry(rule.key, "transitivity").holds,
)
_ORDERS_ONLY = Requirement(
    "orders", "looks only at who is above whom on a task", "adds or compares sizes of scores", reads_orders
)
_UNITS = Requirement(
    "units", "does not depend on the tasks’ units", "changes its order with the unit of a task", survives_units
)
_GAPS = Requirement(
    "gaps",
    "ranks systems that lack scores, and fills in none",
    "needs every score, so that gaps must be filled in or left out",
    lambda rule: not rule.needs_complete,
)
_SOME_TIES = Requirement(
    "some_ties",
    "ranks fewer than half of the systems equal with another, on random boards",
    "ranks half of the systems or more equal with another, or not at all, on random boards",
    lambda rule: tied_share(rule.key) < 0.5,
)
_FEW_TIES = Requirement(
    "few_ties",
    "ranks at most one system in five equal with another, on random boards",
    "ranks more than one system in five equal with another, or not at all, on random boards",
    lambda rule: tied_share(rule.key) <= 0.2,
)
_COUNTED_TIES = (
    f"Counted on {N_BOARDS} random boards of {N_SYSTEMS} systems and {N_TASKS} tasks of equal weight, with no equal "
    f"scores on a task: the share of systems that share a rank with another is {100 * tied_share('plurality'):.0f} % "
    f"under Plurality, "
    f"{100 * tied_share('minimax'):.0f} % under Minimax, {100 * tied_share('copeland'):.0f} % under Copeland, "
    f"{100 * tied_share('borda'):.0f} % under Borda and {100 * tied_share('dowdall'):.0f} % under Dowdall. Systems "
    f"without a rank "
    "count as equal. More tasks, or unequal weights, make fewer ties."
)

QUESTIONS: tuple[Question, ...] = (
    Question(
        "scores",
        "Is a point on one task worth a point on any other?",
        "A mean adds scores up; where units or spreads differ, the task that spreads widest decides.",
        (
            Answer("same", "Yes: one unit, and the same size of step everywhere."),
            Answer("scales", "No, but every task states its chance level and its best score.", (_UNITS,)),
            Answer("orders", "No: only who is ahead on a task can be believed.", (_ORDERS_ONLY,)),
        ),
    ),
    Question(
        "gaps",
        "Will systems lack scores?",
        "Filling in a number for a score that no one measured is a decision; some rules need no such decision.",
        (
            Answer("no", "No, systems with a missing score can be unranked."),
            Answer("yes", "Yes, and they are to be ranked by the scores that they have.", (_GAPS,)),
        ),
    ),
    Question(
        "winner",
        "Who must win?",
        "A system can beat every other head to head, and still not come first under most rules.",
        (
            Answer("any", "No particular one: a good compromise."),
            Answer(
                "majority", "The system that alone is first on more than half of the weight.", (_property("majority"),)
            ),
            Answer("condorcet", "The system that beats every other head to head.", (_property("condorcet_winner"),)),
            Answer(
                "loser",
                "Any system except one that loses to every other head to head.",
                (_property("condorcet_loser"),),
            ),
        ),
    ),
    Question(
        "entrants",
        "Systems will come and go. What must not change by that?",
        "On a board that takes submissions, a weak newcomer should not decide between two strong systems.",
        (
            Answer("nothing", "Nothing in particular."),
            Answer("all", "The order of any two others.", (_property("iia"),)),
            Answer("neighbours", "The order of neighbours, when those above and below go.", (_property("local_iia"),)),
            Answer("clones", "Who wins, when near copies of a system join.", (_property("clones"),)),
        ),
    ),
    Question(
        "evidence",
        "What must new evidence never do?",
        "Scores get better and tasks are added; under some rules this can harm the very system that it supports.",
        (
            Answer("nothing", "Nothing in particular."),
            Answer("better", "Cost a winner its place because its scores rise.", (_property("monotonicity"),)),
            Answer(
                "tasks", "Cost a winner its place because a task joins that favours it.", (_property("participation"),)
            ),
            Answer("unanimous", "Leave a system unrewarded that is ahead on every task.", (_property("unanimity"),)),
        ),
    ),
    Question(
        "ties",
        "How many ties do you accept?",
        _COUNTED_TIES,
        (
            Answer("any", "Any number."),
            Answer("some", "Fewer than half of the systems may share a rank.", (_SOME_TIES,)),
            Answer("few", "Few: at most one system in five may share a rank.", (_FEW_TIES,)),
        ),
    ),
)


# Rules that the literature credits with a property, some of which lack it here: mostly because boards have ties, which
# proofs about strict orders leave out. The entry of each (`axioms.entry`) says why.
CREDITED: Mapping[str, tuple[tuple[str, str], ...]] = MappingProxyType({
    "clones": (
        ("schulze", "Schulze 2011"),
        ("ranked_pairs", "Tideman 1987, Zavist and Tideman 1989"),
        ("instant_runoff", "Tideman 1987"),
    ),
    "local_iia": (("kemeny", "Young 1988"),),
    "condorcet_loser": (("borda", "Fishburn and Gehrlein 1976"), ("instant_runoff", "Nurmi 1987")),
    "unanimity": (("nanson", "Nurmi 1987"), ("instant_runoff", "Nurmi 1987")),
})  # fmt: skip


@dataclass(frozen=True)
class Departure:
    """A rule that the literature credits with what is asked for, and that lacks it here.

    Attributes:
        rule: the rule.
        requirement: what is asked for.
        source: who credits it.
        why: it lacks that here.
        remedy: the convention or variant under which it has it; empty where there is none.
    """

    rule: Rule
    requirement: Requirement
    source: str
    why: str
    remedy: str


@dataclass(frozen=True)
class Candidate:
    """A rule compared with the requirements.

    Attributes:
        rule: the rule.
        met, lacked: the requirements that it meets, and those that it does not.
        n_properties: how many of all the properties it has.
        remedies: by requirement that it lacks, the convention or variant under which it would meet it.
    """

    rule: Rule
    met: tuple[Requirement, ...]
    lacked: tuple[Requirement, ...]
    n_properties: int
    remedies: Mapping[str, str]


@dataclass(frozen=True)
class Choice:
    """The answers, what they require, and every rule compared with that, the best first."""

    answers: Mapping[str, Answer]
    requirements: tuple[Requirement, ...]
    candidates: tuple[Candidate, ...]

    @property
    def is_met(self) -> bool:
        """Whether there is a rule that meets all requirements."""
        return not self.candidates[0].lacked

    @property
    def asks_something(self) -> bool:
        """Whether an answer requires anything; an order is required in any case."""
        return len(self.requirements) > 1

    @property
    def departures(self) -> tuple[Departure, ...]:
        """Rules that the literature credits with a requirement and that lack it here, with the reason."""
        by_key = {candidate.rule.key: candidate for candidate in self.candidates}
        return tuple(
            Departure(RULES[key], need, source, entry(key, need.key).source, by_key[key].remedies.get(need.key, ""))
            for need in self.requirements
            for key, source in CREDITED.get(need.key, ())
            if need in by_key[key].lacked
        )

    @property
    def in_catalogue_order(self) -> tuple[Candidate, ...]:
        """Every rule in the order that all lists of rules have."""
        by_key = {candidate.rule.key: candidate for candidate in self.candidates}
        return tuple(by_key[key] for key in RULES if key in by_key)

    @property
    def meeting(self) -> tuple[Candidate, ...]:
        """The rules that meet as many requirements as the first one."""
        most = len(self.candidates[0].met)
        return tuple(candidate for candidate in self.candidates if len(candidate.met) == most)


def choose_rule(given: Mapping[str, str]) -> Choice:
    """Compare every rule without parameters of the user with the answers `given`, by question.

    A ranking is asked for in any case. What is not answered, or has no such answer, requires nothing.
    """
    answers = {question.key: question.answer(given.get(question.key, "")) for question in QUESTIONS}
    needs = (need for answer in answers.values() for need in answer.needs)
    requirements = tuple({need.key: need for need in (_ORDER, *needs)}.values())
    place = {key: number for number, key in enumerate(RULES)}
    candidates = []
    for rule in RULES.values():
        if rule.parameters:
            continue
        met = tuple(requirement for requirement in requirements if requirement.is_met(rule))
        lacked = tuple(requirement for requirement in requirements if requirement not in met)
        remedies = {}
        for need in lacked:
            under = conventions(rule.key)[1:] if need.key in PROPERTIES else []
            having = [options for options in under if entry(rule.key, need.key, options).holds]
            if having:
                remedies[need.key] = " ".join(f"{name} {value}" for name, value in having[0].items())
        n_properties = sum(entry(rule.key, key).holds for key in PROPERTIES)
        candidates.append(Candidate(rule, met, lacked, n_properties, MappingProxyType(remedies)))
    candidates.sort(key=lambda one: (-len(one.met), -one.n_properties, one.rule.is_slow, place[one.rule.key]))
    return Choice(MappingProxyType(answers), requirements, tuple(candidates))
