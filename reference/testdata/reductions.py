"""The other side of TestNumPy: computes the reductions of a file of cases with numpy.

Usage: reductions.py FILE. The file lists {"Name", "Type", "Op", "Inputs", "Output", "Orders"}: the bytes of
every rank's input and output in hexadecimal, and for every element of every output the order in
which it is added up, as nested pairs of ranks.
"""

import json
import sys

import numpy as np

LOGICAL = {"and": np.logical_and, "or": np.logical_or, "xor": np.logical_xor}
BITWISE = {"and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor}


def added(order, inputs, element):
    """Returns the sum of an element of all ranks, in an order."""
    if isinstance(order, int):
        return inputs[order][element]
    return added(order[0], inputs, element) + added(order[1], inputs, element)


def main(file):
    with open(file) as f:
        cases = json.load(f)
    checked = 0
    for c in cases:
        kind = np.dtype(c["Type"])

        def array(text):
            return np.frombuffer(bytes.fromhex(text), kind)

        inputs = [array(text) for text in c["Inputs"]]
        for rank, text in enumerate(c["Output"]):
            got = array(text)
            if c["Op"] == "sum":
                with np.errstate(over="ignore"):
                    want = np.array([added(o, inputs, i) for i, o in enumerate(c["Orders"][rank])], kind)
            else:
                want = (LOGICAL if kind == bool else BITWISE)[c["Op"]].reduce(np.array(inputs))
                assert kind != bool or 0 < want.sum() < want.size, "truths and falsehoods are expected"
            where = f'{c["Name"]} {c["Type"]} {c["Op"]}: rank {rank}'
            assert got.tobytes() == want.astype(kind).tobytes(), f"{where}: {got}, {want} is expected"
            checked += got.size
    print(checked, "elements in", len(cases), "cases")


main(sys.argv[1])
