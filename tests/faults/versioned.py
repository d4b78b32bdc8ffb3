"""A program as an engine of another version: `python -m tests.faults.versioned 0.4.0 celery --app config.celery ...`.

The version is set before any other module reads it, and every process that is forked from here has it, too.
"""

import runpy
import sys

import ranking_engine

if __name__ == "__main__":
    ranking_engine.__version__ = sys.argv[1]
    del sys.argv[:2]
    if sys.argv[0] == "-m":
        del sys.argv[0]
        runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
    else:
        runpy.run_path(sys.argv[0], run_name="__main__")
