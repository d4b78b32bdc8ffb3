"""A client made from the schema alone: every `operationId` is a function, and all that goes in and out is validated."""

import json
import re
from typing import Any
from urllib.parse import urlencode

import jsonschema
from django.test import Client


class GeneratedClient:
    """Calls operations by their ids; what the schema does not know can be neither sent nor received.

    Args:
        schema: an OpenAPI document.
        secret: of the token to send.
    """

    def __init__(self, schema: dict[str, Any], secret: str) -> None:
        self._components = schema["components"]
        self._client = Client(headers={"Authorization": f"Token {secret}"})
        self.operations = {
            operation["operationId"]: (method, template, operation)
            for template, methods in schema["paths"].items()
            for method, operation in methods.items()
        }

    def __getattr__(self, name: str) -> Any:
        method, template, operation = self.operations[name]
        return lambda body=None, **parameters: self._call(method, template, operation, body, parameters)

    def _call(
        self, method: str, template: str, operation: dict[str, Any], body: Any, parameters: dict[str, Any]
    ) -> Any:
        known = {parameter["name"]: parameter for parameter in operation.get("parameters", [])}
        unknown = set(parameters) - set(known)
        assert not unknown, f"{operation['operationId']} has no parameters {unknown}"
        for name, value in parameters.items():
            self._validate(known[name]["schema"], value)
        places = set(re.findall(r"\{(\w+)\}", template))
        assert places <= set(parameters), f"{operation['operationId']} needs {places - set(parameters)}"
        query = {name: _text(value) for name, value in parameters.items() if known[name]["in"] == "query"}
        headers = {name: str(value) for name, value in parameters.items() if known[name]["in"] == "header"}
        options: dict[str, Any] = {"headers": headers}
        if "requestBody" in operation:
            self._validate(operation["requestBody"]["content"]["application/json"]["schema"], body)
            options |= {"data": json.dumps(body), "content_type": "application/json"}
        path = template.format(**{place: parameters[place] for place in places})
        answer = getattr(self._client, method)(f"{path}?{urlencode(query)}" if query else path, **options)
        specification = operation["responses"][str(answer.status_code)]
        content = answer.json()
        self._validate(specification["content"]["application/json"]["schema"], content)
        assert answer.status_code < 400, content
        return content

    def _validate(self, shape: dict[str, Any], value: Any) -> None:
        whole = shape | {"components": self._components}
        jsonschema.Draft202012Validator(whole, format_checker=jsonschema.FormatChecker()).validate(value)


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
