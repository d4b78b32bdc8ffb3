"""Hidden references are in no answer of any route, for no reader, the owner included; nor in logs and backups.

Every row of the table of permissions (`permissions/table.txt`) is searched for them, too.
"""

import io
import logging
import zipfile
import zlib

import pytest
from django.core.cache import cache
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from leaderboard.access.audience import audience_of
from leaderboard.accounts.tokens import create_token
from leaderboard.evaluation.encryption import new_key
from leaderboard.evaluation.references import check_file, store_references
from leaderboard.evaluation.visibility import sees_instances
from leaderboard.models import PredictionFile, PredictionSubmission, TaskReferences
from tests.factories import owner_of
from tests.leaderboard.site.hiding import Hidden
from tests.leaderboard.site.labels import REFERENCES, SECRET_LABEL, tells, unpacked


@pytest.fixture(scope="module")
def whole(make_once):
    """A benchmark with an address for every route, those of the API included, on which every task has references."""
    made = Hidden(make_once, "ranks")
    for task in made.benchmark.tasks.all():
        store_references(task, check_file(REFERENCES, "labels.csv", "accuracy", {}), author=made.people["owner"])
    return made


def test_a_word_that_is_there_would_be_seen():
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("labels.csv", REFERENCES)
    assert tells(REFERENCES)
    assert tells(packed.getvalue())
    assert tells(zlib.compress(REFERENCES))


@pytest.mark.parametrize("kind", ["anonymous", "stranger", "submitter", "member", "moderator", "owner", "staff"])
def test_no_address_that_names_the_benchmark_tells_it_nor_does_the_api(whole, kind, caplog):
    cache.clear()
    client, token = whole.client(kind), whole.token(kind)
    paths = whole.paths()
    assert sum(path.startswith("/api/") for path in paths) > 40
    with caplog.at_level(logging.DEBUG), caplog.at_level(logging.INFO, logger="markdown_it"):
        answers = {path: client.get(path, **(token if path.startswith("/api/") else {})) for path in paths}
    assert {path for path, answer in answers.items() if tells(answer.getvalue())} == set()
    assert SECRET_LABEL not in caplog.text


@pytest.mark.parametrize("way", ["page", "api"])
@pytest.mark.parametrize("problem", ["kind", "twice", "weight", "quotes"])
def test_a_refused_file_is_not_quoted_to_its_owner(make, way, problem, caplog):
    benchmark = make.benchmark({}, n_tasks=1)
    owner, task = owner_of(benchmark), benchmark.tasks.get()
    metric, data = {
        "kind": ("rmse", REFERENCES),
        "twice": ("accuracy", REFERENCES + f"a,{SECRET_LABEL},public\n".encode()),
        "weight": ("accuracy", f"id,reference,weight\na,no,{SECRET_LABEL}\n".encode()),
        "quotes": ("accuracy", f'id,reference\na,"{SECRET_LABEL}\n'.encode()),
    }[problem]
    client = Client()
    file = SimpleUploadedFile("labels.csv", data)
    with caplog.at_level(logging.DEBUG):
        if way == "page":
            client.force_login(owner, backend="django.contrib.auth.backends.ModelBackend")
            path = reverse("manage_task_references", args=[benchmark.key, task.key])
            answer = client.post(path, {"metric": metric, "file": file})
        else:
            _, secret = create_token(owner, name="t", scopes=["manage"], days=30)
            path = f"/api/v1/benchmarks/{benchmark.key}/references/{task.key}/"
            answer = client.post(path, {"metric": metric, "files": file}, HTTP_AUTHORIZATION=f"Token {secret}")
    assert answer.status_code == 400
    assert not tells(answer.getvalue())
    assert SECRET_LABEL not in caplog.text
    assert not TaskReferences.objects.exists()


def test_a_large_file_is_never_written_to_a_disk(make, settings, tmp_path):
    settings.FILE_UPLOAD_TEMP_DIR = str(tmp_path)
    settings.FILE_UPLOAD_MAX_MEMORY_SIZE = 10
    benchmark = make.benchmark({}, n_tasks=1)
    seen = []
    settings.REFERENCES_KEYS = [new_key()]
    client = Client()
    client.force_login(owner_of(benchmark), backend="django.contrib.auth.backends.ModelBackend")
    path = reverse("manage_task_references", args=[benchmark.key, benchmark.tasks.get().key])
    tmp_path.chmod(0o500)  # a file that were written there would be an error
    seen.append(client.post(path, {"metric": "accuracy", "file": SimpleUploadedFile("a.csv", REFERENCES)}).status_code)
    _, secret = create_token(owner_of(benchmark), name="t", scopes=["manage"], days=30)
    address = f"/api/v1/benchmarks/{benchmark.key}/references/{benchmark.tasks.get().key}/"
    body = {"metric": "accuracy", "files": SimpleUploadedFile("a.csv", REFERENCES)}
    seen.append(client.post(address, body, HTTP_AUTHORIZATION=f"Token {secret}").status_code)
    assert seen == [302, 201]
    assert list(tmp_path.iterdir()) == []


def test_scores_of_single_instances_are_for_owners_and_moderators_alone(make):
    """A score of 0 or 1 on a known prediction of two classes would be the label itself."""
    benchmark = make.benchmark({}, n_tasks=1)
    owner, submitter = owner_of(benchmark), make.user()
    assert sees_instances(audience_of(submitter, benchmark))
    store_references(benchmark.tasks.get(), check_file(REFERENCES, "a.csv", "accuracy", {}), author=owner)
    moderator = make.member(benchmark, "moderator")
    seen = {user: sees_instances(audience_of(user, benchmark)) for user in (owner, moderator, submitter)}
    assert seen == {owner: True, moderator: True, submitter: False}


def test_the_archive_of_ones_own_data_has_no_score_on_the_private_split(make):
    benchmark = make.benchmark({}, n_tasks=1)
    user = make.user()
    row = PredictionSubmission.objects.create(
        benchmark=benchmark, submitter=user, source="form", statement={"name": "Mine"}, state="scored"
    )
    PredictionFile.objects.create(
        prediction_submission=row, task=benchmark.tasks.get(), name="mine.csv", sha256="0" * 64, n_predictions=1,
        content=b"", results={"private": {"value": 0.98765, "standard_error": None, "n_instances": 3}},
    )  # fmt: skip
    client = Client()
    client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
    body = unpacked(client.get(reverse("own_data")).getvalue())
    assert b"mine.csv" in body
    assert b"98765" not in body


def test_the_folder_that_operators_export_has_no_references(make, tmp_path):
    benchmark = make.published()
    store_references(
        benchmark.tasks.first(), check_file(REFERENCES, "a.csv", "accuracy", {}), author=owner_of(benchmark)
    )
    call_command("export_benchmark", benchmark.key, str(tmp_path / "out"))
    assert not any(tells(file.read_bytes()) for file in (tmp_path / "out").rglob("*") if file.is_file())
