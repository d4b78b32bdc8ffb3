"""`python -m ranking_engine`."""

import sys

from ranking_engine.command_line import main

if __name__ == "__main__":
    sys.exit(main())
