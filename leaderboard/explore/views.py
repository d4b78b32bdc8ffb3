"""The what-if page: the board under weights of one's own, the data that rank it in the browser, kept profiles."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import BadRequest
from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.cache import get_conditional_response, patch_cache_control
from django.views.decorators.http import require_POST, require_safe

from leaderboard.access.audience import Audience, readable_benchmark
from leaderboard.boards.page import AGGREGATION_NAMES, POLICY_NAMES
from leaderboard.common.hashing import content_hash
from leaderboard.common.requests import signed_in
from leaderboard.common.text import whole_number
from leaderboard.explore.profiles import ProfileError, delete_profile, keep_profile, profiles_for
from leaderboard.explore.what_if import WhatIfPage, WhatIfQuery, what_if_data, what_if_page
from leaderboard.models import Benchmark, Publication
from leaderboard.on_demand.allowance import may_ask
from leaderboard.on_demand.budget import TooLargeError
from leaderboard.rankings.configuration import configuration_of
from leaderboard.rankings.revision_parameter import publication_asked_for
from leaderboard.rankings.weights import Weights, WeightsError, read_weights
from ranking_engine import MISSING_POLICIES
from ranking_engine.core.aggregation import AGGREGATIONS
from ranking_engine.text.names import fold_name

TASK_FIELD, GROUP_FIELD = "w.", "g."  # of the form, which names every weight; the address names those that differ


@require_safe
def what_if(request: HttpRequest, key: str) -> HttpResponse:
    """Who wins under weights of one's own. The form's many fields become a short address."""
    benchmark, audience = readable_benchmark(request.user, key)
    publication = publication_asked_for(benchmark, request.GET.get("revision", ""))
    context: dict[str, Any] = {"benchmark": benchmark, "publication": publication}
    if publication is None:
        return render(request, "explore/what_if.html", context)
    address = _Address(benchmark, publication, request.GET)
    try:
        query = address.query(request.GET)
        if any(name.startswith((TASK_FIELD, GROUP_FIELD)) for name in request.GET):
            return redirect(address.of(query))
        if bool(query.weights or query.aggregation or query.policy) and not may_ask(request):
            return render(request, "429.html", status=429)
        page = what_if_page(publication, query, benchmark.default_rule, audience.level)
    except WeightsError as error:
        return render(request, "explore/what_if.html", context | {"problem": error}, status=400)
    except TooLargeError as error:
        return render(request, "common/too_large.html", context | {"reason": error}, status=422)
    if page is not None:
        context |= _context(audience, page, address)
    return render(request, "explore/what_if.html", context)


@require_safe
def what_if_data_json(request: HttpRequest, key: str) -> HttpResponseBase:
    """The scores, for the page's module; asked for again they are a 304."""
    benchmark, _ = readable_benchmark(request.user, key)
    publication = publication_asked_for(benchmark, request.GET.get("revision", ""))
    if publication is None:
        return JsonResponse({"systems": [], "tasks": [], "groups": [], "values": None, "own": {}})
    # Slow rules join a publication later, and names change: the content says whether it is the same.
    data = what_if_data(publication)
    etag = f'"{content_hash(data)[:32]}"'
    response = get_conditional_response(request, etag=etag) or JsonResponse(data)
    response["ETag"] = etag
    patch_cache_control(response, private=True, no_cache=True)
    return response


@login_required
@require_POST
def what_if_profiles(request: HttpRequest, key: str) -> HttpResponse:
    """Keep weights under a name, or delete what was kept."""
    user = signed_in(request)
    benchmark, audience = readable_benchmark(user, key)
    publication = publication_asked_for(benchmark, "")
    if publication is None:
        raise BadRequest("Nothing is published here that could be weighed.")
    address = _Address(benchmark, publication, {})
    if request.POST.get("action") == "delete":
        number = whole_number(request.POST.get("profile", ""), 18)
        if number is not None and delete_profile(audience, number):
            messages.success(request, "The profile is deleted.")
        else:
            messages.info(request, "There is no such profile of yours.")
        return redirect("what_if", key)
    try:
        query = address.query(request.POST)
        profile = keep_profile(
            audience,
            name=request.POST.get("name", ""),
            weights=query.weights,
            aggregation=query.aggregation,
            is_published=request.POST.get("is_published") == "1",
        )
    except WeightsError as error:
        raise BadRequest(str(error)) from error
    except ProfileError as error:
        messages.error(request, str(error))
        return redirect(address.of(query))
    messages.success(request, f"The weights are kept as “{profile.name}”.")
    return redirect(address.of(query))


class _Address:
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
        tasks: Any = parameters.get("weights", "")
        groups: Any = parameters.get("group_weights", "")
        if fields := _fields(parameters, TASK_FIELD):
            tasks = fields
        if fields := _fields(parameters, GROUP_FIELD):
            groups = fields

        def differing(name: str, own: str) -> str:
            value = parameters.get(name, "")[:60]
            return "" if value == own else value

        page = whole_number(self.page, 7)
        return WhatIfQuery(
            weights=read_weights(tasks, groups, self.configuration),
            aggregation=differing("aggregation", self.configuration.aggregation),
            policy=differing("policy", self.configuration.missing_policy),
            rule=differing("rule", self.default_rule),
            page=1 if page is None else page,
        )

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


def _context(audience: Audience, page: WhatIfPage, address: _Address) -> dict[str, Any]:
    query, configuration = page.query, address.configuration
    own = Weights()

    def address_of(weights: Weights, aggregation: str) -> str:
        kept = "" if aggregation == configuration.aggregation else aggregation
        return address.of(WhatIfQuery(weights, kept, query.policy, query.rule))

    listed = profiles_for(audience, configuration)

    def entries(*, are_published: bool) -> list[dict[str, Any]]:
        return [
            {"profile": profile, "url": address_of(profile.weights, profile.aggregation)}
            for profile in listed
            if profile.is_published == are_published
        ]

    presets = [
        {"name": preset.name, "url": address_of(preset.weights, preset.aggregation or query.aggregation)}
        for preset in page.presets
    ]
    revision = f"?revision={address.revision}" if address.revision else ""
    return {
        "page": page,
        "query": query,
        "has_groups": any(slider.kind == "group" for slider in page.sliders),
        "presets": [{"name": "The benchmark’s own", "url": address_of(own, configuration.aggregation)}, *presets],
        "published": entries(are_published=True),
        "own_profiles": entries(are_published=False),
        "may_publish": audience.may_administer,
        "here_url": address.of(query),
        "data_url": reverse("what_if_data", args=[audience.benchmark.key]) + revision,
        "revision": address.revision,
        "policies": [(policy, POLICY_NAMES[policy], policy == page.policy) for policy in MISSING_POLICIES],
        "aggregations": [(key, AGGREGATION_NAMES[key], key == page.aggregation) for key in AGGREGATIONS],
        "is_grouped": any(task.group for task in configuration.tasks),
        "names": sorted((row.name for row in page.rows), key=fold_name),
        "conditions": "\n".join(page.conditions),
        "parameters": query.weights.parameters,
        "pages": {
            "number": min(query.page, page.n_pages),
            "n_pages": page.n_pages,
            "previous_url": address.of(query, page=query.page - 1) if query.page > 1 else "",
            "next_url": address.of(query, page=query.page + 1) if query.page < page.n_pages else "",
        },
    }
