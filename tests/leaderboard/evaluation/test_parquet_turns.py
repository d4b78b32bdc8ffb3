"""A few uploaded Parquet files are read at once: others wait a little, and get a 503 that says when to try again."""

import io
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import numpy as np
import pytest
from django.core.cache import cache
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from leaderboard.accounts.tokens import create_token
from leaderboard.models import PredictionSubmission, TaskReferences
from leaderboard.on_demand.budget import RETRY_SECONDS, BusyError, compute
from leaderboard.on_demand.uploads import AT_ONCE, turn_to_read_parquet
from ranking_engine.core.ranking import ranks_of
from tests.factories import owner_of
from tests.leaderboard.evaluation.made import hidden_benchmark, numbers_file
from tests.signing_in import signed_in

pytestmark = pytest.mark.django_db
MARK = b"PAR1"


@pytest.fixture
def few(settings):
    """A site on which no one waits for long."""
    settings.ON_DEMAND_PATIENCE_SECONDS = 0.05
    cache.clear()
    return settings


@pytest.fixture
def all_taken(few):
    """The same, while two files are being read."""
    with ExitStack() as stack:
        for _ in range(AT_ONCE):
            stack.enter_context(turn_to_read_parquet(MARK))
        yield


def parquet_of(columns: dict[str, list]) -> bytes:
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    file = io.BytesIO()
    parquet.write_table(pa.table(columns), file)
    return file.getvalue()


def numbers_parquet() -> bytes:
    return parquet_of({"id": ["n1", "n2", "n3"], "prediction": [1.5, 2.5, 4.0]})


def api_of(user) -> Client:
    _, secret = create_token(user, name="script", scopes=["read", "submit", "manage"], days=30)
    return Client(headers={"Authorization": f"Token {secret}"})


def test_so_many_are_read_at_once_and_no_more(few):
    with turn_to_read_parquet(MARK), turn_to_read_parquet(MARK):
        with pytest.raises(BusyError), turn_to_read_parquet(MARK):
            raise AssertionError("it had a turn")
        with turn_to_read_parquet(b"id,prediction\n"):  # no process is needed for it
            pass
    with turn_to_read_parquet(MARK):
        pass


def test_files_that_are_read_take_no_turn_of_what_readers_have_computed(all_taken):
    assert compute(ranks_of, np.array([[2.0, 7.0]])).tolist() == [[2, 1]]


def test_a_turn_is_given_back_whatever_happens(few):
    for _ in range(5):
        with pytest.raises(ZeroDivisionError), turn_to_read_parquet(MARK):
            raise ZeroDivisionError
    with turn_to_read_parquet(MARK), turn_to_read_parquet(MARK):
        pass


def test_who_waits_gets_the_turn_that_becomes_free(few):
    few.ON_DEMAND_PATIENCE_SECONDS = 20

    def read() -> bool:
        with turn_to_read_parquet(MARK):
            return True

    with ThreadPoolExecutor(1) as threads:
        with turn_to_read_parquet(MARK), turn_to_read_parquet(MARK):
            later = threads.submit(read)
        assert later.result(timeout=20)


def test_the_api_says_when_to_try_again_and_stores_nothing(make, all_taken):
    benchmark, user = hidden_benchmark(make), make.user()
    path = reverse("api:predictions", args=[benchmark.key])
    file = SimpleUploadedFile("numbers.parquet", numbers_parquet())
    answer = api_of(user).post(path, {"system": "New", "file:numbers": file})
    assert (answer.status_code, answer.json()["error"]["code"]) == (503, "busy")
    assert answer["Retry-After"] == str(RETRY_SECONDS)
    assert not PredictionSubmission.objects.exists()
    file = SimpleUploadedFile("numbers.csv", numbers_file())
    assert api_of(make.user()).post(path, {"system": "New", "file:numbers": file}).status_code == 201


def test_the_page_of_references_says_so_too(make, all_taken):
    benchmark = hidden_benchmark(make)
    client = signed_in(owner_of(benchmark))
    client.raise_request_exception = False
    file = SimpleUploadedFile("numbers.parquet", parquet_of({"id": ["n1"], "reference": [1.0]}))
    path = reverse("manage_task_references", args=[benchmark.key, "numbers"])
    n_before = TaskReferences.objects.count()
    answer = client.post(path, {"metric": "mae", "file": file, "action": "upload"})
    assert (answer.status_code, answer["Retry-After"]) == (503, str(RETRY_SECONDS))
    assert TaskReferences.objects.count() == n_before


def test_a_parquet_file_is_read_where_there_is_a_turn(make, few):
    benchmark, user = hidden_benchmark(make), make.user()
    file = SimpleUploadedFile("numbers.parquet", numbers_parquet())
    path = reverse("api:predictions", args=[benchmark.key])
    assert api_of(user).post(path, {"system": "New", "file:numbers": file}).status_code == 201
