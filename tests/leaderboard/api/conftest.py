"""A client of the API: a token in a header, JSON in and out, every answer held against the schema."""

import json
import re
from typing import Any

import jsonschema
import pytest
from django.core.cache import cache
from django.http import HttpResponse
from django.test import Client

from leaderboard.accounts.tokens import create_token
from leaderboard.api.protocol.examples import written_schema
from leaderboard.benchmarks.create import TaskSpec
from leaderboard.models import Benchmark, User

ALL_SCOPES = ("read", "submit", "manage")


@pytest.fixture(autouse=True)
def _nobody_was_counted():
    cache.clear()


@pytest.fixture(scope="session")
def schema() -> dict[str, Any]:
    """The OpenAPI schema, in which no object has a field that it does not state."""
    return _strict(json.loads(json.dumps(written_schema())))


def _strict(node: Any) -> Any:
    if isinstance(node, dict):
        if node.get("type") == "object" and "properties" in node:
            node["additionalProperties"] = False
        for value in node.values():
            _strict(value)
    elif isinstance(node, list):
        for value in node:
            _strict(value)
    return node


class Api:
    """Asks the API in the name of nobody, or of a user."""

    def __init__(self, schema: dict[str, Any], secret: str = "") -> None:
        self._schema, self._secret = schema, secret
        self._client = Client(raise_request_exception=False)

    def as_user(self, user: User, *scopes: str, days: int = 30) -> "Api":
        """The same for a new token of `user`, with all scopes unless some are named."""
        name = f"token {user.api_tokens.count()}"
        _, secret = create_token(user, name=name, scopes=scopes or ALL_SCOPES, days=days)
        return Api(self._schema, secret)

    def get(self, path: str, parameters: dict[str, Any] | None = None, **headers: str) -> HttpResponse:
        """GET below /api/v1/."""
        response = self._client.get(_url(path), parameters or {}, headers=self._headers(headers))
        return self._checked("get", path, response)

    def post(
        self, path: str, body: Any = None, *, query: str = "", kind: str = "application/json", **headers: str
    ) -> HttpResponse:
        """POST below /api/v1/; a body that is neither bytes nor text is sent as JSON."""
        data = body if isinstance(body, (bytes, str)) else json.dumps({} if body is None else body)
        url = _url(path) + (f"?{query}" if query else "")
        response = self._client.post(url, data=data, content_type=kind, headers=self._headers(headers))
        return self._checked("post", path, response)

    def patch(self, path: str, body: Any, *, query: str = "") -> HttpResponse:
        """PATCH below /api/v1/, with a body of JSON."""
        url = _url(path) + (f"?{query}" if query else "")
        headers = self._headers({})
        response = self._client.patch(url, json.dumps(body), content_type="application/json", headers=headers)
        return self._checked("patch", path, response)

    def call(self, method: str, path: str, **headers: str) -> HttpResponse:
        """Any other method."""
        return self._client.generic(method, _url(path), headers=self._headers(headers))

    def call_json(self, method: str, path: str, body: Any, **headers: str) -> HttpResponse:
        """Any method with a body of JSON, whatever form the answer has."""
        return self.call_raw(method, path, json.dumps(body), "application/json", **headers)

    def call_raw(self, method: str, path: str, body: str, kind: str, **headers: str) -> HttpResponse:
        """Any method with a body, whatever form the answer has."""
        return self._client.generic(method, _url(path), body, content_type=kind, headers=self._headers(headers))

    def _headers(self, headers: dict[str, str]) -> dict[str, str]:
        token = {"Authorization": f"Token {self._secret}"} if self._secret else {}
        return token | {name.replace("_", "-"): value for name, value in headers.items()}

    def _checked(self, method: str, path: str, response: HttpResponse) -> HttpResponse:
        """Every JSON answer is one that the schema allows; none sets a cookie."""
        assert not response.cookies
        operation = self._stated(method, _url(path).split("?")[0])
        if operation is None or response.get("Content-Type") != "application/json":
            return response
        answers = operation["responses"]
        status = str(response.status_code)
        if status in answers and "application/json" in answers[status].get("content", {}):
            shape = answers[status]["content"]["application/json"]["schema"]
            validator = jsonschema.Draft202012Validator(
                shape | {"components": self._schema["components"]}, format_checker=jsonschema.FormatChecker()
            )
            validator.validate(response.json())
        else:
            assert response.status_code >= 400, f"{method} {path} answers {status}, of which the schema says nothing"
        if response.status_code >= 400:
            assert set(response.json()) == {"error"}
            assert set(response.json()["error"]) == {"code", "message", "details"}
        return response

    def _stated(self, method: str, path: str) -> dict[str, Any] | None:
        for template, operations in self._schema["paths"].items():
            pattern = re.sub(r"\{\w+\}", "[^/]+", template)
            if re.fullmatch(pattern, path) and method in operations:
                return operations[method]
        return None


def _url(path: str) -> str:
    return path if path.startswith(("/", "http")) else f"/api/v1/{path}"


@pytest.fixture
def api(schema) -> Api:
    """The API, asked by nobody; `api.as_user(user)` asks in somebody's name."""
    return Api(schema)


@pytest.fixture(scope="module")
def toy_with_ranges(make_once):
    return make_once.benchmark(tasks=[TaskSpec(f"Task {t}", minimum=-10.0, maximum=100.0) for t in range(1, 6)])


@pytest.fixture
def benchmark(toy_with_ranges, make):
    """The toy, on tasks that say which scores can be, as it is in the database."""
    return Benchmark.objects.get(pk=toy_with_ranges.pk)


@pytest.fixture
def submitter(make, api):
    """Somebody with an account and a token that may submit."""
    return api.as_user(make.user("Ada"), "submit")


def error_of(response: HttpResponse) -> dict[str, Any]:
    """The content of an error, with its status."""
    return {"status": response.status_code} | response.json()["error"]
