"""The owners' page of a benchmark's webhooks."""

from uuid import UUID

from allauth.account.decorators import reauthentication_required
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import ValidationError
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from leaderboard.forms.webhooks import WebhookForm
from leaderboard.models import Benchmark, Webhook
from leaderboard.selectors.audience import administered_benchmark
from leaderboard.selectors.webhooks import webhook_of, webhooks_of
from leaderboard.services.webhooks import (
    WebhookError,
    add_webhook,
    change_webhook,
    delete_webhook,
    put_test,
    renew_secret,
)
from leaderboard.views.new import take_errors
from leaderboard.views.people import signed_in


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def manage_webhooks(request: HttpRequest, key: str) -> HttpResponse:
    """The webhooks with their last deliveries, and a form for another. The answer to it alone shows the secret."""
    benchmark = administered_benchmark(request.user, key)
    if request.method == "POST" and request.POST.get("action") in STEPS:
        _take_step(request, benchmark)
        return redirect("manage_webhooks", key)
    if request.method == "POST":
        return _show_secret(request, benchmark)
    return _page(request, benchmark, WebhookForm())


def _page(
    request: HttpRequest, benchmark: Benchmark, form: WebhookForm, *, secret: str = "", status: int = 200
) -> HttpResponse:
    context = {
        "benchmark": benchmark,
        "here": "webhooks",
        "webhooks": webhooks_of(benchmark),
        "form": form,
        "secret": secret,
    }
    return render(request, "leaderboard/manage_webhooks.html", context, status=status)


@reauthentication_required
def _show_secret(request: HttpRequest, benchmark: Benchmark) -> HttpResponse:
    """Add a webhook, or give one a new secret; a session that somebody stole does not read it."""
    if request.POST.get("action") == "renew":
        secret = renew_secret(_chosen(request, benchmark), author=signed_in(request))
        return _page(request, benchmark, WebhookForm(), secret=secret)
    form = WebhookForm(request.POST)
    if form.is_valid():
        try:
            _, secret = add_webhook(benchmark, author=signed_in(request), **form.cleaned_data)
        except ValidationError as error:
            take_errors(form, error)
        except WebhookError as error:
            form.add_error(None, str(error))
        else:
            return _page(request, benchmark, WebhookForm(), secret=secret, status=201)
    return _page(request, benchmark, form, status=400)


STEPS = {
    "test": "A test is on its way; reload the page to see what came of it.",
    "on": "The webhook is switched on.",
    "off": "The webhook is switched off; what waited is not sent.",
    "delete": "The webhook is deleted.",
}


def _take_step(request: HttpRequest, benchmark: Benchmark) -> None:
    """Do to one webhook what its button says."""
    webhook, action = _chosen(request, benchmark), request.POST["action"]
    try:
        if action == "test":
            put_test(webhook)
        elif action == "delete":
            delete_webhook(webhook, author=signed_in(request))
        else:
            change_webhook(webhook, author=signed_in(request), is_active=action == "on")
    except WebhookError as error:
        messages.error(request, str(error))
    else:
        messages.success(request, STEPS[action])


def _chosen(request: HttpRequest, benchmark: Benchmark) -> Webhook:
    try:
        uuid = UUID(request.POST.get("webhook", ""))
    except ValueError as error:
        raise Http404("No webhook of this number stands here.") from error
    return webhook_of(benchmark, uuid)
