"""What one was told, what one wants to hear of, and the link in a mail that stops mails."""

from uuid import UUID

from allauth.account.decorators import reauthentication_required
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import ValidationError
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext, gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods

from leaderboard.access.audience import administered_benchmark
from leaderboard.common.form_fields import take_errors
from leaderboard.common.paging import page_links
from leaderboard.common.requests import signed_in
from leaderboard.models import Benchmark, NoticeKind, Webhook
from leaderboard.notifications.forms import NoticeChoicesForm, WebhookForm
from leaderboard.notifications.mails import has_confirmed_address, read_unsubscribe, unsubscribe
from leaderboard.notifications.notices import choose_ways, mark_read
from leaderboard.notifications.queries import visible_notices, ways_of, webhook_of, webhooks_of
from leaderboard.notifications.webhooks import (
    WebhookError,
    add_webhook,
    change_webhook,
    delete_webhook,
    put_test,
    renew_secret,
)

PAGE_NOTICES = 50


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def notices(request: HttpRequest) -> HttpResponse:
    """One's notices, newest first. Sending the form marks all of them as read."""
    user = signed_in(request)
    if request.method == "POST":
        mark_read(user)
        return redirect("notices")
    page = Paginator(visible_notices(user), PAGE_NOTICES).get_page(request.GET.get("page"))
    context = {
        "notices": page,
        "has_unread": any(notice.read_at is None for notice in page),
        "pages": page_links(page),
    }
    return render(request, "account/notices.html", context)


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def notice_choices(request: HttpRequest) -> HttpResponse:
    """Of what one wants to hear, and where."""
    user = signed_in(request)
    form = NoticeChoicesForm(request.POST or None, initial=ways_of(user))
    if request.method == "POST" and form.is_valid():
        choose_ways(user, form.cleaned_data)
        messages.success(request, gettext("Kept."))
        return redirect("notice_choices")
    context = {"form": form, "has_confirmed_address": has_confirmed_address(user)}
    return render(request, "account/notice_choices.html", context, status=400 if form.is_bound else 200)


@csrf_exempt  # the mail program asks; the signed link is all that it needs, and all that it can do is to stop mails
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def stop(request: HttpRequest, token: str) -> HttpResponse:
    """The link in a mail. Looking at it changes nothing; programs look at every link of a mail."""
    subscription = read_unsubscribe(token)
    if subscription is None:
        raise Http404(gettext("This link is incomplete."))
    if request.method == "POST":
        unsubscribe(token)
    kinds = [NoticeKind(kind).label for kind in subscription[1]]
    return render(request, "account/unsubscribe.html", {"kinds": kinds, "is_done": request.method == "POST"})


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def manage_webhooks(request: HttpRequest, key: str) -> HttpResponse:
    """The webhooks with their last deliveries, and a form for another. The answer to it alone shows the secret."""
    benchmark = administered_benchmark(request.user, key)
    if request.method == "POST" and request.POST.get("action") in STEPS:
        # Do to one webhook what its button says.
        webhook, action = _chosen(request, benchmark), request.POST["action"]
        try:
            if action == "test":
                put_test(webhook, author=signed_in(request))
            elif action == "delete":
                delete_webhook(webhook, author=signed_in(request))
            else:
                change_webhook(webhook, author=signed_in(request), is_active=action == "on")
        except WebhookError as error:
            messages.error(request, str(error))
        else:
            messages.success(request, str(STEPS[action]))
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
    return render(request, "notifications/manage_webhooks.html", context, status=status)


@reauthentication_required
def _show_secret(request: HttpRequest, benchmark: Benchmark) -> HttpResponse:
    """Add a webhook, or give one a new secret; a session that someone stole does not read it."""
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
    "test": gettext_lazy("A test was sent; reload the page to see the result."),
    "on": gettext_lazy("The webhook is on."),
    "off": gettext_lazy("The webhook is off; waiting deliveries are not sent."),
    "delete": gettext_lazy("The webhook was deleted."),
}


def _chosen(request: HttpRequest, benchmark: Benchmark) -> Webhook:
    try:
        uuid = UUID(request.POST.get("webhook", ""))
    except ValueError as error:
        raise Http404(gettext("There is no webhook of this number.")) from error
    return webhook_of(benchmark, uuid)
