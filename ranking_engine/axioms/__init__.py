"""Properties of ranking rules: which rule has which, and violations of them on a given board.

`entry` and `table` say whether a rule has a property and why; `witness` looks for a violation on a given board,
`violates` re-checks one from the definition, `sentence` puts it in words; `stored_witnesses` are small boards for all
properties that fail; `history_flips` lists which systems changed the order of others in a board's real history.
"""

from ranking_engine.axioms.definitions import Witness, effect_of, violates
from ranking_engine.axioms.history import Flips, RankedRevision, flips_of_history, history_flips
from ranking_engine.axioms.properties import PROPERTIES, Property
from ranking_engine.axioms.search import LOOKED_AT, MAX_STEPS, WitnessSearch, witness
from ranking_engine.axioms.sentences import TEXTS, sentence
from ranking_engine.axioms.stored import StoredWitness, stored_witnesses
from ranking_engine.axioms.table import Entry, convention_of, conventions, entry, table

__all__ = [
    "LOOKED_AT",
    "MAX_STEPS",
    "PROPERTIES",
    "TEXTS",
    "Entry",
    "Flips",
    "Property",
    "RankedRevision",
    "StoredWitness",
    "Witness",
    "WitnessSearch",
    "convention_of",
    "conventions",
    "effect_of",
    "entry",
    "flips_of_history",
    "history_flips",
    "sentence",
    "stored_witnesses",
    "table",
    "violates",
    "witness",
]
