"""The processes that make up a running site, for the demo's supervisor; any may be killed at any time."""

QUEUES = ("rankings", "studies")  # apart, so that a study never delays a board


def processes(python: str, port: int) -> dict[str, list[str]]:
    """Each process's name and command line; `python` is the interpreter that has the packages."""
    workers = {queue: worker(python, queue) for queue in QUEUES}
    return {"web": web(python, port)} | workers | {"sweep": [python, "manage.py", "sweep"]}


def web(python: str, port: int) -> list[str]:
    """The web server: one process, so that the cache in its memory is everyone's, with threads."""
    command = [python, "-m", "gunicorn", "config.wsgi", "--bind", f"127.0.0.1:{port}"]
    command += ["--worker-class", "gthread", "--workers", "1", "--threads", "8"]
    return [*command, "--graceful-timeout", "3", "--no-control-socket"]


def worker(python: str, queue: str) -> list[str]:
    """A Celery worker of one queue. It need not talk to others: messages only wake it."""
    command = [python, "-m", "celery", "--app", "config.celery", "worker", "--queues", queue]
    command += ["--hostname", f"{queue}@%h", "--pool", "prefork", "--concurrency", "1"]
    command += ["--without-gossip", "--without-mingle", "--without-heartbeat"]
    return [*command, "--loglevel", "INFO"]
