"""`manage.py rotate_references_key`: encrypt all references with the first key of the settings."""

from django.core.management.base import BaseCommand, CommandError
from django.db import transaction

from leaderboard.evaluation.encryption import MissingKeyError, references_keys, rotate
from leaderboard.models import TaskReferences


class Command(BaseCommand):
    """Encrypts what another key encrypts now; one row a transaction, so that it can be stopped and run again."""

    help = "Encrypt all references with the first key of PLURANK_REFERENCES_KEYS; afterwards the others can go."
    requires_system_checks = ()  # they import every page

    def handle(self, *args: object, **options: object) -> None:
        """Encrypt, and say which keys are still needed."""
        n_done, problems = 0, []
        try:
            first = next(iter(references_keys()))
        except MissingKeyError as error:
            raise CommandError(str(error)) from error
        for number in TaskReferences.objects.exclude(key_id=first).order_by("pk").values_list("pk", flat=True):
            with transaction.atomic():
                row = TaskReferences.objects.select_for_update().select_related("task").get(pk=number)
                try:
                    n_done += rotate(row)
                except MissingKeyError as error:
                    problems.append(str(error))
        self.stdout.write(f"{n_done} encrypted with the key {first}")
        if problems:
            raise CommandError("\n".join(problems))
        self.stdout.write("no other key is needed")
