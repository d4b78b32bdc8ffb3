"""The page of one's API tokens."""

from allauth.account.decorators import reauthentication_required
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from leaderboard.forms import TokenForm
from leaderboard.models import ApiToken
from leaderboard.services.tokens import TokenError, create_token, expires_soon, is_expired, revoke_token, tokens_of
from leaderboard.views.people import signed_in


@login_required
@reauthentication_required(allow_get=True)
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def tokens(request: HttpRequest) -> HttpResponse:
    """The tokens, and a form for another one. The answer to it is the only place where a secret is ever shown."""
    user = signed_in(request)
    form = TokenForm(request.POST or None)
    made: ApiToken | None = None
    secret, status = "", 200
    if request.method == "POST":
        status = 400
        if form.is_valid():
            try:
                made, secret = create_token(user, **form.cleaned_data)
            except TokenError as error:
                form.add_error(None, str(error))
            else:
                form, status = TokenForm(), 201
    rows = [
        {
            "name": token.name,
            "scopes": token.scopes,
            "expiry": token.expiry,
            "is_expired": is_expired(token),
            "expires_soon": expires_soon(token),
            "created": token.created,
            "last_used_at": token.last_used_at,
        }
        for token in tokens_of(user)
    ]
    context = {"tokens": rows, "form": form, "made": made, "secret": secret}
    return render(request, "account/tokens.html", context, status=status)


@login_required
@require_POST
def revoke(request: HttpRequest) -> HttpResponse:
    """Revoke one of one's own tokens."""
    name = request.POST.get("name", "")
    if revoke_token(signed_in(request), name):
        messages.success(request, f"The token “{name}” is revoked; it opens nothing any more.")
    else:
        messages.info(request, "You have no token of this name.")
    return redirect("tokens")
