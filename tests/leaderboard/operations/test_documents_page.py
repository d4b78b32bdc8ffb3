"""The documentation on the site: every page is there, every link leads somewhere, nothing comes from elsewhere."""

import doctest
import re

import pytest
from django.test.utils import override_script_prefix

from leaderboard.common.documents import FIRST_HOURS, FOLDER, find_document, first_hours
from leaderboard.common.markdown import render_document
from tests.reference import REPOSITORY

PAGES = sorted(file.relative_to(FOLDER).with_suffix("").as_posix() for file in FOLDER.rglob("*.md"))


def address(page: str) -> str:
    return f"/docs/{page.removesuffix('/README')}/"


@pytest.mark.django_db
def test_the_list_begins_with_the_first_hour_of_five_people_and_leads_to_every_page(client):
    page = client.get("/docs/").content.decode()
    assert [listed.path for listed in first_hours()] == [f"first-hour/{who}" for who in FIRST_HOURS]
    listed = re.findall(r'href="(/docs/[^"]+)"', page)
    assert set(listed) >= {address(page) for page in PAGES if "/" not in page or page.startswith("first-hour/")}
    assert 'href="/docs/"' in client.get("/landscape/").content.decode()


@pytest.mark.django_db
@pytest.mark.parametrize("page", PAGES)
def test_a_page_reads_whole_and_its_links_and_pictures_lead_somewhere(client, page):
    answer = client.get(address(page))
    body = answer.content.decode().partition('<article class="doc" lang="en">')[2].partition("</article>")[0]
    title = (FOLDER / f"{page}.md").read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ")
    assert answer.status_code == 200
    assert re.sub("<[^>]*>", "", body).lstrip().startswith(title.replace("`", ""))
    assert all(source.startswith("/docs/files/") for source in re.findall(r'<img src="([^"]*)"', body))
    inner = {link.partition("#")[0] for link in re.findall(r'(?:href|src)="(/[^"]*)"', body)}
    assert {link for link in inner if client.get(link, follow=True).status_code != 200} == set()
    anchors = re.findall(r'href="#([^"]+)"', body)
    assert {anchor for anchor in anchors if f'id="{anchor}"' not in body} == set()
    assert " style=" not in body
    assert "<script" not in body


def test_links_lead_below_the_path_at_which_the_site_is_asked_for():
    def links_of(prefix: str) -> set[str]:
        with override_script_prefix(prefix):
            return set(re.findall(r'href="(/[^"#]*)', find_document("api").html))

    links = links_of("/")
    assert links
    assert links_of("/boards/") == {f"/boards{link}" for link in links}
    assert links_of("/") == links


@pytest.mark.parametrize("path", ["../config/settings/", "rules/nothing/", "files/../../manage.py", "files/api.md"])
def test_nothing_but_the_documentation_is_served(client, path):
    assert client.get(f"/docs/{path}").status_code == 404


def test_the_examples_of_the_first_hour_run():
    results = [doctest.testfile(str(FOLDER / "first-hour" / f"{who}.md"), module_relative=False) for who in FIRST_HOURS]
    assert sum(result.attempted for result in results) == 6
    assert sum(result.failed for result in results) == 0


def test_raw_html_stays_text_and_addresses_that_run_something_are_no_links():
    html, headings = render_document("# A `b`\n\n<b>x</b>\n\n## A b\n\n[a](javascript:x) [c](no.md)", lambda _: "")
    assert "&lt;b&gt;" in html
    assert "href" not in html
    assert [(heading.text, heading.anchor) for heading in headings] == [("A b", "a-b"), ("A b", "a-b-1")]


def test_code_that_is_the_address_of_a_page_is_a_link_unless_it_is_in_one():
    html, _ = render_document("`/try/` `/nowhere/` [see `/try/`](/rules/)", lambda target: target, {"/try/": "/try/"})
    assert html == (
        '<p><a href="/try/"><code>/try/</code></a> <code>/nowhere/</code> '
        '<a href="/rules/">see <code>/try/</code></a></p>\n'
    )
    owner = find_document("first-hour/owner")
    assert 'href="/rules/choose/"' in owner.html


def test_the_image_of_a_deployment_holds_the_documentation():
    ignored = (REPOSITORY / ".dockerignore").read_text(encoding="utf-8").split()
    assert not any(line.strip("/").startswith("docs") for line in ignored)
    assert find_document("operate") is not None
