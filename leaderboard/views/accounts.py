"""What differs from allauth's own pages of an account."""

from typing import Any

from allauth.account.views import EmailView
from django.contrib import messages
from django.db import IntegrityError, transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect


class _Emails(EmailView):
    """Addresses to sign in by: one that another account signs in by cannot become this one's, and nothing breaks."""

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:  # noqa: ANN401
        """Do what the form says, whole or not at all."""
        try:
            with transaction.atomic():
                return super().post(request, *args, **kwargs)
        except IntegrityError:
            messages.error(request, "This address cannot be your primary one; another account signs in by it.")
            return redirect("account_email")


emails = _Emails.as_view()  # for those who signed in, with allauth's own limits, as the class above has them
