"""The rankings of a revision: computed, stored as reports, published."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from django.db.models import Q

from leaderboard.common.text import ranking_remark, with_system_names
from leaderboard.computing.rankings import majority_facts, rank_isolated
from leaderboard.computing.stopwatch import Stopwatch
from leaderboard.models import Benchmark, Job, Publication, Report, Revision
from leaderboard.notifications.webhooks import announce_publication
from leaderboard.queue.engine_versions import is_older
from leaderboard.queue.kinds import INSTANCES, JOB_KINDS, SLOW_RANKINGS
from leaderboard.queue.rows import about_revision, inherited_offset, insert, row_of
from leaderboard.rankings.configuration import configuration_of
from leaderboard.rankings.instances import current_instances
from leaderboard.rankings.listed_boards import store_listed_board
from leaderboard.rankings.reports import BOARD, FAILED, RANKING, make_report
from leaderboard.rankings.score_matrix import RevisionMatrix, input_hash, revision_matrix
from ranking_engine import Ranking, __version__ as engine_version
from ranking_engine.catalogue.registry import get_rule
from ranking_engine.core.missing import prediction_note

WINNER_NAMES = 20  # more joint winners than these are counted, not named


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
        for kind, is_wanted in ((SLOW_RANKINGS, has_slow_rules), (INSTANCES, has_instances)):
            if is_wanted:
                insert(row_of(JOB_KINDS[kind], about_revision(revision), priority_offset=inherited_offset(job)))

    return write


def compute_slow_rankings(job: Job, checkpoint: Callable[[float], None]) -> Callable[[], None]:
    """Rank the job's revision under the rules that are slow at its size; the returned function stores them."""
    revision = Revision.objects.select_related("configuration").get(pk=job.subject_id)
    reports = slow_reports(revision, checkpoint)

    def write() -> None:
        Report.objects.bulk_create(reports)
        publications = Publication.objects.filter(
            revision=revision, engine_version=engine_version, is_pointer_moved=True
        )
        for publication in publications:
            store_listed_board(publication)

    return write


def slow_reports(revision: Revision, checkpoint: Callable[[float], None]) -> list[Report]:
    """The reports of a revision's rankings under the rules that are slow at its size; `checkpoint` is told the share
    that is done."""
    table = revision_matrix(revision)
    reports: list[Report] = []
    if table is not None:
        slow = table.rules.slow
        for done, rule in enumerate(slow):
            checkpoint(done / len(slow))
            reports += _reports_of(table, [rule])
    return reports


def ranking_reports(revision: Revision) -> tuple[list[Report], str]:
    """The reports of a revision's quick rankings under its own policy, that of the board first; and its input hash."""
    configuration = configuration_of(revision)
    table = revision_matrix(revision)
    digest = input_hash(table, configuration)
    if table is None:
        summary = {"n_systems": 0, "n_tasks": len(configuration.tasks), "rules": []}
        return [make_report(revision, BOARD, parameters={}, summary=summary, arrays={}, seconds=0.0)], digest
    # What a board shows beside its rankings: counts, choice sets, and the order of the systems.
    matrix, rules, stopwatch = table.matrix, table.rules, Stopwatch()
    n_scored = np.isfinite(matrix.scores[:, matrix.votes]).sum(axis=1)
    winner, in_smith_set = majority_facts(matrix, table.configuration.aggregation)
    summary = {
        "n_systems": matrix.n_systems,
        "n_tasks": matrix.n_tasks,
        "n_voting_tasks": int(matrix.votes.sum()),
        "n_missing": int(matrix.votes.sum() * matrix.n_systems - n_scored.sum()),
        "condorcet_winner": None if winner is None else table.systems[winner].name,
        "rules": rules.computed,
        "slow_rules": rules.slow,
        "rules_left_out": rules.left_out,
    }
    arrays = {
        "system_ids": np.array([system.id for system in table.systems], np.int64),
        "n_scored": n_scored.astype(np.int32),
        "in_smith_set": in_smith_set,
    }
    seconds = stopwatch.seconds
    board = make_report(table.revision, BOARD, parameters={}, summary=summary, arrays=arrays, seconds=seconds)
    return [board, *_reports_of(table, rules.quick)], digest


def _reports_of(table: RevisionMatrix, rules: Sequence[str]) -> list[Report]:
    """One report a rule."""
    policy = table.configuration.missing_policy
    aggregation = table.configuration.aggregation
    names = [system.name for system in table.systems]
    return [
        make_report(
            table.revision,
            RANKING,
            parameters=ranking_parameters(rule, policy, aggregation),
            summary=ranking_summary(outcome, rule, names),
            arrays=ranking_arrays(outcome, table.matrix.system_names),
            seconds=seconds,
        )
        for rule, outcome, seconds in (
            (rule, with_names(outcome, table.matrix.system_names, names), seconds)
            for rule, (outcome, seconds) in rank_isolated(table.matrix, policy, aggregation, rules).items()
        )
    ]


def with_names(outcome: Ranking | Exception, keys: Sequence[str], names: Sequence[str]) -> Ranking | Exception:
    """A ranking whose reasons name systems as pages do, where its rule may name some.

    Args:
        outcome: of systems that the engine knows by their keys.
        keys, names: of all systems, in the same order.
    """
    if isinstance(outcome, Exception) or not get_rule(outcome.rule).names_systems:
        return outcome
    by_key = dict(zip(keys, names, strict=True))
    reasons = {i: with_system_names(reason, by_key) for i, reason in outcome.unranked_reasons.items()}
    return replace(outcome, reason=with_system_names(outcome.reason, by_key), unranked_reasons=reasons)


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
        "prediction": prediction_note(outcome.details),
    }


def ranking_arrays(outcome: Ranking | Exception, keys: Sequence[str]) -> dict[str, np.ndarray]:
    """Ranks (-1 = unranked), rule scores, the indices of the winners, and why systems are unranked.

    For each unranked system there is the number of its reason (-1 = none). Where scores are predicted, `n_predicted`
    has how many of each system's are.

    Args:
        outcome: the ranking.
        keys: of all systems, as the ranking knows them, in its order.
    """
    if isinstance(outcome, Exception):
        return {"ranks": np.full(len(keys), -1, np.int32), "scores": np.full(len(keys), np.nan)}
    reasons = sorted(set(outcome.unranked_reasons.values()))
    codes = np.full(len(keys), -1, np.int32)
    for i, reason in outcome.unranked_reasons.items():
        codes[i] = reasons.index(reason)
    arrays = {}
    if predicted := outcome.details.get("predicted"):
        arrays["n_predicted"] = np.array([predicted.get(key, 0) for key in keys], np.int32)
    return arrays | {
        "ranks": np.asarray(outcome.ranks, np.int32),
        "scores": np.asarray(outcome.scores, np.float64),
        "winners": np.array(outcome.winners, np.int32),
        "reason_codes": codes,
        "reasons": np.array(reasons, dtype=np.str_),
    }


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
        store_listed_board(publication)
        announce_publication(publication)
    return moved
