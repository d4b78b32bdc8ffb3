"""Cache, broker and background jobs: a folder, or Redis where REDIS_URL says so."""

from typing import Any

from config import env, env_addresses
from config.settings import tests
from config.settings.base import IS_TEST, VAR

REDIS_URL = env_addresses.redis("REDIS_URL")
if REDIS_URL and IS_TEST:
    REDIS_URL = tests.own_redis(REDIS_URL)
if REDIS_URL:
    CACHES = {
        "default": {
            "BACKEND": "config.backends.cache.ForgivingRedisCache",
            "LOCATION": REDIS_URL,
            "KEY_PREFIX": "plurank",
            "OPTIONS": {"socket_connect_timeout": 1, "socket_timeout": 2},
        }
    }
    CELERY_BROKER_URL = REDIS_URL
    CELERY_BROKER_TRANSPORT_OPTIONS: dict[str, Any] = {
        "socket_connect_timeout": 1,
        "socket_timeout": 2,  # a Redis that stands still delays a request by no more
        "health_check_interval": 10,  # so that a worker soon finds out that Redis vanished without a word
        "max_retries": 0,
        # Messages are wake-ups and may be lost. Acknowledging one to Redis fails while Redis is away; the message then
        # counts as held for good, and the worker takes no other.
        "ack_emulation": False,
    }
else:
    CACHES = {
        "default": {
            "BACKEND": "config.backends.cache.CountedMemoryCache",
            "OPTIONS": {"MAX_ENTRIES": 500},
        }
    }
    BROKER_FOLDER = VAR / "broker"
    CELERY_BROKER_URL = "folder://localhost"  # without a host name kombu warns
    CELERY_BROKER_TRANSPORT = "config.backends.filesystem_broker:Transport"
    CELERY_BROKER_TRANSPORT_OPTIONS = {
        "folder": str(BROKER_FOLDER / "messages"),
        "stale_seconds": 300,  # messages expire long before
        "polling_interval": 0.05,
    }
# A message is only a wake-up: it is acknowledged early, expires, returns nothing, and may be lost.
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_ACKS_LATE = False
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_TASK_PUBLISH_RETRY = False
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_CONNECTION_MAX_RETRIES = None  # a worker waits for its broker for as long as it takes
CELERY_WORKER_CANCEL_LONG_RUNNING_TASKS_ON_CONNECTION_LOSS = False
CELERY_WORKER_ENABLE_REMOTE_CONTROL = False
CELERY_WORKER_SEND_TASK_EVENTS = False
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_TASK_DEFAULT_QUEUE = "rankings"
CELERY_TIMEZONE = "UTC"

# --- Jobs
JOB_LEASE_SECONDS = env.seconds("PLURANK_LEASE_SECONDS", 30, least=1)
JOB_ATTEMPTS = env.number("PLURANK_JOB_ATTEMPTS", 3, least=1)
# What computing one board may take, and by how much a job may outlast its time before its process is killed.
BOARD_SECONDS = env.seconds("PLURANK_BOARD_SECONDS", 120, least=1)
JOB_GRACE_SECONDS = env.seconds("PLURANK_JOB_GRACE_SECONDS", 30, least=1)
# A job that has been due for so long without a wake-up is taken from the table by a worker that is idle.
UNWOKEN_SECONDS = env.seconds("PLURANK_UNWOKEN_SECONDS", 20, least=1)
# A sweep that is not done within so long ends its process, to be started again.
SWEEP_SECONDS = env.seconds("PLURANK_SWEEP_SECONDS", 180, least=1)
JOB_MEMORY_BYTES = env.number("PLURANK_JOB_MEMORY_MB", 4096, least=512) * 2**20
# When a study runs that a benchmark's owners chose nothing for, and how long it may take.
STUDIES_RUN = env.choice("PLURANK_STUDIES_RUN", "every", ["every", "nightly", "demand"])
# The studies of submissions in a row are planned once nothing more was submitted to the benchmark for so long.
STUDIES_QUIET_SECONDS = env.seconds("PLURANK_STUDIES_QUIET_SECONDS", 30)
STUDY_SECONDS = env.seconds("PLURANK_STUDY_SECONDS", 60, least=1)
# What an experiment that someone starts may take, in seconds of one core as estimated before; what all of one
# person's, and all on one board, may take within a day; and how many of one person's may be open at once.
EXPERIMENT_SECONDS = env.seconds("PLURANK_EXPERIMENT_SECONDS", 60, least=1)
EXPERIMENT_SECONDS_A_PERSON = env.number("PLURANK_EXPERIMENT_SECONDS_A_PERSON", 600, least=1)
EXPERIMENT_SECONDS_A_BOARD = env.number("PLURANK_EXPERIMENT_SECONDS_A_BOARD", 3600, least=1)
EXPERIMENTS_OPEN = env.number("PLURANK_EXPERIMENTS_OPEN", 3, least=1)
# What a reader may ask to be computed on demand: systems x tasks x rules. It is computed in child processes of each web
# process: so many at once, each with so many seconds and so much memory, and so many more that wait for their turn.
ON_DEMAND_BUDGET = env.number("PLURANK_ON_DEMAND_BUDGET", 5_000_000, least=1)
ON_DEMAND_CHILDREN = env.number("PLURANK_ON_DEMAND_CHILDREN", 2, least=1, most=1000)
ON_DEMAND_WAITING = env.number("PLURANK_ON_DEMAND_WAITING", 4)
ON_DEMAND_SECONDS = env.seconds("PLURANK_ON_DEMAND_SECONDS", 4, least=1)
ON_DEMAND_MEMORY_BYTES = env.number("PLURANK_ON_DEMAND_MEMORY_MB", 384, least=128) * 2**20
ON_DEMAND_PATIENCE_SECONDS = 2

# What scoring the predictions for one task may take, in seconds of a processor and in memory; what a job that scores
# all files of a submission may take by the clock; and how long an evaluator of a benchmark's owners has for one file.
SCORING_SECONDS = env.seconds("PLURANK_SCORING_SECONDS", 120, least=1)
SCORING_MEMORY_BYTES = env.number("PLURANK_SCORING_MEMORY_MB", 640, least=256) * 2**20
SCORING_JOB_SECONDS = 1800
EVALUATION_SECONDS = env.number("PLURANK_EVALUATION_HOURS", 24, least=1, most=24 * env.MOST_DAYS) * 3600
