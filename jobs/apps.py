"""The Django application `jobs`: it has no models, only the tasks."""

from django.apps import AppConfig


class JobsConfig(AppConfig):
    """Registers the tasks in every process, so that the web process sends to names that exist."""

    name = "jobs"

    def ready(self) -> None:
        """Import the tasks; without this a wake-up would go to a name that no one knows."""
        import config.celery  # noqa: F401, PLC0415 -- the application the tasks are bound to
        import jobs.caretaker  # noqa: PLC0415 -- a step of every worker; needs the models, which are loaded now
        import jobs.limits  # noqa: PLC0415
        import jobs.tasks  # noqa: F401, PLC0415
