"""What tables of a site are written as."""

FORMATS = {"csv": "csv", "latex": "tex", "markdown": "md", "json": "json"}  # as commands call them, and a site
