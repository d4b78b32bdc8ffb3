"""The page on which anyone ranks a table of their own: no account, nothing kept."""

from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.http import content_disposition_header
from django.utils.translation import gettext
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt, csrf_protect
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from leaderboard.boards.exports import FORMATS
from leaderboard.common.files import FORMAT_NAMES
from leaderboard.common.requests import InMemoryUpload
from leaderboard.common.text import as_sentence
from leaderboard.explore.forms import TryForm
from leaderboard.explore.page import MatrixPage
from leaderboard.explore.try_table import TryOptions, example, try_table
from leaderboard.on_demand.allowance import may_ask
from leaderboard.on_demand.budget import RETRY_SECONDS, BusyError, TooLargeError
from ranking_engine.files.tables import TableError

NAME = "Your table"
SHOWN_ERRORS = 20
FORM_BYTES = 4  # the largest request, as a multiple of the largest table: two texts, two files


@csrf_exempt  # only so that the handler can be chosen before the form is read; the view beneath is protected
@require_http_methods(["GET", "HEAD", "POST"])
def try_page(request: HttpRequest) -> HttpResponse:
    """Everything that the quick engine knows of a pasted or uploaded table."""
    if int(request.META.get("CONTENT_LENGTH") or 0) > FORM_BYTES * settings.TRY_BYTES + 100_000:
        reason = gettext("A table may have %(n)s kB here; what was sent is larger and was not read.") % {
            "n": settings.TRY_BYTES // 1000
        }
        return _page(request, TryForm(), {"refusal": reason}, 413)
    request.upload_handlers = [InMemoryUpload(request)]
    return _try_page(request)


@never_cache
@csrf_protect
@sensitive_post_parameters()
def _try_page(request: HttpRequest) -> HttpResponse:
    form, context = TryForm(), dict[str, Any]()
    if request.method == "POST":
        form = TryForm(request.POST, request.FILES)
    elif request.GET.get("example"):
        text, about = example()
        form = TryForm({"text": text, "about": about})
        context["is_example"] = True
    if not form.is_bound:
        return _page(request, form, context)
    if not may_ask(request, "try"):
        return _page(
            request,
            form,
            context | {"refusal": gettext("You tried many tables within a minute. Wait a minute and try again.")},
            429,
        )
    if not form.is_valid():
        return _page(request, form, context, 400)
    status = 400
    extension, cleaned = request.POST.get("format", ""), form.cleaned_data
    try:
        options: TryOptions = form.options()
        if extension in FORMATS:  # a button asks for the board as a file
            whole = try_table(cleaned["text"], cleaned["about"], options, is_whole=True)
            content_type, write = FORMATS[extension]
            response = HttpResponse(write(whole.board, NAME), content_type=f"{content_type}; charset=utf-8")
            name = content_disposition_header(as_attachment=True, filename=f"ranks.{extension}")
            response["Content-Disposition"] = name or "attachment"
            return response
        tried = try_table(cleaned["text"], cleaned["about"], options)
        return _page(request, form, context | {"tried": tried, "board": MatrixPage(tried.board, NAME.lower())})
    except TableError as error:
        errors = [f"{error.source}{', ' if issue.line else ': '}{issue}" for issue in error.errors[:SHOWN_ERRORS]]
        context |= {"errors": errors, "n_more_errors": len(error.errors) - len(errors)}
    except ValueError as error:  # it needs too much, or groups leave no task a weight
        context["refusal"], status = as_sentence(str(error)), 422 if isinstance(error, TooLargeError) else 400
    except BusyError:
        context["refusal"], status = gettext("The site is busy ranking other tables. Try again in a moment."), 503
    response = _page(request, form, context, status)
    if status == 503:
        response["Retry-After"] = str(RETRY_SECONDS)
    return response


def _page(request: HttpRequest, form: TryForm, context: dict[str, Any], status: int = 200) -> HttpResponse:
    if form.is_bound:
        # The answer brings the texts along, those of files too: so that other options need no new upload.
        cleaned = getattr(form, "cleaned_data", {})
        texts = {name: cleaned[name] for name in ("text", "about") if isinstance(cleaned.get(name), bytes)}
        values = {name: form.data.get(name) for name in form.data} | {"rules": request.POST.getlist("rules")}
        form.data = values | {
            name: text.decode("utf-8-sig", "replace")[: settings.TRY_BYTES] for name, text in texts.items()
        }
    limits = gettext(
        "up to %(n_systems)s systems, %(n_tasks)s tasks and %(n)s kB; %(seconds)s seconds of computing"
    ) % {
        "n_systems": settings.TRY_SYSTEMS,
        "n_tasks": settings.TRY_TASKS,
        "n": settings.TRY_BYTES // 1000,
        "seconds": settings.ON_DEMAND_SECONDS,
    }
    about = {"limits": limits, "form": form, "formats": list(FORMAT_NAMES.items())}
    return render(request, "explore/try.html", about | context, status=status)
