"""What the alerts and the dashboard ask for: expressions, the series in them, the labels that they name."""

import json
import re
from dataclasses import dataclass

import yaml
from django.conf import settings

DEPLOY = settings.ROOT / "deploy"
OF_PROMETHEUS = {"job", "instance"}  # labels that it adds itself


def rules() -> list[dict]:
    """Every alert."""
    groups = yaml.safe_load((DEPLOY / "prometheus" / "rules.yml").read_text())["groups"]
    return [rule for group in groups for rule in group["rules"]]


def panels() -> list[dict]:
    """Every panel of the dashboard."""
    return json.loads((DEPLOY / "grafana" / "dashboard.json").read_text())["panels"]


@dataclass
class Expression:
    """What one expression asks for."""

    series: dict[str, set[str]]  # by name, the labels that it is chosen by
    grouped: set[str]  # the labels that the answer is grouped by
    named: set[str]  # the labels that the text beside it names


def expressions() -> list[Expression]:
    """Of every expression of every rule and panel what it asks for."""
    of_rules = [
        _parsed(rule["expr"], re.findall(r"\$labels\.(\w+)", rule["annotations"]["summary"])) for rule in rules()
    ]
    targets = [target for panel in panels() for target in panel["targets"]]
    return of_rules + [_parsed(t["expr"], re.findall(r"\{\{(\w+)\}\}", t["legendFormat"])) for t in targets]


def _parsed(expression: str, labels: list[str]) -> Expression:
    series: dict[str, set[str]] = {}
    for name, selector in re.findall(r"\b(plurank_\w+)(?:\{([^}]*)\})?", expression):
        series.setdefault(name, set()).update(re.findall(r"(\w+)\s*(?:=|!=|=~|!~)\s*\"", selector))
    groups = re.findall(r"\bby \(([^)]*)\)", expression)
    return Expression(series, {label.strip() for group in groups for label in group.split(",")}, set(labels))
