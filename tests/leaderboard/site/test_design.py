"""The design system: colours that can be read and told apart, components on the style guide, pages that are light."""

import gzip
import itertools
import re
from pathlib import Path

import pytest
from django.conf import settings
from django.contrib.staticfiles import finders
from django.test import Client
from django.urls import reverse

TOKENS = (Path(settings.ROOT) / "static" / "css" / "tokens.css").read_text()
SCHEMES = {"light": 0, "dark": 1}
DIVERGING = [f"{way}-{step}" for way in ("better", "worse") for step in (1, 2, 3, 4)]
# What is written on what: text needs 4.5 to 1, marks need 3 to 1 (WCAG 2.2, 1.4.3 and 1.4.11).
TEXT = [
    *[(ink, ground) for ink in ("ink", "ink-soft", "accent") for ground in ("paper", "sheet", "shade", "accent-tint")],
    *[("ink", ground) for ground in [*DIVERGING, "level-1", "level-2", "level-3"]],
    *[(way, ground) for way in ("better", "worse") for ground in ("sheet", f"{way}-1", f"{way}-2")],
    ("on-accent", "accent"), ("on-accent", "accent-strong"), ("on-accent", "level-5"),
    *[(state, ground) for state in ("alert", "sound", "warn") for ground in ("paper", "sheet", f"{state}-tint")],
    ("ink", "note-tint"),
]  # fmt: skip
MARKS = [(name, "sheet") for name in [*(f"series-{k}" for k in range(1, 8)), "rule", "accent", "level-4"]]
MARKS += [("rule", "paper")]
# How colours look to those who lack a kind of cone (Machado, Oliveira and Fernandes 2009, severity 1), linear sRGB.
BLINDNESS = {
    "protanopia": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "deuteranopia": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881)),
    "tritanopia": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.303900)),
}


def colour(name: str, scheme: str) -> tuple[float, float, float]:
    """A token's colour in one scheme, as linear sRGB."""
    declaration = re.search(rf"^  --{name}: light-dark\((#\w{{6}}), (#\w{{6}})\);", TOKENS, re.MULTILINE)
    text = declaration[1 + SCHEMES[scheme]]
    return tuple(linear(int(text[i : i + 2], 16) / 255) for i in (1, 3, 5))


def linear(channel: float) -> float:
    return channel / 12.92 if channel <= 0.04045 else ((channel + 0.055) / 1.055) ** 2.4


def luminance(rgb) -> float:
    return sum(weight * channel for weight, channel in zip((0.2126, 0.7152, 0.0722), rgb, strict=True))


def contrast(one, other) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_text_has_a_contrast_of_four_and_a_half_and_marks_of_three(scheme):
    contrasts = {pair: contrast(*(colour(name, scheme) for name in pair)) for pair in TEXT + MARKS}
    too_faint = {pair: round(ratio, 2) for pair, ratio in contrasts.items() if ratio < (4.5 if pair in TEXT else 3)}
    assert too_faint == {}


def seen(rgb, blindness: str | None) -> tuple[float, float, float]:
    """A colour as OKLab, seen with a kind of colour vision."""
    if blindness:
        rgb = [max(0.0, sum(m * c for m, c in zip(row, rgb, strict=True))) for row in BLINDNESS[blindness]]
    r, g, b = rgb
    roots = [
        (0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b) ** (1 / 3),
        (0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b) ** (1 / 3),
        (0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b) ** (1 / 3),
    ]
    mix = ((0.2104542553, 0.7936177850, -0.0040720468), (1.9779984951, -2.4285922050, 0.4505937099),
           (0.0259040371, 0.7827717662, -0.8086757660))  # fmt: skip
    return tuple(sum(m * root for m, root in zip(row, roots, strict=True)) for row in mix)


def distance(one, other, blindness) -> float:
    return sum((a - b) ** 2 for a, b in zip(seen(one, blindness), seen(other, blindness), strict=True)) ** 0.5


@pytest.mark.parametrize("blindness", [None, "protanopia", "deuteranopia", "tritanopia"])
@pytest.mark.parametrize("scheme", SCHEMES)
def test_better_and_worse_are_told_apart_with_every_kind_of_colour_vision_and_deepen_step_by_step(scheme, blindness):
    sheet = colour("sheet", scheme)
    steps = {name: colour(name, scheme) for name in DIVERGING}
    for step in (2, 3, 4):
        assert distance(steps[f"better-{step}"], steps[f"worse-{step}"], blindness) > 0.03
    for way in ("better", "worse"):
        depths = [distance(sheet, steps[f"{way}-{step}"], blindness) for step in (1, 2, 3, 4)]
        assert depths == sorted(depths)
        assert min(b - a for a, b in itertools.pairwise([0, *depths])) > 0.015


def test_a_style_sheet_names_no_colour_of_its_own_and_no_token_that_there_is_not():
    known = set(re.findall(r"^\s*(--[\w-]+):", TOKENS, re.MULTILINE))
    for sheet in sorted((Path(settings.ROOT) / "static" / "css").glob("*.css")):
        text = re.sub(r"/\*.*?\*/", "", sheet.read_text(), flags=re.DOTALL)
        own = set(re.findall(r"(--[\w-]+):", text))
        assert set(re.findall(r"var\((--[\w-]+)", text)) <= known | own, sheet.name
        if sheet.name != "tokens.css":
            on_screen = text.partition("@media print")[0]
            assert set(re.findall(r"#[0-9a-fA-F]{3,8}\b", on_screen)) <= {"#0000"}, sheet.name


def test_the_style_guide_shows_every_component(db, settings):
    settings.DEBUG = True
    response = Client().get("/styleguide/")
    used = {template.name for template in response.templates}
    components = {f"components/{path.name}" for path in (Path(settings.ROOT) / "templates" / "components").iterdir()}
    shared = {f"common/_{name}.html" for name in ("rank", "move", "pages")}
    shared |= {"studies/_bar.html", "boards/_rule_head.html", "_mark.html", "_field.html"}
    assert (response.status_code, (components | shared) - used) == (200, set())


def test_the_style_guide_is_there_in_debug_mode_only(db):
    assert Client().get("/styleguide/").status_code == 404


def test_a_page_takes_less_than_60_kb_of_style_sheets_and_scripts(make):
    benchmark = make.published()
    names = ["board", "prospects", "stability", "history", "instances", "submit"]
    paths = [reverse(name, args=[benchmark.key]) for name in names]
    paths += [reverse("rule", args=[benchmark.key, "borda"]), reverse("system", args=[benchmark.key, "a"])]
    client = Client()
    client.force_login(benchmark.memberships.get().user, backend="django.contrib.auth.backends.ModelBackend")
    for path in [*paths, "/", "/landscape/", "/status/"]:
        body = client.get(path).content.decode()
        linked = re.findall(r'(?:href|src)="/static/([^"]+\.(?:css|m?js))"', body)
        assert linked, path
        weight = sum(len(gzip.compress(Path(finders.find(name)).read_bytes())) for name in linked)
        assert weight < 60_000, path
