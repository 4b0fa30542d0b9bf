"""The other side of TestPython: reads what Go wrote and writes what Go will read.

Usage: roundtrip.py DIRECTORY. go.json there lists what each file of Go's must hold, as
{file: {tensor: {"dtype": name, "shape": [...], "hex": little-endian elements}}}; python.json lists
in the same way what this script wrote.
"""

import json
import os
import sys

import ml_dtypes
import numpy as np
import safetensors
import safetensors.numpy

SAFE = {"F64": "float64", "F32": "float32", "F16": "float16", "BF16": "bfloat16",
        "F8_E4M3": "float8_e4m3fn", "F8_E5M2": "float8_e5m2",
        "I8": "int8", "I16": "int16", "I32": "int32", "I64": "int64",
        "U8": "uint8", "U16": "uint16", "U32": "uint32", "U64": "uint64",
        "BOOL": "bool", "C64": "complex64"}


def dtype(name):
    return np.dtype(getattr(ml_dtypes, name, None) or name)


def load(file, want):
    """Returns {tensor: array}; void is viewed as the type that is wanted."""
    if file.endswith(".safetensors"):
        with open(file, "rb") as f:
            found = safetensors.deserialize(f.read())
        return {name: np.frombuffer(t["data"], dtype(SAFE[t["dtype"]])).reshape(t["shape"])
                for name, t in found}
    found = np.load(file, allow_pickle=False)
    arrays = {"": found} if file.endswith(".npy") else {name: found[name] for name in found.files}
    for name, a in arrays.items():
        if a.dtype.kind == "V":
            arrays[name] = a.view(dtype(want[name]["dtype"]))
    return arrays


def describe(a):
    little = a.astype(a.dtype.newbyteorder("<")) if a.dtype.kind in "fiuc" else a
    return {"dtype": a.dtype.name, "shape": list(a.shape), "hex": little.tobytes().hex()}


def content(file):
    with open(file, "rb") as f:
        return f.read()


def main(directory):
    os.chdir(directory)
    with open("go.json") as f:
        expected = json.load(f)
    written = {}

    def wrote(file, arrays):
        written[file] = {name: describe(a) for name, a in arrays.items()}

    for file, want in expected.items():
        arrays = load(file, want)
        got = {name: describe(a) for name, a in arrays.items()}
        assert got == want, f"{file}: {got}, {want} is expected"
        back = "python-" + file
        if file.endswith(".npy"):
            a = arrays[""]
            np.save(back, a)
            if file.startswith("marked"):
                assert content(file) != content(back), f"{file}: numpy.save keeps the mark"
            elif a.dtype != dtype("float8_e5m2"):  # NumPy saves it as "<f1", which it cannot load
                assert content(file) == content(back), f"{file}: numpy.save gives other bytes"
            wrote(back, arrays)
            fortran = np.asfortranarray(a)  # which makes a scalar an array of one axis
            np.save("fortran-" + file, fortran)
            wrote("fortran-" + file, {"": fortran})
            if a.dtype.kind in "fiuc" and a.dtype.itemsize > 1:
                np.save("big-" + file, a.astype(a.dtype.newbyteorder(">")))
                wrote("big-" + file, arrays)
        elif file.endswith(".npz"):
            np.savez(back, **arrays)
            wrote(back, arrays)
            np.savez_compressed("packed-" + file, **arrays)
            wrote("packed-" + file, arrays)
        else:
            safetensors.numpy.save_file(arrays, back)
            if file.startswith("marked"):
                with safetensors.safe_open(file, "numpy") as f:
                    assert f.metadata() == {"software": "collsim"}, f.metadata()
            else:
                assert content(file) == content(back), f"{file}: save_file gives other bytes"
            wrote(back, arrays)
    with open("python.json", "w") as f:
        json.dump(written, f)


main(sys.argv[1])
