"""The rankings of a revision: computed, stored as reports, published."""

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from django.db.models import Q

from leaderboard.models import Benchmark, Job, Publication, Report, Revision
from leaderboard.selectors.instances import current_instances
from leaderboard.services.engine_versions import is_older
from leaderboard.services.job_kinds import INSTANCES, JOB_KINDS, SLOW_RANKINGS, insert_job
from leaderboard.services.reports import make_report
from leaderboard.services.score_matrix import RevisionMatrix, input_hash, revision_matrix
from leaderboard.services.webhooks import announce_publication
from leaderboard.services.wording import ranking_remark
from ranking_engine import (
    RULES,
    Pairwise,
    Ranking,
    ScoreMatrix,
    condorcet_winner,
    quick_rules,
    rank,
    rank_all,
    slow_rules,
    smith_set,
)
from ranking_engine import __version__ as engine_version
from ranking_engine.aggregation import reweighted
from ranking_engine.rules.majority_of_many import majority_of_many

logger = logging.getLogger(__name__)

RANKING, BOARD = "ranking", "board"
WINNER_NAMES = 20  # more joint winners than these are counted, not named
TWO_STEP = "two_step"
COMPARED_AT_ONCE = 5_000  # systems whose pairs are all compared before a board is published
FAILED = "failed"  # the status of a rule that raised; it costs its own column only


@dataclass(frozen=True)
class RuleSplit:
    """Which rules a board of one size has, in the catalogue's order.

    `quick` ones are there before the board is published, `slow` ones come after it; `left_out` says of the others why
    they are not computed.
    """

    quick: list[str]
    slow: list[str]
    left_out: dict[str, str]

    @property
    def computed(self) -> list[str]:
        """Quick and slow ones together."""
        return [rule for rule in site_rules() if rule in {*self.quick, *self.slow}]


def site_rules() -> list[str]:
    """The rules that a board may show, in the catalogue's order: all but those with parameters of one's own."""
    return [key for key, rule in RULES.items() if not rule.parameters]


def split_rules(n_systems: int, n_tasks: int) -> RuleSplit:
    """The rules of a board of this size."""
    quick, slow = set(quick_rules(n_systems, n_tasks)), set(slow_rules(n_systems, n_tasks))
    listed = site_rules()
    return RuleSplit(
        quick=[rule for rule in listed if rule in quick],
        slow=[rule for rule in listed if rule in slow],
        left_out={rule: RULES[rule].why_not_computed(n_systems) for rule in listed if rule not in quick | slow},
    )


def ranking_parameters(rule: str, missing_policy: str, aggregation: str, ties: str = "") -> dict[str, str]:
    """What a ranking depends on beside its revision; reports are always under the rules' own tie conventions."""
    return {"rule": rule, "aggregation": aggregation, "missing": missing_policy, "ties": ties or "default"}


def compute_rankings(job: Job, checkpoint: Callable[[float], None]) -> Callable[[], None]:
    """Rank the job's revision under every quick rule; the returned function stores and publishes it."""
    revision = Revision.objects.select_related("configuration", "benchmark").get(pk=job.subject_id)
    reports, digest = ranking_reports(revision)
    checkpoint(0.9)
    has_slow_rules = bool(reports[0].summary.get("slow_rules"))
    has_instances = bool(current_instances(revision))

    def write() -> None:
        Report.objects.bulk_create(reports)
        Revision.objects.filter(pk=revision.pk, input_hash="").update(input_hash=digest)
        publish(revision)
        if has_slow_rules:
            insert_job(JOB_KINDS[SLOW_RANKINGS], revision)
        if has_instances:
            insert_job(JOB_KINDS[INSTANCES], revision)

    return write


def compute_slow_rankings(job: Job, checkpoint: Callable[[float], None]) -> Callable[[], None]:
    """Rank the job's revision under the rules that are slow at its size; the returned function stores them."""
    revision = Revision.objects.select_related("configuration").get(pk=job.subject_id)
    found = revision_matrix(revision)
    reports: list[Report] = []
    if found is not None:
        slow = split_rules(found.matrix.n_systems, found.matrix.n_tasks).slow
        for done, rule in enumerate(slow):
            checkpoint(done / len(slow))
            reports += _reports_of(found, [rule])

    def write() -> None:
        Report.objects.bulk_create(reports)

    return write


def ranking_reports(revision: Revision) -> tuple[list[Report], str]:
    """The reports of a revision's quick rankings under its own policy, that of the board first; and its input hash."""
    configuration = revision.configuration.content
    found = revision_matrix(revision)
    digest = input_hash(found, configuration)
    if found is None:
        summary = {"n_systems": 0, "n_tasks": len(configuration["tasks"]), "rules": []}
        return [make_report(revision, BOARD, parameters={}, summary=summary, arrays={}, seconds=0.0)], digest
    quick = split_rules(found.matrix.n_systems, found.matrix.n_tasks).quick
    return [board_report(found), *_reports_of(found, quick)], digest


def _reports_of(found: RevisionMatrix, rules: Sequence[str]) -> list[Report]:
    """One report a rule."""
    policy = found.revision.configuration.content["missing_policy"]
    aggregation = found.revision.configuration.content["aggregation"]
    names = [system.name for system in found.systems]
    return [
        make_report(
            found.revision,
            RANKING,
            parameters=ranking_parameters(rule, policy, aggregation),
            summary=ranking_summary(outcome, rule, names),
            arrays=ranking_arrays(outcome, found.matrix.n_systems),
            seconds=seconds,
        )
        for rule, (outcome, seconds) in rank_isolated(found.matrix, policy, aggregation, rules).items()
    ]


def rank_isolated(
    matrix: ScoreMatrix,
    missing: str,
    aggregation: str,
    rules: Sequence[str] | None = None,
    pairwise: Pairwise | None = None,
    *,
    ties: str | None = None,
    options: Mapping[str, Mapping[str, object]] | None = None,
) -> dict[str, tuple[Ranking | Exception, float]]:
    """Rankings with their seconds. A rule that raises has its exception in place of a ranking.

    Args:
        matrix: what is ranked.
        missing: the missing-score policy.
        aggregation: how tasks and groups count together.
        rules: which rules; all that are quick at this size where None.
        pairwise: the comparison of all pairs under the aggregation, where that is known already.
        ties: the convention for ties within a task; each rule's own where None.
        options: of single rules, such as how many seconds one may search.
    """
    options = options or {}
    chosen = split_rules(matrix.n_systems, matrix.n_tasks).quick if rules is None else list(rules)
    started = time.perf_counter()
    try:
        rankings = rank_all(
            matrix, chosen, missing=missing, aggregation=aggregation, pairwise=pairwise, ties=ties, options=options
        )
    except Exception:
        logger.exception("the rules together failed; ranking one by one")
    else:
        share = (time.perf_counter() - started) / max(1, len(rankings))
        return {rule: (ranking, share) for rule, ranking in rankings.items()}
    outcomes: dict[str, tuple[Ranking | Exception, float]] = {}
    for rule in chosen:
        started = time.perf_counter()
        try:
            own = options.get(rule, {})
            outcome: Ranking | Exception = rank(
                matrix, rule, missing=missing, aggregation=aggregation, ties=ties, **dict(own)
            )
        except Exception as error:
            logger.exception("rule %s failed", rule)
            outcome = error
        outcomes[rule] = (outcome, time.perf_counter() - started)
    return outcomes


def ranking_summary(outcome: Ranking | Exception, rule: str, names: list[str]) -> dict[str, Any]:
    """What of a ranking is small enough for JSON; `names` are the systems' names at the revision."""
    if isinstance(outcome, Exception):
        failed = {"rule": rule, "status": FAILED, "reason": f"{type(outcome).__name__}: {outcome}"}
        return failed | {"n_winners": 0, "winner_names": []}
    return {
        "rule": rule,
        "status": outcome.status,
        "reason": outcome.reason,
        "n_winners": len(outcome.winners),
        "winner_names": [names[i] for i in outcome.winners[:WINNER_NAMES]],
        "n_tied": outcome.n_tied,
        "n_in_ties": outcome.n_in_ties,
        "n_pairs_without_common_task": int(outcome.details.get("pairs_without_common_task", 0)),
        "remark": ranking_remark(outcome),
    }


def ranking_arrays(outcome: Ranking | Exception, n_systems: int) -> dict[str, np.ndarray]:
    """Ranks (-1 = unranked), rule scores, the indices of the winners, and why systems are unranked.

    For each unranked system there is the number of its reason (-1 = none).
    """
    if isinstance(outcome, Exception):
        return {"ranks": np.full(n_systems, -1, np.int32), "scores": np.full(n_systems, np.nan)}
    reasons = sorted(set(outcome.unranked_reasons.values()))
    codes = np.full(n_systems, -1, np.int32)
    for i, reason in outcome.unranked_reasons.items():
        codes[i] = reasons.index(reason)
    return {
        "ranks": np.asarray(outcome.ranks, np.int32),
        "scores": np.asarray(outcome.scores, np.float64),
        "winners": np.array(outcome.winners, np.int32),
        "reason_codes": codes,
        "reasons": np.array(reasons, dtype=np.str_),
    }


def board_report(found: RevisionMatrix) -> Report:
    """What a board shows beside its rankings: counts, choice sets, and the order of the systems."""
    matrix = found.matrix
    started = time.perf_counter()
    rules = split_rules(matrix.n_systems, matrix.n_tasks)
    n_scored = np.isfinite(matrix.scores[:, matrix.votes]).sum(axis=1)
    winner, in_smith_set = majority_facts(matrix, found.revision.configuration.content["aggregation"])
    summary = {
        "n_systems": matrix.n_systems,
        "n_tasks": matrix.n_tasks,
        "n_voting_tasks": int(matrix.votes.sum()),
        "n_missing": int(matrix.votes.sum() * matrix.n_systems - n_scored.sum()),
        "condorcet_winner": None if winner is None else found.systems[winner].name,
        "rules": rules.computed,
        "slow_rules": rules.slow,
        "rules_left_out": rules.left_out,
    }
    arrays = {
        "system_ids": np.array([system.id for system in found.systems], np.int64),
        "n_scored": n_scored.astype(np.int32),
        "in_smith_set": in_smith_set,
    }
    seconds = time.perf_counter() - started
    return make_report(found.revision, BOARD, parameters={}, summary=summary, arrays=arrays, seconds=seconds)


def majority_facts(matrix: ScoreMatrix, aggregation: str) -> tuple[int | None, np.ndarray]:
    """The Condorcet winner and the Smith set (a boolean a system) with the tasks' weights under `aggregation`.

    Two-step aggregation has no majority of its own: there the tasks' own weights decide. Among very many systems the
    winner is found without comparing all pairs, and so is the Smith set unless it is large: then nobody is marked.
    """
    weighed = matrix if aggregation == TWO_STEP else reweighted(matrix, aggregation)
    if matrix.n_systems > COMPARED_AT_ONCE:
        winner, members = majority_of_many(weighed)
    else:
        pairwise = Pairwise.of(weighed)
        winner, members = condorcet_winner(pairwise), smith_set(pairwise)
    in_smith_set = np.zeros(matrix.n_systems, bool)
    in_smith_set[list(members or ())] = True
    return winner, in_smith_set


def publish(revision: Revision) -> bool:
    """Record the publication and move the benchmark's pointer forward, never backward.

    Call inside the transaction that writes the reports. Returns whether the pointer moved.
    """
    benchmark = Benchmark.objects.filter(pk=revision.benchmark_id)
    is_ahead = Q(published_number__lt=revision.number)
    present = benchmark.values_list("published_engine_version", flat=True).get()
    if is_older(present):  # at the same number: never back to a version that still runs while the site is upgraded
        is_ahead |= Q(published_number=revision.number, published_engine_version=present)
    moved = (
        benchmark.filter(is_ahead).update(published_number=revision.number, published_engine_version=engine_version)
        == 1
    )
    publication = Publication.objects.create(
        benchmark_id=revision.benchmark_id, revision=revision, engine_version=engine_version, is_pointer_moved=moved
    )
    if moved:
        benchmark.update(publication=publication)
        announce_publication(publication)
    return moved
