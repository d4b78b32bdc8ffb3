"""`python -m plurank`."""

import sys

from plurank.command_line import main

if __name__ == "__main__":
    sys.exit(main())
