"""A site with everything on it, and what is sent to each of its routes: as a browser or a program would, plus bombs."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from django.conf import settings
from django.core.files.uploadedfile import SimpleUploadedFile

from tests.cost.bombs import BODIES, INSTANCES, NAMES, RESULTS, TEXTS, TRIED, named, near_prime, table
from tests.cost.inputs import BOARD, FIELDS, FILES, QUERIES, SILENT
from tests.cost.measuring import Sent
from tests.factories import Factory
from tests.leaderboard.api import test_permissions as api
from tests.leaderboard.site import world as pages
from tests.ranking_engine.files.test_hostile_texts import PACKED

API_QUERY = "q page cursor limit sort rule a b revision format since ties weights conditions system_column missing"
# Tables on trial that are read and computed, by how groups of tasks are to count.
COMPUTED = {
    "largest": "",
    "largest, tied": "",
    "largest, semicolons": "",
    "square": "",
    "many could win": "",
    "weights of many digits": "",
    "weights beyond 64 bits": "",
    "groups in two steps": "two_step",
}
LENGTHS = (300, 4_000, 60_000, 2_300_000)
MOST_QUERY = 3_000  # bytes: the web server takes lines of 4,094
ENDING = ("account_logout", "manage_archive", "close_account")  # after which a page is no more what it was


@dataclass(frozen=True)
class Place:
    """Where in a request a text may stand: a parameter, a field, a leaf of a body."""

    route: str
    method: str
    name: str

    def __str__(self) -> str:
        return f"{self.method} {self.route} {self.name}".strip()


class Stage:
    """A world of pages, one of the API, and a benchmark that is large."""

    def __init__(self, make: Factory) -> None:
        self.pages, self.api = pages.World(make, "public"), api.World(make, "public")
        rows = table(60, 30, ties=True).splitlines()[1:]
        scores = {row.split(",")[0]: [float(cell) for cell in row.split(",")[1:]] for row in rows}
        self.large = make.published(scores, visibility="public")
        self.broad = make.benchmark({"A": [1.0] * 200}, owner=self.api.benchmark.memberships.get(role="owner").user)
        self.owner = self.pages.people["owner"]

    def places(self) -> list[Place]:
        """Every place of every route, in the order in which they may be asked for."""
        places = list(self._places())
        return sorted(places, key=lambda place: place.route in ENDING)

    def _places(self) -> Iterator[Place]:
        for route, names in queries().items():
            yield from (Place(route, "GET", name) for name in ["", *names])
        for route in sorted(posted()):
            filled = self.pages.form(route)
            names = dict.fromkeys([*FIELDS.get(route, "").split(), *list(filled)[:20]])
            yield from (Place(route, "POST", name) for name in names or ["anything"])
            yield from (Place(route, "POST", f"{name}!") for name in FILES.get(route, ()))
        for route, method in dict.fromkeys((row.route.partition("~")[0], row.method) for row in api.ROWS):
            if method == "GET":
                yield from (Place(f"api:{route}", method, name) for name in API_QUERY.split())
            else:
                yield from (Place(f"api:{route}", method, path) for path in ["", *_leaves(self._body(route))])

    def sent(self, place: Place, text: str) -> Sent:
        """A request with a text in a place."""
        if place.route.startswith("api:"):
            return self._to_api(place, text)
        session = self.pages._session(self.owner)
        path = self.pages.path(place.route)
        path = path.replace(f"/{self.pages.benchmark.key}/", f"/{self.large.key}/") if place.method == "GET" else path
        if place.method == "GET":
            short = _fitting(text)
            return Sent("GET", path, query={place.name: short} if place.name else {}, session=session)
        form: dict[str, object] = dict(self.pages.form(place.route))
        if place.name.endswith("!"):
            form = {name: value for name, value in form.items() if name != "text"}
            form[place.name[:-1]] = _file("file.csv", text)
        else:
            form[place.name] = text
        return Sent("POST", path, form=form, session="" if place.route in ANONYMOUS else session)

    def _to_api(self, place: Place, text: str) -> Sent:
        route = place.route.removeprefix("api:")
        headers = {"Authorization": f"Token {self.api._tokens['owner']}"}
        path = self.api.path(route, "", "")
        if place.method == "GET":
            return Sent("GET", path, query={place.name: _fitting(text)}, headers=headers)
        body = self._body(route)
        content = json.dumps(_put(body, place.name, text) if place.name else body).encode()
        return Sent(place.method, path, body=content[:2_499_000], headers=headers)

    def _body(self, route: str) -> dict[str, Any] | list[Any]:
        weights: dict[str, Any] = {"weights": {"task-1": 3}}
        system = {"name": "New", "key": "new", "organisation": "", "url": "", "description": ""}
        system = system | {"scores": {"task-1": 1}}
        bodies: dict[str, Any] = {
            "submit": {"systems": [system], "note": "", "create_systems": True},
            "rankings": weights | {"policy": "", "aggregation": ""},
            "ranking": weights,
            **self.api.bodies(),
        }
        return deepcopy(bodies.get(route, {"reason": "Because."}))

    def known(self) -> dict[str, Sent]:
        """Bombs that are known, where nobody need be signed in."""
        key = self.large.key
        requests = {
            f"try, {name}": Sent("POST", "/try/", form={"text": text, "about": about})
            for name, (text, about) in TRIED.items()
            if name not in COMPUTED
        }
        requests |= {
            "marks in a search": Sent("GET", f"/b/{key}/", query={"q": _fitting(TEXTS["marks"](5000))}),
            "marks in a display name": Sent(
                "POST", "/account/signup/", form={"display_name": TEXTS["marks"](1_000_000), "email": "a@b.example"}
            ),
            "a long password": Sent(
                "POST", "/account/login/", form={"login": "a@b.example", "password": "x" * 2_400_000}
            ),
            "marks in an address": Sent("POST", "/account/password/reset/", form={"email": TEXTS["marks"](1_000_000)}),
            "twelve thousand fields": Sent("POST", "/try/", form={f"f{k}": "x" for k in range(11_000)}),
        }
        return requests | {
            f"body of {name}": Sent("POST", f"/api/v1/benchmarks/{key}/rankings/", body=make().encode()[:2_499_000])
            for name, make in BODIES.items()
        }

    def known_to_compute(self) -> dict[str, Sent]:
        """Bombs that are known, where nobody need be signed in: they are read, and take long to compute."""
        key = self.large.key
        weights = {f"task-{t + 1}": f"{near_prime(t)}/{near_prime(t + 99)}" for t in range(30)}
        requests = {
            f"try, {name}": Sent(
                "POST", "/try/", form={"text": TRIED[name][0], "about": TRIED[name][1], "aggregation": aggregation}
            )
            for name, aggregation in COMPUTED.items()
        }
        return requests | {
            "weights at the API": _call("POST", f"/api/v1/benchmarks/{key}/rankings/", {"weights": weights}),
            "weights at the API, one rule": _call(
                "POST", f"/api/v1/benchmarks/{key}/rankings/kemeny/", {"weights": weights}
            ),
            "weights at what-if": Sent(
                "GET",
                f"/b/{key}/what-if/",
                query={"weights": _fitting(",".join(f"{task}:{weight}" for task, weight in weights.items()))},
            ),
            "conditions": _call(
                "POST",
                f"/api/v1/benchmarks/{key}/prospects/",
                {"conditions": [f"task-{t + 1} >= 1/{near_prime(t)}" for t in range(30)]},
            ),
        }

    def known_signed_in(self) -> dict[str, Sent]:
        """Bombs that are known, for any account."""
        session = self.pages._session(self.pages.people["stranger"])
        stranger = {"Authorization": f"Token {self.api._tokens['stranger']}"}
        upload = f"/b/{self.pages.benchmark.key}/upload/"
        letters = [f"{k:b}".replace("0", "a").replace("1", "b").rjust(198, "a") for k in range(1000, 1200)]
        rows = [{"name": name, "scores": {"task-1": 1}} for name in letters]
        labels = [{"name": "New", "scores": dict.fromkeys(letters, 1)}]
        requests = {
            f"results, {name}": Sent("POST", upload, form={"results": [_file(file, make())]}, session=session)
            for name, (file, make) in RESULTS.items()
        }
        requests |= {
            f"instances, {name}": Sent("POST", upload, form={"instances": _file("i.csv", make())}, session=session)
            for name, make in INSTANCES.items()
        }
        requests |= {
            f"table at {path}, {name}": Sent(
                "POST", path, form={"file": _file("t.csv", text), "name": "x"}, session=session
            )
            for path in (upload, "/new/")
            for name, text in (
                ("wide", table(500, 1000)),
                ("long", table(9999, 40)),
                ("one row", "system," + "a," * 5_000_000),
                ("marks", "system,a" + "\u0301" * 120_000 + "\nx,1\n"),
            )
        }
        requests |= {f"new, {name}": Sent(
            "POST", "/new/", form={"name": "x", "text": text, "about": _file("benchmark.toml", about)}, session=session
        ) for name, (text, about) in TRIED.items() if about}  # fmt: skip
        requests |= {
            f"results, {name}": Sent(
                "POST", upload, form={"results": [SimpleUploadedFile(file, make())]}, session=session
            )
            for name, (file, make) in PACKED.items()
        }
        header = ",".join(["system", *(f"task-{t + 1}" for t in range(200))])
        rows_below = table(settings.UPLOAD_CELLS // 200, 200, n_digits=1).partition("\n")[2]
        whole = f"{header}\n{rows_below}".encode()
        owner = {"Authorization": f"Token {self.api._tokens['owner']}"}
        for name, said in (("dry run", "?dry_run=true&create_systems=true"), ("stored", "?create_systems=true")):
            requests[f"the largest table, {name}"] = Sent(
                "POST",
                f"/api/v1/benchmarks/{self.broad.key}/submissions/{said}",
                body=whole,
                content_type="text/csv",
                headers=owner,
            )
        for name, beginning in NAMES.items():
            requests[f"long names, {name}"] = Sent(
                "POST",
                f"/api/v1/benchmarks/{self.broad.key}/submissions/?dry_run=true&create_systems=true",
                body=named(beginning, settings.UPLOAD_SYSTEMS, 8).encode(),
                content_type="text/csv",
                headers=owner,
            )
            few = named(beginning, 700, 8)
            requests[f"long names, {name}, new"] = Sent(
                "POST", "/new/", form={"name": "x", "text": few}, session=session
            )
            requests[f"long names, {name}, tried"] = Sent("POST", "/try/", form={"text": few})
        path = f"/api/v1/benchmarks/{self.api.benchmark.key}"
        for name, systems in (("systems", rows), ("labels", labels)):
            content = json.dumps({"systems": systems}).encode()
            requests[f"names that are compared, {name}"] = Sent(
                "POST", f"{path}/submissions/?dry_run=true", body=content, headers=stranger
            )
        many = {"files": [{"name": "scores.csv", "text": table(5, 1999)}]}
        mapping = {"mapping": {"tasks": {f"t{t}": "no such task" for t in range(1999)}}}
        requests["columns that fit nothing"] = Sent(
            "POST", f"{path}/imports/?dry_run=true", body=json.dumps(many | mapping).encode(), headers=stranger
        )
        return requests


ANONYMOUS = {"account_login", "account_signup", "account_reset_password", "account_reset_password_from_key", "try",
             "try_votes"}  # fmt: skip


def queries() -> dict[str, list[str]]:
    """What the address of every page may say; nothing for those where nothing is read."""
    rows = (line.split() for line in QUERIES.strip().splitlines())
    queries_of = {route: " ".join(names).replace("BOARD", BOARD).split() for route, *names in rows}
    return queries_of | {route: [] for route in SILENT.split()} | {route: ["next"] for route in of_accounts()}


def of_accounts() -> list[str]:
    """The routes of the package that signs people in: those that our own table of rights knows."""
    return sorted(route for route in pages.routes() if route.startswith(("account_", "mfa_")))


def posted() -> set[str]:
    """The routes of pages that take a form, by the table of who may do what."""
    taking = {
        row.route.partition("~")[0] for row in pages.rows() if row.method == "POST" and not set(row.answers) <= {"405"}
    }
    return {route for route in taking if not route.startswith("admin:")}


def _call(method: str, path: str, body: Mapping[str, Any]) -> Sent:
    return Sent(method, path, body=json.dumps(body).encode())


def _file(name: str, text: str) -> Any:
    return SimpleUploadedFile(name, text.encode(errors="replace"))


def _fitting(text: str) -> str:
    """As much of a text as fits into an address."""
    while len(quote(text)) > MOST_QUERY:
        text = text[: len(text) * MOST_QUERY // len(quote(text))]
    return text


def _leaves(node: Any, path: str = "") -> Iterator[str]:
    inner = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for key, value in inner:
        here = f"{path}/{key}"
        yield here
        yield from _leaves(value, here)
        if isinstance(node, dict):
            yield f"{here}:"  # the key itself


def _put(node: Any, path: str, text: str) -> Any:
    first, _, rest = path[1:].partition("/")
    if isinstance(node, list):
        here = _put(node[int(first)], f"/{rest}", text) if rest else text
        return [here if k == int(first) else value for k, value in enumerate(node)]
    name = first.removesuffix(":")
    if rest:
        return {key: _put(value, f"/{rest}", text) if key == first else value for key, value in node.items()}
    if first.endswith(":"):
        return {text if key == name else key: value for key, value in node.items()}
    return {key: text if key == name else value for key, value in node.items()}
