"""Organisations: founded, joined and left by people, and owning benchmarks."""
