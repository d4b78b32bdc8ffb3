"""Frozen revisions, their citations, and further editions of a benchmark."""

import base64
from dataclasses import dataclass, replace

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils.translation import gettext

from leaderboard.access.audit import Change, record_changes
from leaderboard.access.locks import lock_as_owner
from leaderboard.benchmarks.create import create_benchmark
from leaderboard.benchmarks.settings import SETTINGS
from leaderboard.benchmarks.tasks import Proposal, ProposalError, present_proposal, write_proposal
from leaderboard.common.citations import Citation, cite_address
from leaderboard.common.language.engine import in_page_language
from leaderboard.common.names import make_key
from leaderboard.models import AuditEntry, Baseline, Benchmark, Publication, Release, Score, System, User, VoteSettings
from leaderboard.models.submissions import Source
from leaderboard.rankings.configuration import configuration_of
from leaderboard.rankings.instances import clusters_on, current_instances, hidden_instances, shared_sets, unpack_names
from leaderboard.rankings.revisions import RemovedRanksError, WithdrawnRevisionError, publication_at
from leaderboard.rankings.scores import NOT_SUBMITTED, current_scores, systems_at
from leaderboard.rankings.systems import about_systems
from leaderboard.submissions.corrections import stored_cell
from leaderboard.submissions.instances.vectors import entry_of, pack_names, unpack_vector
from leaderboard.submissions.lifecycle import accept_batch, store_batch
from leaderboard.submissions.problems import QuotaError
from leaderboard.submissions.rows import CheckedRow, CheckedScore, CheckedSystem
from ranking_engine.text.names import check_name, fold_name

NOT_COPIED = {"name", "deadline", "embargo_until", "anonymous_until", "doi"}


class ReleaseError(ValueError):
    """A revision that cannot be frozen; the message says why."""


@dataclass(frozen=True)
class Freezable:
    """A published revision with the name that it would have for good."""

    publication: Publication
    name: str
    key: str

    @property
    def n_systems(self) -> int:
        """How many systems are on its board."""
        return len(systems_at(self.publication.revision))

    @property
    def n_tasks(self) -> int:
        """How many tasks it has."""
        return len(configuration_of(self.publication.revision).tasks)


def freezable_revision(benchmark: Benchmark, *, number: int, name: str) -> Freezable:
    """What would be frozen.

    Raises:
        ReleaseError: there is no such revision, its rankings are not stored, or the name is taken.
    """
    try:
        publication = publication_at(benchmark, number)
    except (WithdrawnRevisionError, RemovedRanksError) as error:
        raise ReleaseError(str(error)) from error
    if publication is None:
        raise ReleaseError(
            gettext("The rankings of revision %(number)s are not stored; freeze a published revision.")
            % {"number": number}
        )
    try:
        clean = check_name(name, "frozen revision")
    except ValueError as problem:
        raise ReleaseError(in_page_language(str(problem))) from problem
    taken = dict(Release.objects.filter(benchmark=benchmark).values_list("key", "name"))
    if clean in taken.values():
        raise ReleaseError(gettext("Another frozen revision already has the name %(clean)s.") % {"clean": repr(clean)})
    return Freezable(publication, clean, make_key(clean.replace(".", "-"), taken))


@transaction.atomic
def freeze_revision(benchmark: Benchmark, *, author: User, number: int, name: str, note: str = "") -> Release:
    """Give a published revision a name that stays.

    Raises:
        ReleaseError: there is no such revision, its rankings are not stored, or the name is taken.
    """
    locked = lock_as_owner(benchmark.pk, author)
    freezable = freezable_revision(locked, number=number, name=name)
    release = Release.objects.create(
        benchmark=locked,
        revision=freezable.publication.revision,
        key=freezable.key,
        name=freezable.name,
        note=note,
        author=author,
    )
    frozen = Change(AuditEntry.Subject.RELEASE, release.key, "revision", "", str(number))
    record_changes(locked, [frozen], actor=author, reason=note, revision=release.revision)
    return release


def cite(release: Release, address: str, input_hash: str | None) -> Citation:
    """The citation of a frozen revision.

    Args:
        release: with its benchmark and revision.
        address: its permanent address.
        input_hash: of its scores and tasks, as far as it may be told (`rankings.revisions.visible_hash`).
    """
    benchmark, revision = release.benchmark, release.revision
    return cite_address(
        f"{benchmark.key}-{release.key}",
        f"{benchmark.name}, {release.name}",
        address,
        year=release.created_at.year,
        note=f"Revision {revision.number}" + (f", scores and tasks SHA-256 {input_hash}" if input_hash else ""),
        doi=benchmark.doi,
    )


@transaction.atomic
def new_edition(benchmark: Benchmark, *, author: User, name: str, key: str = "", with_scores: bool) -> Benchmark:
    """Another benchmark with the same tasks, groups and settings, private until its owner says otherwise.

    Where votes are collected the new one collects votes, rated in the same way. It starts without any, and without the
    scores that are computed from them.

    Args:
        benchmark: what is copied.
        author: who owns the new one.
        name: what it is called.
        key: what addresses call it; made from the name where empty.
        with_scores: whether the scores of the latest revision come with it, as its revision 1.

    Raises:
        PermissionDenied: the author does not own what is copied any more.
        ValidationError: the name or the key cannot be stored, or the author has stored too many scores.
    """
    lock_as_owner(benchmark.pk, author)  # which keeps tasks and scores together, too
    if fold_name(name) == fold_name(benchmark.name):
        text = gettext("The benchmark that you duplicate has this name. Choose another one, such as %(name)s 2.")
        raise ValidationError({"name": text % {"name": benchmark.name}})
    copied = {field: getattr(benchmark, field) for field in SETTINGS if field not in NOT_COPIED}
    try:
        edition = create_benchmark(
            name=name,
            owner=author,
            key=key,
            **(copied | {"visibility": Benchmark.Visibility.PRIVATE, "kind": benchmark.kind}),
            metadata_fields=benchmark.metadata_fields,
            variants=benchmark.variants,
        )
    except ValueError as problem:
        raise ValidationError({"name": str(problem)}) from problem
    _write(edition, present_proposal(benchmark))
    _copy_vote_settings(benchmark, edition)
    created = Change(AuditEntry.Subject.BENCHMARK, edition.key, "edition of", "", benchmark.key)
    record_changes(edition, [created], actor=author)
    last = benchmark.revisions.order_by("-number").select_related("configuration").first()
    if with_scores and last is not None and benchmark.kind != Benchmark.Kind.VOTES:
        _copy_scores(benchmark, edition, author)
    return edition


@transaction.atomic
def use_as_template(benchmark: Benchmark, *, author: User, name: str, key: str = "") -> Benchmark:
    """A benchmark with the same tasks, groups, weights, default rule and metadata fields, for anyone who reads it.

    It collects votes where the other one does, and rates them in the same way.
    What only its owners see of a benchmark, such as quotas, is not copied. The new one is private and moderated.

    Args:
        benchmark: what is copied.
        author: who owns the new one.
        name: what it is called.
        key: what addresses call it; made from the name where empty.

    Raises:
        ValidationError: the name or the key cannot be stored, or the author has made too many benchmarks.
    """
    try:
        made = create_benchmark(
            name=name,
            owner=author,
            key=key,
            default_rule=benchmark.default_rule,
            kind=benchmark.kind,
            visibility=Benchmark.Visibility.PRIVATE,
            submission_policy=Benchmark.SubmissionPolicy.MODERATED,
            metadata_fields=benchmark.metadata_fields,
            variants=benchmark.variants,
        )
    except ValueError as problem:
        raise ValidationError({"name": str(problem)}) from problem
    present = present_proposal(benchmark)
    tasks = [task for task in present.tasks if not task.is_archived]  # readers do not see those that are
    groups = [group for group in present.groups if any(task.group == group.name for task in tasks)]
    _write(made, replace(present, tasks=tasks, groups=groups))
    _copy_vote_settings(benchmark, made)
    record_changes(made, [Change(AuditEntry.Subject.BENCHMARK, made.key, "made from", "", benchmark.key)], actor=author)
    return made


def _write(made: Benchmark, proposal: Proposal) -> None:
    """Store the tasks of a copy; what cannot be stored is no problem of its name or key.

    Raises:
        ValidationError: there is such a thing, as where no task of the benchmark that is copied has weight.
    """
    try:
        write_proposal(made, proposal)
    except ProposalError as problem:
        raise ValidationError([message for *_, message in problem.problems]) from problem


def _copy_vote_settings(benchmark: Benchmark, made: Benchmark) -> None:
    if benchmark.kind == Benchmark.Kind.VOTES:
        VoteSettings.objects.get(benchmark=benchmark).copied_to(made)


def _copy_scores(benchmark: Benchmark, edition: Benchmark, author: User) -> None:
    revision = benchmark.revisions.select_related("configuration").latest("number")
    systems, scores = systems_at(revision), current_scores(revision)
    vectors, known = current_instances(revision, with_values=True), set[str]()
    about = about_systems([system.id for system in systems])
    sets = shared_sets(vectors)
    clusters = clusters_on(vectors, sets)
    hidden = hidden_instances(benchmark)  # the copy has no references, and would show single instances to anyone
    tasks = [(task.id, task.key) for task in configuration_of(revision).tasks]
    rows = []
    for system in systems:
        cells: dict[str, CheckedScore] = {}
        for task_id, task_key in tasks:
            score = scores.get((system.id, task_id))
            if score is not None and score.value is not None:
                cells[task_key] = stored_cell(score)
            else:
                reason = score.missing_reason if score else NOT_SUBMITTED
                is_known = reason in Score.MissingReason.values
                cells[task_key] = {"missing": reason if is_known else Score.MissingReason.NOT_REPORTED}
        row = about[system.id]
        system_row: CheckedSystem = {
            "name": system.name,
            "new_key": system.key,
            "organisation": row.organisation,
            "url": row.url,
            "description": row.description,
            "tags": row.tags,
            "metadata": row.metadata,
        }
        instances = {
            key: entry_of(unpack_names(held.instance_set.names), unpack_vector(held.values), known)
            for task_id, key in tasks
            if task_id not in hidden and (held := vectors.get((system.id, task_id)))
        }
        for task_id, key in tasks:
            is_shared = key in instances and vectors[system.id, task_id].instance_set_id == sets[task_id]
            if is_shared and (names := clusters.pop(task_id, None)):
                instances[key]["clusters"] = base64.b64encode(pack_names(names)).decode()
        checked: CheckedRow = {"system": system_row, "scores": cells, "line": None}
        if instances:
            checked["instances"] = instances
        rows.append(checked)
    if rows:
        note = gettext("Scores of %(benchmark)s, revision %(number)s.") % {
            "benchmark": benchmark.name,
            "number": revision.number,
        }
        try:
            batch = store_batch(edition, author, rows, source=Source.IMPORTER, note=note)
        except QuotaError as problem:
            raise ValidationError(str(problem)) from problem
        accept_batch(batch, actor=author)
        for row in about.values():
            if row.baseline != Baseline.NONE:
                System.objects.filter(benchmark=edition, key=row.key).update(baseline=row.baseline)
