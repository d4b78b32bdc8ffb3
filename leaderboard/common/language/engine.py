"""Names and sentences of the engine, which knows no languages, in the language of the page.

What is stored of a ranking has its reasons in English, with their values in them. `in_page_language` knows these
sentences, and says them in the language that is in force.
"""

import re
from collections.abc import Mapping
from functools import cache, lru_cache

from django.utils.translation import get_language, gettext, gettext_noop

from leaderboard.common.language.engine_problems import PROBLEMS
from leaderboard.common.language.numbers import PROGRAMS, in_language
from ranking_engine import RULES, axioms
from ranking_engine.catalogue.registry import get_rule
from ranking_engine.catalogue.variants import rule_of_variant

SENTENCES = (
    # Why a system or all systems have no rank.
    gettext_noop("no score on any task of weight above 0"),
    gettext_noop("no task has an order and a weight above 0"),
    gettext_noop("no system has a score on a task of weight above 0"),
    gettext_noop("no system has a score on every task of weight above 0"),
    gettext_noop("no system has a score on every task of weight above 0 (no system has a score on %(names)s)"),
    gettext_noop("no task of weight above 0 has a score of every system"),
    gettext_noop("no task of weight above 0 has a score of every system (no system has a score on %(names)s)"),
    gettext_noop("no system has a score, measured or predicted, on every task of weight above 0"),
    gettext_noop("no system has a rank in every group of tasks"),
    gettext_noop("no group of weight above 0 has a task with an order and a weight above 0"),
    gettext_noop("the rule names one winner and ranks no other system, so that there is nothing to rank again"),
    gettext_noop("1 missing score (1 of %(n_systems)s systems lacks at least one)"),
    gettext_noop("%(n)s missing scores (1 of %(n_systems)s systems lacks at least one)"),
    gettext_noop("%(n)s missing scores (%(n_lacking)s of %(n_systems)s systems lack at least one)"),
    gettext_noop("no score on %(n)s of %(n_tasks)s tasks of weight above 0: %(names)s"),
    gettext_noop(
        "no score, and none that can be predicted, on %(n)s of %(n_tasks)s tasks of weight above 0: %(names)s"
    ),
    gettext_noop("a score <= 0 on %(n)s of %(n_tasks)s tasks of weight above 0: %(names)s"),
    gettext_noop("no system has scores above 0 on every task of weight above 0"),
    gettext_noop("task %(names)s has scores <= 0"),
    gettext_noop("tasks %(names)s have scores <= 0"),
    gettext_noop("task %(names)s has lower-is-better scores"),
    gettext_noop("tasks %(names)s have lower-is-better scores"),
    gettext_noop("task %(names)s has no stated chance level or best score"),
    gettext_noop("tasks %(names)s have no stated chance level or best score"),
    gettext_noop("task %(names)s has a scale too wide for a 64-bit number"),
    gettext_noop("tasks %(names)s have a scale too wide for a 64-bit number"),
    gettext_noop("task %(names)s has a best score no better than chance"),
    gettext_noop("tasks %(names)s have a best score no better than chance"),
    gettext_noop("no task of weight above 0 has a score of it and of another system"),
    gettext_noop("no task of weight above 0 has scores of two systems"),
    gettext_noop("does not rank systems other than the winner"),
    gettext_noop("no system beats every other (the Smith set has %(n)s systems)"),
    gettext_noop(
        "no finite strengths: %(n)s groups of systems have not both won and lost against each other (%(groups)s); a "
        "prior would give some"
    ),
    gettext_noop("strengths are more than %(distance)s apart, too far for floating-point numbers; use a prior"),
    gettext_noop("no optimality threshold (gamma) is stated; 95 %% of the maximum %(maximum)s would be %(gamma)s"),
    gettext_noop(
        "no optimality threshold (gamma) is stated, nor a maximum of which it is 95 %%; state either (for percentages "
        "95 is usual)"
    ),
    gettext_noop(
        "no optimality threshold (gamma) is stated, and task %(names)s has no maximum of which it could be 95 %%"
    ),
    gettext_noop(
        "no optimality threshold (gamma) is stated, and tasks %(names)s have no maximum of which it could be 95 %%"
    ),
    gettext_noop(
        "no optimality threshold (gamma) is stated, and the maxima differ, so that it cannot be 95 %% of one; state "
        "it, in the unit of all scores"
    ),
    gettext_noop("not computed for more than %(most)s systems (here %(n)s)"),
    gettext_noop("It takes more time or memory than allowed for an answer on demand: %(n)s seconds."),
    gettext_noop("It takes too long at this size to be computed on demand."),
    gettext_noop("it takes more time or memory than this page allows"),
    gettext_noop("it needs at least %(needed)s s, and the limit is %(budget)s s; owners can raise it"),
    gettext_noop("no votes are accepted"),
    # What an owner keeps from a reader.
    gettext_noop("It has no rank under this rule."),
    gettext_noop("Systems that are tied under this rule are in the order of their names, which are hidden."),
    # Why missing scores are not predicted, and how many are.
    gettext_noop(
        "missing scores cannot be predicted: fewer than %(n)s scores on two tasks or more, each with two different ones"
    ),
    gettext_noop("missing scores cannot be predicted: scores are predicted for up to %(n)s cells"),
    gettext_noop(
        "missing scores cannot be predicted: no task with a gap has scores of which predictions explain %(share)s of "
        "the variance"
    ),
    gettext_noop(
        "missing scores cannot be predicted: no system with such a gap has %(n)s scores of its own and half of all"
    ),
    gettext_noop(
        "1 score is predicted from the other scores and not measured, of 1 system. On the tasks where scores are "
        "predicted, predictions of held-out scores miss by %(error)s of the task’s spread (root mean square) and "
        "explain %(explained)s %% of the variance."
    ),
    gettext_noop(
        "%(n)s scores are predicted from the other scores and not measured, of 1 system. On the tasks where scores "
        "are predicted, predictions of held-out scores miss by %(error)s of the task’s spread (root mean square) and "
        "explain %(explained)s %% of the variance."
    ),
    gettext_noop(
        "%(n)s scores are predicted from the other scores and not measured, of %(n_systems)s systems. On the tasks "
        "where scores are predicted, predictions of held-out scores miss by %(error)s of the task’s spread (root mean "
        "square) and explain %(explained)s %% of the variance."
    ),
    # What significance tests test, and why there are none.
    gettext_noop("what each task adds to the %(sum)s under %(rule)s, weights included"),
    gettext_noop(
        "what each task adds to the %(sum)s under %(rule)s, weights included; of two systems, only tasks on which "
        "both are measured: the ranks rest on predicted scores, too, the tests do not"
    ),
    gettext_noop(
        "weighted mean differences of scores over common tasks, in units of each task's spread over the systems"
    ),
    gettext_noop("weighted mean differences of scores over common tasks, as they are"),
    gettext_noop(
        "weighted mean differences of scores over common tasks, in units of each task's spread over the systems, "
        "because %(rule)s is no sum over tasks"
    ),
    gettext_noop(
        "weighted mean differences of scores over common tasks, as they are, because %(rule)s is no sum over tasks"
    ),
    gettext_noop(
        "weighted mean differences of scores over common tasks, in units of each task's spread over the systems, "
        "because %(rule)s is no sum over tasks where scores are missing"
    ),
    gettext_noop(
        "weighted mean differences of scores over common tasks, as they are, because %(rule)s is no sum over tasks "
        "where scores are missing"
    ),
    gettext_noop("the benchmark has no system or no task"),
    gettext_noop("with two-step aggregation the groups are ranked, but the test is about differences on tasks"),
    # Why rank intervals are missing.
    gettext_noop("with two-step aggregation the groups are ranked, and there are too few groups to resample"),
    gettext_noop("with two-step aggregation single tasks have no weight of their own"),
    gettext_noop("there are too many systems to rank them again for every draw"),
    # What leaving out a score can do.
    gettext_noop("A system never gains by leaving out a score: if any system lacks a score, the rule ranks no system."),
    gettext_noop(
        "A system never gains by leaving out a score: a system that lacks a score on a task of weight above 0 gets no "
        "rank."
    ),
    gettext_noop("A search of small tables finds none in which a system gains under %(rule)s by leaving out a score."),
    gettext_noop(
        "A system can gain under %(rule)s by leaving out its worst score: it then counts as average on that task."
    ),
    gettext_noop(
        "If tasks are left out, a system can gain under %(rule)s by leaving out its worst score: the task then counts "
        "for no system."
    ),
    gettext_noop("If the median is filled in, a system can gain under %(rule)s by leaving out its worst score."),
    gettext_noop(
        "Even if the worst score is filled in, a system can gain under %(rule)s by leaving out its worst score: it "
        "then shares the last place on that task."
    ),
    gettext_noop(
        "A system can gain under %(rule)s by leaving out a score that is worse than its others lead one to expect: a "
        "better one is predicted."
    ),
    gettext_noop("A system can gain under %(rule)s by leaving out its worst score: only common tasks are compared."),
    # Why there are no prospects or violations, or no verdict on one system.
    gettext_noop("no weights satisfy the conditions"),
    gettext_noop("whether any weights satisfy the conditions could not be decided"),
    gettext_noop("no task has a weight above 0"),
    gettext_noop("there is no system, or no task of weight above 0"),
    gettext_noop("with two-step aggregation groups vote, not tasks"),
    gettext_noop("not reached within the number of steps allowed"),
    gettext_noop("neither weights nor a certificate passed the exact verification"),
    # What is wrong with conditions on weights.
    gettext_noop("the task %(name)s does not vote: it is unordered"),
    gettext_noop("the task %(name)s does not vote: its weight is 0"),
    gettext_noop("the group %(name)s has no task of weight above 0"),
    gettext_noop("a condition names no task"),
    gettext_noop("%(condition)s is a second objective; there can be only one"),
    gettext_noop("%(condition)s is no condition; expected something like %(examples)s"),
    gettext_noop("%(condition)s compares two numbers; expected something like %(examples)s"),
    gettext_noop(
        "%(number)s is no share of the weight; write a number from 0 to 1, such as 0.3 or 1/3, or from 0%% to 100%%"
    ),
    gettext_noop("%(condition)s has a + without a task before or after it"),
    # What must be known of a ranking beside its ranks, as `leaderboard.common.text.ranking_remark` writes it.
    gettext_noop("Proven optimal: no order disagrees less with the tasks (distance %(distance)s)."),
    gettext_noop(
        "The best order found, not proven optimal: its distance to the tasks is %(distance)s, and no order has one "
        "below %(bound)s."
    ),
    gettext_noop("Other orders are equally good."),
    gettext_noop("It is not known whether other orders are equally good."),
    gettext_noop(
        "Victories of equal strength were taken in the order of the systems’ names, which decided the result: the "
        "order shown is one of several."
    ),
    gettext_noop("1 winner is below rank 1: %(why)s."),
    gettext_noop("%(n)s winners are below rank 1: %(why)s."),
    gettext_noop("The search for all winners was stopped early, so there may be more."),
    gettext_noop(
        "The descent was ended after %(n)s steps, before the loss had stopped falling: systems with ratings close "
        "together can be in the wrong order."
    ),
    gettext_noop("1 pair of systems shares no task and counts as equal."),
    gettext_noop("%(n)s pairs of systems share no task and count as equal."),
)
MORE = re.compile(r"(?P<names>.*) and (?P<n>\d+) more", re.DOTALL)
NAMES = ("rule", "sum", "why", "allowed", "thing")  # values that are texts of the engine themselves
KEPT = 2000  # texts in a language


def rule_name(key: str) -> str:
    """What pages call a rule or a variant; a key that this release does not know is as it is."""
    try:
        name = get_rule(key).name
    except ValueError:
        return key
    own = RULES[rule_of_variant(key)].name
    under = name.removeprefix(own)[2:-1]  # of ` (lower)`, or ` (with Copeland, Mean)`
    if not under:
        return gettext(own)
    if under.startswith("with "):
        others = ", ".join(gettext(other) for other in under.removeprefix("with ").split(", "))
        return f"{gettext(own)} ({gettext('with %(rules)s') % {'rules': others}})"
    return f"{gettext(own)} ({', '.join(in_page_language(option) for option in under.split(', '))})"


def violation_text(
    witness: axioms.Witness, systems: Mapping[str, str] | None = None, tasks: Mapping[str, str] | None = None
) -> str:
    """A violation of a property in the language of the page, with the names of systems and tasks where they differ."""
    return axioms.sentence(witness, systems, tasks, translate=gettext, in_figures=in_language)


def in_page_language(text: str) -> str:
    """Sentences or a reason of the engine, in the language of the page; English where no translation is known."""
    language = get_language()
    return text if language in (PROGRAMS, None) or not text else _translated(language, text)


@lru_cache(maxsize=KEPT)
def _translated(_language: str, text: str) -> str:
    parts, rest = [], text
    while rest:
        matches = ((sentence, pattern.match(rest)) for sentence, pattern in _patterns())
        sentence, match = next(((sentence, match) for sentence, match in matches if match), ("", None))
        if match is None:
            parts.append(gettext(rest))
            break
        values = match.groupdict()
        values |= {name: in_page_language(value) for name, value in values.items() if name in NAMES}
        if more := MORE.fullmatch(values.get("names", "")):
            values["names"] = gettext("%(names)s and %(n)s more") % more.groupdict()
        parts.append(gettext(sentence) % values)
        rest = rest[match.end() :]
    return " ".join(parts)


@cache
def _patterns() -> list[tuple[str, re.Pattern[str]]]:
    """Each sentence with what it is like once it has values; a value at the end goes on to the end of the text."""
    patterns = []
    for sentence in (*SENTENCES, *PROBLEMS):
        regex = re.sub(r"%\\\((\w+)\\\)s", r"(?P<\1>.+?)", re.escape(sentence).replace("%%", "%"))
        end = "(?:$| )" if sentence.endswith(".") else "$"
        patterns.append((sentence, re.compile(regex + end, re.DOTALL)))
    return patterns
