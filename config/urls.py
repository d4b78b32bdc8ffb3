"""The root of the URLs."""

from allauth.account.decorators import secure_admin_login
from allauth.mfa.recovery_codes.views import view_recovery_codes
from allauth.mfa.totp.views import activate_totp
from allauth.socialaccount.models import SocialAccount, SocialApp, SocialToken
from allauth.socialaccount.views import login_cancelled, signup as sign_up_by_other_site
from django.contrib import admin
from django.urls import include, path, re_path
from django.views.decorators.cache import never_cache

from leaderboard.accounts.views import confirm_email, emails, second_factor
from leaderboard.accounts.views_sign_in import linked, sign_in_with, signed_in_with

# The admin's own sign-in form knows no limit of attempts; the site's does, so everyone signs in there.
admin.site.login = secure_admin_login(admin.site.login)  # type: ignore[method-assign]

# Applications are in the settings, tokens are not kept, and only people themselves link their accounts.
admin.site.unregister([SocialAccount, SocialApp, SocialToken])

urlpatterns = [
    path("", include("leaderboard.urls")),
    path("account/email/", emails, name="account_email"),
    re_path(r"^account/confirm-email/(?P<key>[-:\w]+)/$", confirm_email, name="account_confirm_email"),
    path("account/linked/", linked, name="socialaccount_connections"),
    path("account/with/sign-up/", sign_up_by_other_site, name="socialaccount_signup"),
    path("account/with/cancelled/", login_cancelled, name="socialaccount_login_cancelled"),
    *(
        path(f"account/with/{site}/callback/", signed_in_with, {"provider_id": site}, name=f"{site}_callback")
        for site in ("github", "gitlab", "google", "orcid")
    ),
    path("account/with/<slug:provider_id>/callback/", signed_in_with, name="openid_connect_callback"),
    path("account/with/<slug:site>/", sign_in_with, name="sign_in_with"),
    path("account/", include("allauth.account.urls")),
    path("account/second-factor/", second_factor, name="mfa_index"),
    # Pages with secrets: no browser keeps one for whoever comes after its owner.
    path("account/second-factor/totp/activate/", never_cache(activate_totp), name="mfa_activate_totp"),
    path("account/second-factor/recovery-codes/", never_cache(view_recovery_codes), name="mfa_view_recovery_codes"),
    path("account/second-factor/", include("allauth.mfa.urls")),
    path("admin/", admin.site.urls),
]

# What goes wrong before a view of the API is reached has the API's shape too.
handler400 = "leaderboard.api.protocol.errors.bad_request"
handler404 = "leaderboard.operations.views.not_found"
handler500 = "leaderboard.api.protocol.errors.server_error"
