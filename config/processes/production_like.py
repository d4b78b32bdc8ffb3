"""`make production-like`: the site as in production, on this machine and without containers, until Ctrl-C.

PostgreSQL and Redis of its own, gunicorn with two processes, two workers for boards and two for studies, the sweep, and
the settings of production except HTTPS, which a proxy would speak. Everything lies in `var/production-like`.
"""

import argparse
import os
import secrets
import shlex
import subprocess
import sys
from pathlib import Path

from config.installation.bootstrap import Problem, free_port, is_taken
from config.processes.commands import processes, status_of
from config.processes.local_services import (
    MissingProgramError,
    make_cluster,
    postgres_answers,
    postgres_command,
    redis_answers,
    redis_command,
)
from config.processes.supervisor import AlreadyRunningError, Supervisor, refuse_second, sole_supervisor

ROOT = Path(__file__).resolve().parents[2]
SECONDS_TO_START = 180
WELCOME = """
  Plurank is running as in production, but without HTTPS.

    URL        http://127.0.0.1:{port}/
    Health     http://127.0.0.1:{port}/readyz/
    Data       {var}
    Account    set -a; . {environment}; set +a; .venv/bin/python manage.py createsuperuser

  Ctrl-C stops it; the same command starts it again with everything that was in it.
"""


def main() -> int:
    """Run until asked to stop; the exit status."""
    parser = argparse.ArgumentParser(prog="make production-like", description=__doc__)
    parser.add_argument("--port", default=os.environ.get("PORT") or "8000")
    parser.add_argument("--studies", type=int, default=2, help="how many workers compute studies")
    parser.add_argument("--rankings", type=int, default=2, help="how many workers compute boards")
    chosen = parser.parse_args()
    var = Path(os.environ.get("PLURANK_VAR") or ROOT / "var" / "production-like").resolve()
    try:
        refuse_second(var)
        port = free_port(chosen.port, command="make production-like")
        with sole_supervisor(var, f"http://127.0.0.1:{port}/"):
            return _run(var, port, {"rankings": chosen.rankings, "studies": chosen.studies})
    except (Problem, AlreadyRunningError, MissingProgramError) as error:
        print(error)
    except subprocess.CalledProcessError as error:
        print(f"{' '.join(error.cmd)} failed:\n{error.stderr or ''}")
    return 1


def _run(var: Path, port: int, n_workers: dict[str, int]) -> int:
    postgres_port = _next_free(port + 1)
    redis_port = _next_free(postgres_port + 1)
    folder = var / "postgresql"
    if os.geteuid() == 0:  # PostgreSQL runs as another user, who has to pass what the site keeps for itself
        for path in {var, ROOT / "var"} & set(folder.parents):
            path.mkdir(parents=True, exist_ok=True)
            path.chmod(path.stat().st_mode | 0o011)
    url = make_cluster(folder, port=postgres_port)
    key = var / "production_key"
    if not key.exists():
        key.touch(mode=0o600)
        key.write_text(secrets.token_urlsafe(50))
    production = {
        "PLURANK_PRODUCTION": "true",
        "PLURANK_SECRET_KEY": key.read_text(),
        "PLURANK_HOSTS": "127.0.0.1,localhost",
        "PLURANK_URL": f"http://127.0.0.1:{port}",
        "PLURANK_SSL_REDIRECT": "false",
        "PLURANK_LOG_FORMAT": "json",
    }
    settings = {name: os.environ.get(name) or value for name, value in production.items()}  # what is set already is
    settings |= {
        "PLURANK_VAR": str(var),
        "DATABASE_URL": url,
        "REDIS_URL": f"redis://127.0.0.1:{redis_port}/0",
    }
    os.environ.update(settings)
    for_commands = var / "environment"
    for_commands.touch(mode=0o600)
    for_commands.write_text("".join(f"{name}={shlex.quote(value)}\n" for name, value in settings.items()))
    services = {
        "postgresql": postgres_command(folder, port=postgres_port),
        "redis": redis_command(var, port=redis_port),
    }
    with Supervisor(services, var=var, folder=ROOT) as supervisor:

        def services_answer() -> bool:
            return redis_answers(redis_port) and postgres_answers(url)

        print(f"Starting PostgreSQL on port {postgres_port} and Redis on port {redis_port} ...")
        if not supervisor.watch(until=services_answer, seconds=SECONDS_TO_START):
            return _give_up(supervisor, var, "postgresql")
        print("Migrating the database, collecting static files ...")
        for command in (["migrate", "--noinput"], ["collectstatic", "--noinput"]):
            subprocess.run([sys.executable, "manage.py", *command, "-v", "0"], cwd=ROOT, check=True)  # noqa: S603
        print("Starting web server, workers and sweep ...")
        supervisor.add(processes(sys.executable, port, n_web=2, n_workers=n_workers))
        # It says that database, broker and sweep are there.
        ready = f"http://127.0.0.1:{port}/readyz/"
        if not supervisor.watch(until=lambda: status_of(ready) == 200, seconds=SECONDS_TO_START):
            return _give_up(supervisor, var, "web")
        print(WELCOME.format(port=port, var=var, environment=shlex.quote(str(for_commands))), flush=True)
        supervisor.watch()
        print("Stopping ...")
    return 0


def _next_free(port: int) -> int:
    return next(other for other in range(port, 65536) if not is_taken(other))


def _give_up(supervisor: Supervisor, var: Path, name: str) -> int:
    if supervisor.is_stopping:
        return 0
    log = var / "log" / f"{name}.log"
    print(f"It did not start within {SECONDS_TO_START} s. The end of {log}:\n{supervisor.end_of_log(name)}")
    return 1


if __name__ == "__main__":
    sys.exit(main())
