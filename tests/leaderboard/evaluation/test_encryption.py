"""References at rest: unreadable without a key that is not in the database, and re-encrypted when the key changes."""

import hashlib
import io
import stat

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.core.management import CommandError, call_command

from config import env
from leaderboard.evaluation.encryption import MissingKeyError, new_key, opened_file, opened_sha256, rotate, seal
from leaderboard.models import TaskReferences

SECRET = b"id,reference\n1,quokka\n" * 50


@pytest.fixture
def keys(settings):
    settings.REFERENCES_KEYS = [new_key(), new_key()]
    return settings.REFERENCES_KEYS


def row_of(make, number: int = 1) -> TaskReferences:
    benchmark = make.benchmark({}, n_tasks=1)
    return TaskReferences(task=benchmark.tasks.get(), number=number, uploaded_by=make.user(), n_instances=50)


def sealed(make, number: int = 1) -> TaskReferences:
    row = row_of(make, number)
    row.file_name, row.metric, row.ids = "r.csv", "accuracy", b""
    seal(row, SECRET)
    row.save()
    return TaskReferences.objects.get(pk=row.pk)


@pytest.mark.django_db
def test_what_is_stored_does_not_contain_the_file_and_is_read_with_the_key(make, keys):
    row = sealed(make)
    assert b"quokka" not in bytes(row.ciphertext) + bytes(row.sealed_sha256)
    assert opened_file(row) == SECRET
    assert opened_sha256(row) == hashlib.sha256(SECRET).hexdigest()


@pytest.mark.django_db
def test_a_new_first_key_encrypts_what_the_old_one_did_and_then_the_old_one_is_not_needed(make, keys, settings):
    row, old_keys = sealed(make), list(keys)
    settings.REFERENCES_KEYS = [new_key(), *old_keys]
    assert opened_file(row) == SECRET
    assert (rotate(row), rotate(row)) == (True, False)
    settings.REFERENCES_KEYS = settings.REFERENCES_KEYS[:1]
    assert opened_file(TaskReferences.objects.get(pk=row.pk)) == SECRET


@pytest.mark.django_db
def test_without_its_key_the_error_names_the_key_and_nothing_of_the_file(make, keys, settings):
    row = sealed(make)
    settings.REFERENCES_KEYS = [new_key()]
    with pytest.raises(MissingKeyError) as error:
        opened_file(row)
    assert row.key_id in str(error.value)
    assert "quokka" not in str(error.value)


@pytest.mark.django_db
@pytest.mark.parametrize("change", ["moved", "cut"])
def test_bytes_that_were_moved_to_another_place_or_changed_are_refused(make, keys, change):
    row = sealed(make)
    if change == "moved":
        row.number = 2
    else:
        row.ciphertext = bytes(row.ciphertext)[:-1]
    with pytest.raises(MissingKeyError, match="cannot be decrypted"):
        opened_file(row)


@pytest.mark.django_db
def test_outside_production_a_key_is_made_in_a_file_of_its_owner_alone(make, settings, tmp_path):
    settings.REFERENCES_KEYS, settings.REFERENCES_KEY_FILE = [], tmp_path / "references_key"
    row = sealed(make)
    assert stat.S_IMODE((tmp_path / "references_key").stat().st_mode) == 0o600
    assert opened_file(row) == SECRET


@pytest.mark.django_db
def test_in_production_nothing_is_encrypted_with_a_key_that_the_operator_does_not_know(make, settings, tmp_path):
    settings.REFERENCES_KEYS, settings.REFERENCES_KEY_FILE = [], tmp_path / "references_key"
    settings.IS_PRODUCTION = True
    with pytest.raises(MissingKeyError, match="PLURANK_REFERENCES_KEYS"):
        seal(row_of(make), SECRET)
    assert list(tmp_path.iterdir()) == []


def test_the_setting_takes_keys_of_32_bytes_between_commas(monkeypatch):
    first, second = new_key(), new_key()
    monkeypatch.setenv("PLURANK_REFERENCES_KEYS", f"{first}, {second}")
    assert env.references_keys("PLURANK_REFERENCES_KEYS") == [first, second]
    for wrong in ("short", first[:-4], f"{first},{first}"):
        monkeypatch.setenv("PLURANK_REFERENCES_KEYS", wrong)
        with pytest.raises(ImproperlyConfigured, match="PLURANK_REFERENCES_KEYS") as error:
            env.references_keys("PLURANK_REFERENCES_KEYS")
        assert wrong not in str(error.value)


@pytest.mark.django_db
def test_the_command_encrypts_everything_with_the_first_key_and_can_be_run_again(make, keys, settings):
    row, old_keys = sealed(make), list(keys)
    settings.REFERENCES_KEYS = [new_key(), *old_keys]
    said = io.StringIO()
    call_command("rotate_references_key", stdout=said)
    call_command("rotate_references_key", stdout=said)
    key_id = TaskReferences.objects.get(pk=row.pk).key_id
    lines = [f"1 encrypted with the key {key_id}", "no other key is needed", f"0 encrypted with the key {key_id}"]
    assert said.getvalue().splitlines() == [*lines, "no other key is needed"]
    settings.REFERENCES_KEYS = settings.REFERENCES_KEYS[:1]
    assert opened_file(TaskReferences.objects.get(pk=row.pk)) == SECRET


@pytest.mark.django_db
def test_the_command_names_what_it_cannot_read_and_goes_on_with_the_rest(make, keys, settings):
    lost = sealed(make)
    settings.REFERENCES_KEYS = [new_key()]
    sealed(make)
    settings.REFERENCES_KEYS = [new_key(), *settings.REFERENCES_KEYS]
    said = io.StringIO()
    with pytest.raises(CommandError, match=lost.key_id):
        call_command("rotate_references_key", stdout=said)
    assert said.getvalue().startswith("1 encrypted with")
