"""What one was told, what one wants to hear of, and the link in a mail that stops mails."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods

from leaderboard.forms.notices import NoticeChoicesForm
from leaderboard.models import NoticeKind
from leaderboard.selectors.notices import visible_notices, ways_of
from leaderboard.services.notice_mails import has_confirmed_address, read_unsubscribe, unsubscribe
from leaderboard.services.notices import choose_ways, mark_read
from leaderboard.views.people import signed_in

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
        "pages": {
            "number": page.number,
            "n_pages": page.paginator.num_pages,
            "previous_url": f"?page={page.previous_page_number()}" if page.has_previous() else "",
            "next_url": f"?page={page.next_page_number()}" if page.has_next() else "",
        },
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
        messages.success(request, "Kept.")
        return redirect("notice_choices")
    context = {"form": form, "has_confirmed_address": has_confirmed_address(user)}
    return render(request, "account/notice_choices.html", context, status=400 if form.is_bound else 200)


@csrf_exempt  # the mail program asks; the signed link is all that it needs, and all that it can do is to stop mails
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def stop(request: HttpRequest, token: str) -> HttpResponse:
    """The link in a mail. Looking at it changes nothing; programs look at every link of a mail."""
    found = read_unsubscribe(token)
    if found is None:
        raise Http404("This link is not complete.")
    if request.method == "POST":
        unsubscribe(token)
    kinds = [NoticeKind(kind).label for kind in found[1]]
    return render(request, "account/unsubscribe.html", {"kinds": kinds, "is_done": request.method == "POST"})
