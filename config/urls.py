"""The root of the URLs."""

from allauth.account.decorators import secure_admin_login
from django.contrib import admin
from django.urls import include, path

from leaderboard.accounts.views import emails

# The admin's own sign-in form knows no limit of attempts; the site's does, so everyone signs in there.
admin.site.login = secure_admin_login(admin.site.login)  # type: ignore[method-assign]

urlpatterns = [
    path("", include("leaderboard.urls")),
    path("account/email/", emails, name="account_email"),
    path("account/", include("allauth.account.urls")),
    path("account/second-factor/", include("allauth.mfa.urls")),
    path("admin/", admin.site.urls),
]

# What goes wrong before a view of the API is reached has the API's shape too.
handler400 = "leaderboard.api.protocol.errors.bad_request"
handler404 = "leaderboard.operations.views.not_found"
handler500 = "leaderboard.api.protocol.errors.server_error"
