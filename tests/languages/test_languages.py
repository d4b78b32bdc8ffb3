"""Texts that can be translated: which templates are marked, whether the catalogue is current, what it shows."""

import re
from html.parser import HTMLParser

import pytest
from django.conf import settings
from django.test import Client
from django.urls import reverse

from leaderboard.models import Notice
from tests.factories import owner_of
from tests.languages.extraction import CATALOGUE, catalogue
from tests.languages.pseudo import pseudo
from tests.signing_in import signed_in

TEMPLATES = settings.ROOT / "templates"
NAMES = {"Plurank", "ID", "ORCID", "CSV", "JSON", "URL", "BibTeX", "SHA"}  # the same in every language
NO_PAGES = {"styleguide.html"}  # for programmers
CODE_IN_ATTRIBUTES = {"copeland variant lower"}  # an example of what to type
TAG = r"\{%.*?%\}|\{\{.*?\}\}|\{#.*?#\}"
MARKS = re.compile(r"\{% blocktranslate.*?\{% endblocktranslate %\}|\{% comment.*?\{% endcomment %\}", re.DOTALL)
# Texts in tags and filters, which `_("…")` marks. What begins with `is-` is a class, the others are words of HTML.
FILTERED = re.compile(r"\|(?:yesno|default|default_if_none):\"(?! ?is-|(?:none|submit)\")([^\"]*[^\W\d_]{2,}[^\"]*)\"")
HANDED_ON = re.compile(
    r"\w=\"([^\"]*[^\W\d_]{2,} [^\"]*|[A-Z][^\"]*)\"|\{% firstof [^%\"]*(?<!_\()\"([^\"]*[^\W\d_]{2,}[^\"]*)\""
)
TEXT_ATTRIBUTES = re.compile(
    r"(?:\b(?:aria-label|data-label|title|placeholder|alt)|description\"\s+content)=\"([^\"]*)\""
)


def unmarked_in(source: str) -> list[str]:
    """The texts of a template that nothing marks."""
    source = re.sub(
        r"<!--.*?-->|<!DOCTYPE[^>]*>|<(style|script|code|pre)\b.*?</\1>", "", MARKS.sub("", source), flags=re.S
    )
    in_tags = [text for tag in re.findall(r"\{% (?:include|firstof).*?%\}", source) for text in HANDED_ON.findall(tag)]
    in_tags = ["".join(pair) for pair in in_tags] + FILTERED.findall(source)
    source = re.sub(TAG, "", source, flags=re.DOTALL)
    texts = [*in_tags, *TEXT_ATTRIBUTES.findall(source), *re.split(r"<[^>]*>", source)]
    words = (" ".join(re.findall(r"[^\W\d_]{2,}", re.sub(r"&\w+;", " ", text))) for text in texts)
    return [word for word in words if set(word.split()) - NAMES and word not in CODE_IN_ATTRIBUTES]


TEMPLATE_NAMES = sorted(
    file.relative_to(TEMPLATES).as_posix()
    for pattern in ("*.html", "*.txt")
    for file in TEMPLATES.rglob(pattern)
    if file.name not in NO_PAGES
)


@pytest.mark.parametrize("name", TEMPLATE_NAMES)
def test_every_text_of_a_template_is_marked(name):
    assert unmarked_in((TEMPLATES / name).read_text(encoding="utf-8")) == []


def test_an_unmarked_text_is_seen_wherever_it_is():
    assert unmarked_in('<p class="a">Hello {{ you }}</p>') == ["Hello"]
    assert unmarked_in('{% if a %}yes{% endif %}<a aria-label="More" href="x">{% translate "Go" %}</a>') == [
        "More",
        "yes",
    ]
    assert unmarked_in(
        '<p>{{ a|default:"no one" }}{{ b|default:_("all") }}</p>{% include "x y.html" with a="The end" %}'
    ) == [
        "The end",
        "no one",
    ]
    assert unmarked_in('{% firstof a "none" %}{% firstof a _("none") %}<code>is code</code>') == ["none"]
    assert unmarked_in('<meta property="og:description" content="Many rules">') == ["Many rules"]
    assert unmarked_in("<h1>Plurank</h1>{% blocktranslate %}All <b>fine</b>{% endblocktranslate %}&nbsp;·") == []


def test_the_catalogue_has_the_texts_that_are_marked_now():
    assert CATALOGUE.read_text(encoding="utf-8") == catalogue(), "`make messages` writes it"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Sign in", "⟦Sígñ íñ·⟧"),
        ("%(n)s <b>scores</b> &amp; 5 %%", "⟦%(n)s <b>sçóréś</b> &amp; 5 %%··⟧".replace("ś", "s")),
    ],
)
def test_the_pseudo_language_keeps_placeholders_and_markup(text, expected):
    assert pseudo(text) == expected


class _Texts(HTMLParser):
    """The texts of a page with the element that each is in; not those of documents, which are said to be English."""

    def __init__(self):
        super().__init__()
        self.texts, self._open = [], []

    def handle_starttag(self, tag, attrs):
        if tag not in ("meta", "link", "input", "br", "img", "path", "circle", "rect", "line", "hr", "use"):
            self._open.append((tag, tag != "html" and ("lang", "en") in attrs))

    def handle_endtag(self, tag):
        while self._open and self._open.pop()[0] != tag:
            pass

    def handle_data(self, data):
        element = self._open[-1][0] if self._open else "script"
        if data.strip() and element not in ("script", "style") and not any(english for _, english in self._open):
            self.texts.append((element, data))


def text_of(page: bytes) -> list[tuple[str, str]]:
    parser = _Texts()
    parser.feed(page.decode())
    return parser.texts


def without_marked(page: bytes) -> str:
    """What a page shows outside of the brackets of the pseudo-language."""
    return re.sub(r"⟦[^⟦⟧]*⟧", "", " ".join(text for _, text in text_of(page)))


def test_a_page_of_the_frame_alone_shows_nothing_unmarked(db, pseudo_language):
    page = Client().get("/nothing/here/")
    assert page.status_code == 404
    assert re.findall(r"[^\W\d_]{2,}", without_marked(page.content)) == ["Plurank"]


@pytest.mark.parametrize(
    "route",
    [
        "dashboard", "profile", "notices", "notice_choices", "tokens", "sessions", "close_account", "organisations",
        "account_email", "account_change_password", "mfa_index", "account_logout", "submit", "upload", "manage_queue",
        "manage_people", "manage_webhooks", "manage_following",
    ],
)  # fmt: skip
def test_headings_heads_of_tables_and_buttons_are_in_the_language_of_the_site(make, pseudo_language, route):
    benchmark = make.published({"Sys": [1.0, 2.0]}, name="Bench")
    owner = owner_of(benchmark)
    Notice.objects.create(user=owner, kind="waiting", key="1", text="A", path="/")
    of_benchmark = route in ("submit", "upload") or route.startswith("manage")
    page = signed_in(owner).get(reverse(route, args=[benchmark.key] if of_benchmark else []))
    assert page.status_code in (200, 302)
    texts = text_of(page.content)
    plain = [text.strip() for tag, text in texts if tag in ("h1", "h2", "h3", "button", "legend", "nav")]
    data = {"owner", "Bench", *(task.name for task in benchmark.tasks.all())}
    unmarked = [text for text in plain if "⟦" not in text and text not in data and re.search(r"[^\W\d_]{2,}", text)]
    assert unmarked == []


def test_signing_in_and_up_are_in_the_language_of_the_site(db, pseudo_language):
    for route in ("account_login", "account_signup", "account_reset_password"):
        plain = [text for tag, text in text_of(Client().get(reverse(route)).content) if tag in ("h1", "h2", "button")]
        assert plain
        assert all("⟦" in text for text in plain)
