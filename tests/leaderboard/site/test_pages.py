"""Every page as a browser gets it: headers, cookies, error pages, markup without scripts, queries that do not grow."""

import re
from pathlib import Path

import pytest
from django.conf import settings
from django.core.cache import cache
from django.test import Client
from django.urls import reverse

from leaderboard.access.audience import audience_of
from leaderboard.benchmarks import listing
from leaderboard.models import Benchmark, Job, Membership
from leaderboard.models.submissions import Source
from leaderboard.queue.kinds import JOB_KINDS
from leaderboard.submissions.drafts import make_draft
from leaderboard.submissions.rows import SubmittedRow
from tests.markup import compact

BACKEND = "django.contrib.auth.backends.ModelBackend"
PUBLIC = ["home", "status", "board", "board_csv", "system", "batch", "batch_progress"]
SIGNED_IN = ["submit", "draft", "account_email", "account_change_password"]
ACCOUNT = ["account_login", "account_signup", "account_reset_password", "account_inactive"]


@pytest.fixture
def place(make):
    """The address of every page, on a benchmark with a board, a batch and a draft; `place.client` is signed in."""
    cache.clear()
    benchmark, user = make.benchmark(), make.user()
    batch = make.submitted(benchmark, "E", ["5"] * 5, by=user)
    benchmark = make.publish(benchmark)
    draft = make_draft(audience_of(user, benchmark), [SubmittedRow("F", {"task-1": "1"})], source=Source.FORM)
    arguments = {
        "board": [benchmark.key], "board_csv": [benchmark.key], "submit": [benchmark.key],
        "system": [benchmark.key, "e"], "draft": [draft.uuid], "batch": [batch.uuid], "batch_progress": [batch.uuid],
    }  # fmt: skip

    def path(name: str) -> str:
        return reverse(name, args=arguments.get(name))

    path.client, path.user, path.benchmark = Client(raise_request_exception=False), user, benchmark
    path.client.force_login(user, backend=BACKEND)
    return path


def policy(text: str) -> dict[str, list[str]]:
    return {name: values for name, *values in (directive.split() for directive in text.split(";"))}


def assert_guarded(answer) -> None:
    """The headers that every answer has."""
    assert policy(answer["Content-Security-Policy"]) == settings.CONTENT_SECURITY_POLICY["DIRECTIVES"]
    assert answer["X-Frame-Options"] == "DENY"
    assert answer["X-Content-Type-Options"] == "nosniff"
    assert answer["Referrer-Policy"] == "same-origin"
    assert answer["Cross-Origin-Opener-Policy"] == "same-origin"


def test_the_policy_of_the_site_allows_nothing_but_its_own():
    directives = dict(settings.CONTENT_SECURITY_POLICY["DIRECTIVES"])
    for name in ("default-src", "frame-ancestors", "base-uri"):
        assert directives.pop(name) == ["'none'"]
    assert {source for values in directives.values() for source in values} == {"'self'"}


@pytest.mark.parametrize("name", [*PUBLIC, *SIGNED_IN, *ACCOUNT])
def test_every_page_is_guarded(place, name):
    assert_guarded(place.client.get(place(name)))
    assert_guarded(Client().get(place(name)))


@pytest.mark.parametrize("name", PUBLIC)
def test_a_public_page_sets_no_cookie_and_holds_no_token(place, name):
    answer = Client().get(place(name))
    assert answer.status_code == 200
    assert (answer.cookies, "csrfmiddlewaretoken" in compact(answer)) == ({}, False)


@pytest.mark.parametrize("name", [*PUBLIC, *SIGNED_IN, *ACCOUNT])
def test_asking_for_the_head_of_a_page_gives_its_headers_alone(place, name):
    whole, head = place.client.get(place(name)), place.client.head(place(name))
    assert (head.status_code, head.content) == (whole.status_code, b"")
    assert head["Content-Type"] == whole["Content-Type"]


@pytest.mark.parametrize("name", [*PUBLIC, *SIGNED_IN, *ACCOUNT])
def test_no_page_holds_a_script_or_a_style_of_its_own(place, name):
    for client in (place.client, Client()):
        text = compact(client.get(place(name)))
        assert re.findall(r"<style|<script(?![^>]* src=|[^>]*ld.json)| on[a-z]+=| style=|javascript:", text) == []


# --- Error pages ---------------------------------------------------------------------------------------------------


def breaks(request, *args, **kwargs):
    raise RuntimeError("secret detail")


def errors(place, monkeypatch) -> dict[int, object]:
    from leaderboard.operations import views as status

    careful = Client(raise_request_exception=False, enforce_csrf_checks=True)
    careful.force_login(place.user, backend=BACKEND)
    answers = {
        400: place.client.get(place("board") + "?sort=nonsense"),
        404: place.client.get("/nothing/here"),
        403: careful.post(place("submit"), {}),
    }
    monkeypatch.setattr(status, "visible_jobs", breaks)
    answers[500] = place.client.get("/status/")
    return answers


def test_every_error_has_its_page_and_none_says_what_is_inside(place, monkeypatch):
    for code, answer in errors(place, monkeypatch).items():
        text = compact(answer)
        assert answer.status_code == code
        assert f">{code}<" in text
        assert 'href="/"' in text
        for inside in ("Traceback", "secret detail", "leaderboard/", "site-packages", "django", "Error"):
            assert inside not in text
        assert ("nonsense" in text) == (code == 400)  # which says what was wrong
        assert_guarded(answer)


def test_a_foreign_host_and_a_closed_benchmark_have_their_pages(place):
    assert "This request could not be read" in compact(
        Client().get("/", headers={"Host": "evil.example"}).content.decode()
    )
    place.benchmark.submission_policy = "closed"
    place.benchmark.save()
    closed = place.client.get(place("submit"))
    assert (closed.status_code, "Its submissions are closed." in compact(closed)) == (403, True)


def test_a_page_that_broke_needs_no_database_to_say_so(client, monkeypatch):
    from leaderboard.benchmarks import views as home

    monkeypatch.setattr(home, "listed", breaks)
    client.raise_request_exception = False
    answer = client.get("/")  # without a database: this test may not use one
    assert (answer.status_code, "Something went wrong on our side" in compact(answer)) == (500, True)


def test_readers_see_the_first_line_of_a_jobs_error_and_staff_the_rest(make):
    benchmark = make.benchmark()
    error = "ValueError: no such luck\n\nTraceback (most recent call last):\n  File /srv/secret.py"
    Job.objects.filter(queue="rankings").update(state="failed", attempts=3, error=error)
    for path in (reverse("board", args=[benchmark.key]), "/status/"):
        text = compact(Client().get(path))
        assert "no such luck" in text
        assert "Traceback" not in text
        assert "secret.py" not in text
    staff = Client()
    staff.force_login(make.user(is_staff=True), backend=BACKEND)
    assert "secret.py" in compact(staff.get("/status/"))


# --- Templates -----------------------------------------------------------------------------------------------------

TEMPLATES = sorted((settings.ROOT / "templates").rglob("*.html"))


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.name)
def test_no_template_holds_what_the_policy_refuses(path: Path):
    text = path.read_text(encoding="utf-8")
    own_script = r"<script(?![^>]* src=|[^>]*ld.json)[^>]*>"  # a block of data is none
    assert re.findall(rf"<style\b|{own_script}|\son[a-z]+\s*=|\sstyle\s*=|javascript:", text) == []
    assert re.findall(r"hx-on|hx-vals=.js:|\bjs:|hx-trigger=\"[^\"]*\[", text) == []
    without_papers = re.sub(r"<a href=\"https://arxiv\.org/abs/[\d.]+\"", "<a", text)
    assert re.findall(r"(?:src|href|action|hx-get|hx-post)=\"(?:https?:)?//", without_papers) == []


def test_the_only_text_that_templates_do_not_escape_is_sanitised_markdown_and_help_of_forms():
    variables = {
        (path.name, variable)
        for path in TEMPLATES
        for variable in re.findall(r"{{\s*([^}|]+)[^}]*\|safe[^}]*}}", path.read_text(encoding="utf-8"))
    }
    assert variables == {
        ("_board_about.html", "benchmark.description_html"),
        ("_field.html", "field.help_text"),
        ("document.html", "document.html"),
        ("rule_entry.html", "entry.definition_html"),
        ("rule_entry.html", "entry.options_html"),
        ("rule_entry.html", "entry.cost_html"),
    }
    assert not any("autoescape off" in path.read_text(encoding="utf-8") for path in TEMPLATES)


# --- Queries -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 12])
@pytest.mark.parametrize("address", ["/", "/?q=bench&tag=toy"])
def test_the_list_of_benchmarks_takes_four_queries_however_long_it_is_and_reads_no_report(
    make, client, n, address, django_assert_num_queries
):
    for _ in range(n):
        make.published(tags=["toy"])
    with django_assert_num_queries(4) as queries:
        text = compact(client.get(address))
    assert text.count(" most often: ") == n
    assert not [query["sql"] for query in queries if "leaderboard_report" in query["sql"]]


@pytest.mark.parametrize("n", [1, 8])
def test_somebody_who_moderates_hidden_boards_pays_one_query_for_all_of_them(
    make, client, n, django_assert_num_queries
):
    reader = make.user()
    for _ in range(n):
        make.published(score_view="own")
        Membership.objects.create(user=reader, benchmark=make.published(score_view="own"), role="moderator")
    client.force_login(reader)
    with django_assert_num_queries(7):  # two for the session and its user
        text = compact(client.get("/"))
    assert text.count(" most often: ") == n == text.count("The owners hide a part of its board")


def test_the_pages_of_the_list_are_links_that_keep_what_is_searched_for(make, client, monkeypatch):
    monkeypatch.setattr(listing, "PAGE_BENCHMARKS", 1)
    for number in range(5):
        make.benchmark({}, n_tasks=1, name=f"Toy & {number}", tags=["a b"])
    text = compact(client.get("/", {"q": "toy &", "tag": "a b", "page": "3"}))
    links = re.findall(r'<a (?:rel="(?:prev|next)" )?href="(/[^"]*page=[^"]*)">(\w+)</a>', text)
    start = "/?q=toy+%26&amp;tag=a+b&amp;page="
    expected = [(f"{start}{n}#benchmarks", word)
                for n, word in ((1, "First"), (2, "Previous"), (4, "Next"), (5, "Last"))]  # fmt: skip
    assert links == expected * 2  # above the list and below it
    assert "3 to 3 of 5 that match “toy &amp;” with the tag “a b”" in text


def test_the_list_may_be_kept_by_whoever_asks_again_and_is_another_for_everybody_who_signed_in(make, client):
    benchmark = make.published(name="Open")
    first = client.get("/")
    assert (first["Cache-Control"], first["Vary"]) == ("public, max-age=0, must-revalidate", "Cookie")
    again = client.get("/", HTTP_IF_NONE_MATCH=first["ETag"])
    assert (again.status_code, again.content, again["ETag"]) == (304, b"", first["ETag"])
    Benchmark.objects.filter(pk=benchmark.pk).update(visibility="private")
    after = client.get("/", HTTP_IF_NONE_MATCH=first["ETag"])
    assert (after.status_code, b"Open" in after.content) == (200, False)
    client.force_login(benchmark.memberships.get().user)
    own = client.get("/", HTTP_IF_NONE_MATCH=after["ETag"])
    assert (own.status_code, own["Cache-Control"]) == (200, "private, max-age=0, must-revalidate")
    assert not own.has_header("ETag")
    client.logout()
    assert client.get("/", HTTP_IF_NONE_MATCH=after["ETag"]).status_code == 304


@pytest.mark.parametrize("n", [2, 101])
def test_the_board_takes_four_queries_unpacked_or_not(make, client, n, django_assert_num_queries):
    benchmark = make.published({f"S{i:03}": [float(i)] for i in range(n)})
    for _ in range(2):
        with django_assert_num_queries(4):
            text = compact(client.get(reverse("board", args=[benchmark.key])))
    assert text.count('<th scope="row">') == min(n, 100)


@pytest.mark.parametrize("n", [1, 8])
def test_the_status_takes_twelve_queries_however_many_jobs_there_are(make, client, n, django_assert_num_queries):
    for _ in range(n):
        make.benchmark()
    with django_assert_num_queries(12):
        text = compact(client.get("/status/"))
    n_jobs = sum(kind.comes_with_revision for kind in JOB_KINDS.values())
    assert text.count('<time datetime="') == n_jobs * n


@pytest.mark.parametrize("n", [1, 8])
def test_the_page_of_a_system_takes_as_many_queries_for_many_submissions_as_for_one(
    make, client, n, django_assert_num_queries
):
    benchmark = make.benchmark()
    for _ in range(n):
        make.accepted(benchmark, {"A": [1.0] * 5, "B": [1.0] * 5})
    benchmark = make.publish(benchmark)
    cache.clear()
    with django_assert_num_queries(29):
        text = compact(client.get(reverse("system", args=[benchmark.key, "a"])))
    assert (text.count("<td>Accepted</td>"), text.lower().count("<td>replaced")) == (1, n)


def test_a_tag_that_there_is_not_is_named_and_not_taken_for_an_empty_site(make, client):
    benchmark = make.benchmark(name="Only one")
    benchmark.tags = ["known"]
    benchmark.save()
    text = " ".join(compact(client.get("/", {"tag": "<unknown>"})).split())
    assert "Nothing matches the tag “&lt;unknown&gt;”" in text
    assert "No benchmark that you can see has this tag." in text
    assert "No benchmark yet" not in text
    assert "Only one" in compact(client.get("/", {"tag": "known"}))
    nothing = compact(client.get("/", {"q": "a system & b"}))
    assert '<a href="/search/?q=a%20system%20%26%20b">search the whole site</a>' in nothing


def test_the_empty_fields_that_a_form_sends_along_do_not_stay_in_the_address(make, client):
    path = reverse("board", args=[make.published().key])
    answer = client.get(f"{path}?q=a&top=&least.size=&pin=a&page=2")
    assert (answer.status_code, answer.headers["Location"]) == (302, f"{path}?q=a&pin=a&page=2")
    assert client.get(answer.headers["Location"]).status_code == 200
