"""What changed from one revision to another, and how a system's rank went."""

from typing import Any

from django.http import Http404
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from leaderboard.api import payloads
from leaderboard.api.negotiation import TABLES
from leaderboard.api.openapi import TABLE_FORMAT, error, reading
from leaderboard.api.problems import ApiError
from leaderboard.api.shapes import changes as shapes
from leaderboard.api.views.comparisons import RULE
from leaderboard.api.views.figures import FigureView
from leaderboard.computing.rankings import site_rules
from leaderboard.selectors.history import revision_at
from leaderboard.selectors.scores import NOT_SUBMITTED, CurrentScore, systems_at
from leaderboard.services.on_demand import TooLargeError
from leaderboard.services.rank_history import stored_ranks
from leaderboard.services.revision_changes import RevisionChanges, revision_changes
from leaderboard.services.sheets import Origin
from leaderboard.services.table_files import Heading, Value


class RuleView(FigureView):
    """A view of one rule's ranks at several revisions."""

    renderer_classes = TABLES

    def rule(self) -> str:
        """The rule that the address names."""
        rule = str(self.request.query_params.get("rule", "")) or self.benchmark.default_rule
        if rule not in site_rules():
            raise Http404(f"There is no rule {rule[:60]!r}.")
        return rule


class Changes(RuleView):
    """Two revisions."""

    is_on_demand = True

    @extend_schema(
        operation_id="changes",
        summary="Compare two revisions",
        tags=["revisions"],
        parameters=[
            OpenApiParameter("since", int, description="The other revision; the one before without it."),
            RULE,
            TABLE_FORMAT,
        ],
        responses=reading(shapes.Changes, table="system, name, before, after: the ranks that differ.")
        | {422: error("Rankings are not stored, and too large to be computed on demand.")},
    )
    def get(self, request: Request, key: str, number: int) -> Response:
        """Who came and went, which scores and settings changed, and whose ranks moved under which rule."""
        last, rule = self.benchmark.last_revision_number, self.rule()
        numbers = sorted((min(number, 2**31 - 1), self._since(max(1, number - 1))))
        if not 1 <= numbers[0] <= numbers[1] <= last:
            raise Http404(f"There are revisions 1 to {last}." if last else "There is no revision yet.")
        older, newer = (revision_at(self.benchmark, one) for one in numbers)
        try:
            found = revision_changes(
                self.benchmark, older, newer, rule=rule, audience_level=self.audience.level, is_whole=True
            )
        except TooLargeError as problem:
            raise ApiError(422, str(problem)) from problem
        if not self.file_format:
            return self.answer_here(lambda: _content(found))
        headings = [
            Heading("system", "Key", is_text=True), Heading("name", "System", is_text=True),
            Heading("before", f"Revision {older.number}"), Heading("after", f"Revision {newer.number}"),
        ]  # fmt: skip
        rows: list[list[Value]] = [
            [move.system.key, move.system.name, move.before, move.after] for move in found.moves
        ]
        caption = f"ranks under {found.chosen_name} that differ from revision {older.number}."
        sheet = Origin.of(self.benchmark, newer).sheet("changes", caption, headings, rows, rule=found.chosen)
        stem = f"{self.benchmark.key}-changes-r{older.number}-r{newer.number}"
        return self.named_file(self.answer_here(lambda: self.written(sheet)), stem)

    def _since(self, default: int) -> int:
        text = self.request.query_params.get("since", "")
        if text and not (text.isascii() and text.isdigit() and len(text) < 10):
            raise ApiError(400, f"`since` is {text[:40]!r}; expected the number of a revision.")
        return int(text) if text else default


def _content(found: RevisionChanges) -> dict[str, Any]:
    return {
        "since": found.older.number,
        "revision": found.newer.number,
        "sentence": found.sentence,
        "joined": found.joined,
        "left": found.left,
        "renamed": [{"before": before, "after": after} for before, after in found.renamed],
        "configuration": found.configuration,
        "scores": [
            {
                "system": change.system.key,
                "name": change.system.name,
                "task": change.task_key,
                **_score("before", change.old),
                **_score("after", change.new),
            }
            for change in found.scores
        ],
        "rules": [
            {
                "rule": rule.rule,
                "name": rule.name,
                "first_before": rule.first_before,
                "first_after": rule.first_after,
                "n_moved": rule.n_moved,
                "n_common": rule.n_common,
            }
            for rule in found.rules
        ],
        "rule": found.chosen,
        "ranks": [
            {"system": move.system.key, "name": move.system.name, "before": move.before, "after": move.after}
            for move in found.moves
        ],
        "flips": found.flips,
    }


def _score(when: str, score: CurrentScore | None) -> dict[str, Any]:
    value = score.value if score else None
    missing = None if value is not None else score.missing_reason if score else NOT_SUBMITTED
    return {when: value, f"{when}_missing": missing}


class SystemHistory(RuleView):
    """How a system's rank went."""

    @extend_schema(
        operation_id="system_history",
        summary="Read how a system's rank went",
        tags=["systems"],
        parameters=[RULE, TABLE_FORMAT],
        responses=reading(shapes.SystemHistory, table="revision, rank."),
    )
    def get(self, request: Request, key: str, system_key: str) -> Response:
        """Its rank under a rule at the last fifty published revisions whose rankings are stored."""
        publication, rule = self.published(), self.rule()
        system = next((one for one in systems_at(publication.revision) if one.key == system_key), None)
        if system is None:
            raise Http404(f"No system {system_key!r} is on the board of revision {publication.revision.number}.")
        ranks: list[tuple[int, int | None]] = []
        for number, found in stored_ranks(self.benchmark, rule):
            rank = found.get(system.id, 0)
            ranks.append((number, rank if rank >= 1 else None))
        if self.file_format:
            headings = [Heading("revision", "Revision"), Heading("rank", "Rank")]
            origin = Origin.of(self.benchmark, publication.revision)
            caption = f"ranks of {system.name} under {rule}."
            sheet = origin.sheet("history", caption, headings, ranks, system=system.key, rule=rule)
            stem = f"{self.benchmark.key}-{system.key}-{rule}"
            return self.named_file(self.answer_here(lambda: self.written(sheet)), stem)
        content = {
            **payloads.published(publication),
            "system": system.key,
            "name": system.name,
            "rule": rule,
            "results": [{"revision": number, "rank": rank} for number, rank in ranks],
        }
        return self.answer_here(lambda: content)
