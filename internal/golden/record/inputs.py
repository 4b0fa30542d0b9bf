"""The inputs and cases of inputs.h, in Python."""

import os
import subprocess
import sys

SEED, MASK = 14, 2**64 - 1
TYPES = {"float32": (4, 23, 127), "float64": (8, 52, 1023), "float16": (2, 10, 15),
         "bfloat16": (2, 7, 127), "int32": (4, 0, 0)}
CASES = [("float32", "sum", 1, 0), ("float32", "sum", 7, 0), ("float32", "sum", 67, 0),
         ("float32", "sum", 500, 0), ("float64", "sum", 67, 1), ("float16", "sum", 67, 1),
         ("bfloat16", "sum", 67, 1), ("int32", "sum", 67, 1), ("float32", "prod", 67, 1),
         ("float32", "max", 67, 1)]
FEW = (4, 5, 7)


def cases(ranks):
    return [(i, c[0], c[1], c[2]) for i, c in enumerate(CASES) if not c[3] or ranks in FEW]


def draw(rank, index):
    z = 0x9E3779B97F4A7C15 * (1 + index + (rank << 32) + (SEED << 40)) & MASK
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & MASK
    z = (z ^ z >> 27) * 0x94D049BB133111EB & MASK
    return z ^ z >> 31


def fill(name, op, rank, count):
    """The bytes of a rank's inputs, the lowest first."""
    width, mantissa, bias = TYPES[name]
    out = b""
    for i in range(count):
        h = draw(rank, i)
        bits = h & 0xFFFFFFFF
        if mantissa:
            e = (h >> 52 & 1) - 1 if op == "prod" else (h >> 52 & 7) - 4
            bits = h >> 63 << 8 * width - 1 | bias + e << mantissa | h & (1 << mantissa) - 1
        out += bits.to_bytes(width, "little")
    return out


def print_case(kind, ranks, count, root, name, op, data):
    print("case", kind, ranks, count, root, name, op, data.hex(), flush=True)


def spawn(script, ranks, *arguments):
    """Starts that many ranks of a script, each told its rank and their number; all must succeed."""
    all = [subprocess.Popen([sys.executable, script, *arguments, str(rank), str(ranks)])
           for rank in range(ranks)]
    if any([p.wait() for p in all]):
        sys.exit("a rank failed")


def here(name):
    return os.path.join(os.path.dirname(os.path.abspath(__file__)), name)
