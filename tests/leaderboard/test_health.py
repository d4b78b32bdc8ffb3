"""What load balancers and container engines are told."""

from datetime import timedelta

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.utils import timezone

from leaderboard.models import Job
from leaderboard.services.health import problems


def test_a_site_that_works_is_well(make, client):
    response = client.get("/healthz/")
    assert (response.status_code, response.content) == (200, b"ok\n")
    assert {role: problems(role) for role in ("web", "sweep", "rankings", "studies")} == {
        "web": [],
        "sweep": [],
        "rankings": [],
        "studies": [],
    }


def test_a_queue_that_nobody_works_on_is_not_well(make):
    make.benchmark()
    Job.objects.filter(queue="rankings").update(not_before=timezone.now() - timedelta(minutes=11))
    expected = "1 jobs of queue rankings are due for more than 10 minutes and none runs"
    assert (problems("rankings"), problems("studies")) == ([expected], [])
    with pytest.raises(CommandError, match=expected):
        call_command("check_health", "rankings")


def test_a_database_without_its_migrations_is_not_well(make, client):
    with connection.cursor() as cursor:
        newest = "(SELECT max(name) FROM django_migrations WHERE app = 'leaderboard')"
        cursor.execute(f"DELETE FROM django_migrations WHERE app = 'leaderboard' AND name = {newest}")
    assert problems("web") == ["the database lacks migrations: run `python manage.py migrate`"]
    response = client.get("/healthz/")
    assert (response.status_code, response.content) == (503, b"unwell\n")


def test_a_web_server_that_does_not_answer_is_not_well(make):
    with pytest.raises(CommandError, match="the web server does not answer"):
        call_command("check_health", "web", port=1)
