"""What the what-if page reads: the board under a reader's weights, addresses, and the weights to start from."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any
from urllib.parse import urlencode

from django.urls import reverse
from django.utils.translation import gettext

from leaderboard.access.audience import Audience
from leaderboard.common.text import whole_number
from leaderboard.explore.profiles import WeightProfileRow, profiles_for
from leaderboard.explore.weighting import (
    MANY_TASKS,
    kin_of,
    kin_with_votes,
    multiplied,
    restricted,
    searched_tasks,
)
from leaderboard.explore.what_if import TWO_STEP, WhatIfBoard, WhatIfQuery
from leaderboard.explore.what_if_texts import texts_for_script
from leaderboard.models import Benchmark, Publication
from leaderboard.rankings.configuration import configuration_of
from leaderboard.rankings.text import AGGREGATION_NAMES, POLICY_NAMES
from leaderboard.rankings.weights import Weights, read_weights
from ranking_engine.catalogue.variants import LONGEST_KEY
from ranking_engine.core.aggregation import AGGREGATIONS
from ranking_engine.core.missing import PREDICTED
from ranking_engine.text.names import fold_name

CHOSEN = "chosen"  # each task that someone ticked, to multiply its weight
TASK_FIELD, GROUP_FIELD = "w.", "g."  # of the form, which names every weight; the address names those that differ


class WhatIfAddress:
    """Reads what an address asks, and writes addresses that name only what differs from the benchmark's own."""

    def __init__(self, benchmark: Benchmark, publication: Publication, parameters: Mapping[str, str]) -> None:
        self.configuration = configuration_of(publication.revision)
        self.path = reverse("what_if", args=[benchmark.key])
        self.default_rule = benchmark.default_rule
        is_newest = publication.pk == benchmark.publication_id
        self.revision = "" if is_newest else str(publication.revision.number)
        self.page = parameters.get("page", "1")

    def query(self, parameters: Mapping[str, str]) -> WhatIfQuery:
        """What the parameters of an address or a form ask.

        Raises:
            WeightsError: weights that cannot be read.
        """
        tasks: Any = _fields(parameters, TASK_FIELD) or parameters.get("weights", "")
        groups: Any = _fields(parameters, GROUP_FIELD) or parameters.get("group_weights", "")

        def differing(name: str, own: str) -> str:
            value = parameters.get(name, "")[:LONGEST_KEY]
            return "" if value == own else value

        page = whole_number(self.page, 7)
        return WhatIfQuery(
            weights=read_weights(tasks, groups, self.configuration),
            aggregation=differing("aggregation", self.configuration.aggregation),
            policy=differing("policy", self.configuration.missing_policy),
            rule=differing("rule", self.default_rule),
            page=1 if page is None else page,
        )

    def multiplied(self, query: WhatIfQuery, search: str, chosen: Collection[str], factor: str) -> str:
        """The address with the weights of some tasks multiplied: of those chosen, or else of those searched for.

        Raises:
            WeightsError: no task is meant, or the factor is not a number that can be used.
        """
        keys = list(chosen) or searched_tasks(self.configuration, search)
        return self.of(replace(query, weights=multiplied(query.weights, self.configuration, keys, factor)))

    def restricted(self, query: WhatIfQuery, kin: str, *, is_left_out: bool) -> str:
        """The address with one group or cluster of tasks alone, or without it.

        Raises:
            WeightsError: there is no such group or cluster.
        """
        return self.of(replace(query, weights=restricted(self.configuration, kin, is_left_out=is_left_out)))

    def of(self, query: WhatIfQuery, **parameters: object) -> str:
        """The address of a query."""
        kept_parameters = {
            **query.weights.parameters,
            "aggregation": query.aggregation,
            "policy": query.policy,
            "rule": query.rule,
            "revision": self.revision,
        } | parameters
        kept = {name: value for name, value in kept_parameters.items() if value}
        return self.path + (f"?{urlencode(kept, safe=':,/')}" if kept else "")


def _fields(parameters: Mapping[str, str], prefix: str) -> dict[str, str]:
    """The fields of the form that begin so; an empty one is a weight of 0."""
    return {
        name.removeprefix(prefix): value.strip().replace(",", ".")[:60] or "0"
        for name, value in parameters.items()
        if name.startswith(prefix)
    }


@dataclass(frozen=True)
class WeightsLink:
    """A link to the board under weights that have a name."""

    name: str
    url: str
    is_current: bool  # whether they are the weights of the page


@dataclass(frozen=True)
class WhatIfPage:
    """The board under a reader's weights, with what the page offers beside it.

    Attributes:
        audience: who reads.
        address: of the page.
        board: the figures.
    """

    audience: Audience
    address: WhatIfAddress
    board: WhatIfBoard

    @property
    def query(self) -> WhatIfQuery:
        """What the address asks."""
        return self.board.query

    @property
    def parameters(self) -> dict[str, str]:
        """The weights that differ from the benchmark's own, as parameters of an address."""
        return self.query.weights.parameters

    @property
    def revision(self) -> str:
        """The number of the revision, where it is not the newest one."""
        return self.address.revision

    @property
    def here_url(self) -> str:
        """The address of exactly these weights."""
        return self.address.of(self.query)

    @property
    def data_url(self) -> str:
        """Where the page's module finds the scores."""
        url = reverse("what_if_data", args=[self.audience.benchmark.key])
        return f"{url}?revision={self.revision}" if self.revision else url

    @property
    def texts(self) -> str:
        """What the page's module says."""
        return texts_for_script()

    @property
    def presets(self) -> list[WeightsLink]:
        """Weights to start from: the benchmark's own, those that follow from its tasks, and published ones."""
        configuration, query = self.address.configuration, self.query
        return [
            self._link(gettext("The benchmark’s own"), Weights(), configuration.aggregation),
            *(self._link(one.name, one.weights, one.aggregation or query.aggregation) for one in self.board.presets),
            *self._links(are_published=True),
        ]

    @property
    def has_one_system(self) -> bool:
        """Whether there is nothing to compare."""
        return self.board.n_pages == 1 and len(self.board.rows) < 2

    @property
    def has_search(self) -> bool:
        """Whether there are so many tasks that a search among them helps."""
        return sum(len(slider.tasks) or 1 for slider in self.board.sliders) > MANY_TASKS

    @property
    def kin(self) -> list[str]:
        """The groups and clusters of the tasks, to search for."""
        configuration = self.address.configuration
        return sorted({name for task in configuration.tasks for name in kin_of(configuration, task)}, key=fold_name)

    @property
    def kin_with_votes(self) -> list[str]:
        """Those that can be the only ones that count, or be left out."""
        return kin_with_votes(self.address.configuration)

    @property
    def own_url(self) -> str:
        """The address of the benchmark's own weights."""
        return self.address.of(WhatIfQuery(policy=self.query.policy, rule=self.query.rule))

    @property
    def own_profiles(self) -> list[WeightsLink]:
        """The weights that the reader keeps alone."""
        return self._links(are_published=False)

    @property
    def deletable_profiles(self) -> list[WeightProfileRow]:
        """The profiles that the reader may delete: those kept alone, then those that all readers see."""
        may_delete = [one for one in self._profiles if one.is_own or (one.is_published and self.may_publish)]
        return sorted(may_delete, key=lambda profile: profile.is_published)

    @property
    def may_publish(self) -> bool:
        """Whether the reader may keep weights for all readers."""
        return self.audience.may_administer

    @property
    def policies(self) -> list[tuple[str, str, bool]]:
        """Key and name of each policy for missing scores, and whether the board follows it."""
        return [
            (policy, str(POLICY_NAMES[policy]), policy == self.board.policy)
            for policy in self.address.configuration.policies
        ]

    @property
    def aggregations(self) -> list[tuple[str, str, bool]]:
        """Key and name of each way to weigh groups, and whether the board follows it; none where nothing is grouped."""
        if not any(task.group for task in self.address.configuration.tasks):
            return []
        return [(key, str(AGGREGATION_NAMES[key]), key == self.board.aggregation) for key in AGGREGATIONS]

    @property
    def by_server(self) -> str:
        """Why the server ranks the board; empty where the browser does."""
        if self.board.is_live:
            return ""
        if not self.board.is_own_ranked:
            return gettext(
                "The benchmark’s own weights rank no system: results update when you stop moving the sliders."
            )
        if self.board.policy == PREDICTED:
            return gettext("Predicted scores: results update when you stop moving the sliders.")
        if self.board.aggregation == TWO_STEP:
            return gettext("Two-step aggregation: results update when you stop moving the sliders.")
        return gettext("Large board: results update when you stop moving the sliders.")

    @property
    def prediction(self) -> str:
        """What ranks with a ≈ rest on; empty where no score is predicted."""
        return next((column.prediction for column in self.board.columns if column.prediction), "")

    @property
    def names(self) -> list[tuple[str, bool]]:
        """The systems on the page in the benchmark's own order, and whether each is the runner-up of these: the one
        that most readers ask what it would take for."""
        names = {row.index: row.name for row in self.board.rows}
        order = [i for i in self.board.own_order if i in names]
        return [(names[i], place == min(1, len(order) - 1)) for place, i in enumerate(order)]

    @property
    def conditions(self) -> str:
        """The weights as conditions of the page that says who can win."""
        return "\n".join(self.board.conditions)

    @property
    def pages(self) -> dict[str, Any]:
        """The pages of systems, as `common/_pages.html` reads them."""
        query, n_pages = self.query, self.board.n_pages
        return {
            "number": min(query.page, n_pages),
            "n_pages": n_pages,
            "previous_url": self.address.of(query, page=query.page - 1) if query.page > 1 else "",
            "next_url": self.address.of(query, page=query.page + 1) if query.page < n_pages else "",
        }

    @cached_property
    def _profiles(self) -> list[WeightProfileRow]:
        return profiles_for(self.audience, self.address.configuration)

    def _links(self, *, are_published: bool) -> list[WeightsLink]:
        return [
            self._link(profile.name, profile.weights, profile.aggregation)
            for profile in self._profiles
            if profile.is_published == are_published
        ]

    def _link(self, name: str, weights: Weights, aggregation: str) -> WeightsLink:
        kept = "" if aggregation == self.address.configuration.aggregation else aggregation
        url = self.address.of(WhatIfQuery(weights, kept, self.query.policy, self.query.rule))
        return WeightsLink(name, url, is_current=url == self.here_url)
