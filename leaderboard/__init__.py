"""The site: what is stored, what may be done with it, and the pages that show it."""
