"""What gunicorn does of its own accord wherever it is started from this folder."""

from config.processes.web_server import child_exit, on_starting, post_fork

__all__ = ["child_exit", "on_starting", "post_fork", "worker_class"]

worker_class = "config.processes.web_worker.HeadsFirst"
