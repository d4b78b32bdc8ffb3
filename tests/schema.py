"""The whole schema of a database, as values that can be compared."""

import re
from typing import Any

from django.db import connection

TOKEN = re.compile(r"""'[^']*'|"[^"]*"|\w+|[^\w\s]""")  # of SQL, as far as a CREATE TABLE of SQLite has them
POSTGRESQL = {
    "columns": """SELECT table_name, column_name, data_type, character_maximum_length, numeric_precision, numeric_scale,
        is_nullable, column_default, is_identity FROM information_schema.columns WHERE table_schema = 'public'""",
    "indexes": "SELECT tablename, indexname, indexdef FROM pg_indexes WHERE schemaname = 'public'",
    "constraints": """SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid) FROM pg_constraint
        WHERE connamespace = 'public'::regnamespace""",
    "triggers": """SELECT tgrelid::regclass::text, tgname, pg_get_triggerdef(oid), tgenabled::text FROM pg_trigger
        WHERE NOT tgisinternal""",
    "functions": "SELECT proname, prosrc FROM pg_proc WHERE pronamespace = 'public'::regnamespace",
}


def schema() -> dict[str, list[tuple]]:
    """Columns, indexes, constraints, triggers, functions; in an order that does not depend on when each was made."""
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            return {what: sorted(_rows(cursor, query), key=repr) for what, query in POSTGRESQL.items()}
        return _of_sqlite(cursor)


def _rows(cursor: Any, query: str) -> list[tuple]:
    cursor.execute(query)
    return list(cursor.fetchall())


def _of_sqlite(cursor: Any) -> dict[str, list[tuple]]:
    tables = [name for (name,) in _rows(cursor, "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")]
    columns, indexes, constraints = [], [], []
    for table in tables:
        columns += [(table, *row[1:]) for row in _rows(cursor, f'PRAGMA table_info("{table}")')]
        keys = _rows(cursor, f'PRAGMA foreign_key_list("{table}")')
        constraints += [(table, "foreign key", *key[2:]) for key in keys]
        for _, name, *rest in _rows(cursor, f'PRAGMA index_list("{table}")'):
            parts = _rows(cursor, f"SELECT name FROM pragma_index_info('{name}') ORDER BY seqno")
            condition = _rows(cursor, f"SELECT sql FROM sqlite_master WHERE name = '{name}'")
            indexes.append((table, "" if name.startswith("sqlite_autoindex") else name, *rest, parts, condition))
    definitions = _rows(cursor, "SELECT name, sql FROM sqlite_master WHERE type = 'table'")
    constraints += [(table, clause) for table, definition in definitions for clause in _clauses(definition)]
    triggers = _rows(cursor, "SELECT tbl_name, name, sql FROM sqlite_master WHERE type = 'trigger'")
    schema = {"columns": columns, "indexes": indexes, "constraints": constraints, "triggers": triggers}
    return {what: sorted(rows, key=repr) for what, rows in schema.items()}


def _clauses(definition: str) -> list[str]:
    """The columns and constraints in a CREATE TABLE, for what no PRAGMA says: conditions, actions of foreign keys.

    Django's own introspection parses them with sqlparse, which takes 25 times as long.
    """
    clauses, depth = [""], 0
    for token in TOKEN.findall(definition.partition("(")[2].rpartition(")")[0]):
        depth += (token == "(") - (token == ")")
        if token == "," and not depth:
            clauses.append("")
        else:
            clauses[-1] += f" {token}"
    return clauses
