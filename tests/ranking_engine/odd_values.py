"""Values that hardly any file has, drawn by `random.Random`.

Hypothesis, which draws them from many strategies, takes four times as long to draw a file as a reader takes to read it.
"""

import math
import struct
from random import Random

# Numbers of characters: ASCII, Latin, others of two bytes, others of four.
CHARACTERS = [range(0x80), range(0x250), range(0xD800), range(0xE000, 0x110000)]
EDGES = ["", 0, 1, -1, 0.0, -0.0, 5e-324, math.nan, math.inf, -math.inf]


def text(random: Random, max_size: int) -> str:
    """A text of any characters, more of them the lower their numbers are."""
    numbers = (random.choice(random.choice(CHARACTERS)) for _ in range(random.randint(0, max_size)))
    return "".join(map(chr, numbers))


def whole(random: Random) -> int:
    return random.choice([1, -1]) * random.getrandbits(random.choice([2, 8, 32, 64, 2000]))


def any_float(random: Random) -> float:
    return random.choice([struct.unpack("d", random.randbytes(8))[0], random.uniform(-2, 2)])


SCALARS = [
    lambda random: None,
    lambda random: random.choice([True, False]),
    whole,
    any_float,
    lambda random: text(random, 8),
    lambda random: random.choice(EDGES),
]
