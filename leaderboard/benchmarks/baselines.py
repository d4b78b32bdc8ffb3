"""Baselines: systems that others are measured against, such as people who solved the same tasks.

The owners of a benchmark say which systems are baselines. They are ranked as all others are, and no ranking depends on
the mark: it takes neither a revision nor a job.
"""

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils.translation import gettext

from leaderboard.access.audit import changes_between, record_changes
from leaderboard.access.locks import lock_as_owner
from leaderboard.common.language.stored import in_english
from leaderboard.models import AuditEntry, Baseline, Benchmark, System, User
from leaderboard.models.systems import MEASURES
from ranking_engine.files.benchmark_file import BenchmarkFile
from ranking_engine.files.tables import TableError, TableIssue
from ranking_engine.text.names import fold_name

MAX_BASELINES = 20  # of one benchmark: the board has a sentence for each
TOO_MANY = f"A benchmark can have at most {MAX_BASELINES} baselines."


@transaction.atomic
def mark_baseline(system: System, baseline: str, *, author: User, reason: str = "") -> bool:
    """Say whether a system is a baseline, and of which kind; the trail keeps what it was before.

    Args:
        system: which one.
        baseline: one of `Baseline`.
        author: who says so.
        reason: why.

    Returns:
        Whether anything changed.

    Raises:
        ValidationError: `baseline` is no kind of baseline, or the benchmark has as many as it may have.
    """
    if baseline not in Baseline.values:
        raise ValidationError(
            {
                "baseline": gettext("%(baseline)s is not one of %(values)s.")
                % {"baseline": repr(baseline[:40]), "values": ", ".join(Baseline.values)}
            }
        )
    benchmark = lock_as_owner(system.benchmark_id, author)
    system.refresh_from_db(fields=["baseline"])
    marked = System.objects.filter(benchmark=benchmark, baseline__in=MEASURES).exclude(pk=system.pk)
    if baseline in MEASURES and marked.count() >= MAX_BASELINES:
        raise ValidationError({"baseline": TOO_MANY})
    before = {"baseline": in_english(Baseline(system.baseline).label)}
    after = {"baseline": in_english(Baseline(baseline).label)}
    changes = changes_between(AuditEntry.Subject.SYSTEM, system.key, before, after)
    system.baseline = baseline
    system.save(update_fields=["baseline"])
    record_changes(benchmark, changes, actor=author, reason=reason)
    return bool(changes)


def mark_stated_baselines(benchmark: Benchmark, described: BenchmarkFile) -> None:
    """Mark the systems of a new benchmark that its file calls baselines.

    Args:
        benchmark: with its systems.
        described: the file.

    Raises:
        TableError: it states more than there may be.
    """
    if len(described.system_baselines) > MAX_BASELINES:
        raise TableError([TableIssue(None, None, None, TOO_MANY)], described.source)
    for name, baseline in described.system_baselines.items():
        if not benchmark.systems.filter(name_folded=fold_name(name)).update(baseline=baseline):
            raise TableError([TableIssue(None, None, None, f"no row for system {name!r}")], described.source)
