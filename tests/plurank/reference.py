"""Writes docs/python-reference.md from the docstrings of the package: `python -m tests.plurank.reference`."""

import inspect
from pathlib import Path

import plurank
from plurank import client, findings, landscapes, rankings, tables, votes
from ranking_engine.evaluation import metric

TARGET = Path(__file__).resolve().parents[2] / "docs" / "python-reference.md"
HEAD = """# Reference of the package `plurank`

Every public name with what it takes, returns and raises. [python.md](python.md) is the manual. This page is
written from the docstrings by `python -m tests.plurank.reference`, and a test compares it with them.
"""
PARTS = {
    "Boards": [plurank.Board, plurank.read, plurank.landscape, plurank.rule_key],
    "Results": [
        tables.ResultTable, rankings.RuleRanking, rankings.Leaderboard, findings.RuleComparison, findings.TaskAgreement,
        findings.SystemProspects, findings.SeparablePairs, findings.RankIntervalTable, findings.StudyTable,
        findings.RankChanges, landscapes.BoardLandscape,
    ],
    "Votes": [plurank.read_votes, plurank.VoteSet, votes.VoteRatings],
    "Predictions": [plurank.score, metric.MetricResult, metric.Metric, metric.Option],
    "Sites": [client.Site, client.RemoteBenchmark, client.RemoteSubmission, client.RemotePredictions],
    "Refusals of a site": [
        client.SiteError, client.InvalidInputError, client.NotAllowedError, client.NotThereError, client.TooManyError,
        client.UnreachableError,
    ],
}  # fmt: skip


def written() -> str:
    """The page."""
    lines = [HEAD]
    for title, members in PARTS.items():
        lines += [f"## {title}", ""]
        for member in members:
            lines += entry(member.__name__, member, "###")
            for name, value in members_of(member):
                function = value.func if hasattr(value, "func") else getattr(value, "fget", None) or value
                function = getattr(function, "__func__", function)
                if not name.startswith("_") and inspect.isfunction(function):
                    lines += entry(f"{member.__name__}.{name}", value, "####")
    return "\n".join(lines).rstrip() + "\n"


def members_of(member: object) -> list[tuple[str, object]]:
    """What a class has by itself, and from classes that have no entry of their own."""
    listed = {one for members in PARTS.values() for one in members}
    classes = [member, *member.__mro__[1:]] if inspect.isclass(member) else []
    ours = [one for one in classes if one is member or (one not in listed and one.__module__.startswith("plurank."))]
    return [item for one in ours for item in vars(one).items()]


def entry(name: str, value: object, level: str) -> list[str]:
    """The lines of one name: how it is called, and its docstring."""
    is_called = inspect.isclass(value) or inspect.isfunction(value)
    arguments = ""
    if is_called:
        own = inspect.signature(value)
        parameters = [p.replace(annotation=p.empty) for p in own.parameters.values() if p.name != "self"]
        arguments = str(own.replace(parameters=parameters, return_annotation=own.empty))
    text = inspect.cleandoc(value.__doc__ or "")
    return [f"{level} `{name}{arguments}`", "", "```text", text, "```", ""]


if __name__ == "__main__":
    TARGET.write_text(written(), encoding="utf-8")
