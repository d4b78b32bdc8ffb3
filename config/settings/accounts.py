"""Accounts: sign-up, sign-in, and proof of identity."""

from config import env
from config.settings.mails import CONSOLE_MAILS, EMAIL_BACKEND

AUTH_USER_MODEL = "leaderboard.User"
KNOX_TOKEN_MODEL = "leaderboard.ApiToken"  # noqa: S105 -- the name of a model
AUTHENTICATION_BACKENDS = ["django.contrib.auth.backends.ModelBackend"]
AUTHENTICATION_BACKENDS += ["allauth.account.auth_backends.AuthenticationBackend"]
PASSWORD_HASHERS = [
    "django.contrib.auth.hashers.Argon2PasswordHasher",
    "django.contrib.auth.hashers.PBKDF2PasswordHasher",
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 10}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
ACCOUNT_LOGIN_METHODS = {"email"}
ACCOUNT_USER_MODEL_USERNAME_FIELD = None
ACCOUNT_SIGNUP_FIELDS = ["email*", "password1*", "password2*"]
ACCOUNT_SIGNUP_FORM_CLASS = "leaderboard.accounts.forms_signup.DisplayNameForm"
# Sign-up must not tell whether an address has an account. Anyone who is signed in at once was told that it had none, so
# that only `mandatory` keeps it: whatever the address, the answer is the same page, and what is true is in a mail
# to it. Without a mail server no one could follow that link, and a new installation is its maker's own.
ACCOUNT_EMAIL_VERIFICATION = env.choice(
    "PLURANK_EMAIL_VERIFICATION",
    "optional" if EMAIL_BACKEND == CONSOLE_MAILS else "mandatory",
    ["none", "optional", "mandatory"],
)
ACCOUNT_PREVENT_ENUMERATION = True
ACCOUNT_SESSION_REMEMBER = True
SESSION_ENGINE = "leaderboard.accounts.session_store"
ACCOUNT_ADAPTER = "leaderboard.accounts.adapter.AccountAdapter"
ACCOUNT_FORMS = {
    "signup": "leaderboard.accounts.forms.NewAccountForm",
    "add_email": "leaderboard.accounts.forms.AddAddressForm",
    "change_password": "leaderboard.accounts.forms.ChangeForm",
    "reset_password": "leaderboard.accounts.forms.ResetForm",
    "reset_password_from_key": "leaderboard.accounts.forms.NewPasswordForm",
}
ACCOUNT_EMAIL_SUBJECT_PREFIX = "[Plurank] "  # not the name by which a request asked
ACCOUNT_EMAIL_NOTIFICATIONS = True  # anyone who changes a password or a second factor: its owner reads of it
# What guesses is counted in the database, by account and by address (`ATTEMPTS`); these two would count it again.
# The other two send mails to addresses that someone merely typed.
ACCOUNT_RATE_LIMITS = {
    "login_failed": "",
    "reset_password": "",
    "manage_email": "10/m/user,20/h/user",
    "signup": "20/m/ip,60/h/ip",
}
ACCOUNT_MAX_EMAIL_ADDRESSES = 5
# A session that was left open, or stolen, is not the account: what would make it one asks for the password again.
ACCOUNT_REAUTHENTICATION_REQUIRED = True
MFA_ADAPTER = "leaderboard.accounts.second_factor.SecondFactorAdapter"
MFA_FORMS = {
    "authenticate": "leaderboard.accounts.forms.CodeForm",
    "reauthenticate": "leaderboard.accounts.forms.CodeAgainForm",
    "activate_totp": "leaderboard.accounts.forms.ActivateForm",
}
MFA_SUPPORTED_TYPES = ["totp", "recovery_codes"]
MFA_TOTP_ISSUER = "Plurank"
# How many proxies of ours are in front and add to X-Forwarded-For; what clients write there counts for nothing.
PROXIES = env.number("PLURANK_PROXIES", 0, most=100)
# How often one may try before one waits: {what: {whose: (attempts, within seconds)}}. Only failures count, except of
# `reset`, where every mail does.
ATTEMPTS = {
    "login": {"account": (5, 300), "address": (20, 300)},
    "code": {"account": (5, 300), "address": (20, 300)},
    "reset": {"account": (3, 3600), "address": (10, 3600)},
    "token": {"address": (30, 60)},
    "join": {"account": (20, 300), "address": (20, 300)},
    "other_site": {"address": (60, 300)},  # each begins a session and asks another site
}
LOGIN_REDIRECT_URL = "dashboard"
LOGIN_URL = "account_login"
ACCOUNT_LOGOUT_REDIRECT_URL = "home"
