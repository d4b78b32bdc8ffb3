"""PostgreSQL, Redis and PgBouncer of a run's own, on ports of their own, and a site of two hosts on them."""

import subprocess
import time
from pathlib import Path
from urllib.parse import urlsplit

from config.processes.local_services import (
    as_postgres,
    find_program,
    make_cluster,
    postgres_answers,
    postgres_command,
    redis_answers,
    redis_command,
)
from tests.faults.machine import Host, Machine
from tests.faults.ports import free_port
from tests.relay import Relay, through

MAX_CONNECTIONS = 100  # as PostgreSQL ships


class ServedMachine(Machine):
    """Two hosts on PostgreSQL and Redis. A relay between site and PostgreSQL lets connections hang."""

    stack = "postgresql"

    def __init__(self, *, max_connections: int = MAX_CONNECTIONS) -> None:
        self.ports = {name: free_port() for name in ("postgresql", "redis", "pgbouncer")}
        self.max_connections = max_connections
        super().__init__()

    def make_hosts(self) -> list[Host]:
        """Two, which share no folder."""
        return [
            self.make_host("one", "web", "rankings", "sweep"),
            self.make_host("two", "web", "rankings", "rankings2"),
        ]

    def prepare(self) -> None:
        """Make the cluster, on a small disk where one can be mounted, and the relay."""
        self.cluster = self.folder / "postgresql"
        self.mount(self.cluster, megabytes=400)
        own = self.folder / "own"  # of this very process
        own.mkdir()
        self.own_environment |= {
            "DATABASE_URL": make_cluster(self.cluster, port=self.ports["postgresql"]),
            "REDIS_URL": f"redis://127.0.0.1:{self.ports['redis']}/0",
            "PLURANK_VAR": str(own),
        }
        self.relay = Relay("127.0.0.1", self.ports["postgresql"])

    @property
    def database_url(self) -> str:
        """The database, past relay and PgBouncer."""
        return self.own_environment["DATABASE_URL"]

    def environment_of(self, host: Host) -> dict[str, str]:
        """The hosts reach the database by the relay."""
        return super().environment_of(host) | {"DATABASE_URL": through(self.relay, self.database_url)}

    def start_services(self) -> None:
        """Start the database and the broker."""
        self.start_postgresql()
        self.start_redis()

    def __exit__(self, *error: object) -> None:
        self.relay.close()
        super().__exit__(*error)

    # --- PostgreSQL --------------------------------------------------------------------------------------------------
    def start_postgresql(self) -> None:
        """Start the database, after a crash too, and wait until it answers."""
        # Logs are recycled early, so that a small disk is full when a fault fills it, and not before.
        parameters = {"max_connections": str(self.max_connections), "max_wal_size": "96MB"}
        command = postgres_command(self.cluster, port=self.ports["postgresql"], **parameters)
        for _ in range(20):  # after SIGKILL its children hold the memory that they shared for a moment
            self.start("postgresql", command)
            process = self.running["postgresql"]
            self.wait_until(lambda p=process: p.poll() is not None or self.answers_directly(), 60, "PostgreSQL answers")
            if process.poll() is None:
                return
            time.sleep(0.2)
        raise AssertionError(f"PostgreSQL does not start\n{self.logs()}")

    def answers_directly(self) -> bool:
        """Whether PostgreSQL takes a connection."""
        return postgres_answers(self.database_url)

    def revive_postgresql(self) -> None:
        """Wait until it recovered from a crash by itself, or start it where it ended over that."""
        process = self.running["postgresql"]
        self.wait_until(lambda: process.poll() is not None or self.answers_directly(), 60, "PostgreSQL recovers")
        if process.poll() is not None:
            self.start_postgresql()

    def backends(self) -> list[int]:
        """PostgreSQL's processes: the first one, then those that it started, each in a group of its own."""
        first = self.running["postgresql"].pid
        children = Path(f"/proc/{first}/task/{first}/children").read_text().split()
        return [first, *map(int, children)]

    # --- Redis -------------------------------------------------------------------------------------------------------
    def start_redis(self) -> None:
        """Start the broker, empty, and wait until it answers."""
        self.start("redis", redis_command(self.folder, port=self.ports["redis"]))
        self.wait_until(lambda: redis_answers(self.ports["redis"]), 30, "Redis answers")


class PooledMachine(ServedMachine):
    """The same site behind PgBouncer in transaction mode, set up as docs/operate.md says."""

    stack = "pooled"

    def environment_of(self, host: Host) -> dict[str, str]:
        """The hosts reach the database by PgBouncer."""
        url = self.database_url.replace(f":{self.ports['postgresql']}/", f":{self.ports['pgbouncer']}/")
        return super().environment_of(host) | {"DATABASE_URL": url, "PLURANK_PGBOUNCER": "true"}

    def start_services(self) -> None:
        """Start PgBouncer, too."""
        super().start_services()
        parts = urlsplit(self.database_url)
        (self.folder / "users.txt").write_text(f'"{parts.username}" "{parts.password}"\n')
        (self.folder / "pgbouncer.ini").write_text(
            f"""[databases]
plurank = host=127.0.0.1 port={parts.port} dbname=plurank
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {self.ports["pgbouncer"]}
unix_socket_dir =
auth_type = scram-sha-256
auth_file = {self.folder / "users.txt"}
pool_mode = transaction
"""
        )
        limits = {"statement_timeout": "60s", "lock_timeout": "10s", "idle_in_transaction_session_timeout": "30s"}
        for name, value in limits.items():
            statement = f"ALTER ROLE {parts.username} SET {name} = '{value}'"
            command = [find_program("psql", "postgresql"), self.database_url, "-qc", statement]
            subprocess.run(command, check=True)
        self.start_pgbouncer()

    def start_pgbouncer(self) -> None:
        """Start it; it refuses to run as root, as PostgreSQL does."""
        self.start(
            "pgbouncer", [*as_postgres(), find_program("pgbouncer", "pgbouncer"), f"{self.folder}/pgbouncer.ini"]
        )
        url = self.environment_of(self.hosts[0])["DATABASE_URL"]
        self.wait_until(lambda: postgres_answers(url), 30, "PgBouncer answers")


MACHINES = {machine.stack: machine for machine in (Machine, ServedMachine, PooledMachine)}
FEW_CONNECTIONS = "too_few_connections"
# The single experiments: the stack of each. They are functions of `experiments`, which needs the settings of a machine.
EXPERIMENTS = {
    "postgresql_without_room": "postgresql",
    "postgresql_read_only": "postgresql",
    FEW_CONNECTIONS: "postgresql",
    "locked_row": "postgresql",
    "deadlocks": "postgresql",
    "hung_connections": "postgresql",
    "stopped_postgresql": "postgresql",
    "stopped_redis": "postgresql",
    "full_redis": "postgresql",
    "two_versions": "postgresql",
    "one_job_killed_three_times": "postgresql",
    "wedged_sweep": "postgresql",
    "worker_stopped_as_systemd_stops_it": "postgresql",
    "behind_pgbouncer": "pooled",
    "sqlite_without_room": "sqlite",
    "sqlite_without_messages": "sqlite",
    "sqlite_locked": "sqlite",
}


def experiments_on(stack: str) -> list[str]:
    """Those that one machine of this stack can go through; the one that needs its own is left out."""
    return [name for name, needed in EXPERIMENTS.items() if needed == stack and name != FEW_CONNECTIONS]


def machine_for(experiment: str) -> Machine:
    """The machine that an experiment needs."""
    if experiment == FEW_CONNECTIONS:
        return ServedMachine(max_connections=12)
    return MACHINES[EXPERIMENTS[experiment]]()
