"""What people are told of phases: when they open and close, on which instances scores are, what counts, how many."""

from django.utils import timezone
from django.utils.translation import gettext, ngettext

from leaderboard.common.moments import moment_in_words
from leaderboard.evaluation.phases import closed_and_coming, phase_now
from leaderboard.models import Benchmark, EvaluationMode, Phase


def phase_terms(phase: Phase) -> list[str]:
    """What someone should know about a phase before they submit.

    Args:
        phase: with its benchmark, whose `evaluation_mode` is found with it.
    """
    sentences = [
        gettext("It opened on %(opens_at)s.") % {"opens_at": moment_in_words(phase.opens_at)}
        if phase.opens_at <= timezone.now()
        else gettext("It opens on %(opens_at)s.") % {"opens_at": moment_in_words(phase.opens_at)}
    ]
    if phase.closes_at:
        is_open = phase.closes_at > timezone.now()
        sentence = gettext("It closes on %(closes_at)s.") if is_open else gettext("It closed on %(closes_at)s.")
        sentences.append(sentence % {"closes_at": moment_in_words(phase.closes_at)})
    if split := _split_of_scores(phase):
        sentences.append(gettext("%(sentence)s.") % {"sentence": split})
    if phase.daily_cap or phase.total_cap:
        if not phase.total_cap:
            sentence = gettext("Each team, or person without a team, can submit %(daily)s a day.")
        elif not phase.daily_cap:
            sentence = gettext("Each team, or person without a team, can submit %(total)s in all.")
        else:
            sentence = gettext("Each team, or person without a team, can submit %(daily)s a day and %(total)s in all.")
        sentences.append(sentence % {"daily": phase.daily_cap, "total": phase.total_cap})
    if phase.max_systems:
        sentences.append(
            ngettext(
                "Each can have %(max_systems)s system.", "Each can have %(max_systems)s systems.", phase.max_systems
            )
            % {"max_systems": phase.max_systems}
        )
    if is_on_ladder(phase.benchmark):
        return [*sentences, *ladder_terms()]
    sentences.append(gettext("What counts is %(counts)s.") % {"counts": phase.get_counts_display().lower()})
    if phase.counts == Phase.Counts.BEST:
        sentences.append(
            gettext(
                "A new one replaces it if the tasks on which it is better weigh more than those on which it is worse."
            )
        )
    return sentences


def ladder_terms() -> list[str]:
    """What counts with the Ladder, whatever a phase says of it."""
    return [
        gettext(
            "What counts is decided by the Ladder: the first submission of each team, or person without a team, and a "
            "later one only if it is better than their best one before, of any system, by more than one standard error."
        ),
        gettext("Submit predictions for all tasks."),
        gettext("The site does not tell the scores of a submission that is not better."),
    ]


def is_on_ladder(benchmark: Benchmark) -> bool:
    """Whether pages say that the Ladder decides; `phases.has_ladder` asks the database again.

    Args:
        benchmark: with its `evaluation_mode`, which is found with it.
    """
    mode: EvaluationMode | None = getattr(benchmark, "evaluation_mode", None)
    return mode is not None and mode.uses_ladder


def _split_of_scores(phase: Phase) -> str:
    """On which instances the scores of a phase are, without a full stop; empty where all instances count."""
    moment = phase.went_private_at or phase.private_at
    values = {"phase": phase.name, "moment": moment_in_words(moment) if moment else ""}
    if phase.split == Phase.Split.DEVELOPMENT:
        return gettext("Scores of %(phase)s are those on the development split") % values
    if phase.split != Phase.Split.PUBLIC:
        return ""
    if phase.went_private_at:
        return gettext("Scores of %(phase)s are those on the private part of the instances since %(moment)s") % values
    if moment is None:
        return gettext("Scores of %(phase)s are those on a public part of the instances") % values
    if moment > timezone.now():
        return (
            gettext(
                "Scores of %(phase)s are those on a public part of the instances, and from %(moment)s on the private "
                "part"
            )
            % values
        )
    return (
        gettext(
            "Scores of %(phase)s are those on a public part of the instances; those on the private part follow once "
            "all predictions are scored and decided on"
        )
        % values
    )


def evaluation_terms(benchmark: Benchmark) -> list[str]:
    """What the head of a board says about predictions; empty where no task ever had references.

    Args:
        benchmark: with its `evaluation_mode`, which is found with it.
    """
    if getattr(benchmark, "evaluation_mode", None) is None:
        return []
    terms = [gettext("The site scores predictions against hidden references")]
    if phase := phase_now(benchmark):
        if phase.closes_at:
            until = {"phase": phase.name, "moment": moment_in_words(phase.closes_at)}
            terms.append(gettext("%(phase)s is open until %(moment)s") % until)
        else:
            terms.append(gettext("%(phase)s is open") % {"phase": phase.name})
    else:
        phase, coming = closed_and_coming(benchmark)
        if phase is not None and phase.closes_at is not None:
            at = {"phase": phase.name, "moment": moment_in_words(phase.closes_at)}
            terms.append(gettext("%(phase)s closed on %(moment)s") % at)
        if coming is not None:
            at = {"phase": coming.name, "moment": moment_in_words(coming.opens_at)}
            terms.append(gettext("%(phase)s opens on %(moment)s") % at)
    if phase is not None and (split := _split_of_scores(phase)):
        terms.append(split)
    if is_on_ladder(benchmark):
        terms.append(gettext("With the Ladder, a new score appears only if a paired test says that it is better"))
    return terms
