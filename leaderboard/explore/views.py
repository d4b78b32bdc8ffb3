"""The what-if page: the board under weights that the reader chooses, its data for the browser, saved profiles."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import BadRequest
from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.shortcuts import redirect, render
from django.utils.cache import get_conditional_response, patch_cache_control
from django.utils.translation import gettext
from django.views.decorators.http import require_POST, require_safe

from leaderboard.access.audience import readable_benchmark
from leaderboard.common.hashing import content_hash
from leaderboard.common.requests import signed_in
from leaderboard.common.text import whole_number
from leaderboard.explore.profiles import ProfileError, delete_profile, keep_profile
from leaderboard.explore.what_if import what_if_board, what_if_data
from leaderboard.explore.what_if_page import CHOSEN, GROUP_FIELD, TASK_FIELD, WhatIfAddress, WhatIfPage
from leaderboard.on_demand.allowance import may_ask
from leaderboard.on_demand.budget import TooLargeError
from leaderboard.rankings.revision_parameter import publication_asked_for, revision_query
from leaderboard.rankings.weights import WeightsError


@require_safe
def what_if(request: HttpRequest, key: str) -> HttpResponse:
    """Who wins under weights that the reader chooses. The form's many fields become a short address."""
    benchmark, audience = readable_benchmark(request.user, key)
    publication = publication_asked_for(benchmark, request.GET.get("revision", ""))
    context: dict[str, Any] = {"benchmark": benchmark, "publication": publication}
    if publication is None:
        return render(request, "explore/what_if.html", context)
    address = WhatIfAddress(benchmark, publication, request.GET)
    try:
        query = address.query(request.GET)
        if "factor" in request.GET:
            search, factor = request.GET.get("search", ""), request.GET["factor"]
            return redirect(address.multiplied(query, search, request.GET.getlist(CHOSEN), factor))
        if "kin" in request.GET:
            is_left_out = request.GET.get("take") == "without"
            return redirect(address.restricted(query, request.GET["kin"], is_left_out=is_left_out))
        if any(name.startswith((TASK_FIELD, GROUP_FIELD)) for name in request.GET):
            return redirect(address.of(query))
        if bool(query.weights or query.aggregation or query.policy) and not may_ask(request):
            return render(request, "429.html", status=429)
        board = what_if_board(publication, query, benchmark.default_rule, audience.level)
    except WeightsError as error:
        return render(request, "explore/what_if.html", context | {"problem": error}, status=400)
    except TooLargeError as error:
        return render(request, "common/too_large.html", context | {"reason": error}, status=422)
    if board is not None:
        context["page"] = WhatIfPage(audience, address, board)
        context["revision_query"] = revision_query(benchmark, publication.revision)
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
        raise BadRequest(gettext("This benchmark has no published board yet, so there are no weights to change."))
    address = WhatIfAddress(benchmark, publication, {})
    if request.POST.get("action") == "delete":
        number = whole_number(request.POST.get("profile", ""), 18)
        if number is not None and delete_profile(audience, number):
            messages.success(request, gettext("The profile was deleted."))
        else:
            messages.info(request, gettext("You have no such profile."))
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
    messages.success(request, gettext("The weights are saved as “%(profile)s”.") % {"profile": profile.name})
    return redirect(address.of(query))
