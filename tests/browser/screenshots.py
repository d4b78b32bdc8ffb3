"""Take the pictures of `docs/screenshots/`: `make screenshots`, with words of file names in ARGS for some of them.

    python -m tests.browser.screenshots [--keep FOLDER] [board prospects ...]

A database and a web server of its own; nothing of a site that stands on this machine is touched. With `--keep` the
stage stays in FOLDER, and is taken from there the next time.
"""

import argparse
import json
import os
import shutil
import sys
import tempfile
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Page, Route

ROOT = Path(__file__).resolve().parents[2]
TARGET = ROOT / "docs" / "screenshots"
QUALITY = 55
HEADING = "## All pictures"
MOST_BYTES = 11_000_000
DESK, PHONE = 1280, 390
ONE_PHONE = ((PHONE, "light"),)
TALLEST = {DESK: 900, PHONE: 900}  # pixels of a page; a picture ends there


@dataclass(frozen=True)
class Shot:
    """One page: its file name, its address, who looks, and in which widths and colours."""

    name: str
    path: str
    who: str = ""  # nobody has signed in where empty
    forms: tuple[tuple[int, str], ...] = ((DESK, "light"),)
    part: str = ""  # what it scrolls to, where not the top


ALL = ((DESK, "light"), (DESK, "dark"), (PHONE, "light"))
NARROW = ((DESK, "light"), (PHONE, "light"))
NARROW_DARK = ((DESK, "light"), (PHONE, "dark"))


def shots(at: dict[str, str]) -> list[Shot]:
    """Every page; `at` are the parts of addresses that are made with the stage."""
    return [
        Shot("home", "/", forms=ALL),
        Shot("board", "/b/glue/", forms=ALL),
        Shot("board-narrowed", "/b/glue/?q=bert-large&pin=t5&family=majority", forms=ONE_PHONE, part=".chips"),
        Shot("board-no-match", "/b/glue/?q=zzz", forms=ONE_PHONE, part=".chips"),
        Shot("board-files", "/b/glue/", forms=NARROW, part="#downloads"),
        Shot("board-empty", "/b/empty/"),
        Shot("board-gaps", "/b/helm-accuracy/?scores=1", forms=NARROW),
        Shot("scores", "/b/glue/scores/", forms=NARROW_DARK),
        Shot("task", "/b/glue/tasks/cola/", forms=NARROW_DARK),
        Shot("pareto", "/b/vtab/pareto/", forms=NARROW),
        Shot("rule", "/b/glue/rules/copeland/", forms=NARROW_DARK),
        Shot("rule-properties", "/b/glue/rules/copeland/", part="#properties"),
        Shot("system", "/b/vtab/systems/sup-exemplar-100/", forms=NARROW),
        Shot("system-takes", "/b/vtab/systems/rotation/?above=sup-100", part=".what-it-takes", forms=NARROW),
        Shot("agreement", "/b/glue/agreement/?pin=ernie", forms=NARROW_DARK),
        Shot("agreement-figures", "/b/glue/agreement/", part="#figures", forms=NARROW),
        Shot("head-to-head", "/b/helm-accuracy/head-to-head/", forms=NARROW_DARK),
        Shot("head-to-head-pair", "/b/glue/head-to-head/?a=ernie&b=t5", forms=NARROW, part="#pair"),
        Shot("head-to-head-several", "/b/glue/head-to-head/?pin=ernie&pin=t5&pin=vega-v1", part="#pair", forms=NARROW),
        Shot("prospects", "/b/glue/prospects/", forms=NARROW),
        Shot("prospects-conditions", "/b/glue/prospects/?of1=task:cola&least1=30"),
        Shot("what-if", "/b/glue/what-if/?weights=cola:3", forms=NARROW),
        Shot("what-if-groups", "/b/helm-accuracy/what-if/", forms=((PHONE, "dark"),)),
        Shot("stability", "/b/vtab/stability/", forms=NARROW),
        Shot(
            "experiments", "/b/glue/experiments/?study=missing_scores", who="submitter", part="#run", forms=NARROW_DARK
        ),
        Shot("experiment", f"/b/glue/experiments/{at['experiment']}/", part="#result", forms=NARROW),
        Shot("instances", "/b/instanced/instances/", forms=NARROW),
        Shot("instances-none", "/b/glue/instances/"),
        Shot("history", "/b/vtab/history/", forms=NARROW_DARK),
        Shot("compare", "/b/vtab/history/compare/?from=2&to=3", forms=NARROW),
        Shot("release", "/b/vtab/releases/first-edition/"),
        Shot("embed", "/b/glue/embed/?top=10"),
        Shot("rules", "/rules/", forms=NARROW_DARK),
        Shot("rule-page", "/rules/copeland/", forms=NARROW),
        Shot("choose-rule", "/rules/choose/?scores=orders&gaps=yes&winner=condorcet", forms=NARROW),
        Shot("try", "/try/?example=1", forms=NARROW_DARK),
        Shot("compare-benchmarks", "/compare/?b=heim-aesthetics-human&b=heim-alignment-human", forms=NARROW),
        Shot("landscape", "/landscape/", forms=NARROW),
        Shot("documents", "/docs/", forms=NARROW_DARK),
        Shot("document", "/docs/first-hour/reader/"),
        Shot("papers", "/papers/", forms=NARROW),
        Shot("status", "/status/", who="owner", forms=NARROW),
        Shot("submit", "/b/glue/submit/", who="submitter", forms=NARROW),
        Shot("draft", f"/drafts/{at['draft']}/", who="submitter", forms=NARROW_DARK),
        Shot("draft-table", f"/drafts/{at['table_draft']}/", who="submitter", forms=NARROW),
        Shot("upload", "/b/glue/upload/", who="submitter"),
        Shot("submission-pending", f"/submissions/{at['pending']}/", who="submitter", forms=NARROW),
        Shot("submission", f"/submissions/{at['accepted']}/", who="submitter", forms=NARROW_DARK),
        Shot("correct", f"/b/vtab/correct/{at['correct']}/", who="owner"),
        Shot("new", "/new/", who="submitter"),
        Shot("new-draft", f"/new/{at['new']}/", who="submitter", forms=NARROW),
        Shot("manage", "/b/vtab/manage/", who="owner", forms=NARROW_DARK),
        Shot("manage-tasks", "/b/vtab/manage/tasks/", who="owner", forms=NARROW),
        Shot("manage-metadata", "/b/vtab/manage/metadata/", who="owner", forms=NARROW),
        Shot("manage-queue", "/b/vtab/manage/queue/", who="owner", forms=NARROW),
        Shot("manage-decide", f"/b/vtab/manage/queue/{at['pending']}/", who="owner", forms=NARROW_DARK),
        Shot("manage-people", "/b/vtab/manage/people/", who="owner", forms=NARROW),
        Shot("manage-audit", "/b/vtab/manage/audit/", who="owner", forms=NARROW),
        Shot("manage-releases", "/b/vtab/manage/releases/", who="owner"),
        Shot("manage-webhooks", "/b/vtab/manage/webhooks/", who="owner", forms=NARROW_DARK),
        Shot("manage-studies", "/b/vtab/manage/studies/", who="owner", forms=NARROW),
        Shot("manage-following", "/b/glue/manage/following/", who="owner", forms=NARROW_DARK),
        Shot("manage-references", "/b/hidden/manage/references/", who="owner"),
        Shot("manage-task-references", "/b/hidden/manage/references/animals/", who="owner", forms=NARROW_DARK),
        Shot("manage-phases", "/b/hidden/manage/phases/", who="owner", forms=NARROW_DARK),
        Shot("predictions", "/b/hidden/predictions/", who="submitter", forms=NARROW_DARK),
        Shot("new-predictions", "/b/hidden/predictions/new/", who="submitter", forms=NARROW_DARK),
        Shot("prediction", f"/predictions/{at['prediction']}/", who="submitter", forms=NARROW_DARK),
        Shot("prediction-refused", f"/predictions/{at['refused']}/", who="submitter", forms=ONE_PHONE),
        Shot("team", "/b/hidden/team/", who="submitter", forms=NARROW_DARK),
        Shot("votes", "/b/answers/votes/", forms=NARROW_DARK),
        Shot("send-votes", "/b/answers/votes/send/", who="submitter", forms=NARROW_DARK),
        Shot("vote-batch", f"/votes/{at['votes']}/", who="owner", forms=NARROW_DARK),
        Shot("manage-votes", "/b/answers/manage/votes/", who="owner", forms=NARROW_DARK),
        Shot("try-votes", "/try/votes/", forms=NARROW_DARK),
        Shot("organisations", "/account/organisations/", who="submitter", forms=NARROW_DARK),
        Shot("organisation", "/o/laboratory/", who="submitter", forms=NARROW_DARK),
        Shot("organisation-manage", "/o/laboratory/manage/", who="owner", forms=NARROW_DARK),
        Shot("organisation-join", f"/organisations/join/{at['organisation']}/", forms=ONE_PHONE),
        Shot("sign-in", "/account/login/", forms=NARROW_DARK),
        Shot("sign-up", "/account/signup/"),
        Shot("password", "/account/password/reset/"),
        Shot("account", "/account/", who="submitter", forms=NARROW_DARK),
        Shot("search", "/search/?q=bert", forms=NARROW),
        Shot("account-email", "/account/email/", who="submitter"),
        Shot("account-tokens", "/account/tokens/", who="submitter", forms=NARROW_DARK),
        Shot("account-notices", "/account/notices/", who="submitter"),
        Shot("account-choices", "/account/notices/choices/", who="submitter"),
        Shot("account-sessions", "/account/sessions/", who="submitter"),
        Shot("account-second-factor", "/account/second-factor/", who="submitter"),
        Shot("account-close", "/account/close/", who="submitter"),
        Shot("api", "/api/docs/", forms=NARROW),
        Shot("error-400", "/b/glue/?sort=nonsense", forms=NARROW_DARK),
        Shot("error-403", "/b/glue/manage/", who="submitter"),
        Shot("error-404", "/b/nothing-here/"),
        Shot("takedown", f"/submissions/{at['correct']}/takedown/", who="owner"),
        Shot("join", f"/join/{at['invitation']}/", who="submitter"),
        Shot("unsubscribe", f"/unsubscribe/{at['unsubscribe']}/"),
        *(Shot(path.strip("/"), path) for path in DRAWN),
    ]


def render_page(template: str, context: dict[str, str] | None = None) -> str:
    """A template as a reader without an account gets it."""
    from django.contrib.auth.models import AnonymousUser
    from django.template.loader import render_to_string
    from django.test import RequestFactory

    request = RequestFactory().get("/")
    request.user = AnonymousUser()
    return render_to_string(template, context, request=request)


def styleguide_page() -> str:
    """The page that is there in debug mode only."""
    from django.test import Client, override_settings

    with override_settings(DEBUG=True, ALLOWED_HOSTS=["testserver"]):
        return Client().get("/styleguide/").text


# Pages that the stage has no cause to show: their templates, drawn beside it, in the site's own style sheets.
DRAWN = {
    "/error-410/": lambda: render_page("410.html", {"reason": "Scores of this revision were taken down."}),
    "/error-429/": lambda: render_page("429.html"),
    "/error-500/": lambda: render_page("500.html"),
    "/error-503/": lambda: render_page("503.html"),
    "/styleguide/": styleguide_page,
}


def main() -> None:
    """Make or find the stage, serve it, look at every page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("words", nargs="*", help="only pictures whose names hold one of these")
    parser.add_argument("--keep", type=Path, help="folder of the stage")
    parser.add_argument("--to", type=Path, default=TARGET, help="folder of the pictures")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        var = (chosen.keep or Path(folder)).resolve()
        os.environ.pop("DATABASE_URL", None)
        os.environ.pop("REDIS_URL", None)
        os.environ |= {
            "DJANGO_SETTINGS_MODULE": "config.settings",
            "PLURANK_VAR": str(var),
            "PLURANK_DEBUG": "false",
            "PLURANK_STUDIES_RUN": "demand",
            "PLURANK_ON_DEMAND_SECONDS": "60",  # a busy machine takes longer, and leaves rules and estimates out
            "DJANGO_ALLOW_ASYNC_UNSAFE": "true",  # Playwright's loop runs in this thread
        }
        take(var, chosen.words, chosen.to)


def take(var: Path, words: list[str], target: Path) -> None:
    """Take the pictures whose names hold one of the words; all where there are none."""
    import django
    from django.core.management import call_command

    django.setup()
    from tests.running_site import RunningSite

    known = var / "stage.json"
    if not known.exists():
        call_command("migrate", verbosity=0)
        known.write_text(json.dumps(names_of_stage()))
    at = json.loads(known.read_text())
    call_command("collectstatic", verbosity=0, interactive=False, clear=True)
    site = RunningSite(var, f"sqlite:///{var / 'plurank.sqlite3'}", lease_seconds=30, PLURANK_DEBUG="false")
    wanted = [shot for shot in shots(at) if not words or any(word in shot.name for word in words)]
    target.mkdir(parents=True, exist_ok=True)
    try:
        site.start("web", "rankings", "studies", "sweep")
        site.wait_for_web(60)
        photograph(site.url, wanted, at, target)
    finally:
        site.stop_all()
    if not words:
        list_pictures(wanted, target)
    files = list(target.glob("*.jpg"))
    size = sum(file.stat().st_size for file in files)
    print(f"{len(files)} pictures in {target}, {size / 1e6:.1f} MB")
    if size > MOST_BYTES:
        sys.exit(f"They are larger than {MOST_BYTES / 1e6:.0f} MB together.")


def list_pictures(taken: list[Shot], target: Path) -> None:
    """Delete pictures that nobody takes any more, and list the others at the end of the page about them."""
    names = {f"{shot.name}-{width}-{scheme}.jpg" for shot in taken for width, scheme in shot.forms}
    for file in target.glob("*.jpg"):
        if file.name not in names:
            file.unlink()
    page = target.with_suffix(".md")
    if not page.exists():
        return
    text = page.read_text(encoding="utf-8")
    lines = [
        f"- {shot.name.replace('-', ' ')}: "
        + ", ".join(f"[{width} {scheme}](screenshots/{shot.name}-{width}-{scheme}.jpg)" for width, scheme in shot.forms)
        for shot in taken
    ]
    page.write_text(text[: text.index(HEADING)] + HEADING + "\n\n" + "\n".join(lines) + "\n", encoding="utf-8")


def names_of_stage() -> dict[str, str]:
    """Make the stage; the value says where its things are, and as whom to sign in."""
    from django.conf import settings
    from django.test import Client

    from tests.browser.stage import set_stage

    stage = set_stage()
    at = {
        "draft": stage.draft.uuid,
        "table_draft": stage.table_draft.uuid,
        "pending": stage.pending.uuid,
        "accepted": stage.accepted.uuid,
        "correct": stage.corrected.uuid,
        "new": stage.new.uuid,
        "experiment": stage.experiment.pk,
        "invitation": stage.invitation,
        "unsubscribe": stage.unsubscribe,
        "prediction": stage.hosted.prediction.uuid,
        "refused": stage.hosted.refused.uuid,
        "votes": stage.hosted.vote_batch.uuid,
        "organisation": stage.hosted.organisation_secret,
    }
    for who in ("owner", "submitter"):
        client = Client()
        client.force_login(getattr(stage, who), backend="django.contrib.auth.backends.ModelBackend")
        at[f"{who}_cookie"] = client.cookies[settings.SESSION_COOKIE_NAME].value
    return {name: str(value) for name, value in at.items()} | {"cookie": settings.SESSION_COOKIE_NAME}


def photograph(url: str, wanted: list[Shot], at: dict[str, str], target: Path) -> None:
    """Look at pages in the machine's own Chromium; complains of whatever its console says."""
    from playwright.sync_api import sync_playwright

    path = shutil.which("chromium") or shutil.which("chromium-browser") or "/usr/bin/chromium"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-gpu"])
        for who in ("", "owner", "submitter"):
            context = browser.new_context(reduced_motion="reduce")
            if who:
                cookie = {"name": at["cookie"], "value": at[f"{who}_cookie"], "url": url}
                context.add_cookies([cookie])
            page = context.new_page()
            for path, draw in DRAWN.items():
                page.route(url + path, partial(_fulfil, draw()))
            for shot in (shot for shot in wanted if shot.who == who):
                _take(page, url, shot, target)
            context.close()
        browser.close()


def _fulfil(html: str, route: "Route") -> None:
    route.fulfill(body=html, content_type="text/html")


def _take(page: "Page", url: str, shot: Shot, target: Path) -> None:
    for width, scheme in shot.forms:
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme=scheme)
        answer = page.goto(url + shot.path)
        page.wait_for_load_state("networkidle")
        if answer.status >= 400 and not shot.name.startswith("error-"):
            print(f"{shot.name}: {shot.path} answers {answer.status}")
        top = 0
        if shot.part:
            place = page.locator(shot.part)
            if place.count() == 0:
                print(f"{shot.name}: {shot.part} is not on {shot.path}")
                continue
            top = max(0, int(place.first.bounding_box()["y"]) - 16)
        height = min(page.evaluate("document.documentElement.scrollHeight") - top, TALLEST[width])
        page.screenshot(
            path=target / f"{shot.name}-{width}-{scheme}.jpg",
            type="jpeg",
            quality=QUALITY,
            full_page=True,
            clip={"x": 0, "y": top, "width": width, "height": height},
        )


if __name__ == "__main__":
    main()
