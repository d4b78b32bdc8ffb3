"""The way to another site that says who someone is, the way back, and which of its accounts open this one."""

from allauth.account.decorators import reauthentication_required
from allauth.account.utils import get_next_redirect_url
from allauth.socialaccount.adapter import get_adapter
from allauth.socialaccount.helpers import render_authentication_error
from allauth.socialaccount.internal.flows.connect import validate_disconnect
from allauth.socialaccount.models import SocialAccount
from allauth.socialaccount.providers.base import AuthProcess
from allauth.socialaccount.providers.oauth2.views import OAuth2CallbackView
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import ImproperlyConfigured, ValidationError
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe
from requests import RequestException

from leaderboard.accounts.sign_in import linked_accounts, sign_in_provider, sign_in_sites
from leaderboard.common.limits import TooManyAttemptsError, client_address, take_attempt, too_many_attempts
from leaderboard.common.requests import signed_in
from leaderboard.common.text import whole_number

# What allauth raises where the other site does not answer, or its answer has no id, or one that is too long.
NO_PERSON = (RequestException, KeyError, TypeError, ValueError, ImproperlyConfigured)


@require_POST
@never_cache
def sign_in_with(request: HttpRequest, site: str) -> HttpResponse:
    """Send someone to another site to say who they are; with `process=connect` to link it to their account.

    The answer is a page that leads on by itself. A redirect of a form to another site is refused by browsers, because
    the Content-Security-Policy lets forms of this site go to this site only.
    """
    provider = sign_in_provider(request, site)
    if provider is None:
        raise Http404(gettext("People cannot sign in by this site."))
    connects = request.POST.get("process") == "connect"
    if connects and not request.user.is_authenticated:
        return redirect("account_login")
    try:
        take_attempt("other_site", address=client_address(request))
        answer = provider.redirect(
            request,
            AuthProcess.CONNECT if connects else AuthProcess.LOGIN,
            next_url=get_next_redirect_url(request),
        )
    except TooManyAttemptsError as error:
        return too_many_attempts(request, error)
    except (RequestException, KeyError, ValueError) as error:  # its description of itself cannot be had, or read
        return render_authentication_error(request, provider, exception=error)
    if not answer.has_header("Location"):
        return answer
    return render(request, "socialaccount/leaving.html", {"url": answer["Location"], "provider": provider})


@require_safe
@never_cache
def signed_in_with(request: HttpRequest, provider_id: str) -> HttpResponse:
    """Where another site sends people back to, with a code that we exchange for who they are there."""
    provider = sign_in_provider(request, provider_id)
    if provider is None:
        raise Http404(gettext("People cannot sign in by this site."))
    try:
        answer: HttpResponse = OAuth2CallbackView.adapter_view(provider.get_oauth2_adapter(request))(request)
    except NO_PERSON as error:
        return render_authentication_error(request, provider, exception=error)
    return answer


@login_required
@reauthentication_required
@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def linked(request: HttpRequest) -> HttpResponse:
    """The accounts at other sites that open this one; one of them is unlinked, or another is linked."""
    user = signed_in(request)
    accounts = linked_accounts(user)
    if request.method == "POST":
        number = whole_number(request.POST.get("account", ""), 15)
        account = next((account for account in accounts if account.number == number), None)
        if account is None:
            messages.info(request, gettext("This account is no longer linked."))
            return redirect("socialaccount_connections")
        row = SocialAccount.objects.get(pk=account.number)
        try:
            validate_disconnect(request, row)
        except ValidationError as error:
            messages.error(request, " ".join(error.messages))
        else:
            row.delete()
            context = {"account": row, "provider": account.site}
            get_adapter().send_notification_mail("socialaccount/email/account_disconnected", user, context=context)
            messages.success(
                request, gettext("Your account at %(site)s no longer opens this one.") % {"site": account.site.name}
            )
        return redirect("socialaccount_connections")
    linked_sites = {account.site.id for account in accounts}
    further = [site for site in sign_in_sites() if site.id not in linked_sites]
    return render(request, "socialaccount/connections.html", {"accounts": accounts, "further": further})
