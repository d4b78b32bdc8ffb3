"""The processes that make up a running site; any may be killed at any time. docker-compose.yml runs the same."""

QUEUES = ("rankings", "studies")  # apart, so that a study never delays a board


def processes(python: str, port: int) -> dict[str, list[str]]:
    """Each process's name and command line; `python` is the interpreter that has the packages."""
    workers = {queue: worker(python, queue) for queue in QUEUES}
    return {"web": web(python, port)} | workers | {"sweep": [python, "manage.py", "sweep"]}


def web(python: str, port: int, *, host: str = "127.0.0.1", n_workers: int = 1) -> list[str]:
    """The web server. One process by default, so that a cache in its memory is everyone's; with threads."""
    command = [python, "-m", "gunicorn", "config.wsgi", "--bind", f"{host}:{port}"]
    command += ["--worker-class", "gthread", "--workers", str(n_workers), "--threads", "8"]
    return [*command, "--graceful-timeout", "3", "--no-control-socket"]


def worker(python: str, queue: str) -> list[str]:
    """A Celery worker of one queue. It need not talk to others: messages only wake it."""
    command = [python, "-m", "celery", "--app", "config.celery", "worker", "--queues", queue]
    command += ["--hostname", f"{queue}@%h", "--pool", "prefork", "--concurrency", "1"]
    command += ["--without-gossip", "--without-mingle", "--without-heartbeat"]
    return [*command, "--loglevel", "INFO"]
