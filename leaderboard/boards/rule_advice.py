"""Which rule to use: the chooser's answer in words, next to the recommendations of four papers."""

from collections.abc import Mapping
from dataclasses import dataclass

from django.utils.translation import gettext, gettext_noop

from leaderboard.common.language.engine import in_page_language, rule_name
from leaderboard.common.language.numbers import localise
from leaderboard.common.text import in_words
from ranking_engine.axioms import PROPERTIES, entry
from ranking_engine.catalogue.choice import QUESTIONS, Candidate, Choice, Requirement, choose_rule

RUNNERS_UP = 4


@dataclass(frozen=True)
class Recommendation:
    """What a paper says about the choice of a rule, in our words.

    Attributes:
        paper: authors and year.
        section: of `/papers/`, where what was recomputed of it is.
        text: what it recommends or warns of.
        rules: the rules that it speaks for.
        about: the requirements to which it speaks; anyone who asks for none of them still reads it.
    """

    paper: str
    section: str
    text: str
    rules: tuple[str, ...]
    about: tuple[str, ...]


RECOMMENDATIONS = (
    Recommendation(
        "Rofin et al. 2023, Vote’n’Rank", "rofin",
        gettext_noop(
            "To find the system that beats the others in pairs, they suggest Condorcet, Copeland, Minimax and "
            "Baldwin."
        ),
        ("condorcet", "copeland", "minimax", "baldwin"), ("condorcet_winner",),
    ),
    Recommendation(
        "Rofin et al. 2023, Vote’n’Rank", "rofin",
        gettext_noop(
            "If all places on all tasks count, they suggest Borda; if the top places count most, Dowdall."
        ),
        ("borda", "dowdall"), ("orders", "units"),
    ),
    Recommendation(
        "Rofin et al. 2023, Vote’n’Rank", "rofin",
        gettext_noop(
            "They suggest Plurality if only first places matter, and Threshold if a system should have no weak task."
        ),
        ("plurality", "threshold"), (),
    ),
    Recommendation(
        "Rofin et al. 2023, Vote’n’Rank", "rofin",
        gettext_noop(
            "If ties are a problem, they suggest the rule that is less likely to produce them, or Dowdall and Borda "
            "if their properties suit. On their boards Plurality and Minimax give many systems equal ranks."
        ),
        ("dowdall", "borda", "minimax", "plurality"), ("some_ties", "few_ties"),
    ),
    Recommendation(
        "Colombo et al. 2022, What are the best systems?", "colombo",
        gettext_noop(
            "They replace the mean by an approximation of Kemeny’s consensus, Borda on the tasks’ ranks, because the "
            "mean depends on the tasks’ scales. With scores of single instances they rank on two levels: on each task "
            "by its instances, then by the tasks."
        ),
        ("borda", "kemeny"), ("orders", "units"),
    ),
    Recommendation(
        "Pavao et al. 2021, Judging competitions", "pavao",
        gettext_noop(
            "They recommend the relative difference, for its stability when other tasks judge; among averaging rules "
            "they prefer the average rank. In their result files that stability is 0.841 for the relative difference "
            "and 0.779 for the average rank over six matrices, but 0.875 and 0.912 without the matrix Artificial, "
            "whose scores have both signs. They print 0.884; computed on ranks in place of scores, the relative "
            "difference comes near that."
        ),
        ("relative_difference", "average_rank"), ("participation", "monotonicity"),
    ),
    Recommendation(
        "Zhang and Hardt 2024, Inherent trade-offs", "zhang",
        gettext_noop(
            "They recommend no rule: win rates move when irrelevant systems join, means when scores have noise, and "
            "both, they write, the more the tasks disagree. A system that joins moves no mean. Noise that keeps each "
            "task’s order moves no win rate, but other weights of the tasks move win rates as well as means. For "
            "means we find the same, a correlation of 0.98 over 7 benchmarks (p = 0.001); for win rates we do not, "
            "0.20 over 11 (p = 0.537). Under the mean even noise that preserves everything reverses up to 14.2 % of "
            "the pairs, because scores are standardised."
        ),
        ("mean", "win_rate"), ("iia", "local_iia", "clones"),
    ),
)  # fmt: skip


@dataclass(frozen=True)
class JudgedRule:
    """A rule that a paper names, compared with what is asked for."""

    key: str
    name: str
    lacks: str  # what it lacks of that, in words; empty where it meets everything


@dataclass(frozen=True)
class JudgedRecommendation:
    """A recommendation with its rules compared with what is asked for."""

    recommendation: Recommendation
    rules: list[JudgedRule]
    speaks_to: bool  # to something that is asked for


@dataclass(frozen=True)
class RuleAdvice:
    """What the chooser answers."""

    choice: Choice
    is_decided: bool  # whether the answers require anything, or all questions are answered
    first: Candidate
    reasons: list[str]
    caveats: list[str]
    runners_up: list[tuple[Candidate, str]]  # with what sets each apart from the first
    n_meeting: int
    unmet: list[tuple[Requirement, str]]  # what the first lacks, and which rules have it
    recommendations: list[JudgedRecommendation]


def rule_advice(given: Mapping[str, str]) -> RuleAdvice:
    """The advice for answers by question; what is not answered requires nothing."""
    choice = choose_rule(given)
    first = choice.candidates[0]
    rule, held = first.rule, _held(first.rule.key)
    equals = [candidate for candidate in choice.candidates[1:] if len(candidate.met) == len(first.met)]
    runners_up = []
    for candidate in equals[:RUNNERS_UP]:
        own = _held(candidate.rule.key)
        more, less = (
            [gettext(p.name).lower() for key, p in PROPERTIES.items() if key in keys]
            for keys in (own - held, held - own)
        )
        parts = [gettext("has also %(names)s") % {"names": in_words(more, most=4)}] if more else []
        parts += [gettext("lacks %(names)s") % {"names": in_words(less, most=4)}] if less else []
        runners_up.append((candidate, "; ".join(parts) or gettext("has the same properties")))
    unmet = []
    for need in first.lacked:
        names = [rule_name(candidate.rule.key) for candidate in choice.candidates if need in candidate.met]
        met_by = (
            gettext("Met by %(names)s.") % {"names": in_words(names, most=5)}
            if names
            else gettext("No rule on this site meets it on every board.")
        )
        unmet.append((need, met_by))
    by_key = {candidate.rule.key: candidate for candidate in choice.candidates}
    required = {need.key for need in choice.requirements}
    judged = []
    for recommendation in RECOMMENDATIONS:
        rules = [
            JudgedRule(key, rule_name(key), in_words([gettext(need.lack) for need in by_key[key].lacked]))
            for key in recommendation.rules
        ]
        speaks_to = bool(required & set(recommendation.about))
        judged.append(JudgedRecommendation(recommendation, rules, speaks_to=speaks_to))
    caveats = [
        gettext("It lacks: %(properties)s.")
        % {
            "properties": in_words(
                [gettext(p.name).lower() for key, p in PROPERTIES.items() if key not in held], most=6
            )
        }
    ]
    if rule.needs_complete:
        caveats.append(gettext("It needs every score, so you must choose a policy for missing ones."))
    if rule.max_systems is not None:
        caveats.append(
            gettext("It is not computed for more than %(max_systems)s systems.")
            % {"max_systems": localise(rule.max_systems, ",")}
        )
    if rule.is_slow:
        caveats.append(gettext("On large boards it appears some time after the others."))
    return RuleAdvice(
        choice=choice,
        is_decided=choice.asks_something or all(given.get(question.key) for question in QUESTIONS),
        first=first,
        reasons=[in_page_language(f"It {need.text}.") for need in first.met],
        caveats=caveats,
        runners_up=runners_up,
        n_meeting=len(choice.meeting),
        unmet=unmet,
        recommendations=sorted(judged, key=lambda one: not one.speaks_to),
    )


def _held(rule: str) -> set[str]:
    return {key for key in PROPERTIES if entry(rule, key).holds}
