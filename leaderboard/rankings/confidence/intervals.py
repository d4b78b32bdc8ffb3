"""Rank intervals in words: what they are, and why there is none where there is none."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.utils.translation import gettext, gettext_noop, ngettext

from leaderboard.common.language.engine import in_page_language, rule_name
from leaderboard.common.language.numbers import localise
from leaderboard.common.text import in_words, percent, shortened
from leaderboard.rankings.confidence.dependence import overlap_text
from leaderboard.rankings.confidence.independence import tasks_phrase
from leaderboard.rankings.confidence.significance import is_outdated
from leaderboard.rankings.published import Column, PublishedBoard, measured_again

FEW_TASKS = 20  # with fewer to draw from, the pages say that intervals are wide
BEST_NAMED = 5  # of the systems that may be best
OTHER_POLICY = gettext_noop("rank intervals exist only for the benchmark’s own policy for missing scores")
NO_RANK = gettext_noop("no rank in any of the draws")
TOO_SLOW = gettext_noop("it is too slow to rank again for every draw")


def interval_text(column: Column, i: int) -> str:
    """`2–5`, or nothing where there is no interval."""
    if column.lower is None or column.upper is None or column.lower[i] < 1:
        return ""
    return range_text(int(column.lower[i]), int(column.upper[i]))


def range_text(low: int, high: int) -> str:
    """`2–5`, or `3` where both ends are the same."""
    return str(low) if low == high else f"{low}–{high}"


def n_resamples(published: PublishedBoard, rule: str) -> int:
    """How many times the tasks were drawn for a rule's intervals; the study must be there."""
    study = published.study or {}
    usual = study.get("n_resamples", published.study_parameters["n_resamples"])
    return int(study.get("fewer", {}).get(rule, usual))


def measured_caution(published: PublishedBoard) -> str:
    """How far rank intervals from stated standard errors can be trusted: a sentence (docs/calibration.md)."""
    outside = 1 - published.study_parameters["level"]
    if round(outside, 9) == 0.05:
        return gettext(
            "Where systems are closer than their errors, the true rank is outside more often than 1 time in 20, most "
            "of all for those shown first."
        )
    return gettext(
        "Where systems are closer than their errors, the true rank is outside more often than %(share)s %% of the "
        "time, most of all for those shown first."
    ) % {"share": localise(100 * outside, ".3g")}


def _measured_meaning(published: PublishedBoard, measured: Mapping[str, Any]) -> str:
    """What the rank intervals from stated standard errors are, and what they assume."""
    level, n = f"{100 * published.study_parameters['level']:g} %", measured["n_errors"]
    text = gettext(
        "%(level)s rank interval if the scores were measured again on the same tasks, %(n_draws)s times, for each "
        "system separately: each score is drawn from a normal distribution with its standard error."
    ) % {"level": level, "n_draws": f"{measured['n_draws']:,}"}
    if n < measured["n_scores"]:
        text += ngettext(
            " %(n)s of %(n_scores)s score has a standard error; the others count as exact.",
            " %(n)s of %(n_scores)s scores have a standard error; the others count as exact.",
            n,
        ) % {"n": f"{n:,}", "n_scores": f"{measured['n_scores']:,}"}
    text += gettext(
        " %(level)s of the draws lie in it. %(caution)s Where the rank itself is outside, as under rules that punish "
        "noise, the interval is extended to it. It takes the errors of systems as independent: where systems are "
        "measured on the same instances, it may be wider. What other tasks would change is not in it."
    ) % {"level": level, "caution": measured_caution(published)}
    return text + _fewer_draws(measured["fewer"])


def interval_meaning(published: PublishedBoard, column: Column | None = None) -> str:
    """What the rank intervals of a board are, from the study that gave them; empty where there are none.

    Args:
        published: the board.
        column: whose ends' exactness is told, too.
    """
    study = published.study
    if study is None or (study["status"] == "undefined" and not published.is_measured):
        return ""
    if published.is_measured and published.measured:
        return _measured_meaning(published, published.measured) + _without_intervals(published)
    n_clusters, n_tasks = study["n_clusters"], published.facts["n_voting_tasks"]
    are_tasks = n_clusters == n_tasks
    anew = gettext("if the same %(n)s tasks were drawn again with replacement")
    if not are_tasks:
        anew = gettext("if the same %(n)s clusters of tasks were drawn again with replacement")
    figures = {
        "level": f"{localise(100 * published.study_parameters['level'], 'g')} %",
        "what": anew % {"n": n_clusters},
        "times": f"{n_resamples(published, ''):,}",
    }
    if published.is_simultaneous:
        text = gettext(
            "rank interval, for all systems at once: %(what)s, %(level)s of the time every interval contains its rank."
        )
    else:
        text = gettext("%(level)s rank interval %(what)s, %(times)s times, for each system separately.")
    text %= figures
    text += gettext(" It assumes %(what)s.") % {"what": tasks_phrase(n_clusters, n_tasks)}
    overlap = overlap_text(published)
    if n_clusters < FEW_TASKS:
        if overlap:
            wide = gettext(" With only %(n)s tasks it is wide, and should be wider still, because %(overlap)s.")
            if not are_tasks:
                wide = gettext(
                    " With only %(n)s clusters of tasks it is wide, and should be wider still, because %(overlap)s."
                )
        else:
            wide = gettext(" With only %(n)s tasks it is wide.")
            wide = wide if are_tasks else gettext(" With only %(n)s clusters of tasks it is wide.")
        text += wide % {"n": n_clusters, "overlap": overlap}
    elif overlap:
        text += gettext(" It should be wider, because %(overlap)s.") % {"overlap": overlap}
    # How far the ends of a rule's intervals, each by itself, would move with other draws of as many.
    errors = study.get("errors", {}).get(column.rule) if column is not None else None
    if column is not None and errors is not None and not published.is_simultaneous:
        typical, largest = errors
        if not largest:
            moved = gettext(" Repeating the draws would rarely move an end under %(rule)s.")
        else:
            moved = ngettext(
                " Repeating the draws would rarely move an end by more than %(largest)s rank under %(rule)s.",
                " Repeating the draws would rarely move an end by more than %(largest)s ranks under %(rule)s.",
                largest,
            )
            if not typical:
                moved += gettext(" Half of the intervals would rarely move.")
            elif typical < largest:
                moved += ngettext(
                    " Half of the intervals would rarely move by more than %(typical)s rank.",
                    " Half of the intervals would rarely move by more than %(typical)s ranks.",
                    typical,
                )
        text += moved % {"largest": largest, "rule": column.name, "typical": typical}
    text += _fewer_draws(study.get("fewer", {}))
    proven = [
        gettext("%(share)s of the draws for %(rule)s") % {"share": percent(share), "rule": rule_name(rule)}
        for rule, share in study.get("proven", {}).items()
        if share < 1
    ]
    if proven:
        best = in_words(proven, most=len(proven))
        text += gettext(" An order is proven to be the best in %(draws)s.") % {"draws": best}
    return text + _without_intervals(published)


def _fewer_draws(fewer: Mapping[str, int]) -> str:
    """Which rules are ranked fewer times, as they are slow: a sentence after a space."""
    times = [
        gettext("%(n)s times for %(rule)s") % {"n": f"{n:,}", "rule": rule_name(rule)} for rule, n in fewer.items()
    ]
    if not times:
        return ""
    return gettext(" Slow rules are ranked fewer times: %(times)s.") % {"times": in_words(times, most=len(times))}


def _without_intervals(published: PublishedBoard) -> str:
    """Which rules have no intervals although others have, and why: sentences, each after a space."""
    without: dict[str, list[str]] = {}  # the names of the rules by reason
    for each in published.columns:
        if why := why_no_interval(published, each):
            without.setdefault(why, []).append(each.name)
    return "".join(
        gettext(" No interval under %(rules)s: %(reason)s.")
        % {"rules": in_words(names, most=len(names)), "reason": in_page_language(reason)}
        for reason, names in without.items()
    )


def interval_figures(published: PublishedBoard, column: Column) -> dict[str, Any] | None:
    """What the rank intervals of a rule are, as the API gives it; None while they are not computed.

    Args:
        published: the board, with the intervals over tasks in its columns.
        column: one of its columns.
    """
    study, measured = published.study, published.measured
    if study is None:
        return None
    reason = study["reason"] or why_no_interval(published, column)
    typical, largest = study.get("errors", {}).get(column.rule, (None, None))
    if measured is not None:
        again = measured_again(published)
        why = why_no_interval(again, next(one for one in again.columns if one.rule == column.rule))
        n_draws = 0 if why else measured["fewer"].get(column.rule, measured["n_draws"])
        measured = {
            "n_draws": n_draws, "n_errors": measured["n_errors"], "n_scores": measured["n_scores"], "reason": why,
        }  # fmt: skip
    return {
        "status": "undefined" if reason else study["status"],
        "reason": reason,
        "level": published.study_parameters["level"],
        "n_resamples": n_resamples(published, column.rule),
        "n_clusters": study.get("n_clusters"),
        "seed": published.study_parameters["seed"],
        "typical_error": typical,
        "largest_error": largest,
        "no_simultaneous": study.get("not_simultaneous", {}).get(column.rule, "") or reason,
        "measured": measured,
    }


def possibly_best_text(column: Column, names: Sequence[str], tests: Mapping[str, Any] | None, level: float) -> str:
    """Which systems may be the best under a rule, in a sentence or two; empty where that is not computed.

    It rests on resampled tasks. The tests of all pairs at once are another method, and can find no difference where
    this one does: then a second sentence says so.

    Args:
        column: the rule.
        names: of all systems, in the column's order.
        tests: the summary of the board's tests; None where there is none.
        level: of the intervals over resampled tasks, such as 0.95.
    """
    if column.possibly_best is None or not column.possibly_best.any():
        return ""
    order = sorted(range(len(names)), key=lambda i: (int(column.ranks[i]), names[i]))
    best = [shortened(names[i]) for i in order if column.possibly_best[i]]
    if len(best) == 1:
        text = gettext(
            "Only %(best)s is possibly best (%(level)s confidence): by resampling the tasks, all others are behind it."
        )
    elif len(best) == column.n_ranked:
        text = gettext(
            "All %(n_ranked)s systems are possibly best (%(level)s confidence): by resampling the tasks, none is "
            "behind another."
        )
    else:
        text = ngettext(
            "%(n_best)s of %(n_ranked)s systems are possibly best (%(level)s confidence): %(best)s. By resampling the "
            "tasks, the other one is behind another system.",
            "%(n_best)s of %(n_ranked)s systems are possibly best (%(level)s confidence): %(best)s. By resampling the "
            "tasks, each of the other %(n_behind)s is behind another system.",
            column.n_ranked - len(best),
        )
    text %= {
        "n_best": len(best),
        "n_ranked": column.n_ranked,
        "n_behind": column.n_ranked - len(best),
        "best": in_words(best, most=BEST_NAMED),
        "level": f"{localise(100 * level, 'g')} %",
    }
    tested = (tests or {}).get("rules", {}).get(column.rule)
    is_tested = tested is not None and not is_outdated(tested)
    if is_tested and len(best) < column.n_ranked and not tested["every_pair"]["n_separable"]:
        text += gettext(" Sign-flip tests of all pairs at once confirm none of these differences.")
        if tested["every_pair"]["verdict"] == "too_few_tasks":
            text += gettext(" With so few tasks they cannot.")
    return text


def why_no_interval(published: PublishedBoard, column: Column, i: int | None = None) -> str:
    """Why a ranked column has no intervals although others have, or system `i` has none in it; empty where it has."""
    study = published.measured if published.is_measured else published.study
    if study is None or study.get("status") == "undefined" or not column.is_ranked:
        return ""
    if column.lower is not None:
        return NO_RANK if i is not None and column.lower[i] < 1 <= column.ranks[i] else ""
    if published.is_simultaneous and column.rule in study.get("not_simultaneous", {}):
        return str(study["not_simultaneous"][column.rule])
    if all(other.lower is None for other in published.columns):
        return study["reason"] or OTHER_POLICY
    return str(study["undefined"].get(column.rule, TOO_SLOW))


def interval_note(published: PublishedBoard, column: Column) -> str:
    """What the intervals of one rule are, or why it has none; empty while they are to come or no one is ranked."""
    study = published.study
    if study is None or not column.is_ranked:
        return ""
    if study["status"] == "undefined" and not published.is_measured:
        return gettext("No rank intervals: %(reason)s.") % {"reason": in_page_language(study["reason"])}
    if column.lower is not None:
        return gettext("Interval: the %(meaning)s") % {"meaning": interval_meaning(published, column)}
    return gettext("No interval under %(column)s: %(why_no_interval)s.") % {
        "column": column.name,
        "why_no_interval": in_page_language(why_no_interval(published, column)),
    }
