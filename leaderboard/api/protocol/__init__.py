"""How requests are read and answers are written, for every subject of the API."""
