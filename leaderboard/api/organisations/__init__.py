"""Organisations: what they say of themselves, their people, and the benchmarks that they own."""
