"""The figures of a revision as tables for files: scores, one rule's ranks, margins, prospects, studies, task orders."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from django.utils.translation import gettext

from leaderboard.common.files import ColumnHead, ExportTable, Value
from leaderboard.common.language.numbers import localise
from leaderboard.common.text import with_task_names
from leaderboard.computing.rankings import TWO_STEP
from leaderboard.models import Benchmark, Publication, Revision
from leaderboard.rankings.configuration import configuration_of
from leaderboard.rankings.margins import MAX_PAIRS, is_small, margins_between, weighed
from leaderboard.rankings.published import Column
from leaderboard.rankings.score_matrix import revision_matrix
from leaderboard.rankings.scores import systems_at
from leaderboard.studies.page import study_reports
from leaderboard.studies.prospects.page import prospect_order
from leaderboard.studies.prospects.stored import StoredProspects, system_names
from leaderboard.studies.states import study_states
from ranking_engine.files.preflib import PreflibError, preflib_text, task_orders
from ranking_engine.stability.named_summary import named_summary


class ExportError(ValueError):
    """A table that cannot be written; the message says why."""


@dataclass(frozen=True)
class Origin:
    """What a table is of: the name and the key of a benchmark, and a revision with its configuration."""

    name: str
    key: str
    revision: Revision

    @classmethod
    def of(cls, benchmark: Benchmark, revision: Revision) -> "Origin":
        """The origin of tables about a revision of a benchmark."""
        return cls(benchmark.name, benchmark.key, revision)

    def export(
        self,
        what: str,
        caption: str,
        headings: Sequence[ColumnHead],
        rows: Iterable[Sequence[Value]],
        **about: Any,  # noqa: ANN401
    ) -> ExportTable:
        """A table of `what`."""
        number = self.revision.number
        return ExportTable(
            stem=f"{self.key}-{what}-r{number}",
            caption=f"{self.name}, revision {number}: {caption}",
            headings=headings,
            rows=rows,
            about={"benchmark": self.key, "revision": number, **about},
        )


SYSTEM = ColumnHead("system", "System", is_text=True)
KEY = ColumnHead("key", "Key", is_text=True)


def scores_export(origin: Origin, only: Collection[int] | None = None) -> ExportTable:
    """The score matrix as it was reported; None where a score is missing.

    Args:
        origin: the benchmark and revision.
        only: the ids of the systems that are in it; all where None.
    """
    table = revision_matrix(origin.revision)
    tasks = configuration_of(origin.revision).tasks
    headings = [SYSTEM, *(ColumnHead(task.key, task.name) for task in tasks)]
    rows = (
        [system.name, *(value if value == value else None for value in values.tolist())]  # noqa: PLR0124
        for system, values in (zip(table.systems, table.written, strict=True) if table else ())
        if only is None or system.id in only
    )
    return origin.export("scores", "scores.", headings, rows)


RANK_HEADINGS = (
    ColumnHead("system", "Key", is_text=True),
    ColumnHead("name", "System", is_text=True),
    ColumnHead("rank", "Rank"),
    ColumnHead("score", "Score"),
    ColumnHead("interval_least", "Least rank"),
    ColumnHead("interval_greatest", "Greatest rank"),
    ColumnHead("simultaneous_least", "Least rank, all at once"),
    ColumnHead("simultaneous_greatest", "Greatest rank, all at once"),
    ColumnHead("possibly_best", "Possibly best", is_text=True),
    ColumnHead("measured_least", "Least rank, measured again"),
    ColumnHead("measured_greatest", "Greatest rank, measured again"),
    ColumnHead("reason", "Why no rank", is_text=True),
    ColumnHead("n_predicted", "Predicted scores"),
)


def ranks_export(
    origin: Origin, column: Column, rows: Sequence[Mapping[str, Any]], *, policy: str, aggregation: str
) -> ExportTable:
    """One rule's ranking, from `rank_rows`."""
    caption = (
        f"ranks under {column.name}, with the lowest and the highest rank if the same tasks were drawn again with "
        f"replacement, first for each system separately, then for all systems at once, and which may be best, and with "
        f"these ranks if the scores were measured again, for each system separately; missing scores: {policy}; "
        f"aggregation: {aggregation}."
    )
    caption += f" {column.prediction}" if column.prediction else ""
    lines = [
        [row["system"], row["name"], row["rank"], row["score"], *interval_cells(row), row["reason"], row["n_predicted"]]
        for row in rows
    ]
    about = {"rule": column.rule, "status": column.status, "missing": policy, "aggregation": aggregation}
    return origin.export(column.rule, caption, RANK_HEADINGS, lines, **about)


def interval_cells(row: Mapping[str, Any]) -> list[Value]:
    """The cells between score and reason of RANK_HEADINGS, from a row of `rank_rows`."""
    alone, together, measured = (
        row[name] or (None, None) for name in ("interval", "simultaneous_interval", "measured_interval")
    )
    best = None if row["possibly_best"] is None else "yes" if row["possibly_best"] else "no"
    return [*alone, *together, best, *measured]


MARGIN_HEADINGS = (
    SYSTEM,
    ColumnHead("rival", "Rival", is_text=True),
    ColumnHead("ahead", "Ahead"),
    ColumnHead("behind", "Behind"),
    ColumnHead("margin", "Margin"),
    ColumnHead("verdict", "Verdict", is_text=True),
)
VERDICTS = ("level", "beats", "loses")  # by the sign of a margin


def margins_export(origin: Origin, audience_level: str) -> ExportTable:
    """A line for every two systems with a common voting task, in both directions.

    Raises:
        ExportError: there are too many pairs for a file.
        TooLargeError: the board is too large for an answer on demand.
    """
    systems = systems_at(origin.revision)
    n = len(systems)
    if not is_small(n):
        raise ExportError(
            gettext(
                "%(n)s systems have %(n_margins)s margins; at most %(most)s are written into a file. The API gives "
                "them system by system."
            )
            % {"n": localise(n, ","), "n_margins": localise(n * (n - 1), ","), "most": localise(MAX_PAIRS, ",")}
        )
    every = range(n)
    margins = margins_between(origin.revision, every, every, n_systems=n, audience_level=audience_level)
    caption = "shares of the voting weight on which a system is ahead of a rival and behind it."
    aggregation = configuration_of(origin.revision).aggregation
    rows = (
        [
            systems[i].name, systems[j].name, float(margins.ahead[i, j]), float(margins.behind[i, j]),
            float(margins.ahead[i, j] - margins.behind[i, j]), VERDICTS[int(margins.sign[i, j])],
        ]
        for i, j in zip(*margins.is_compared.nonzero(), strict=True)
    )  # fmt: skip
    return origin.export("margins", caption, MARGIN_HEADINGS, rows, aggregation=aggregation)


PROSPECT_HEADINGS = (
    ColumnHead("system", "Key", is_text=True),
    ColumnHead("name", "System", is_text=True),
    ColumnHead("verdict", "Verdict", is_text=True),
    ColumnHead("share", "Share of weightings"),
    ColumnHead("share_error", "Standard error"),
    ColumnHead("share_bound", "Bound"),
    ColumnHead("margin", "Best margin"),
    ColumnHead("weights", "Weights with which it wins", is_text=True),
    ColumnHead("certificate", "Rivals that prove it cannot win", is_text=True),
    ColumnHead("needed_tasks", "Tasks it cannot win without", is_text=True),
    ColumnHead("reason", "Why undecided", is_text=True),
)


def prospects_export(origin: Origin, stored: StoredProspects | None, *, all_tasks: bool) -> ExportTable:
    """Every system's verdict; weights and certificates as `key=fraction`, with a space between."""
    prospects = None
    if stored is not None:
        prospects = stored.with_all_tasks if all_tasks and stored.with_all_tasks else stored.prospects
    names = system_names(origin.revision)
    ordered = sorted(prospects.systems, key=lambda one: prospect_order(one, names)) if prospects else []
    rows: list[list[Value]] = [
        [
            one.system, names[one.system], one.verdict, one.share, one.share_error, one.share_bound, one.margin,
            _flat(one.weights), _flat(one.certificate), " ".join(one.needed_tasks), one.reason,
        ]
        for one in ordered
    ]  # fmt: skip
    about = {"all_tasks": bool(stored and prospects is stored.with_all_tasks), "is_computed": prospects is not None}
    return origin.export("prospects", "who can win under which weights.", PROSPECT_HEADINGS, rows, **about)


def _flat(fractions: Mapping[str, Fraction]) -> str:
    return " ".join(f"{key}={fraction}" for key, fraction in fractions.items())


STUDY_HEADINGS = (
    ColumnHead("study", "Study", is_text=True),
    ColumnHead("question", "Question", is_text=True),
    ColumnHead("state", "State", is_text=True),
    ColumnHead("seconds", "Seconds"),
    ColumnHead("reason", "Reason", is_text=True),
)


def studies_export(origin: Origin, benchmark: Benchmark, publication: Publication) -> ExportTable:
    """Every study of the catalogue, and its state."""
    rows: list[list[Value]] = [
        [state.key, state.question, state.state, state.seconds, state.reason]
        for state in study_states(benchmark, publication)
    ]
    return origin.export("studies", "stability studies.", STUDY_HEADINGS, rows)


FIGURE_HEADINGS = (
    ColumnHead("rule", "Rule", is_text=True),
    ColumnHead("figure", "Figure", is_text=True),
    ColumnHead("value", "Value"),
)


def study_export(origin: Origin, publication: Publication, study: str, name: str) -> ExportTable:
    """What a study found, a line a figure: `figure` is its path in the summary, with names; `rule` is whose it is.

    Without a line while the study is not done.
    """
    report = study_reports(publication).get(study)
    return findings_export(
        origin, study, name, dict(report.parameters) if report else {}, report.summary if report else None, study=study
    )


def findings_export(
    origin: Origin,
    stem: str,
    name: str,
    parameters: Mapping[str, Any],
    summary: Mapping[str, Any] | None,
    *,
    study: str = "",
) -> ExportTable:
    """The figures of a study or an experiment, a line each.

    Args:
        origin: of which revision.
        stem: of the file's name.
        name: of the study, for readers.
        parameters: what it was run with, the study among them.
        summary: what it found; None while it is not done.
        study: its key, where the parameters do not say it.
    """
    names = {system.key: system.name for system in systems_at(origin.revision)} if summary else {}
    whole = named_summary(summary or {}, names, configuration_of(origin.revision).task_names)
    if "not_studied" in whole:
        tasks = configuration_of(origin.revision).task_names
        whole["not_studied"] = {rule: with_task_names(reason, tasks) for rule, reason in whole["not_studied"].items()}
    rules = whole.pop("rules", {})
    rows: list[list[Value]] = [[None, path, value] for path, value in _leaves(whole, "")]
    rows += [[rule, path, value] for rule, figures in rules.items() for path, value in _leaves(figures, "")]
    own = {key: value for key, value in parameters.items() if key != "study"}
    about = {"study": study or parameters["study"], "is_done": summary is not None, "parameters": own}
    return origin.export(stem, f"{name}.", FIGURE_HEADINGS, rows, **about)


def _leaves(content: Any, path: str) -> list[tuple[str, Value]]:  # noqa: ANN401 -- JSON
    """The figures in a JSON value, each with its path."""
    if not isinstance(content, dict | list):
        return [(path, content)]
    parts = content.items() if isinstance(content, dict) else enumerate(content)
    return [leaf for name, value in parts for leaf in _leaves(value, f"{path}.{name}" if path else str(name))]


def orders_text(origin: Origin) -> tuple[str, str]:
    """The orders of the voting tasks in PrefLib's format, and the name of its file.

    Raises:
        ExportError: there is no order, or the weights cannot be told as numbers of voters.
    """
    table = revision_matrix(origin.revision)
    if table is None:
        raise ExportError(gettext("There is nothing to rank, so there is nothing to export."))
    try:
        profile = task_orders(weighed(table.matrix, origin.revision))
    except PreflibError as error:
        raise ExportError(f"{error}.") from error
    profile = replace(profile, system_names=tuple(system.name for system in table.systems))
    aggregation = configuration_of(origin.revision).aggregation
    description = "each voting task is as many voters as its weight says"
    description += f", {'by its own weight' if aggregation == TWO_STEP else f'aggregation {aggregation}'}"
    if profile.n_silent:
        description += f"; {profile.n_silent} without a score cast no vote"
    stem = f"{origin.key}-r{origin.revision.number}"
    date = origin.revision.created_at.date().isoformat()
    title = f"{origin.name}, revision {origin.revision.number}"
    text = preflib_text(profile, stem=stem, title=title, description=f"{description}.", dates=(date, date))
    return text, f"{stem}.{profile.data_type}"
