"""Control characters: refused wherever a text comes in, and harmless where older rows hold them."""

import io
import unicodedata
import zipfile
from decimal import Decimal
from importlib import import_module
from pkgutil import walk_packages
from xml.etree import ElementTree as ET

import pytest
from django.conf import settings
from django.core import mail
from django.core.cache import cache
from django.core.exceptions import ValidationError
from django.db import transaction
from django.forms import CharField, FileField, Form, RegexField, URLField
from django.test import Client
from django.urls import reverse

import leaderboard
from leaderboard.accounts.tokens import create_token
from leaderboard.benchmarks.create import GroupSpec, TaskSpec, record_configuration_change
from leaderboard.benchmarks.releases import freeze_revision
from leaderboard.benchmarks.settings import change_settings
from leaderboard.boards.views_exports import TABLES
from leaderboard.common.append_only import append_only_permit
from leaderboard.common.form_fields import LineFormField, LinesFormField
from leaderboard.models import (
    AuditEntry,
    Batch,
    Benchmark,
    Configuration,
    Membership,
    Release,
    System,
    SystemChange,
    Task,
    TaskGroup,
    User,
)
from leaderboard.notifications.outbox import put_mail, send_due_messages
from ranking_engine.files.benchmark_file import read_benchmark
from ranking_engine.files.tables import TableError
from tests.factories import owner_of

BAD = "a\x0bb"
TOLD = "U+000B"
OF_SIGNING_IN = {"login", "email", "password", "code", "oldpassword", "password1", "password2"}
OF_SIGNING_IN |= {"username"}  # which allauth takes out of its forms where accounts have none, as here
TABLES_IN_FORMS = {("UploadForm", "text"), ("NewBenchmarkForm", "text"), ("TryForm", "text"), ("TryForm", "about")}
TABLES_IN_FORMS |= {("TryVotesForm", "text"), ("SendVotesForm", "text")}
TABLES_IN_FORMS |= {("ValuesForm", "text"), ("TryForm", "variants"), ("FieldForm", "key")}  # the last two are looked up


def controls_in(text: str) -> set[str]:
    """The control characters of a text, but tabs and line breaks."""
    return {character for character in text if unicodedata.category(character) == "Cc"} - {"\t", "\n", "\r"}


@pytest.fixture
def owned(make):
    """A published benchmark, and a way to call the API as its owner."""
    benchmark = make.published()
    owner = Membership.objects.get(benchmark=benchmark).user
    _, secret = create_token(owner, name="all", scopes=["read", "submit", "manage"], days=30)

    def call(method, path, body):
        address = f"/api/v1/benchmarks/{benchmark.key}/{path}"
        headers = {"Authorization": f"Token {secret}"}
        return getattr(Client(), method)(address, body, content_type="application/json", headers=headers)

    return benchmark, call


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("patch", "tasks/", {"tasks": [{"key": "task-1", "metric": BAD}]}),
        ("patch", "tasks/", {"tasks": [{"key": "task-1", "unit": BAD}]}),
        ("patch", "tasks/", {"tasks": [{"key": "task-1", "group": BAD}]}),
        ("patch", "tasks/", {"tasks": [{"key": "task-1", "cluster": BAD}]}),
        ("patch", "tasks/", {"groups": [{"name": BAD}]}),
        ("patch", "tasks/", {"missing_policy": "worst", "reason": BAD}),
        ("patch", "", {"licence": BAD}),
        ("patch", "", {"source_url": f"https://plurank.example/{BAD}"}),
        ("patch", "", {"tags": [BAD]}),
        ("patch", "", {"citation": BAD}),
        ("patch", "", {"description": BAD}),
        ("post", "releases/", {"revision": 1, "name": "2026", "note": BAD}),
        ("post", "editions/", {"name": BAD}),
        ("post", "submissions/", {"systems": [{"name": "E", "organisation": BAD, "scores": {"Task 1": 1}}]}),
        ("post", "submissions/", {"systems": [{"name": "E", "description": BAD, "scores": {"Task 1": 1}}]}),
        ("post", "submissions/", {"systems": [{"name": "E", "scores": {"Task 1": 1}}], "note": BAD}),
        ("post", "imports/", {"files": [{"name": BAD, "text": "system,Task 1\nE,1\n"}]}),
        ("post", "imports/", {"files": [{"name": "a.csv", "text": "system,Task 1\nE,1\n"}], "note": BAD}),
    ],
)
def test_no_call_of_the_api_stores_a_control_character(owned, method, path, body):
    _, call = owned
    answer = call(method, path, body)
    assert (answer.status_code, TOLD in answer.content.decode()) == (400, True)


def test_several_lines_are_taken_where_a_text_may_have_them(owned):
    benchmark, call = owned
    assert call("patch", "", {"citation": "one\r\n\ttwo"}).status_code == 200
    assert Benchmark.objects.get(pk=benchmark.pk).citation == "one\r\n\ttwo"
    noted = {"systems": [{"name": "E", "scores": {"Task 1": 1}}], "create_systems": True, "note": "one\ntwo"}
    assert call("post", "submissions/", noted).status_code == 201
    assert Batch.objects.latest("pk").note == "one\ntwo"
    files = [{"name": "a.csv", "text": "system,Task 1\nF,1\n"}]
    imported = call("post", "imports/", {"files": files, "note": "three\nfour"})
    assert "note" not in imported.content.decode()  # it wants to know more, and has nothing against the note
    assert call("patch", "", {"licence": "one\ntwo"}).status_code == 400


@pytest.mark.parametrize("line", ['metric = "a\\u000bb"', 'unit = "a\\u000bb"', 'group = "a\\u000bb"'])
def test_no_file_about_a_benchmark_brings_one(line):
    with pytest.raises(TableError, match=r"line 3.*U\+000B"):
        read_benchmark(f'[[task]]\nname = "RTE"\n{line}\n'.encode())


@pytest.mark.parametrize("field", ["licence", "citation", "description", "name"])
def test_no_service_stores_one_whatever_the_door(make, field):
    benchmark = make.benchmark()
    with pytest.raises(ValidationError, match=r"U\+000B"):
        change_settings(benchmark, {field: BAD}, author=owner_of(benchmark))


def form_fields():
    """Every field for text of every form of the site: (form, name, field)."""
    modules = [
        import_module(module.name)
        for module in walk_packages(leaderboard.__path__, "leaderboard.")
        if module.name.rpartition(".")[2].startswith("forms")
    ]
    classes = {value for module in modules for value in vars(module).values() if isinstance(value, type)}
    for form in sorted(filter(lambda one: issubclass(one, Form), classes), key=lambda one: one.__name__):
        if form.__module__.startswith("leaderboard."):
            for name, field in form.base_fields.items():
                if isinstance(field, CharField) and not isinstance(field, (URLField, FileField, RegexField)):
                    yield form.__name__, name, field


def test_every_field_of_a_form_for_text_knows_the_rule():
    known = list(form_fields())
    assert len(known) >= 20
    others = {(form, name) for form, name, field in known if not isinstance(field, (LineFormField, LinesFormField))}
    assert {(form, name) for form, name in others if name not in OF_SIGNING_IN} == TABLES_IN_FORMS


def test_the_pages_refuse_one_and_say_which(make):
    benchmark = make.published()
    client = Client()
    owner = Membership.objects.get(benchmark=benchmark).user
    client.force_login(owner, backend=settings.AUTHENTICATION_BACKENDS[0])
    pending = make.pending(benchmark, {"E": [1.0] * 5}, by=make.user())
    queue = reverse("manage_queue", args=[benchmark.key])
    sent = {"action": "reject", "batch": str(pending.uuid), "reason": BAD}
    assert client.post(queue, sent).status_code == 400
    assert not pending.submissions.get().events.exists()
    note = {"number": 1, "name": "2026", "note": BAD}
    assert TOLD in client.post(reverse("manage_releases", args=[benchmark.key]), note).content.decode()
    assert not Release.objects.exists()


def poison(benchmark: Benchmark) -> None:
    """Put a control character into every text of the benchmark, past all checks, as older rows may hold them."""
    Benchmark.objects.filter(pk=benchmark.pk).update(name=BAD, description=BAD, licence=BAD, citation=BAD, tags=[BAD])
    Task.objects.filter(benchmark=benchmark, order=0).update(name=BAD, name_folded=BAD, metric=BAD, unit=BAD)
    TaskGroup.objects.filter(benchmark=benchmark).update(name=BAD)
    User.objects.update(display_name=BAD)
    with append_only_permit("a test"):
        System.objects.filter(benchmark=benchmark, name="A").update(
            name=BAD, name_folded=BAD, organisation=BAD, description=BAD
        )
        SystemChange.objects.filter(system__benchmark=benchmark, name="A").update(name=BAD)
        AuditEntry.objects.filter(benchmark=benchmark).update(before=BAD, after=BAD, reason=BAD)
        benchmark.revisions.update(note=BAD)
        for row in Configuration.objects.filter(revisions__benchmark=benchmark).distinct():
            row.content["tasks"][0] |= {"name": BAD, "metric": BAD, "unit": BAD}
            row.content["groups"][0]["name"] = BAD
            row.save()


@pytest.fixture
def poisoned(make):
    """A published benchmark whose rows, from the first revision on, hold control characters."""
    tasks = [TaskSpec(f"Task {t}", weight=Decimal(1), group="All", unit="%") for t in range(1, 6)]
    benchmark = make.benchmark(tasks=tasks, groups=[GroupSpec("All")])
    with transaction.atomic():
        poison(benchmark)
    benchmark = make.publish(Benchmark.objects.get(pk=benchmark.pk))
    Task.objects.filter(benchmark=benchmark, order=0).update(metric=f"another {BAD}", weight=2)
    record_configuration_change(benchmark, author=User.objects.first(), note="why")
    benchmark = make.publish(benchmark)
    freeze_revision(benchmark, author=User.objects.first(), number=2, name="2026")
    with append_only_permit("a test"):
        Release.objects.update(name=BAD, note=BAD)
    cache.clear()
    return benchmark


def test_every_feed_and_picture_can_be_read_whatever_the_rows_hold(poisoned):
    key = poisoned.key
    addresses = [
        reverse("feed_of_all"),
        reverse("feed", args=[key]),
        reverse("badge", args=[key]),
        *(reverse("system_badge", args=[key, system.key]) for system in System.objects.filter(benchmark=poisoned)),
    ]
    for address in addresses:
        answer = Client().get(address)
        assert (address, answer.status_code) == (address, 200)
        ET.fromstring(answer.content)
    assert Client().get(reverse("card", args=[key])).status_code == 200


def test_no_file_holds_what_the_rows_hold(poisoned):
    key = poisoned.key
    # A Pareto front needs a number or a date beside the scores; this benchmark has no fields, so there is no such file.
    assert Client().get(reverse("export", args=[key, "pareto", "csv"])).status_code == 422
    tables = [table for table in TABLES if table != "pareto"]
    addresses = [
        *(reverse("export", args=[key, table, kind]) for table in tables for kind in ("csv", "json", "tex", "md")),
        *(reverse("board_download", args=[key, kind]) for kind in ("csv", "json", "tex", "md")),
        reverse("board_csv", args=[key]),
        reverse("export", args=[key, "orders", "preflib"]),
        *(f"/api/v1/benchmarks/{key}/{path}" for path in ("", "systems/", "rankings/", "scores/", "revisions/")),
        *(f"/api/v1/benchmarks/{key}/{path}?format=csv" for path in ("systems/", "rankings/borda/")),
        reverse("release", args=[key, "2026"]),
    ]
    for address in addresses:
        answer = Client().get(address)
        assert (address, answer.status_code) == (address, 200)
        if "release" not in address:
            assert (address, controls_in(answer.content.decode())) == (address, set())
        else:  # a page may hold it, a citation for BibTeX not
            bibtex = answer.content.decode().split("@misc{")[1].split("</")[0]
            assert controls_in(bibtex) == set()
        assert controls_in(str(answer.headers)) == set()


def test_the_folder_of_such_a_benchmark_can_be_imported_again(poisoned):
    packed = Client().get(reverse("export", args=[poisoned.key, "folder", "zip"])).content
    with zipfile.ZipFile(io.BytesIO(packed)) as archive:
        files = {name.rsplit("/", 1)[-1]: archive.read(name) for name in archive.namelist()}
    about = read_benchmark(files["benchmark.toml"])
    assert (about.tasks[0].name, about.tasks[0].metric) == ("ab", "another ab")
    assert "ab" in files["scores.csv"].decode().splitlines()[1]


def test_a_mail_about_it_is_sent_with_a_subject_in_one_line(db):
    put_mail("a@plurank.example", subject=f"About {BAD}\r\nBcc: x@plurank.example \x07", text=f"See {BAD}\x00.\n")
    assert send_due_messages() == 1
    message = mail.outbox[0]
    assert (message.subject, message.body) == ("About a b Bcc: x@plurank.example", "See ab.\n")
