"""Markdown from people: what of it becomes markup, and what never does."""

import re

import pytest

from leaderboard.common.markdown import render_markdown


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("", ""),
        ("Some *text*.", "<p>Some <em>text</em>.</p>\n"),
        ("# One\n## Two\n### Three", "<h3>One</h3>\n<h4>Two</h4>\n<h5>Three</h5>\n"),
        ("[a](https://a.example/)", '<p><a href="https://a.example/" rel="noopener nofollow">a</a></p>\n'),
        ("[a](mailto:b@plurank.example)", '<p><a href="mailto:b@plurank.example" rel="noopener nofollow">a</a></p>\n'),
        ("`<h1>`", "<p><code>&lt;h1&gt;</code></p>\n"),
    ],
)
def test_plain_markdown_becomes_html_below_the_headings_of_the_page(text, html):
    assert render_markdown(text) == html


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "<style>*{}</style>", "<iframe src=//a>",
        "<a href=# onclick=alert(1)>x</a>", "<svg onload=alert(1)>", "<!-- x --><form action=//a>", "<base href=//a>",
    ],
)  # fmt: skip
def test_raw_html_stays_text(text):
    html = render_markdown(text)
    assert re.findall("<[^>]*>", html) == ["<p>", "</p>"]
    assert html.count("&lt;") == text.count("<")


@pytest.mark.parametrize(
    "target",
    ["javascript:alert(1)", "JaVaScRiPt:alert(1)", "&#106;avascript:alert(1)", "java\tscript:alert(1)", "vbscript:x",
     "data:text/html;base64,PHNjcmlwdD4=", "file:///etc/passwd", "<javascript:alert(1)>"],
)  # fmt: skip
def test_a_link_that_runs_or_reads_something_is_no_link(target):
    for text in (f"[a]({target})", f"<{target}>", f"[a]: {target}\n\n[a]"):
        assert "href" not in render_markdown(text).lower().replace('href="%3cjavascript', "href")


def test_an_image_is_not_fetched():
    assert "<img" not in render_markdown("![a](https://a.example/pixel.png)")
    assert "pixel" not in render_markdown("![a](https://a.example/pixel.png)")
