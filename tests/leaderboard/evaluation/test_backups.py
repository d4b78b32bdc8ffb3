"""A backup holds references encrypted, and no key that reads them."""

from django.db import connection

from leaderboard.evaluation.encryption import new_key, references_keys
from leaderboard.evaluation.references import check_file, store_references
from leaderboard.operations.backups import write_backup
from tests.factories import owner_of
from tests.leaderboard.site.labels import REFERENCES, SECRET_LABEL


def test_a_backup_has_neither_the_references_nor_a_key_that_reads_them(make_committed, tmp_path, settings):
    settings.REFERENCES_KEYS = [new_key()]
    benchmark = make_committed.benchmark({}, n_tasks=1)
    task = benchmark.tasks.get()
    store_references(task, check_file(REFERENCES, "labels.csv", "accuracy", {}), author=owner_of(benchmark))
    backup = tmp_path / "site.backup"
    write_backup(backup)
    content = backup.read_bytes()
    (key,) = references_keys().values()
    assert SECRET_LABEL.encode() not in content
    assert key not in content
    assert settings.REFERENCES_KEYS[0].encode() not in content
    if connection.vendor == "sqlite":  # else the dump is compressed
        assert b"labels.csv" in content, "the table is in the backup"
