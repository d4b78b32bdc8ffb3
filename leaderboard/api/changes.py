"""What changed from one revision to another, and how a system's rank went."""

from django.http import Http404, HttpResponseBase
from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers as s
from rest_framework.request import Request

from leaderboard.api.protocol.base import NamedSystemSerializer, PublishedSerializer, stamp_of
from leaderboard.api.protocol.fields import Shape
from leaderboard.api.protocol.figures import FigureView
from leaderboard.api.protocol.problems import ApiError, wrong_parameter
from leaderboard.api.protocol.renderers import TABLES
from leaderboard.api.protocol.schema import FROM_ONE, RULE, TABLE_FORMAT, error, reading
from leaderboard.api.systems import MISSING
from leaderboard.boards.revision_exports import Origin
from leaderboard.common.files import ColumnHead, Value
from leaderboard.common.text import whole_number
from leaderboard.comparisons.rank_history import stored_ranks
from leaderboard.comparisons.revisions import RevisedScore, RevisionChanges, revision_changes
from leaderboard.comparisons.since import PERIODS, revision_then
from leaderboard.on_demand.budget import TooLargeError
from leaderboard.rankings.configuration import has_rule
from leaderboard.rankings.revisions import revision_at
from leaderboard.rankings.scores import NOT_SUBMITTED, CurrentScore, systems_at


class RenamingSerializer(Shape):
    """A system that was renamed."""

    before = s.CharField()
    after = s.CharField()


class ChangedSystemSerializer(NamedSystemSerializer):
    """Of which system something differs."""

    system = s.CharField(source="system.key")
    name = s.CharField(source="system.name")


class ScoreChangeEntrySerializer(ChangedSystemSerializer):
    """A score that differs, of a system and a task that are in both revisions."""

    task = s.CharField(source="task_key", help_text="Its key.")
    before = s.FloatField(source="old.value", allow_null=True)
    before_missing = s.ChoiceField(choices=MISSING, allow_null=True)
    after = s.FloatField(source="new.value", allow_null=True)
    after_missing = s.ChoiceField(choices=MISSING, allow_null=True)

    def value_of_before_missing(self, change: RevisedScore) -> str | None:
        """Why there was none."""
        return _missing(change.old)

    def value_of_after_missing(self, change: RevisedScore) -> str | None:
        """Why there is none."""
        return _missing(change.new)


def _missing(score: CurrentScore | None) -> str | None:
    if score is None:
        return NOT_SUBMITTED
    return None if score.value is not None else score.missing_reason


class RankChangeEntrySerializer(ChangedSystemSerializer):
    """A rank that differs; null where the system has none."""

    before = s.IntegerField(allow_null=True)
    after = s.IntegerField(allow_null=True)


class RuleChangeEntrySerializer(Shape):
    """What became of the ranks under one rule."""

    rule = s.CharField()
    name = s.CharField()
    first_before = s.CharField(allow_blank=True, help_text="Who was first, in words.")
    first_after = s.CharField(allow_blank=True)
    n_moved = s.IntegerField(help_text="Of those that have a rank at both.")
    n_common = s.IntegerField()


class ChangesSerializer(Shape):
    """Two revisions compared."""

    since = s.IntegerField(source="older.number", help_text="The older revision.")
    revision = s.IntegerField(source="newer.number", help_text="The newer one.")
    sentence = s.CharField()
    joined = s.ListField(child=s.CharField(), help_text="Names of systems.")
    left = s.ListField(child=s.CharField())
    renamed = RenamingSerializer(many=True)
    configuration = s.ListField(child=s.CharField(), help_text="Differences of tasks and settings, in words.")
    scores = ScoreChangeEntrySerializer(many=True)
    rules = RuleChangeEntrySerializer(many=True)
    rule = s.CharField(source="chosen", help_text="The rule whose ranks `ranks` lists one by one.")
    ranks = RankChangeEntrySerializer(many=True, source="moves")
    flips = s.CharField(
        source="iia_violations",
        allow_blank=True,
        help_text="Whether newcomers changed the order of others, where computed.",
    )

    def value_of_renamed(self, changes: RevisionChanges) -> list[dict[str, str]]:
        """The names before and after."""
        return [{"before": before, "after": after} for before, after in changes.renamed]


class RankThenSerializer(Shape):
    """A rank at one revision."""

    revision = s.IntegerField()
    rank = s.IntegerField(allow_null=True)


class SystemHistorySerializer(PublishedSerializer):
    """A system's rank under one rule over the revisions whose rankings are stored, oldest first."""

    system = s.CharField()
    name = s.CharField()
    rule = s.CharField()
    results = RankThenSerializer(many=True)


class RuleView(FigureView):
    """A view of one rule's ranks at several revisions."""

    renderer_classes = TABLES

    def rule(self) -> str:
        """The rule that the address names."""
        rule = str(self.request.query_params.get("rule", "")) or self.benchmark.default_rule
        if not has_rule(self.benchmark, rule):
            raise Http404(f"There is no rule {rule[:60]!r}.")
        return rule


class ChangesView(RuleView):
    """Two revisions."""

    is_on_demand = True

    @extend_schema(
        operation_id="changes",
        summary="Compare two revisions",
        tags=["revisions"],
        parameters=[
            OpenApiParameter(
                "since",
                {"anyOf": [FROM_ONE, {"type": "string", "enum": list(PERIODS)}]},
                description="The other revision, or `week` or `month` for the newest one that is so old, or the first "
                "where none is. The revision before without it.",
            ),
            RULE,
            TABLE_FORMAT,
        ],
        responses=reading(ChangesSerializer, table="system, name, before, after: the ranks that differ.")
        | {422: error("Rankings are not stored, and too large to be computed on demand.")},
    )
    def get(self, request: Request, key: str, number: int) -> HttpResponseBase:
        """Who came and went, which scores and settings changed, and whose ranks moved under which rule."""
        last, rule = self.benchmark.last_revision_number, self.rule()
        text = request.query_params.get("since", "")
        since = whole_number(text) if text else max(1, number - 1)
        if text in PERIODS:
            since = revision_then(self.benchmark, timezone.now() - PERIODS[text])
        if since is None:
            expected = f"expected the number of a revision, or one of {', '.join(PERIODS)}"
            raise wrong_parameter("since", f"`since` is {text[:40]!r}; {expected}.")
        numbers = sorted((min(number, 2**31 - 1), since))
        if not 1 <= numbers[0] <= numbers[1] <= last:
            raise Http404(f"There are revisions 1 to {last}." if last else "There is no revision yet.")
        older, newer = (revision_at(self.benchmark, one) for one in numbers)
        try:
            changes = revision_changes(
                self.benchmark, older, newer, rule=rule, audience_level=self.audience.level, is_whole=True
            )
        except TooLargeError as problem:
            raise ApiError(422, str(problem)) from problem
        if not self.file_format:
            return self.answer_here(lambda: ChangesSerializer.render(changes))
        headings = [
            ColumnHead("system", "Key", is_text=True), ColumnHead("name", "System", is_text=True),
            ColumnHead("before", f"Revision {older.number}"), ColumnHead("after", f"Revision {newer.number}"),
        ]  # fmt: skip
        rows: list[list[Value]] = [
            [move.system.key, move.system.name, move.before, move.after] for move in changes.moves
        ]
        caption = f"ranks under {changes.chosen_name} that differ from revision {older.number}."
        table = Origin.of(self.benchmark, newer).export("changes", caption, headings, rows, rule=changes.chosen)
        stem = f"{self.benchmark.key}-changes-r{older.number}-r{newer.number}"
        return self.named_file(self.answer_here(lambda: self.written(table)), stem)


class SystemHistoryView(RuleView):
    """How a system's rank went."""

    @extend_schema(
        operation_id="system_history",
        summary="Read how a system's rank went",
        tags=["systems"],
        parameters=[RULE, TABLE_FORMAT],
        responses=reading(SystemHistorySerializer, table="revision, rank."),
    )
    def get(self, request: Request, key: str, system_key: str) -> HttpResponseBase:
        """Its rank under a rule at the last fifty published revisions whose rankings are stored."""
        publication, rule = self.published(), self.rule()
        system = next((one for one in systems_at(publication.revision) if one.key == system_key), None)
        if system is None:
            raise Http404(f"No system {system_key!r} is on the board of revision {publication.revision.number}.")
        ranks: list[tuple[int, int | None]] = []
        for then in stored_ranks(self.benchmark, rule):
            rank = then.of(system.id) or 0
            ranks.append((then.number, int(rank) if rank >= 1 else None))
        if self.file_format:
            headings = [ColumnHead("revision", "Revision"), ColumnHead("rank", "Rank")]
            origin = Origin.of(self.benchmark, publication.revision)
            caption = f"ranks of {system.name} under {rule}."
            table = origin.export("history", caption, headings, ranks, system=system.key, rule=rule)
            stem = f"{self.benchmark.key}-{system.key}-{rule}"
            return self.named_file(self.answer_here(lambda: self.written(table)), stem)
        content = {
            **stamp_of(publication),
            "system": system.key,
            "name": system.name,
            "rule": rule,
            "results": [{"revision": number, "rank": rank} for number, rank in ranks],
        }
        return self.answer_here(lambda: SystemHistorySerializer.render(content))
