"""The database: an SQLite file, or PostgreSQL where DATABASE_URL says so."""

from typing import Any
from urllib.parse import quote

from django.core.exceptions import ImproperlyConfigured

from config import env, env_addresses
from config.backends.query_limits import bound_waits
from config.settings import tests
from config.settings.base import IS_TEST, VAR

# With SQLite these are read, too, so that a wrong one is refused and none is taken for a misspelt name.
# How long one statement may take; 0 is without end, as commands like `migrate` need it. What serves requests, the
# workers and the sweep set their own default before they read this file.
QUERY_SECONDS = env.seconds("PLURANK_QUERY_SECONDS", 0)
LOCK_SECONDS = env.seconds("PLURANK_LOCK_SECONDS", 10, least=1)
# After how long PostgreSQL ends a connection that waits for its next statement; 0 is never. Only web servers can
# have it: a job computes for minutes between two statements.
IDLE_SECONDS = env.seconds("PLURANK_IDLE_SECONDS", 0)
# PgBouncer in transaction mode knows no start-up options, and no cursor outlives its transaction there.
IS_POOLED = env.boolean("PLURANK_PGBOUNCER", default=False)
CONNECTION_SECONDS = 60  # a request uses a connection of PostgreSQL again for so long
SQLITE_OPTIONS = {
    # Deferred transactions of several writers fail at once with "database is locked"; immediate ones queue.
    "transaction_mode": "IMMEDIATE",
    "timeout": env.seconds("PLURANK_SQLITE_WAIT_SECONDS", 20, least=1),
    # Without recursive triggers INSERT OR REPLACE would delete rows that the triggers of history keep.
    # The databases of tests need not outlive the machine's power.
    "init_command": f"PRAGMA journal_mode=WAL; PRAGMA synchronous={'OFF' if IS_TEST else 'FULL'}; "
    "PRAGMA foreign_keys=ON; PRAGMA recursive_triggers=ON",
}
DATABASES: dict[str, dict[str, Any]] = {
    "default": env_addresses.database("DATABASE_URL", f"sqlite:///{quote(str(VAR / 'plurank.sqlite3'))}")
}
IS_SQLITE = DATABASES["default"]["ENGINE"].endswith("sqlite3")
if IS_SQLITE:
    DATABASES["default"] |= {"OPTIONS": SQLITE_OPTIONS, "TEST": {"NAME": str(VAR / "test.sqlite3")}}
else:
    if 0 < IDLE_SECONDS <= CONNECTION_SECONDS:  # a request could use one that PostgreSQL has just ended
        raise ImproperlyConfigured(
            f"PLURANK_IDLE_SECONDS='{IDLE_SECONDS}' is neither 0, for never, nor more than {CONNECTION_SECONDS}"
        )
    POSTGRESQL_OPTIONS: dict[str, Any] = {
        "connect_timeout": 5,
        "keepalives_idle": 10,
        "keepalives_interval": 5,
        "keepalives_count": 3,
        "tcp_user_timeout": 20_000,  # ms until data that no one acknowledges ends the connection
    }
    if not IS_POOLED:
        # A process that stalls, or a machine that vanishes, in the middle of a transaction must not keep its locks.
        limits = ["idle_in_transaction_session_timeout=30s", f"statement_timeout={QUERY_SECONDS}s"]
        limits += [f"lock_timeout={LOCK_SECONDS if QUERY_SECONDS else 0}s"]  # the role may have one of its own
        limits += [f"idle_session_timeout={IDLE_SECONDS}s"] if IDLE_SECONDS else []
        limits += ["synchronous_commit=off"] if IS_TEST else []
        POSTGRESQL_OPTIONS["options"] = " ".join(f"-c {limit}" for limit in limits)
    DATABASES["default"] |= {
        "CONN_MAX_AGE": CONNECTION_SECONDS,
        "CONN_HEALTH_CHECKS": True,
        "DISABLE_SERVER_SIDE_CURSORS": IS_POOLED,
        "OPTIONS": POSTGRESQL_OPTIONS | DATABASES["default"].get("OPTIONS", {}),
    }
    if IS_TEST:
        server = f"{DATABASES['default']['HOST']}:{DATABASES['default']['PORT']}"
        DATABASES["default"]["TEST"] = {"NAME": tests.own_database(server, DATABASES["default"]["NAME"])}
    if QUERY_SECONDS:
        bound_waits(QUERY_SECONDS)
# How many requests of one web process may change something at once: the other threads go on answering readers.
WRITES_AT_ONCE = env.number("PLURANK_WRITES_AT_ONCE", 5, least=1)
