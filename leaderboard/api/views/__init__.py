"""The views of the API, one file a kind of thing."""
