"""Content of answers: plain dicts, texts and numbers; what is not a number is null."""

from datetime import datetime
from typing import Any

import numpy as np

from leaderboard.models import Benchmark, Publication, Revision
from leaderboard.selectors.scores import BoardSystem
from leaderboard.services.columns import Column, PublishedBoard
from leaderboard.services.interval_wording import n_resamples, why_no_interval
from leaderboard.services.listing import ListedBenchmark
from leaderboard.services.rank_rows import number, rank_row
from leaderboard.services.score_table import Cell
from leaderboard.services.upload_preview import RuleOutcome
from ranking_engine import MISSING_POLICIES, Rule
from ranking_engine.omission import omission_sentence

__all__ = ["number"]


def moment(at: datetime | None) -> str | None:
    """A time as ISO 8601 in UTC."""
    return None if at is None else at.isoformat().replace("+00:00", "Z")


def listed_benchmark(found: ListedBenchmark) -> dict[str, Any]:
    """One benchmark of the list."""
    return {
        "key": found.key,
        "name": found.name,
        "summary": found.summary,
        "visibility": found.visibility,
        "revision": found.revision_number or None,
        "published_at": moment(found.updated_at),
        "is_computing": found.is_computing,
        "n_systems": found.n_systems,
        "n_tasks": found.n_tasks,
        "default_rule": found.default_rule,
        "is_failed": found.is_failed,
        "winner_names": found.winner_names,
        "n_winners": found.n_winners,
        "n_rules_electing": found.n_rules_electing,
        "n_rules_electing_others": found.n_rules_elsewhere,
    }


def benchmark_about(benchmark: Benchmark) -> dict[str, Any]:
    """What a benchmark says of itself."""
    return {
        "key": benchmark.key,
        "name": benchmark.name,
        "description": benchmark.description,
        "visibility": benchmark.visibility,
        "submission_policy": benchmark.submission_policy,
        "replacement": benchmark.replacement,
        "default_rule": benchmark.default_rule,
        "missing_policy": benchmark.missing_policy,
        "aggregation": benchmark.aggregation,
        "gamma": benchmark.gamma,
        "source_url": benchmark.source_url,
        "licence": benchmark.licence,
        "citation": benchmark.citation,
        "tags": [str(tag) for tag in benchmark.tags],
        "created_at": moment(benchmark.created_at),
    }


def published(publication: Publication | None) -> dict[str, Any]:
    """Which revision an answer belongs to, and what computed it."""
    if publication is None:
        return {"revision": None, "published_at": None, "engine_version": None, "input_hash": None}
    return {
        "revision": publication.revision.number,
        "published_at": moment(publication.published_at),
        "engine_version": publication.engine_version,
        "input_hash": publication.revision.input_hash,
    }


def task(entry: dict[str, Any]) -> dict[str, Any]:
    """A task of a configuration, without the number of its row."""
    stated = {name: entry[name] for name in entry if name != "id"}
    return stated | {"precision": entry.get("precision"), "cluster": entry.get("cluster", "")}


def configuration(content: dict[str, Any]) -> dict[str, Any]:
    """A configuration, without the numbers of rows."""
    return content | {"tasks": [task(entry) for entry in content["tasks"]]}


def cell(found: Cell) -> dict[str, Any]:
    """One score."""
    return {
        "value": found.value,
        "missing": found.missing_reason or None,
        "standard_error": found.standard_error,
        "n_instances": found.n_instances,
        "submission": str(found.submission_uuid) if found.submission_uuid else None,
    }


def rule_outcome(found: RuleOutcome) -> dict[str, Any]:
    """What would change under one rule."""
    return {
        "rule": found.rule,
        "winners_before": found.winners_before,
        "winners_after": found.winners_after,
        "n_changes": found.n_moves,
        "changes": [
            {"system": move.key, "name": move.name, "before": move.before, "after": move.after} for move in found.moves
        ],
    }


def revision(found: Revision, jobs: list[dict[str, Any]]) -> dict[str, Any]:
    """A revision, with the last of its publications."""
    publications = sorted(found.publications.all(), key=lambda publication: publication.pk)
    last = publications[-1] if publications else None
    return {
        "revision": found.number,
        "cause": found.cause,
        "author": found.author.shown_name if found.author else None,
        "note": found.note,
        "created_at": moment(found.created_at),
        "input_hash": None if found.withdrawn_at else found.input_hash or None,
        "is_published": last is not None and found.withdrawn_at is None,
        "contains_withdrawn_material": found.withdrawn_at is not None,
        "published_at": moment(last.published_at) if last else None,
        "engine_version": last.engine_version if last else None,
        "jobs": jobs,
    }


def rule(found: Rule) -> dict[str, Any]:
    """A rule of the catalogue."""
    return {
        "key": found.key,
        "name": found.name,
        "family": found.family,
        "summary": found.summary,
        "needs_complete": found.needs_complete,
        "tie_convention": found.tie_convention,
        "omission": {policy: omission_sentence(found.key, policy) for policy in MISSING_POLICIES},
        "source": found.source,
    }


def column_head(column: Column, systems: list[BoardSystem]) -> dict[str, Any]:
    """What a rule makes of the board as a whole."""
    winners = np.flatnonzero(column.is_winner).tolist()
    return {
        "rule": column.rule,
        "name": column.name,
        "family": column.family,
        "status": column.status,
        "reason": column.reason,
        "remark": column.remark,
        "n_ranked": column.n_ranked,
        "winners": [{"system": systems[i].key, "name": systems[i].name} for i in winners],
    }


SYSTEM_RANK_FIELDS = ("rank", "score", "interval", "simultaneous_interval", "possibly_best", "reason")


def system_rank(column: Column, i: int, system: BoardSystem) -> dict[str, Any]:
    """A system under one rule, named by the rule."""
    row = rank_row(column, i, system)
    return {"rule": column.rule} | {name: row[name] for name in SYSTEM_RANK_FIELDS}


def intervals(board: PublishedBoard, column: Column) -> dict[str, Any] | None:
    """What the rank intervals of a rule are, or why there are none; null while they are not computed."""
    if board.study is None:
        return None
    study = board.study
    reason = study["reason"] or why_no_interval(board, column)
    typical, largest = study.get("errors", {}).get(column.rule, (None, None))
    return {
        "status": "undefined" if reason else study["status"],
        "reason": reason,
        "level": board.study_parameters["level"],
        "n_resamples": n_resamples(board, column.rule),
        "n_clusters": study.get("n_clusters"),
        "seed": board.study_parameters["seed"],
        "typical_error": typical,
        "largest_error": largest,
        "no_simultaneous": study.get("not_simultaneous", {}).get(column.rule, "") or reason,
    }


def board_facts(board: PublishedBoard | None) -> dict[str, Any]:
    """How large the published board is, and who wins every head-to-head."""
    facts = board.facts if board else {}
    return {
        "n_systems": facts.get("n_systems", 0),
        "n_tasks": facts.get("n_tasks", 0),
        "n_voting_tasks": facts.get("n_voting_tasks", 0),
        "n_missing": facts.get("n_missing", 0),
        "condorcet_winner": facts.get("condorcet_winner"),
    }
