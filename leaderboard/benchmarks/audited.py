"""All of a benchmark that the audit trail tells changes of: for doors that store rows by themselves."""

from collections.abc import Mapping
from typing import Any

from leaderboard.access.audit import changes_between, record_changes
from leaderboard.benchmarks.create import group_fields, task_fields
from leaderboard.benchmarks.settings import SETTINGS
from leaderboard.benchmarks.tasks import COUNTING
from leaderboard.models import AuditEntry, Benchmark, Revision, User

Subject = AuditEntry.Subject
State = Mapping[tuple[str, str], Mapping[str, Any]]  # (subject, which one) -> its fields


def audited_state(benchmark_id: int) -> State:
    """Settings, groups, tasks and people of a benchmark as they are stored."""
    benchmark = Benchmark.objects.get(pk=benchmark_id)
    state: dict[tuple[str, str], Mapping[str, Any]] = {
        (Subject.SETTING, name): {"value": getattr(benchmark, name)} for name in (*SETTINGS, *COUNTING)
    }
    state |= {(Subject.GROUP, group.key): group_fields(group) for group in benchmark.groups.all()}
    state |= {(Subject.TASK, task.key): task_fields(task) for task in benchmark.tasks.select_related("group")}
    members = benchmark.memberships.values_list("user_id", "role")
    return state | {(Subject.PERSON, str(user)): {"role": role} for user, role in members}


def record_state_changes(
    benchmark: Benchmark, before: State, *, actor: User | None, reason: str, revision: Revision | None = None
) -> None:
    """Write to the trail what differs from an earlier state, in the transaction that changed it."""
    after = audited_state(benchmark.pk)
    changes = [
        change
        for subject, of in dict.fromkeys([*before, *after])
        for change in changes_between(subject, of, before.get((subject, of), {}), after.get((subject, of), {}))
    ]
    record_changes(benchmark, changes, actor=actor, reason=reason, revision=revision)
