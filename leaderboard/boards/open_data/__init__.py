"""Boards as open data: what search engines, catalogues of data sets and archives read."""
