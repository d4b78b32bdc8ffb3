"""The addresses on the page of prospects: each keeps what the page asks, and changes one thing."""

from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlencode

from django.urls import reverse
from django.utils.translation import gettext

from leaderboard.common.files import export_links
from leaderboard.models import Benchmark, Publication
from leaderboard.rankings.revision_parameter import revision_query
from leaderboard.studies.prospects.conditions import FIELDS
from leaderboard.studies.prospects.page import ALL, ProspectRow, ProspectsPage, ProspectsQuery
from leaderboard.studies.prospects.text import VERDICT_WORDS


@dataclass(frozen=True)
class VerdictLink:
    """A link to the systems of one verdict, or to all."""

    name: str
    n: int
    url: str
    is_active: bool


@dataclass(frozen=True)
class ProspectsLinks:
    """The addresses of a page of prospects.

    Attributes:
        benchmark: whose prospects.
        publication: of which revision.
        query: what the address asks.
        page: what it shows.
    """

    benchmark: Benchmark
    publication: Publication
    query: ProspectsQuery
    page: ProspectsPage

    @property
    def rows(self) -> list[ProspectRow]:
        """The systems of the page, each with its address."""
        at_revision = revision_query(self.benchmark, self.publication.revision)
        return [
            replace(row, url=reverse("system", args=[self.benchmark.key, row.key]) + at_revision)
            for row in self.page.rows
        ]

    @property
    def verdicts(self) -> list[VerdictLink]:
        """All systems, then those of each verdict that some system has or that is chosen."""
        counts = self.page.counts
        total = sum(counts.values())
        verdicts = [("", gettext("All"), total)]
        if self.page.n_hidden or self.query.verdict == ALL:
            possible = total - counts["none"] - counts["no_scores"]
            verdicts = [("", gettext("Can win or tie"), possible), (ALL, gettext("All"), total)]
        verdicts += [(verdict, str(name), counts[verdict]) for verdict, name in VERDICT_WORDS.items()]
        return [
            VerdictLink(name, n, self._address(verdict=verdict, page=""), is_active=self.query.verdict == verdict)
            for verdict, name, n in verdicts
            if n or self.query.verdict == verdict
        ]

    @property
    def pages(self) -> dict[str, Any]:
        """The pages of systems, as `common/_pages.html` reads them."""
        number, n_pages = self.page.page, self.page.n_pages
        return {
            "number": number,
            "n_pages": n_pages,
            "previous_url": self._address(page=number - 1) if number > 1 else "",
            "next_url": self._address(page=number + 1) if number < n_pages else "",
        }

    @property
    def all_tasks_url(self) -> str:
        """The same with the tasks of weight 0 counted, or without them where they are."""
        return self._address(all_tasks="" if self.query.all_tasks else 1, page="")

    @property
    def cleared_url(self) -> str:
        """The same without conditions."""
        return self._address(**dict.fromkeys(FIELDS, ""))

    @property
    def downloads(self) -> list[dict[str, str]]:
        """Every verdict as a file."""
        return export_links(
            self.benchmark.key,
            "prospects",
            revision=self.publication.revision.number,
            all_tasks=1 if self.query.all_tasks else "",
        )

    def _address(self, **parameters: object) -> str:
        is_newest = self.publication.pk == self.benchmark.publication_id
        fields = {
            "q": self.query.q,
            "verdict": self.query.verdict,
            "all_tasks": 1 if self.query.all_tasks else "",
            "revision": "" if is_newest else self.publication.revision.number,
        } | parameters
        kept = {name: value for name, value in fields.items() if value}
        return reverse("prospects", args=[self.benchmark.key]) + (f"?{urlencode(kept)}" if kept else "")
