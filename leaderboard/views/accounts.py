"""What differs from allauth's own pages of an account."""

from typing import Any

from allauth.account.views import EmailView
from django.contrib import messages
from django.db import IntegrityError, transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from leaderboard.services.address_proof import has_proven_address
from leaderboard.views.people import signed_in


class _Emails(EmailView):
    """Addresses to sign in by: one that another account signs in by cannot become this one's, and nothing breaks."""

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:  # noqa: ANN401
        """Do what the form says, whole or not at all.

        Before the primary address is confirmed the account may be somebody else's doing: then nothing but its mail is
        sent again.
        """
        user = signed_in(request)
        only_sends = "action_send" in request.POST and request.POST.get("email", "").lower() == user.email.lower()
        if not only_sends and not has_proven_address(user):
            messages.error(request, f"Confirm {user.email} first: follow the link that was sent there.")
            return redirect("account_email")
        try:
            with transaction.atomic():
                return super().post(request, *args, **kwargs)
        except IntegrityError:
            messages.error(request, "This address cannot be your primary one; another account signs in by it.")
            return redirect("account_email")


emails = _Emails.as_view()  # for those who signed in, with allauth's own limits, as the class above has them
