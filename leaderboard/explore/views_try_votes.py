"""The page on which anyone rates systems by votes on pairs of them: no account, nothing kept."""

from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt, csrf_protect
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from leaderboard.common.requests import InMemoryUpload
from leaderboard.common.text import as_sentence
from leaderboard.computing.tried_votes import rated_votes
from leaderboard.explore.forms_votes import TryVotesForm
from leaderboard.explore.views_try_table import FORM_BYTES
from leaderboard.on_demand.allowance import may_ask
from leaderboard.on_demand.budget import RETRY_SECONDS, BusyError, TooLargeError, compute

MAX_VOTES = 100_000  # fewer bytes than these have are read
PAGE = "explore/try_votes.html"
EXAMPLE = "model_a,model_b,winner,category\n" + "".join(
    f"{first},{second},{winner},{category}\n" * n_votes
    for category, n_votes, first, second, winner in (
        ("code", 9, "Ash", "Birch", "model_a"),
        ("code", 6, "Ash", "Birch", "model_b"),
        ("code", 3, "Birch", "Cedar", "tie"),
        ("code", 7, "Cedar", "Ash", "model_b"),
        ("code", 4, "Cedar", "Ash", "model_a"),
        ("code", 8, "Birch", "Cedar", "model_a"),
        ("code", 5, "Birch", "Cedar", "model_b"),
        ("text", 8, "Birch", "Ash", "model_a"),
        ("text", 6, "Ash", "Birch", "model_a"),
        ("text", 7, "Cedar", "Birch", "model_b"),
        ("text", 5, "Birch", "Cedar", "model_b"),
        ("text", 4, "Ash", "Cedar", "tie"),
    )
)


@csrf_exempt  # only so that the handler can be chosen before the form is read; the view beneath is protected
@require_http_methods(["GET", "HEAD", "POST"])
def try_votes_page(request: HttpRequest) -> HttpResponse:
    """Ratings, intervals, what cannot be compared, and the fewest votes that decide the first place."""
    if int(request.META.get("CONTENT_LENGTH") or 0) > FORM_BYTES * settings.TRY_BYTES + 100_000:
        reason = gettext("Votes may have %(n)s kB here; what was sent is larger and was not read.") % {
            "n": settings.TRY_BYTES // 1000
        }
        return render(request, PAGE, {"form": TryVotesForm(), "refusal": reason}, status=413)
    request.upload_handlers = [InMemoryUpload(request)]
    return rated_answer(request)


@never_cache
@csrf_protect
@sensitive_post_parameters()
def rated_answer(request: HttpRequest) -> HttpResponse:
    """Read the form, whose files are in memory, and show what was rated."""
    form, context, status = TryVotesForm(), dict[str, Any](), 200
    if request.method == "POST":
        form = TryVotesForm(request.POST, request.FILES)
    elif request.GET.get("example"):
        form = TryVotesForm({"text": EXAMPLE})
    if form.is_bound and not may_ask(request, "try"):
        context["refusal"], status = gettext("You tried many files within a minute. Wait a minute and try again."), 429
    elif form.is_bound and not form.is_valid():
        status = 400
    elif form.is_bound:
        cleaned = form.cleaned_data
        arguments = (cleaned["text"], cleaned["model"], cleaned["cluster"], settings.TRY_SYSTEMS, MAX_VOTES)
        try:
            rated = compute(rated_votes, *arguments)
        except TooLargeError as error:
            context["refusal"], status = as_sentence(str(error)), 422
        except BusyError:
            context["refusal"], status = gettext("The site is busy computing for others. Try again in a moment."), 503
        else:
            context["rated"] = rated
            status = 400 if rated.problems else 200
        # The answer brings the text along, that of a file too: so that another model needs no new upload.
        text = cleaned["text"].decode("utf-8-sig", "replace")[: settings.TRY_BYTES]
        form.data = {name: form.data.get(name) for name in form.data} | {"text": text}
    limits = gettext("up to %(n_systems)s systems and %(n)s kB") % {
        "n_systems": settings.TRY_SYSTEMS,
        "n": settings.TRY_BYTES // 1000,
    }
    response = render(request, PAGE, {"form": form, "limits": limits} | context, status=status)
    if status == 503:
        response["Retry-After"] = str(RETRY_SECONDS)
    return response
