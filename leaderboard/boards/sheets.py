"""The figures of a revision as tables for files: scores, one rule's ranks, margins, prospects, studies, task orders."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from leaderboard.common.files import Heading, Sheet, Value
from leaderboard.computing.rankings import TWO_STEP
from leaderboard.models import Benchmark, Publication, Revision
from leaderboard.rankings.margins import MOST_PAIRS, Margins, is_small, margins_between, weighed
from leaderboard.rankings.published import Column
from leaderboard.rankings.score_matrix import RevisionMatrix, revision_matrix
from leaderboard.rankings.scores import systems_at
from leaderboard.studies.page import study_reports
from leaderboard.studies.prospects.page import prospect_order
from leaderboard.studies.prospects.stored import StoredProspects, system_names
from leaderboard.studies.states import study_states
from ranking_engine.files.preflib import PreflibError, preflib_text, task_orders
from ranking_engine.prospects import Prospects


class SheetError(ValueError):
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

    def sheet(
        self,
        what: str,
        caption: str,
        headings: Sequence[Heading],
        rows: Iterable[Sequence[Value]],
        **about: Any,  # noqa: ANN401
    ) -> Sheet:
        """A table of `what`."""
        number = self.revision.number
        return Sheet(
            stem=f"{self.key}-{what}-r{number}",
            caption=f"{self.name}, revision {number}: {caption}",
            headings=headings,
            rows=rows,
            about={"benchmark": self.key, "revision": number, **about},
        )


SYSTEM = Heading("system", "System", is_text=True)
KEY = Heading("key", "Key", is_text=True)


def scores_sheet(origin: Origin, only: Collection[int] | None = None) -> Sheet:
    """The score matrix as it was reported; None where a score is missing.

    Args:
        origin: the benchmark and revision.
        only: the ids of the systems that stand in it; all where None.
    """
    found = revision_matrix(origin.revision)
    tasks = origin.revision.configuration.content["tasks"]
    headings = [SYSTEM, *(Heading(task["key"], task["name"]) for task in tasks)]
    return origin.sheet("scores", "scores.", headings, _score_rows(found, only) if found else ())


def _score_rows(found: RevisionMatrix, only: Collection[int] | None) -> Iterator[list[Value]]:
    for system, values in zip(found.systems, found.written, strict=True):
        if only is None or system.id in only:
            yield [system.name, *(value if value == value else None for value in values.tolist())]  # noqa: PLR0124


RANK_HEADINGS = (
    Heading("system", "Key", is_text=True), Heading("name", "System", is_text=True), Heading("rank", "Rank"),
    Heading("score", "Score"), Heading("interval_least", "Least rank"), Heading("interval_greatest", "Greatest rank"),
    Heading("simultaneous_least", "Least rank, all at once"),
    Heading("simultaneous_greatest", "Greatest rank, all at once"),
    Heading("possibly_best", "Possibly best", is_text=True), Heading("reason", "Why no rank", is_text=True),
)  # fmt: skip


def ranks_sheet(
    origin: Origin, column: Column, rows: Sequence[Mapping[str, Any]], *, policy: str, aggregation: str
) -> Sheet:
    """One rule's ranking, from `rank_rows`."""
    caption = (
        f"ranks under {column.name}, with the least and the greatest rank if the same tasks were drawn anew with "
        "replacement, each system's interval by itself, then of all systems at once, and which may be best; missing "
        f"scores: {policy}; aggregation: {aggregation}."
    )
    lines: list[list[Value]] = []
    for row in rows:
        alone, together = row["interval"] or (None, None), row["simultaneous_interval"] or (None, None)
        best = None if row["possibly_best"] is None else "yes" if row["possibly_best"] else "no"
        lines.append([row["system"], row["name"], row["rank"], row["score"], *alone, *together, best, row["reason"]])
    about = {"rule": column.rule, "status": column.status, "missing": policy, "aggregation": aggregation}
    return origin.sheet(column.rule, caption, RANK_HEADINGS, lines, **about)


MARGIN_HEADINGS = (
    SYSTEM, Heading("rival", "Rival", is_text=True), Heading("ahead", "Ahead"), Heading("behind", "Behind"),
    Heading("margin", "Margin"), Heading("verdict", "Verdict", is_text=True),
)  # fmt: skip
VERDICTS = ("level", "beats", "loses")  # by the sign of a margin


def margins_sheet(origin: Origin, audience_level: str) -> Sheet:
    """A line for every two systems with a common voting task, in both directions.

    Raises:
        SheetError: there are too many pairs for a file.
        TooLargeError: the board is too large for an answer on demand.
    """
    systems = systems_at(origin.revision)
    n = len(systems)
    if not is_small(n):
        raise SheetError(
            f"{n:,} systems have {n * (n - 1):,} margins; at most {MOST_PAIRS:,} are written into a file. The API "
            "gives them system by system."
        )
    every = range(n)
    found = margins_between(origin.revision, every, every, n_systems=n, audience_level=audience_level)
    caption = "shares of the voting weight on which a system is ahead of a rival and behind it."
    aggregation = origin.revision.configuration.content["aggregation"]
    rows = _margin_rows(found, [system.name for system in systems])
    return origin.sheet("margins", caption, MARGIN_HEADINGS, rows, aggregation=aggregation)


def _margin_rows(found: Margins, names: Sequence[str]) -> Iterator[list[Value]]:
    for i, j in zip(*found.is_compared.nonzero(), strict=True):
        ahead, behind = float(found.ahead[i, j]), float(found.behind[i, j])
        yield [names[i], names[j], ahead, behind, ahead - behind, VERDICTS[int(found.sign[i, j])]]


PROSPECT_HEADINGS = (
    Heading("system", "Key", is_text=True), Heading("name", "System", is_text=True),
    Heading("verdict", "Verdict", is_text=True), Heading("share", "Share of weightings"),
    Heading("share_error", "Standard error"), Heading("share_bound", "Bound"), Heading("margin", "Best margin"),
    Heading("weights", "Weights with which it wins", is_text=True),
    Heading("certificate", "Rivals that prove it cannot", is_text=True),
    Heading("needed_tasks", "Tasks it lives on", is_text=True), Heading("reason", "Why undecided", is_text=True),
)  # fmt: skip


def prospects_sheet(origin: Origin, stored: StoredProspects | None, *, all_tasks: bool) -> Sheet:
    """Every system's verdict; weights and certificates as `key=fraction`, with a space between."""
    found = _chosen(stored, all_tasks=all_tasks)
    names = system_names(origin.revision)
    ordered = sorted(found.systems, key=lambda one: prospect_order(one, names)) if found else []
    rows: list[list[Value]] = [
        [
            one.system, names[one.system], one.verdict, one.share, one.share_error, one.share_bound, one.margin,
            _flat(one.weights), _flat(one.certificate), " ".join(one.needed_tasks), one.reason,
        ]
        for one in ordered
    ]  # fmt: skip
    about = {"all_tasks": bool(stored and found is stored.with_all_tasks), "is_computed": found is not None}
    return origin.sheet("prospects", "who can win under which weights.", PROSPECT_HEADINGS, rows, **about)


def _chosen(stored: StoredProspects | None, *, all_tasks: bool) -> Prospects | None:
    if stored is None:
        return None
    return stored.with_all_tasks if all_tasks and stored.with_all_tasks else stored.found


def _flat(fractions: Mapping[str, Fraction]) -> str:
    return " ".join(f"{key}={fraction}" for key, fraction in fractions.items())


STUDY_HEADINGS = (
    Heading("study", "Study", is_text=True), Heading("question", "Question", is_text=True),
    Heading("state", "State", is_text=True), Heading("seconds", "Seconds"), Heading("reason", "Reason", is_text=True),
)  # fmt: skip


def studies_sheet(origin: Origin, benchmark: Benchmark, publication: Publication) -> Sheet:
    """Every study of the catalogue, and where it stands."""
    rows: list[list[Value]] = [
        [state.key, state.question, state.state, state.seconds, state.reason]
        for state in study_states(benchmark, publication)
    ]
    return origin.sheet("studies", "stability studies.", STUDY_HEADINGS, rows)


FIGURE_HEADINGS = (
    Heading("rule", "Rule", is_text=True), Heading("figure", "Figure", is_text=True), Heading("value", "Value"),
)  # fmt: skip


def study_sheet(origin: Origin, publication: Publication, study: str, name: str) -> Sheet:
    """What a study found, a line a figure: `figure` is its path in the study's summary, `rule` whose it is.

    Without a line while the study is not done.
    """
    report = study_reports(publication).get(study)
    summary: dict[str, Any] = dict(report.summary) if report else {}
    rules = summary.pop("rules", {})
    rows: list[list[Value]] = [[None, path, value] for path, value in _leaves(summary, "")]
    rows += [[rule, path, value] for rule, found in rules.items() for path, value in _leaves(found, "")]
    parameters = {key: value for key, value in report.parameters.items() if key != "study"} if report else {}
    about = {"study": study, "is_done": report is not None, "parameters": parameters}
    return origin.sheet(study, f"{name}.", FIGURE_HEADINGS, rows, **about)


def _leaves(content: Any, path: str) -> list[tuple[str, Value]]:  # noqa: ANN401 -- JSON
    """The figures in a JSON value, each with its path."""
    if not isinstance(content, dict | list):
        return [(path, content)]
    parts = content.items() if isinstance(content, dict) else enumerate(content)
    return [leaf for name, value in parts for leaf in _leaves(value, f"{path}.{name}" if path else str(name))]


def orders_text(origin: Origin) -> tuple[str, str]:
    """The orders of the voting tasks in PrefLib's format, and the name of its file.

    Raises:
        SheetError: there is no order, or the weights cannot be told as numbers of voters.
    """
    found = revision_matrix(origin.revision)
    if found is None:
        raise SheetError("There is nothing to rank, so there is no order to write.")
    try:
        profile = task_orders(weighed(found.matrix, origin.revision))
    except PreflibError as error:
        raise SheetError(f"{error}.") from error
    profile = replace(profile, system_names=tuple(system.name for system in found.systems))
    aggregation = origin.revision.configuration.content["aggregation"]
    told = "each voting task is as many voters as its weight says"
    told += f", {'by its own weight' if aggregation == TWO_STEP else f'aggregation {aggregation}'}"
    if profile.n_silent:
        told += f"; {profile.n_silent} without a score cast no vote"
    stem = f"{origin.key}-r{origin.revision.number}"
    date = origin.revision.created_at.date().isoformat()
    title = f"{origin.name}, revision {origin.revision.number}"
    text = preflib_text(profile, stem=stem, title=title, description=f"{told}.", dates=(date, date))
    return text, f"{stem}.{profile.data_type}"
