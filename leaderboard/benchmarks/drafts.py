"""New benchmarks on the site: a table or a list of tasks is read, shown as it was understood, and then created."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext

from leaderboard.access.audit import Change, record_changes
from leaderboard.benchmarks.baselines import mark_stated_baselines
from leaderboard.benchmarks.create import create_benchmark
from leaderboard.benchmarks.folders import (
    check_weights,
    fields_of_files,
    group_specs,
    has_gaps,
    metadata_of_files,
    stated_fields,
    table_entries,
    table_rows,
    task_spec,
)
from leaderboard.benchmarks.tasks import MAX_TASKS, GroupEdit, Proposal, ProposalError, TaskEdit, write_proposal
from leaderboard.common.language.engine import in_page_language, rule_name
from leaderboard.common.text import direction_question, in_words, with_system_names, with_task_count, with_task_names
from leaderboard.computing.rankings import split_rules
from leaderboard.models import AuditEntry, Benchmark, BenchmarkDraft, User, VoteSettings
from leaderboard.models.submissions import Source
from leaderboard.on_demand.budget import TooLargeError, rank_in_time, too_long_reason
from leaderboard.rankings.configuration import present_configuration
from leaderboard.rankings.score_matrix import build_matrix
from leaderboard.rankings.scores import BoardSystem
from leaderboard.submissions.lifecycle import accept_batch, store_batch
from leaderboard.submissions.problems import QuotaError
from ranking_engine.files.benchmark_file import BenchmarkFile, read_benchmark
from ranking_engine.files.directions import doubtful_tasks
from ranking_engine.files.tables import Table, TableError, TableIssue, read_table
from ranking_engine.text.names import check_name

TABLE_NAME, ABOUT_NAME = "the table", "benchmark.toml"  # in errors
MAX_DRAFTS = 20  # a user; the oldest ones go


@dataclass(frozen=True)
class DraftContents:
    """What a draft of a benchmark says, with defaults where it says nothing."""

    table: Table | None
    described: BenchmarkFile
    proposal: Proposal
    fields: Mapping[str, Any]

    @property
    def n_systems(self) -> int:
        """How many systems have scores."""
        return len(self.table.system_names) if self.table else 0

    @property
    def n_missing(self) -> int:
        """How many cells are empty."""
        return int((self.table.values != self.table.values).sum()) if self.table else 0


@dataclass(frozen=True)
class RuleVerdict:
    """Who would be first under one rule."""

    rule_name: str
    winners: str
    n_ranked: int
    reason: str


def make_benchmark_draft(
    owner: User,
    *,
    name: str,
    table: bytes = b"",
    about: bytes = b"",
    task_names: Sequence[str] = (),
    source: str = TABLE_NAME,
) -> BenchmarkDraft:
    """Check what someone wants to make a benchmark of, and keep it.

    Args:
        owner: whose it will be.
        name: what it is called; the file's title where empty.
        table: a scores.csv, or nothing.
        about: a benchmark.toml, or nothing.
        task_names: in place of a table, the tasks.
        source: what errors call the table.

    Raises:
        TableError: something in it cannot be read; it names file, line and column, and nothing is kept.
        ValidationError: a name cannot be stored.
    """
    if task_names:
        about = "".join(f"[[task]]\nname = {json.dumps(task, ensure_ascii=False)}\n" for task in task_names).encode()
    draft = BenchmarkDraft(
        owner=owner,
        name=name,
        table=table,
        about=about.decode("utf-8", "surrogateescape"),
        expires_at=timezone.now() + timedelta(days=settings.DRAFT_DAYS),
    )
    contents = draft_contents(draft, source)
    proposal, metadata = contents.proposal, contents.described.metadata
    check_weights(proposal.tasks, proposal.groups, proposal.aggregation, ABOUT_NAME)
    try:
        draft.name = check_name(name or str(metadata.get("title") or metadata.get("name") or ""), "benchmark")
    except ValueError as problem:
        raise ValidationError({"name": in_page_language(str(problem))}) from problem
    draft.save()
    older = BenchmarkDraft.objects.filter(owner=owner).order_by("-pk")[MAX_DRAFTS:]
    BenchmarkDraft.objects.filter(pk__in=[row.pk for row in older]).delete()
    return draft


def draft_contents(draft: BenchmarkDraft, source: str = TABLE_NAME) -> DraftContents:
    """What the draft says.

    Args:
        draft: with its table.
        source: what errors call the table.

    Raises:
        TableError: it cannot be read.
    """
    described = BenchmarkFile(ABOUT_NAME, "")
    if draft.about:
        described = read_benchmark(draft.about.encode("utf-8", "surrogateescape"), name=ABOUT_NAME)
    table = None
    if draft.table:
        table = read_table(
            bytes(draft.table),
            name=source,
            max_systems=settings.UPLOAD_SYSTEMS,
            max_tasks=MAX_TASKS,
            max_cells=settings.UPLOAD_CELLS,
        )
    elif not described.tasks:
        raise TableError([TableIssue(None, None, None, "there is no table and no task")], TABLE_NAME)
    if table is not None:
        metadata_of_files(described, table)  # says what of the systems cannot be read
    entries = table_entries(described, table) if table else list(described.tasks)
    fields = stated_fields(described, has_gaps=table is not None and has_gaps(table))
    proposal = Proposal(
        tasks=[
            TaskEdit(
                name=spec.name,
                direction=spec.direction,
                weight=spec.weight,
                group=spec.group,
                metric=spec.metric,
                unit=spec.unit,
                minimum=spec.minimum,
                maximum=spec.maximum,
                chance=spec.chance,
                precision=spec.precision,
                cluster=spec.cluster,
                key=spec.key,
            )
            for spec in (task_spec(entry, described) for entry in entries)
        ],
        groups=[GroupEdit(group.name, group.weight, group.key) for group in group_specs(described, entries)],
        missing_policy=fields.pop("missing_policy", Benchmark.MissingPolicy.DROP_SYSTEMS),
        aggregation=str(fields.pop("aggregation")),
        gamma=fields.pop("gamma"),
        variants=fields.pop("variants"),
        replacement=Benchmark.Replacement.ROW,
    )
    return DraftContents(table, described, proposal, fields)


def draft_question(contents: DraftContents, tasks: Sequence[tuple[str, int]]) -> str:
    """A question about tasks, by name and direction, of which names say that lower is better, and directions not."""
    names, directions = [name for name, _ in tasks], [direction for _, direction in tasks]
    return direction_question(doubtful_tasks(names, directions, contents.described.directed_tasks))


def draft_verdicts(draft: BenchmarkDraft, proposal: Proposal) -> list[RuleVerdict]:
    """Who would be first under every rule that is quick; nothing where there are no scores or far too many.

    Raises:
        ProposalError: the benchmark cannot be stored in this form.
    """
    contents = draft_contents(draft)
    # The configuration that the benchmark would have: it is made, read, and taken back.
    with transaction.atomic():
        benchmark = create_benchmark(name=draft.name, owner=draft.owner)
        _write(benchmark, proposal)
        configuration = present_configuration(benchmark)
        transaction.set_rollback(True)
    if contents.table is None:
        return []
    systems = [BoardSystem(i, f"s{i}", name) for i, name in enumerate(contents.table.system_names)]
    rules = split_rules(len(systems), len(configuration.tasks), configuration.variants).quick
    matrix = build_matrix(contents.table.values, systems, configuration)
    try:
        ranked = rank_in_time(matrix, configuration.missing_policy, configuration.aggregation, rules)
    except TooLargeError:
        return []
    verdicts = []
    for rule, outcome in ranked.outcomes.items():
        if isinstance(outcome, Exception):
            verdicts.append(RuleVerdict(rule_name(rule), "", 0, gettext("It cannot be computed.")))
            continue
        winners = in_words([contents.table.system_names[i] for i in outcome.winners])
        counted = with_task_count(outcome.reason)
        reason = counted if counted != outcome.reason else with_task_names(outcome.reason, configuration.task_names)
        reason = with_system_names(reason, {system.key: system.name for system in systems})
        verdicts.append(
            RuleVerdict(rule_name(rule), winners, int((outcome.ranks >= 1).sum()), in_page_language(reason))
        )
    return verdicts + [
        RuleVerdict(rule_name(rule), "", 0, in_page_language(too_long_reason())) for rule in ranked.too_long
    ]


def _write(benchmark: Benchmark, proposal: Proposal) -> None:
    if not proposal.tasks:
        raise ProposalError([("tasks", None, "", gettext("A benchmark needs at least one task."))])
    write_proposal(benchmark, proposal)


@transaction.atomic
def create_from_draft(draft: BenchmarkDraft, proposal: Proposal, fields: Mapping[str, Any]) -> Benchmark:
    """Create the benchmark of a draft and accept its scores as revision 1.

    Args:
        draft: what was uploaded; its row goes, so that creating twice is impossible.
        proposal: its tasks, in the order of the table's columns, and how they count.
        fields: name, key and any other field of `Benchmark`.

    Raises:
        ValidationError: a field is not valid, the key is taken, or the owner has stored too many scores.
        ProposalError: a task or group is not valid.
        TableError: the table and the tasks do not fit.
    """
    contents = draft_contents(draft)
    if BenchmarkDraft.objects.filter(pk=draft.pk).delete()[0] == 0:
        raise ValidationError(gettext("This draft was already used or discarded."))
    declared = [field.declaration for field in fields_of_files(contents.described, contents.table)]
    benchmark = create_described(draft.owner, proposal, {"metadata_fields": declared, **fields})
    if contents.table is None:
        return benchmark
    keys = [task.key for task in benchmark.tasks.order_by("order")]
    if len(keys) != len(contents.table.task_names):
        raise ProposalError(
            [("tasks", None, "", gettext("There must be exactly one task for each column of the table."))]
        )
    rows = table_rows(keys, contents.table, contents.described)
    try:
        batch = store_batch(benchmark, draft.owner, rows, source=Source.CSV)
    except QuotaError as problem:
        raise ValidationError(str(problem)) from problem
    accept_batch(batch, actor=draft.owner)
    mark_stated_baselines(benchmark, contents.described)
    return benchmark


@transaction.atomic
def create_for_votes(owner: User, name: str) -> Benchmark:
    """Create a private, moderated benchmark that collects votes, and say so in its trail; its tasks come with votes.

    Raises:
        ValidationError: the name is not valid, or the owner has made too many benchmarks.
    """
    try:
        benchmark = create_benchmark(
            name=name,
            owner=owner,
            kind=Benchmark.Kind.VOTES,
            visibility=Benchmark.Visibility.PRIVATE,
            submission_policy=Benchmark.SubmissionPolicy.MODERATED,
        )
    except ValueError as problem:
        raise ValidationError({"name": in_page_language(str(problem))}) from problem
    VoteSettings.objects.create(benchmark=benchmark)
    created = Change(AuditEntry.Subject.BENCHMARK, benchmark.key, "created", "", "yes")
    kind = Change(AuditEntry.Subject.BENCHMARK, benchmark.key, "kind", Benchmark.Kind.SCORES, Benchmark.Kind.VOTES)
    record_changes(benchmark, [created, kind], actor=owner)
    return benchmark


@transaction.atomic
def create_described(owner: User, proposal: Proposal, fields: Mapping[str, Any]) -> Benchmark:
    """Create a benchmark without scores, and say so in its trail.

    Args:
        owner: whose it is.
        proposal: its tasks and groups, and how they count.
        fields: name, key and any other field of `Benchmark`.

    Raises:
        ValidationError: a field is not valid, or the key is taken.
        ProposalError: a task or group is not valid, or there is no task.
    """
    try:
        benchmark = create_benchmark(owner=owner, variants=list(proposal.variants), **fields)
    except ValueError as problem:
        if isinstance(problem, ValidationError):
            raise
        raise ValidationError({"name": in_page_language(str(problem))}) from problem
    _write(benchmark, proposal)
    created = Change(AuditEntry.Subject.BENCHMARK, benchmark.key, "created", "", "yes")
    record_changes(benchmark, [created], actor=owner)
    return benchmark
