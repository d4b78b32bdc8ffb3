"""Which properties the rules have, and what violates them in a revision's own data: computed, stored, read back."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from django.utils.translation import gettext, gettext_noop, ngettext

from leaderboard.common.language.engine import in_page_language, rule_name, violation_text
from leaderboard.common.language.numbers import localise
from leaderboard.comparisons.iia_violations import iia_violations_since_before
from leaderboard.computing.rankings import TWO_STEP, site_rules
from leaderboard.computing.stopwatch import Stopwatch
from leaderboard.models import Job, Report, Revision
from leaderboard.queue.kinds import AXIOMS
from leaderboard.queue.queries import job_of
from leaderboard.rankings.configuration import configuration_of
from leaderboard.rankings.reports import make_report, storing, unpack_arrays
from leaderboard.rankings.score_matrix import revision_matrix
from leaderboard.studies.prospects.stored import system_names
from ranking_engine import RULES, ScoreMatrix
from ranking_engine.axioms import PROPERTIES, Witness, entry, witness
from ranking_engine.catalogue.variants import rule_of_variant
from ranking_engine.core.aggregation import reweighted
from ranking_engine.core.missing import PREDICTED
from ranking_engine.stability.resampling.batches import IMPUTING

FEWEST_STEPS = 20  # of all searches under a rule; with fewer none is begun


@dataclass(frozen=True)
class PropertyLine:
    """One property of a rule, and what became of it in the data at hand.

    Attributes:
        name, definition: what it is.
        holds: for complete scores, on every board.
        source: why.
        here: what was found in the benchmark's own scores; empty where nothing was looked for, or not yet.
        is_violated: `here` is a violation.
    """

    name: str
    definition: str
    holds: bool
    source: str
    here: str
    is_violated: bool


@dataclass(frozen=True)
class RuleProperties:
    """A rule's properties on a page.

    Attributes:
        lines: in the catalogue's order.
        state: `computed`, `computing`, `failed` or `undefined`.
        reason: why there is no search, where the state is `undefined`.
        note: what filling in missing scores does to the properties; empty where the rule ranks none that is filled in.
    """

    lines: list[PropertyLine]
    state: str
    reason: str
    note: str = ""


def compute_axioms(job: Job, checkpoint: Callable[[float], None]) -> Callable[[], None]:
    """Look in the job's revision for violations of all that the rules lack; the returned function stores them."""
    revision = Revision.objects.select_related("configuration").get(pk=job.subject_id)
    report = axioms_report(revision, job.parameters, checkpoint)
    return storing(report)


def axioms_report(revision: Revision, parameters: dict[str, Any], checkpoint: Callable[[float], None]) -> Report:
    """The violations found in a revision as a report that is not stored yet.

    The arrays hold one, `found`: the bytes of a JSON text, by rule and property. The summary also tells whom the
    revision's newcomers made others pass.
    """
    stopwatch = Stopwatch()
    matrix = revision_matrix(revision)
    configuration = configuration_of(revision)
    summary: dict[str, Any] = {"reason": "", "flips": iia_violations_since_before(revision, matrix) if matrix else {}}
    arrays: dict[str, np.ndarray] = {}
    if matrix is None or not matrix.matrix.votes.any():
        summary["reason"] = "there is no system, or no task of weight above 0"
    elif configuration.aggregation == TWO_STEP:
        summary["reason"] = "with two-step aggregation groups vote, not tasks"
    else:
        weighted = reweighted(matrix.matrix, configuration.aggregation)
        options = {"missing": configuration.missing_policy}
        searches_by_rule: dict[str, dict[str, dict[str, Any]]] = {}
        rules = site_rules()
        for done, rule in enumerate(rules):
            searches_by_rule[rule] = {}
            steps_left = steps_for(rule, weighted, parameters)
            keys = properties_to_search(rule, weighted) if steps_left >= FEWEST_STEPS else []
            for n_left, key in zip(range(len(keys), 0, -1), keys, strict=True):
                # What a search leaves is divided among the next ones: most violations are found on the first boards.
                max_steps = min(parameters["max_steps"], max(1, steps_left // n_left))
                search = witness(rule, key, weighted, options=options, seed=parameters["seed"], max_steps=max_steps)
                steps_left -= search.n_steps
                searches_by_rule[rule][key] = {
                    "n_steps": search.n_steps,
                    "is_exhaustive": search.is_exhaustive,
                    "looked_at": search.looked_at,
                    "reason": search.reason,
                    **({} if search.witness is None else {"witness": search.witness.to_dict()}),
                }
                checkpoint((done + 1) / len(rules))
        all_searches = [search for by_property in searches_by_rule.values() for search in by_property.values()]
        summary["n_searches"] = len(all_searches)
        summary["n_violations"] = sum("witness" in search for search in all_searches)
        arrays["found"] = np.frombuffer(json.dumps(searches_by_rule).encode(), dtype=np.uint8)
    seconds = stopwatch.seconds
    return make_report(revision, AXIOMS, parameters=parameters, summary=summary, arrays=arrays, seconds=seconds)


def steps_for(rule: str, matrix: ScoreMatrix, parameters: Mapping[str, Any]) -> int:
    """How many boards the searches under a rule may rank: what the seconds allow by the catalogue's estimate of costs.

    No clock is read, so that the same board has the same report on every machine.
    """
    return int(parameters["seconds"] / RULES[rule].cost(matrix.n_systems, matrix.n_tasks))


def properties_to_search(rule: str, matrix: ScoreMatrix) -> list[str]:
    """The properties that the rule lacks; all of them where scores are missing and it copes with that by itself."""
    has_gaps = bool(np.isnan(matrix.values[matrix.has_score][:, matrix.votes]).any())
    if has_gaps and not RULES[rule].needs_complete:
        return list(PROPERTIES)
    return [key for key in PROPERTIES if not entry(rule, key).holds]


FILLED_IN = gettext_noop(
    "These are properties on complete scores. On this benchmark missing scores are filled in from the scores of other "
    "systems, which can therefore decide which of two systems is ahead: independence of irrelevant alternatives, for "
    "example, fails even under the mean."
)
NOT_KEPT = gettext_noop("a newer revision came first, or the results are old and were deleted")

# --- Read back -------------------------------------------------------------------------------------------------------


def rule_properties(revision: Revision, rule: str) -> RuleProperties:
    """The properties of a rule, with what a stored search of the revision found (for readers who may see all).

    A variant may have others than its rule, and none are listed.
    """
    if rule not in RULES:
        reason = gettext("violations are listed for %(rule)s itself, not for its variants")
        return RuleProperties([], "undefined", reason % {"rule": rule_name(rule_of_variant(rule))})
    policy = configuration_of(revision).missing_policy
    note = gettext(FILLED_IN) if RULES[rule].needs_complete and policy in (*IMPUTING, PREDICTED) else ""
    report = Report.objects.filter(revision=revision, kind=AXIOMS).order_by("-pk").first()
    if report is None:
        job = job_of(revision.pk, AXIOMS)
        if job is None or job.state in (Job.State.DONE, Job.State.SUPERSEDED):
            return RuleProperties(_lines(rule, {}, {}, {}), "undefined", gettext(NOT_KEPT), note)
        state = "failed" if job.state == Job.State.FAILED else "computing"
        return RuleProperties(_lines(rule, {}, {}, {}), state, "", note)
    if report.summary["reason"]:
        return RuleProperties(_lines(rule, {}, {}, {}), "undefined", in_page_language(report.summary["reason"]), note)
    searches = json.loads(unpack_arrays(report.arrays)["found"].tobytes()).get(rule, {})
    lines = _lines(rule, searches, system_names(revision), configuration_of(revision).task_names)
    reason = ""
    if not searches and not all(line.holds for line in lines):
        reason = gettext("%(rule)s is too slow to search here") % {"rule": rule_name(rule)}
    return RuleProperties(lines, "undefined" if reason else "computed", reason, note)


def _lines(
    rule: str, searches: Mapping[str, Any], systems: Mapping[str, str], tasks: Mapping[str, str]
) -> list[PropertyLine]:
    lines = []
    for key, prop in PROPERTIES.items():
        property_entry = entry(rule, key)
        search = searches.get(key)
        violation = search.get("witness") if search else None
        here = ""
        if violation:
            here = violation_text(Witness.from_dict(violation), systems, tasks)
        elif search and not property_entry.holds:  # how hard it looked that found nothing
            here = ngettext(
                "none found on %(n)s board (%(boards)s; not all of them).",
                "none found on %(n)s boards (%(boards)s; not all of them).",
                search["n_steps"],
            )
            if search["is_exhaustive"]:
                here = ngettext(
                    "none found on %(n)s board (%(boards)s; all of them).",
                    "none found on %(n)s boards (%(boards)s; all of them).",
                    search["n_steps"],
                )
            here %= {"n": localise(search["n_steps"], ","), "boards": gettext(search["looked_at"])}
            if search["reason"]:
                here = gettext("nothing to search: %(reason)s.") % {"reason": in_page_language(search["reason"])}
        source = gettext(property_entry.source) if property_entry.source else ""
        name, definition = gettext(prop.name), gettext(prop.definition)
        lines.append(PropertyLine(name, definition, property_entry.holds, source, here, bool(violation)))
    return lines
