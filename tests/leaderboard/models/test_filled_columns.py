"""Columns that a migration fills from what older releases stored."""

from importlib import import_module

import pytest
from django.apps import apps

from leaderboard.accounts.display_names import is_taken
from leaderboard.models import User, Webhook
from leaderboard.notifications.webhooks import add_webhook, change_webhook

fill = import_module("leaderboard.migrations.0016_fill_webhook_owners").fill


@pytest.fixture
def inside(settings):
    settings.WEBHOOKS_INSIDE = True


def test_a_webhook_of_an_older_release_belongs_to_whoever_added_it_as_the_trail_says(make, inside):
    benchmark = make.benchmark({}, n_tasks=1)
    owner, other = benchmark.memberships.get().user, make.member(benchmark, "owner")
    webhook, _ = add_webhook(benchmark, author=owner, address="http://127.0.0.1:1/", events=["revision"])
    change_webhook(webhook, author=other, events=["publication"])
    unknown = Webhook.objects.create(benchmark=benchmark, address="http://127.0.0.1:1/", events=["revision"])
    Webhook.objects.update(author=None)
    fill(apps, None)
    assert dict(Webhook.objects.values_list("pk", "author")) == {webhook.pk: owner.pk, unknown.pk: None}


def test_display_names_of_an_older_release_are_known_too(make):
    for number, name in enumerate(["Zoë Ada", "zoe-ada", ""]):
        User.objects.create_user(f"{number}@plurank.example", display_name=name)
    User.objects.update(name_skeleton="")
    assert not is_taken("ZOE ADA")
    fill(apps, None)
    assert is_taken("ZOE ADA")
    assert User.objects.filter(name_skeleton="").count() == 1
