"""`manage.py rotate_secret_key`: encrypt all second factors with the present secret key."""

import os

from allauth.mfa.models import Authenticator
from cryptography.fernet import InvalidToken
from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.db import transaction

from leaderboard.accounts.second_factor import encrypt_again

LASTING = (
    "Before you remove PLURANK_OLD_SECRET_KEYS, set PLURANK_LASTING_KEY to its last key: secrets of webhooks and the "
    "numbers of systems with hidden names come from it"
)
LOST = (
    "Encrypted with a key that is neither PLURANK_SECRET_KEY nor one of PLURANK_OLD_SECRET_KEYS. If you no longer have "
    "it, delete these authenticators in /admin/, so that their owners can set up new ones:\n"
)


class Command(BaseCommand):
    """Encrypts what a former key encrypts now; one row a transaction, so that it can be stopped and run again."""

    help = "Encrypt all second factors with PLURANK_SECRET_KEY; afterwards PLURANK_OLD_SECRET_KEYS can go."
    requires_system_checks = ()  # they import every page

    def handle(self, *args: object, **options: object) -> None:
        """Encrypt, and say whether the former keys are still needed."""
        n_done, lost = 0, []
        for number, kind, user in Authenticator.objects.order_by("pk").values_list("pk", "type", "user_id"):
            with transaction.atomic():
                try:
                    # None, where its owner turned it off meanwhile.
                    n_done += sum(map(encrypt_again, Authenticator.objects.select_for_update().filter(pk=number)))
                except InvalidToken:
                    lost.append(f"{kind} of user {user}")
        self.stdout.write(f"{n_done} second factors and recovery codes encrypted with PLURANK_SECRET_KEY")
        if settings.SECRET_KEY_FALLBACKS and not os.environ.get("PLURANK_LASTING_KEY"):
            self.stdout.write(LASTING)  # also if something is lost, since the former keys go then, too
        elif not lost:
            self.stdout.write("no former key is needed")
        if lost:
            raise CommandError(LOST + "\n".join(lost))
