"""Renders the templates of a Helm chart, as far as ours go: there need be no helm to test them."""

import re
from pathlib import Path
from typing import Any

import yaml

TOKEN = re.compile(r"\{\{(-?)\s*(.*?)\s*(-?)\}\}", re.DOTALL)
WORD = re.compile(r'"[^"]*"|\(|\)|\||[^\s()|]+')


def render(chart: Path, release: str, values: dict[str, Any]) -> list[dict[str, Any]]:
    """Every object of a chart, as `helm template RELEASE CHART` prints them."""
    about = yaml.safe_load((chart / "Chart.yaml").read_text())
    scope = {
        "Values": values,
        "Chart": {"AppVersion": about["appVersion"]},
        "Release": {"Name": release, "Service": "Helm", "Revision": 1},
    }
    defined: dict[str, list] = {}
    texts = []
    for file in [chart / "templates" / "_helpers.tpl", *sorted((chart / "templates").glob("*.yaml"))]:
        nodes, rest = _parse(_tokens(file.read_text()))
        assert not rest
        texts.append(_write(nodes, scope, {"$": scope}, defined))
    return [one for text in texts[1:] for one in yaml.safe_load_all(text) if one]


def merged(values: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    """Values with others in their place, as `--set` does it."""
    return {
        name: merged(value, changes[name]) if isinstance(value, dict) and name in changes else changes.get(name, value)
        for name, value in values.items()
    }


def _tokens(text: str) -> list[tuple[str, str]]:
    """Texts and actions in turn; a dash takes the white space on its side away."""
    tokens, end, is_trimmed = [], 0, False
    for match in TOKEN.finditer(text):
        before = text[end : match.start()]
        before = before.lstrip() if is_trimmed else before
        tokens += [("text", before.rstrip() if match[1] else before), ("action", match[2])]
        end, is_trimmed = match.end(), bool(match[3])
    return [*tokens, ("text", text[end:].lstrip() if is_trimmed else text[end:])]


def _parse(tokens: list[tuple[str, str]]) -> tuple[list, list]:
    nodes: list[Any] = []
    while tokens:
        (kind, content), tokens = tokens[0], tokens[1:]
        word = content.split(" ")[0] if kind == "action" else ""
        if word == "end":
            return nodes, tokens
        if word in ("if", "with", "range", "define"):
            body, tokens = _parse(tokens)
            nodes.append((word, content.removeprefix(word).strip(), body))
        else:
            nodes.append((kind, content, None))
    return nodes, tokens


def _write(nodes: list, dot: Any, variables: dict[str, Any], defined: dict[str, list]) -> str:
    def value(expression: str) -> Any:
        return _pipeline(WORD.findall(expression), dot, variables, defined)

    written = []
    for kind, content, body in nodes:
        if kind == "text":
            written.append(content)
        elif kind == "define":
            defined[content.strip('"')] = body
        elif kind == "range":
            names, _, source = content.partition(":=")
            first, second = (name.strip() for name in names.split(","))
            for key, one in sorted(value(source).items()):
                written.append(_write(body, one, variables | {first: key, second: one}, defined))
        elif kind in ("if", "with"):
            if subject := value(content):
                written.append(_write(body, subject if kind == "with" else dot, variables, defined))
        else:
            written.append(str(value(content)))
    return "".join(written)


def _pipeline(words: list[str], dot: Any, variables: dict[str, Any], defined: dict[str, list]) -> Any:
    parts: list[list[str]] = [[]]
    for word in words:
        if word == "|":
            parts.append([])
        else:
            parts[-1].append(word)
    piped: list[Any] = []
    for name, *arguments in parts:
        values = [_operand(word, dot, variables) for word in arguments] + piped
        if name == "include":
            result = _write(defined[values[0]], values[1], {"$": variables["$"]}, defined)
        elif name == "toYaml":
            result = yaml.safe_dump(values[0], default_flow_style=False).rstrip("\n")
        elif name == "nindent":
            result = "\n" + "\n".join(" " * values[0] + line if line else line for line in values[1].split("\n"))
        elif name == "quote":
            result = f'"{values[0]}"'
        elif name == "default":
            result = values[1] or values[0]
        elif name == "not":
            result = not values[0]
        else:
            assert not values, f"unknown function {name}"
            result = _operand(name, dot, variables)
        piped = [result]
    return piped[0]


def _operand(word: str, dot: Any, variables: dict[str, Any]) -> Any:
    if word.startswith('"'):
        return word[1:-1]
    if word.isdigit():
        return int(word)
    start, *fields = word.split(".")
    operand = variables[start] if start else dot
    for field in filter(None, fields):
        operand = operand.get(field) if isinstance(operand, dict) else getattr(operand, field)
    return "" if operand is None else operand
