"""What it would take for one system to win, and to come out above one rival, as its page tells it."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any
from urllib.parse import urlencode

from django.utils.translation import gettext, gettext_lazy, ngettext

from leaderboard.common.language.engine import in_page_language
from leaderboard.common.text import as_sentence
from leaderboard.models import Publication
from leaderboard.rankings.configuration import configuration_of
from leaderboard.rankings.weights import weight_text
from leaderboard.studies.prospects.page import ProspectRow, TaskWeight, prospect_row, task_weights
from leaderboard.studies.prospects.stored import pair_under, stored_prospects, system_names
from leaderboard.studies.prospects.text import change_in_words, moves_of, share_of_weight, share_text
from ranking_engine.prospects import VERDICTS, Prospect
from ranking_engine.text.names import fold_name

ORIGINS = {"own": gettext_lazy("the benchmark’s own weights"), "equal": gettext_lazy("equal weights")}
# What one system can do, by its verdict and by whether the changes of the weights are named.
HEADLINES = {
    ("strict", True): gettext_lazy(
        "It can win head to head: moving %(share)s of the weight makes it tie, and a little more makes it win: "
        "%(changes)s."
    ),
    ("strict", False): gettext_lazy(
        "It can win head to head: moving %(share)s of the weight makes it tie, and a little more makes it win."
    ),
    ("tie_only", True): gettext_lazy(
        "It can tie for first head to head: moving %(share)s of the weight is enough: %(changes)s."
    ),
    ("tie_only", False): gettext_lazy("It can tie for first head to head: moving %(share)s of the weight is enough."),
}
MOVES_TOLD = 140  # characters: a longer list of changed weights is left to the section that has room for it


@dataclass(frozen=True)
class Move:
    """How the weight of one task changes."""

    name: str
    before_text: str
    after_text: str


@dataclass(frozen=True)
class NearestWay:
    """The smallest change of weights that makes a system win, from one starting point."""

    origin: str
    is_already: bool
    weights: list[TaskWeight]
    moves: list[Move]  # the largest first
    moved_text: str
    total_text: str
    largest_text: str  # `3.5 points`
    largest_moved_text: str
    what_if_query: str  # asks the what-if page for every rule under these weights


@dataclass(frozen=True)
class WhatItTakes:
    """What the page of a system says of its prospects."""

    headline: str  # the answer in a sentence; empty where nothing was decided
    row: ProspectRow
    verdict_meaning: str
    nearest: list[NearestWay]
    with_all_tasks: ProspectRow | None  # where the tasks of weight 0 change the verdict
    rivals: list[dict[str, Any]]
    pair: dict[str, Any] | None = None


def what_it_takes(
    publication: Publication, key: str, rival: str, audience_level: str
) -> tuple[WhatItTakes | None, str]:
    """What it would take for a system to win, and to come out above one rival; empty as for `prospects_page`.

    Args:
        publication: of the benchmark.
        key: the system.
        rival: the key of another system that it is to come out above; empty where no one asks.
        audience_level: who reads.

    Raises:
        TooLargeError: the board is too large for an answer about a pair on demand.
    """
    stored, reason = stored_prospects(publication)
    if stored is None:
        return None, in_page_language(reason)
    revision = publication.revision
    names, task_names = system_names(revision), configuration_of(revision).task_names
    prospect = stored.prospects[key]
    whole = stored.with_all_tasks[key] if stored.with_all_tasks else None
    differs = whole is not None and whole.is_prospective != prospect.is_prospective
    nearest = _nearest_ways(prospect, stored.own_weights, task_names)
    headline = ""
    if prospect.verdict == "none":
        headline = gettext("It cannot win head to head under any weights of the tasks that count.")
    elif prospect.verdict in ("strict", "tie_only") and nearest:
        way = nearest[0]
        sentence = HEADLINES[prospect.verdict, len(way.moved_text) <= MOVES_TOLD]
        if way.is_already:
            sentence = gettext_lazy("With %(origin)s no rival beats it head to head.")
        headline = sentence % {"origin": way.origin, "share": way.total_text, "changes": way.moved_text}
    pair = None
    if rival in names and rival != key:
        pair = _pair_answer(
            pair_under(revision, key, rival, audience_level), names[key], names[rival], stored.own_weights, task_names
        )
    return (
        WhatItTakes(
            headline=headline,
            row=prospect_row(prospect, stored.prospects, names, task_names),
            verdict_meaning=VERDICTS[prospect.verdict],
            nearest=nearest,
            with_all_tasks=prospect_row(whole, stored.with_all_tasks, names, task_names)
            if differs and whole and stored.with_all_tasks
            else None,
            rivals=[
                {"key": other, "name": name, "is_chosen": other == rival}
                for other, name in sorted(names.items(), key=lambda item: fold_name(item[1]))
                if other != key
            ],
            pair=pair,
        ),
        "",
    )


def _nearest_ways(prospect: Prospect, own: Mapping[str, float], task_names: Mapping[str, str]) -> list[NearestWay]:
    """The smallest changes from the benchmark's own weights and from equal ones; once where these are the same."""
    equal = dict.fromkeys(own, 1 / max(1, len(own)))
    starts = {"own": dict(own), "equal": equal}
    is_same = all(abs(own[task] - equal[task]) < 1e-12 for task in own)
    ways = []
    for origin in ("own",) if is_same else ("own", "equal"):
        if origin not in prospect.nearest:
            continue
        before, nearest = starts[origin], prospect.nearest[origin]
        total, largest = nearest.total_change, nearest.largest_change
        points = share_of_weight(largest.change).removesuffix("\u00a0%")  # a change of a weight: `3.5` or `1`
        weights = ",".join(f"{task}:{weight_text(Fraction(total.weights.get(task, 0)))}" for task in before)
        ways.append(
            NearestWay(
                origin=str(ORIGINS[origin]),
                is_already=total.change < 1e-12,
                weights=task_weights(total.weights, task_names),
                moves=[
                    Move(task_names.get(task, task), share_of_weight(old), share_of_weight(new))
                    for task, old, new in moves_of(total, before)
                ],
                moved_text=change_in_words(total, before, task_names),
                total_text=share_of_weight(total.change),
                largest_text=ngettext("%(n)s point", "%(n)s points", 1 if points == "1" else 2) % {"n": points},
                largest_moved_text=change_in_words(largest, before, task_names),
                # They are weights of tasks, whatever groups these belong to.
                what_if_query=urlencode({"weights": weights, "aggregation": "basic"}, safe=":,/"),
            )
        )
    return ways


def _pair_answer(
    above: Prospect, name: str, rival_name: str, own_weights: Mapping[str, float], task_names: Mapping[str, str]
) -> dict[str, Any]:
    """What puts one system above another.

    Args:
        above: the prospect of the one against the other alone.
        name, rival_name: of the two.
        own_weights: those that the benchmark gives its tasks.
        task_names: by key.
    """
    both = {"name": name, "rival_name": rival_name}
    text = as_sentence(in_page_language(above.reason))
    if above.n_incomparable:
        text = (
            gettext(
                "Nothing puts %(name)s above %(rival_name)s: it is ahead on no task that both have a score on. Under "
                "some weights they have no common task that counts."
            )
            % both
        )
    elif above.verdict == "none":
        text = gettext("Nothing can: %(rival_name)s is ahead of %(name)s on every task that counts for it.") % both
    elif above.verdict == "tie_only":
        text = gettext("At best the two tie: %(name)s is ahead of %(rival_name)s on no task that counts.") % both
    elif above.verdict == "strict":
        text = gettext("Some weights put %(name)s above %(rival_name)s.") % both
    return {
        "rival_name": rival_name,
        "verdict": above.verdict,
        "text": text,
        "nearest": _nearest_ways(above, own_weights, task_names),
        "share_text": share_text(above),
    }
