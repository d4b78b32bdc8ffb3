"""Uploads that meet: while one is read and checked, others go on; what changed meanwhile counts."""

import threading
import time

import pytest
from django.conf import settings
from django.db import InternalError, connection, transaction

from leaderboard.common.busy import is_busy
from leaderboard.models import Batch
from leaderboard.submissions import uploads
from leaderboard.submissions.rows import SubmittedRow
from leaderboard.submissions.uploads import Upload, submit_upload
from ranking_engine.files.problems import InputError
from tests.concurrency import at_once
from tests.factories import owner_of

SECONDS = 15  # that a check is kept waiting for another upload; a lock would be waited for until then


def upload(name, *, key=None, is_table=False):
    about = {"creates_systems": True, "idempotency_key": key, "payload_hash": name}
    if is_table:
        return Upload(table=f"system,Task 1\n{name},1\n".encode(), **about)
    return Upload(rows=[SubmittedRow(name, {"task-1": 1.0})], **about)


@pytest.fixture
def meeting(monkeypatch, committed_db):
    """Calls one upload, and another one from the moment on at which the first is being checked."""
    is_checking, is_over = threading.Event(), threading.Event()
    waited = []
    first_thread = []

    def check_rows(audience, rows, **options):
        checked = uploads_check(audience, rows, **options)
        if first_thread == [threading.get_ident()] and not waited:
            is_checking.set()
            waited.append(is_over.wait(SECONDS))
        return checked

    uploads_check = uploads.check_rows
    monkeypatch.setattr(uploads, "check_rows", check_rows)

    def meet(first, second):
        def do_first():
            first_thread.append(threading.get_ident())
            return first()

        def do_second():
            is_checking.wait(SECONDS)
            try:
                return second()
            finally:
                is_over.set()

        outcomes = at_once([do_first, do_second])
        return outcomes, waited == [True]

    return meet


@pytest.mark.parametrize("is_table", [False, True])
def test_while_one_upload_is_checked_others_are_stored(meeting, make_committed, is_table):
    benchmark, slow, quick = make_committed.benchmark(), make_committed.user(), make_committed.user()
    outcomes, did_not_wait = meeting(
        lambda: submit_upload(benchmark, slow, upload("Slow", is_table=is_table)),
        lambda: submit_upload(benchmark, quick, upload("Quick")),
    )
    assert did_not_wait, outcomes
    assert [is_new for _, is_new in outcomes] == [True, True]


def test_what_joined_the_board_while_an_upload_was_checked_counts(meeting, make_committed):
    benchmark, slow, quick = make_committed.benchmark(), make_committed.user(), make_committed.user()
    (refused, (_, is_new)), _ = meeting(
        lambda: submit_upload(benchmark, slow, upload("Same")),
        lambda: submit_upload(benchmark, quick, upload("same")),
    )
    assert is_new
    assert isinstance(refused, InputError)
    assert "was submitted by another account" in str(refused)


def test_a_name_that_looks_like_one_that_joined_meanwhile_is_refused(meeting, make_committed):
    benchmark, slow, quick = make_committed.benchmark(), make_committed.user(), make_committed.user()
    (refused, _), _ = meeting(
        lambda: submit_upload(benchmark, slow, upload("Large-1")),
        lambda: submit_upload(benchmark, quick, upload("Large 1")),
    )
    assert isinstance(refused, InputError)
    assert "differ only in case, spaces" in str(refused)


def test_one_key_makes_one_batch_however_calls_meet(meeting, make_committed):
    benchmark, user = make_committed.benchmark(), make_committed.user()
    ((first, one_is_new), (second, other_is_new)), _ = meeting(
        lambda: submit_upload(benchmark, user, upload("Once", key="k")),
        lambda: submit_upload(benchmark, user, upload("Once", key="k")),
    )
    assert first == second
    assert (one_is_new, other_is_new) == (False, True)
    assert Batch.objects.filter(uploader=user).count() == 1


def test_a_table_is_read_once_however_often_it_is_checked(make, monkeypatch):
    read, rows_of_csv = [], uploads.rows_of_csv
    monkeypatch.setattr(uploads, "rows_of_csv", lambda *given: read.append(1) or rows_of_csv(*given))
    benchmark = make.benchmark()
    submit_upload(benchmark, owner_of(benchmark), upload("A", is_table=True))
    assert read == [1]


def test_a_transaction_that_postgresql_ended_because_this_side_computed_is_said_to_be_busy(make_committed):
    if settings.IS_SQLITE:
        pytest.skip("SQLite ends no transaction")
    benchmark = make_committed.benchmark()

    @transaction.atomic
    def compute_for_long():
        with connection.cursor() as cursor:
            cursor.execute("SET LOCAL idle_in_transaction_session_timeout = '50ms'")
        time.sleep(0.5)
        benchmark.refresh_from_db()

    with pytest.raises(InternalError) as raised:
        compute_for_long()
    connection.close()
    assert is_busy(raised.value)
