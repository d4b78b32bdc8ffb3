"""What is taken over of an upload in which some rows say nothing new."""

import pytest

from leaderboard.access.audience import audience_of
from leaderboard.models import InstanceScores
from leaderboard.submissions.following.rows import changed_rows, with_stated_once
from leaderboard.submissions.instances.uploads import rows_of_instances
from leaderboard.submissions.instances.vectors import unpack_names
from leaderboard.submissions.uploads import Upload, submit_upload
from tests.factories import owner_of


def file_of(of_b: int) -> bytes:
    """Six instances in three clusters: A is right on every other one, B on those that `of_b` divides."""
    lines = [
        f"{system},q{number},passage {number // 2},{int(number % step == 0)}"
        for system, step in (("A", 2), ("B", of_b))
        for number in range(6)
    ]
    return "\n".join(["system,instance,cluster,task-1", *lines]).encode()


def submit(benchmark, rows) -> None:
    upload = Upload(rows=rows, is_imported=True, note="", creates_systems=True, payload_hash=f"{len(rows)}")
    submit_upload(benchmark, owner_of(benchmark), upload)


@pytest.mark.django_db
def test_the_only_system_that_changed_brings_the_names_that_the_file_states_with_another(make):
    benchmark = make.benchmark({}, n_tasks=1)
    submit(benchmark, rows_of_instances(benchmark, file_of(3)))
    rows = rows_of_instances(benchmark, file_of(6))
    changes = changed_rows(audience_of(owner_of(benchmark), benchmark), rows)
    assert [row.system_name for row in changes.rows] == ["B"]
    assert "names" not in rows[1].instances["task-1"]
    submit(benchmark, changes.rows)
    stored = InstanceScores.objects.select_related("instance_set", "submission__system").latest("pk")
    assert stored.submission.system.name == "B"
    assert unpack_names(stored.instance_set.names) == [f"q{number}" for number in range(6)]
    assert unpack_names(stored.clusters) == [f"passage {number // 2}" for number in range(6)]


@pytest.mark.django_db
def test_of_all_rows_nothing_is_different(make):
    benchmark = make.benchmark({}, n_tasks=1)
    rows = rows_of_instances(benchmark, file_of(3))
    assert with_stated_once(rows, rows) == rows
