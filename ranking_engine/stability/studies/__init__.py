"""The studies: a module with a record of `Study` adds one to the catalogue."""
