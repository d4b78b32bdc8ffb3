"""Files that are no tables, and addresses and numbers that are meant to break something."""

import csv
import io

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from leaderboard.models import Batch, Draft
from tests.leaderboard.site.hostile import SCRIPT, confirmation, form_of, signed_in

pytestmark = pytest.mark.usefixtures("quick_passwords")


# --- Files that are no tables --------------------------------------------------------------------------------------

HEAD = "system,Task 1,Task 2,Task 3,Task 4,Task 5"
FILES = {
    "bytes": bytes(range(256)) * 50,
    "an archive": b"PK\x03\x04" + bytes(5000),
    "half of UTF-16": f"{HEAD}\nN,1,2,3,4,5\n".encode("utf-16")[:-1],
    "a NUL": f"{HEAD}\nA\0,1,2,3,4,5\n".encode(),
    "a formula": f"{HEAD}\n=HYPERLINK(1),1,2,3,4,5\n".encode(),
    "a quote without end": f'{HEAD}\n"A{"x" * 50_000}'.encode(),
    "a long cell": f"{HEAD}\n{'A' * 400_000},1,2,3,4,5\n".encode(),
    "many columns": f"system{',c' * 5000}\nA{',1' * 5000}\n".encode(),
    "commas": b"," * 500_000,
    "a system twice": f"{HEAD}\nN,1,2,3,4,5\nn,1,2,3,4,5\n".encode(),
    "a task twice": b"system,Task 1,task-1\nN,1,2\n",
    "somebody else's system": f"{HEAD}\nN,1,2,3,4,5\nA,9,9,9,9,9\n".encode(),
    "infinity": f"{HEAD}\nN,1e999,2,3,4,5\n".encode(),
    "markup": f"system,{SCRIPT}\nN,1\n".encode(),
    "nothing": b"",
}


@pytest.mark.parametrize("content", FILES.values(), ids=FILES)
def test_a_file_that_is_no_table_of_this_benchmark_stores_nothing_and_says_so(make, content):
    benchmark, client = make.benchmark(), signed_in(make.user())
    path = reverse("upload", args=[benchmark.key])
    answer = client.post(path, {"file": SimpleUploadedFile("scores.csv", content)})
    assert (answer.status_code, Draft.objects.count()) == (400, 0)
    assert SCRIPT not in answer.content.decode()
    assert len(answer.content) < len(content) + 100_000  # what was sent is on the page for the next try


def test_a_name_of_a_file_is_not_a_path_and_not_markup(make):
    benchmark, client = make.benchmark(), signed_in(make.user())
    file = SimpleUploadedFile(f"../../{SCRIPT}\r\nX: y.csv", f"{HEAD}\nN,x,2,3,4,5\n".encode())
    answer = client.post(reverse("upload", args=[benchmark.key]), {"file": file})
    assert answer.status_code == 400
    assert SCRIPT not in answer.content.decode()
    assert "X" not in answer.headers


def test_more_systems_than_are_read_are_refused(make, settings):
    settings.UPLOAD_SYSTEMS = 3
    benchmark, client = make.benchmark(), signed_in(make.user())
    table = HEAD + "".join(f"\nN{i},1,2,3,4,5" for i in range(4))
    answer = client.post(reverse("upload", args=[benchmark.key]), {"text": table})
    assert (answer.status_code, Draft.objects.count()) == (400, 0)


def test_a_table_confirmed_twice_is_one_submission(make):
    benchmark, owner = make.benchmark(), make.user()
    client = signed_in(owner)
    table = {"text": f"{HEAD}\nN,1,2,3,4,5\nM,1,2,3,4,"}
    page = client.post(reverse("upload", args=[benchmark.key]), table)["Location"]
    places = [client.post(page, confirmation(benchmark))["Location"] for _ in range(2)]
    assert places[0] == places[1]
    assert list(Batch.objects.get(uploader=owner).submissions.values_list("system__name", flat=True)) == ["N", "M"]


# --- Addresses and numbers that are meant to break something -------------------------------------------------------


@pytest.mark.parametrize("page", ["²", "-1", "0", "9" * 5000, "1.5", "nan", "٣", "\0", "1 OR 1=1", "", "0x10"])
@pytest.mark.parametrize("path", ["/status/", "/b/toy/", "/b/toy/board.csv"])
def test_a_page_that_is_no_number_is_some_page(make, path, page):
    make.published(key="toy")
    assert Client().get(path, {"page": page}, follow=True).status_code == 200


def test_the_download_has_every_system_once_whatever_page_the_address_names(make):
    make.published({f"S{i:03}": [float(i)] for i in range(205)}, key="many")
    pages = [Client().get("/b/many/board.csv", {"page": page}).content for page in ("1", "2", "99")]
    names = [row[0] for row in csv.reader(io.StringIO(pages[0].decode()))][1:]
    assert sorted(names) == [f"S{i:03}" for i in range(205)]
    assert pages == pages[:1] * 3


@pytest.mark.parametrize("name", ["sort", "reference", "policy"])
@pytest.mark.parametrize("value", ["nonsense", "\0", "--borda", "x" * 100_000, "__class__", "a\r\nSet-Cookie: a=b"])
@pytest.mark.parametrize("route", ["board", "board_csv"])
def test_an_unknown_choice_is_a_bad_request(make, route, name, value):
    benchmark = make.published()
    answer = Client(raise_request_exception=False).get(reverse(route, args=[benchmark.key]), {name: value})
    assert answer.status_code == 400
    assert "Set-Cookie" not in answer.headers


@pytest.mark.parametrize("q", ["\0", "x" * 100_000, "%", "(((((", "\ud800".encode("utf-8", "surrogatepass"), "'\"--"])
def test_any_search_is_answered(make, q):
    benchmark = make.published()
    for path in ("/", reverse("board", args=[benchmark.key])):
        assert Client(raise_request_exception=False).get(path, {"q": q, "tag": q}).status_code == 200


@pytest.mark.parametrize(
    "path",
    [
        "/account/password/reset/key/zzzzzzzzzzzzz-abc/", "/account/password/reset/key/zzzzzzzzzzzzzzzzzzzz-abc/",
        "/account/confirm-email/" + "a" * 3000 + "/", "/b/" + "a" * 5000 + "/", "/b/a/systems/" + "b" * 5000 + "/",
        "/admin/leaderboard/user/99999999999999999999999999/change/", "/account/login/?next=%00",
    ],
)  # fmt: skip
def test_an_address_of_any_length_is_answered(make, path):
    assert signed_in(make.user()).get(path).status_code in (200, 302, 404)


def test_twelve_thousand_fields_are_read_and_more_are_refused(make):
    benchmark, client = make.benchmark(), signed_in(make.user())
    path = reverse("submit", args=[benchmark.key])
    filling = {f"x{i}": "1" for i in range(12_000)}
    assert client.post(path, form_of(benchmark, "N") | filling).status_code == 400
    assert Draft.objects.count() == 0
    fits = dict(list(filling.items())[:11_900])
    assert client.post(path, form_of(benchmark, "N") | fits).status_code == 302


def test_a_body_that_is_too_large_or_cannot_be_read_is_a_bad_request(make):
    benchmark, client = make.benchmark(), signed_in(make.user())
    path = reverse("submit", args=[benchmark.key])
    assert client.post(path, form_of(benchmark, "N", note="x" * 3_000_000)).status_code == 400
    form_type = "application/x-www-form-urlencoded"
    assert client.post(path, "note=" + "x" * 3_000_000, content_type=form_type).status_code == 400
    assert client.post(path, b"\xff\xfe", content_type="multipart/form-data; boundary=x").status_code == 400


@pytest.mark.parametrize("score", ["1e999", "-1e999", "nan", "inf", "٣", "1_000", "0x1", "1,5", "--1", "1 2", "9" * 61])
def test_a_score_that_is_no_finite_number_stores_nothing(make, score):
    benchmark = make.benchmark()
    answer = signed_in(make.user()).post(reverse("submit", args=[benchmark.key]), form_of(benchmark, "N", score))
    assert (answer.status_code, Draft.objects.count()) == (400, 0)


def test_the_largest_scores_leave_a_board_that_can_be_read(make):
    benchmark = make.benchmark()
    for name, score in (("Huge", "9.9e99"), ("Huger", "1e100"), ("Tiny", "-1e100")):
        make.submitted(benchmark, name, [score] * 5, by=make.user())
    make.publish(benchmark)
    for parameters in ({}, {"scores": "1"}, {"policy": "median"}, {"sort": "mean"}):
        answer = Client(raise_request_exception=False).get(reverse("board", args=[benchmark.key]), parameters)
        assert answer.status_code == 200


@pytest.mark.parametrize("name", ["sessionid", "messages", "csrftoken"])
@pytest.mark.parametrize("value", ["\0", "garbage", "a" * 5000])
def test_broken_cookies_change_nothing(db, name, value):
    client = Client(raise_request_exception=False)
    client.cookies[name] = value
    assert client.get("/").status_code == 200
