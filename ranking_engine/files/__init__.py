"""Tables and benchmarks as files: CSV, TOML, PrefLib, in the dialects that people save them in."""
