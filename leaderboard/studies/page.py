"""What the stability page shows: every study of what is published, with what it found."""

import json
import math
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from django.urls import reverse
from django.utils.translation import gettext, gettext_noop

from leaderboard.common.citations import Citation
from leaderboard.common.language.engine import in_page_language, rule_name
from leaderboard.common.language.numbers import localise
from leaderboard.common.text import by_catalogue, with_task_names
from leaderboard.models import Benchmark, Publication, Report, Revision
from leaderboard.queue.kinds import STUDIES_WITH_BOARDS, STUDY
from leaderboard.rankings.configuration import configuration_of, has_rule
from leaderboard.rankings.reports import unpack_arrays
from leaderboard.rankings.revision_parameter import revision_query
from leaderboard.rankings.scores import systems_at
from leaderboard.studies.findings import findings
from leaderboard.studies.grades import StudyGrade
from leaderboard.studies.states import LEFT_OUT, StudyState, study_states
from leaderboard.studies.study_findings import NO_NAMES, StudyFindings, StudyNames, fewer_repeats
from leaderboard.studies.verdicts import verdict_of
from leaderboard.studies.waits import waiting_texts
from ranking_engine.stability.catalogue import EXPERIMENTS

STATE_TEXTS = {
    "done": "",
    "running": gettext_noop("Being computed:"),
    "superseded": gettext_noop("Cancelled because a newer revision exists."),
}


@dataclass(frozen=True)
class StudySection:
    """One study on the page.

    Attributes:
        state: its state.
        state_text: that in words; empty once it is done.
        progress_percent: how far a running one is, else None.
        findings: what it found; None while it is not there.
        not_studied: pairs of a reason and the names of the rules that are left out for it.
        slow_rules: a sentence for each rule that ranked fewer tables, or searched for a best order.
        parameters: what it was run with.
        verdict: how stable the ranking under the marked rule is by it; None while it is not there or says nothing.
    """

    state: StudyState
    state_text: str
    progress_percent: int | None
    findings: StudyFindings | None
    not_studied: list[tuple[str, list[str]]]
    slow_rules: list[str]
    parameters: dict[str, Any]
    verdict: StudyGrade | None = None
    downloads: list[dict[str, str]] = field(default_factory=list)  # filled in by the page
    citation: Citation | None = None  # filled in by the page

    @property
    def command(self) -> str:
        """The command that computes it from the board's folder; empty for what is computed with every board."""
        if not self.parameters or self.state.key in STUDIES_WITH_BOARDS:
            return ""
        defaults = EXPERIMENTS[self.state.key].parameters
        words = [
            "plurank",
            "stability",
            "scores.csv",
            "--study",
            self.state.key,
            "--seed",
            str(self.parameters["seed"]),
        ]
        for name, value in self.parameters.items():
            if name != "seed" and value != defaults.get(name):
                words += ["--param", f"{name}={json.dumps(value)}"]
        return shlex.join(words)


def stability_sections(benchmark: Benchmark, publication: Publication, marked: str) -> list[StudySection]:
    """Every study of the catalogue on one publication.

    Args:
        benchmark: whose studies.
        publication: of which revision.
        marked: the rule that charts mark and sentences are about.
    """
    reports = study_reports(publication)
    states = study_states(benchmark, publication)
    is_current = publication.pk == benchmark.publication_id
    texts = waiting_texts(publication, states, is_current=is_current)
    names = names_at(benchmark, publication.revision) if reports else NO_NAMES
    sections = []
    for state in states:
        report = reports.get(state.key)
        text = texts.get(state.key) or in_page_language(STATE_TEXTS.get(state.state, ""))
        if state.state == "failed":
            text = gettext("It could not be computed.")
            if state.reason:
                text = gettext("It could not be computed: %(reason)s") % {"reason": state.reason}
        elif state.state == LEFT_OUT:
            text = gettext("Skipped: %(reason)s.") % {"reason": in_page_language(state.reason)}
        summary, parameters = (report.summary, report.parameters) if report is not None else ({}, {})
        is_running = report is None and state.state == "running"
        sections.append(
            StudySection(
                state=state,
                state_text=text if report is None else "",
                progress_percent=round(100 * state.progress) if is_running else None,
                findings=findings(state.key, summary, marked, names) if report is not None else None,
                not_studied=left_out(summary.get("not_studied", {}), names.tasks),
                slow_rules=slow_rule_texts(summary.get("slow_rules", {})),
                parameters={name: value for name, value in parameters.items() if name != "study"},
                verdict=verdict_of(state.key, summary, marked) if report is not None else None,
            )
        )
    return sections


def names_at(benchmark: Benchmark, revision: Revision) -> StudyNames:
    """The names at a revision; anyone who reads the page may see all of them."""
    systems = {system.key: system.name for system in systems_at(revision)}
    at_revision = revision_query(benchmark, revision)
    return StudyNames(
        systems,
        configuration_of(revision).task_names,
        lambda key: reverse("system", args=[benchmark.key, key]) + at_revision,
    )


def study_reports(publication: Publication) -> dict[str, Report]:
    """The newest report of each study of a publication, by study, without its distribution."""
    newest: dict[str, Report] = {}
    reports = Report.objects.filter(
        revision_id=publication.revision_id,
        engine_version=publication.engine_version,
        kind__in=[STUDY, *STUDIES_WITH_BOARDS],
    )
    for report in reports.defer("arrays").order_by("pk"):
        study = report.parameters["study"] if report.kind == STUDY else report.kind
        if report.kind != STUDY or study not in STUDIES_WITH_BOARDS:  # before engine 0.3.0 it was a study as well
            newest[study] = report
    return newest


def study_arrays(publication: Publication, study: str) -> bytes | None:
    """The whole distribution of a study as a compressed .npz file; None where it is not there."""
    report = study_reports(publication).get(study)
    return None if report is None else bytes(report.arrays)


def array_shapes(packed: bytes) -> dict[str, list[int]]:
    """The names of the arrays of a distribution, with their shapes."""
    return {name: list(array.shape) for name, array in unpack_arrays(packed).items()}


def marked_rule(benchmark: Benchmark, rule: str) -> str:
    """The rule that is marked: the one asked for, or the benchmark's default.

    Raises:
        ValueError: there is no such rule.
    """
    if rule and not has_rule(benchmark, rule):
        raise ValueError(gettext("There is no rule %(rule)s.") % {"rule": repr(rule[:40])})
    return rule or benchmark.default_rule


def slow_rule_texts(slow_rules: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """A sentence for each slow rule: how many repeats it ranked, and for how many tables its order is proven."""
    texts = []
    for rule, entry in by_catalogue(dict(slow_rules)).items():
        repeats, of, name = entry["n_repeats"], entry["of"], rule_name(rule)
        text = gettext("%(rule)s ranked %(n)s of %(of)s repeats")
        text = gettext("%(rule)s ranked all %(of)s repeats") if repeats == of else text
        text %= {"rule": name, "n": localise(repeats, ","), "of": localise(of, ",")}
        if entry.get("n_resamples", of) < entry.get("of_resamples", of):  # reports of earlier versions have neither
            text += gettext(", and %(n)s of the %(of)s resamples of each round") % {
                "n": localise(entry["n_resamples"], ","), "of": localise(entry["of_resamples"], ","),
            }  # fmt: skip
        if entry["proven"] is not None:
            share = math.floor(1000 * entry["proven"]) / 10  # never 100 % where one is open
            text += gettext("; its order is proven to be the best for %(share)s %% of %(n)s tables") % {
                "share": localise(share, "g"), "n": localise(entry["n_tables"], ","),
            }  # fmt: skip
        texts.append(f"{text}.")
    if fewer_repeats(slow_rules):
        texts.append(gettext("Where a sentence compares the rules, those that ranked fewer repeats are left out."))
    return texts


def left_out(reasons: dict[str, str], task_names: Mapping[str, str]) -> list[tuple[str, list[str]]]:
    """The names of the rules that a study leaves out, by reason, which names tasks by `task_names`."""
    by_reason: dict[str, list[str]] = {}
    for rule, reason in by_catalogue(reasons).items():
        by_reason.setdefault(in_page_language(with_task_names(reason, task_names)), []).append(rule_name(rule))
    return list(by_reason.items())
