"""What the page of two revisions reads: what differs, its links, and what can be compared where these two cannot."""

from dataclasses import dataclass, replace
from functools import cached_property
from urllib.parse import urlencode

from django.db.models import QuerySet
from django.urls import reverse
from django.utils.translation import gettext

from leaderboard.comparisons.revisions import RevisionChanges, RuleMoves
from leaderboard.models import Benchmark, Revision
from leaderboard.rankings.revisions import whole_revisions


@dataclass(frozen=True)
class RevisionsPage:
    """The page of two revisions of a benchmark.

    Attributes:
        benchmark: whose revisions.
        numbers: the two, the older one first; both 0 before the first revision.
        changes: what differs between them; None where nothing is compared.
        withdrawn: why they cannot be compared; empty where they can.
    """

    benchmark: Benchmark
    numbers: tuple[int, int] = (0, 0)
    changes: RevisionChanges | None = None
    withdrawn: str = ""

    @property
    def title(self) -> str:
        """What the window is called."""
        older, newer = self.numbers
        if self.changes is None or self.is_one_revision:
            return self.heading
        return gettext("Revision %(older)s and %(newer)s of %(benchmark)s") % {
            "older": older, "newer": newer, "benchmark": self.benchmark.name,
        }  # fmt: skip

    @property
    def heading(self) -> str:
        """The first line of the page."""
        if self.changes is None:
            return gettext("Revisions of %(benchmark)s") % {"benchmark": self.benchmark.name}
        older, newer = self.numbers
        if self.is_one_revision:
            return gettext("Revision %(number)s of %(benchmark)s") % {
                "number": newer, "benchmark": self.benchmark.name,
            }  # fmt: skip
        return gettext("What changed on %(benchmark)s from revision %(older)s to %(newer)s") % {
            "older": older, "newer": newer, "benchmark": self.benchmark.name,
        }  # fmt: skip

    @property
    def is_one_revision(self) -> bool:
        """Whether a revision would be compared with itself: the only one, or one that was chosen twice."""
        return self.numbers[0] == self.numbers[1]

    @property
    def boards(self) -> list[tuple[int, str]]:
        """The number and the address of each of the two whose board can be looked at."""
        board = reverse("board", args=[self.benchmark.key])
        pairs = zip(self.numbers, self.changes.has_boards if self.changes else (), strict=False)
        return [(number, f"{board}?revision={number}") for number, has_board in pairs if has_board]

    @property
    def rules(self) -> list[RuleMoves]:
        """The rules with their addresses, by how many systems moved, then those whose first place changed."""
        if self.changes is None:
            return []
        ordered = sorted(self.changes.rules, key=lambda rule: (-rule.n_moved, not rule.has_other_first))
        chosen = self.changes.chosen
        return [
            replace(rule, is_chosen=rule.rule == chosen, url=self._address(*self.numbers, rule=rule.rule) + "#moves")
            for rule in ordered
        ]

    @property
    def csv_url(self) -> str:
        """Where the ranks under the chosen rule are a file."""
        rule = self.changes.chosen if self.changes else ""
        return self._address(*self.numbers, rule=rule, format="csv")

    @cached_property
    def steps(self) -> list[tuple[str, str]]:
        """Text and address of a step back and one on, where no revision that can be compared lies between the two."""
        if not self._are_next:
            return []
        older, newer = self.numbers
        before = newest(self._whole.filter(number__lt=older))
        after = newest(self._whole.filter(number__gt=newer).order_by("number"))
        steps = [("Earlier", self._address(before, older))] if before else []
        return [*steps, ("Later", self._address(newer, after))] if after else steps

    @cached_property
    def passed_over(self) -> list[int]:
        """The revisions between the two, where all of them contain scores that were taken down since."""
        older, newer = self.numbers
        return list(range(older + 1, newer)) if self._are_next else []

    @cached_property
    def others(self) -> list[tuple[int, int, str]]:
        """Revisions near the two that can be compared, with the address: those before, those after."""
        older, newer = self.numbers
        before = list(self._whole.filter(number__lte=newer).values_list("number", flat=True)[:2])[::-1]
        after = list(self._whole.filter(number__gte=older).order_by("number").values_list("number", flat=True)[:2])
        pairs = dict.fromkeys((pair[0], pair[1]) for pair in (before, after) if len(pair) == 2)
        return [(first, last, self._address(first, last)) for first, last in pairs]

    @property
    def _whole(self) -> QuerySet[Revision]:
        return whole_revisions(self.benchmark)

    @cached_property
    def _are_next(self) -> bool:
        """Whether no revision that can be compared lies between the two."""
        older, newer = self.numbers
        return not self._whole.filter(number__gt=older, number__lt=newer).exists()

    def _address(self, older: int, newer: int, **fields: str) -> str:
        path = reverse("history_compare", args=[self.benchmark.key])
        return f"{path}?{urlencode({'from': older, 'to': newer} | fields)}"


def newest(rows: QuerySet[Revision]) -> int | None:
    """The number of the first of these revisions, in their own order; None where there is none."""
    return rows.values_list("number", flat=True).first()
