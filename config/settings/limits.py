"""Limits on what users can send and store, and what the sweep deletes."""

from config import env

# What one uploaded file may hold.
UPLOAD_BYTES = env.number("PLURANK_UPLOAD_MB", 10, least=1) * 2**20
IMPORT_BYTES = 5 * UPLOAD_BYTES  # of all result files of one import, which are read in pieces
UPLOAD_SYSTEMS = env.number("PLURANK_UPLOAD_SYSTEMS", 10_000, least=1)
UPLOAD_CELLS = env.number("PLURANK_UPLOAD_CELLS", 150_000, least=1)
INSTANCE_CELLS = env.number("PLURANK_INSTANCE_CELLS", 1_000_000, least=1)
# Of votes: one file is read while its sender waits; all votes of a benchmark are rated again with each batch.
VOTES_PER_UPLOAD = env.number("PLURANK_VOTES_PER_UPLOAD", 200_000, least=1)
VOTES_PER_BENCHMARK = env.number("PLURANK_VOTES_PER_BENCHMARK", 5_000_000, least=1)
# What someone without an account may have ranked on the page for trying.
TRY_BYTES = env.number("PLURANK_TRY_KB", 300, least=1) * 1000
TRY_SYSTEMS = env.number("PLURANK_TRY_SYSTEMS", 300, least=2)
TRY_TASKS = env.number("PLURANK_TRY_TASKS", 200, least=1)
# What one submission of predictions may bring, all files together; and how many of one person's may wait at once.
PREDICTIONS_BYTES = env.number("PLURANK_PREDICTIONS_MB", 20, least=1) * 2**20
PREDICTIONS_ROWS = env.number("PLURANK_PREDICTIONS_ROWS", 300_000, least=1)
PREDICTIONS_OPEN = env.number("PLURANK_PREDICTIONS_OPEN", 10, least=1)
# How many benchmarks one account may make; staff as many as they like.
BENCHMARKS_PER_ACCOUNT = env.number("PLURANK_BENCHMARKS_PER_ACCOUNT", 20, least=1)
# How many scores one account may store: they are kept for good, some 125 bytes each.
CELLS_PER_DAY = env.number("PLURANK_CELLS_PER_DAY", 1_000_000, least=1)
CELLS_PER_ACCOUNT = env.number("PLURANK_CELLS_PER_ACCOUNT", 10_000_000, least=1)
DRAFT_DAYS = env.days("PLURANK_DRAFT_DAYS", 7, least=1)
# What the sweep deletes once it is so many days old (`leaderboard/operations/retention.py`).
KEEP_DAYS = env.days("PLURANK_KEEP_DAYS", 90, least=7)
KEEP_MESSAGES_DAYS = env.days("PLURANK_KEEP_MESSAGES_DAYS", 30, least=1)
KEEP_NOTICES_DAYS = env.days("PLURANK_KEEP_NOTICES_DAYS", 365, least=30)
KEEP_RANKS_DAYS = env.days("PLURANK_KEEP_RANKS_DAYS", 90)  # of earlier revisions; 0 keeps them for ever
KEEP_NEWEST_RANKS = env.number("PLURANK_KEEP_NEWEST_RANKS", 50, least=2)  # whatever their age
KEEP_DAILY_RANKS_DAYS = env.days("PLURANK_KEEP_DAILY_RANKS_DAYS", 365)

# What Django itself takes of one request.
DATA_UPLOAD_MAX_MEMORY_SIZE = 2_500_000
DATA_UPLOAD_MAX_NUMBER_FIELDS = 12_000  # a table of 1,000 tasks
DATA_UPLOAD_MAX_NUMBER_FILES = 1_000  # result files of one import
