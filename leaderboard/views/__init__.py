"""The pages: thin functions that ask selectors, call services and fill templates."""
