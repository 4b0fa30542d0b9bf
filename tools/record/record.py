"""What the programs of this folder have in common: numbers from their generator, the facts that a
recording begins with, libraries, and files. Called by itself, it completes a folder of recordings:

    python3 record.py FOLDER

writes SHA256SUMS over its files and README.md, which says what each is and what did not work.
"""

import ctypes
import datetime
import glob
import hashlib
import json
import os
import re
import shlex
import site
import sys

SEED = 20261128

# ncclDataType_t and the elements: integers as numpy has them; of floats the bytes, the bits of the
# significand (with the one that is not stored) and the bias of the exponent.
TYPES = {
    "int8": (0, "i1"),
    "uint8": (1, "u1"),
    "int32": (2, "i4"),
    "uint32": (3, "u4"),
    "int64": (4, "i8"),
    "uint64": (5, "u8"),
    "float16": (6, (2, 11, 15)),
    "float32": (7, (4, 24, 127)),
    "float64": (8, (8, 53, 1023)),
    "bfloat16": (9, (2, 8, 127)),
    "float8_e4m3fn": (10, (1, 4, 7)),
    "float8_e5m2": (11, (1, 3, 15)),
}
OPS = {"sum": 0, "prod": 1, "max": 2, "min": 3, "avg": 4}  # ncclRedOp_t


def is_float(dtype):
    return isinstance(TYPES[dtype][1], tuple)


def width(dtype):
    form = TYPES[dtype][1]
    return form[0] if is_float(dtype) else int(form[1:])


def mix(x):
    """The output function of splitmix64 (Steele, Lea and Flood 2014), of numpy's uint64."""
    import numpy as np

    x = x + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def generated(seed, rank, count, dtype):
    """The bytes of a rank's input: of z = mix(mix(mix(seed) + rank) + element), an integer is the
    lowest bits, and a float the upper 24 bits, less 2^23, over 2 to the power of 20 and the lowest
    three bits, rounded to the type: from -8 on, below 8."""
    import numpy as np

    with np.errstate(over="ignore"):
        of = mix(mix(np.array([seed], np.uint64)) + np.uint64(rank))
        z = mix(of + np.arange(count, dtype=np.uint64))
    if not is_float(dtype):
        return z.astype("<" + TYPES[dtype][1]).tobytes()
    numbers = (z >> np.uint64(40)).astype(np.int64) - (1 << 23)
    return encoded(
        np.ldexp(numbers.astype(np.float64), -20 - (z & np.uint64(7)).astype(int)), dtype
    )


def encoded(numbers, dtype):
    """The bytes of float64 numbers, which are no larger than the type's largest, in a type: rounded
    to the nearest, ties to even."""
    import numpy as np

    if not is_float(dtype):
        return np.array(numbers).astype("<" + TYPES[dtype][1]).tobytes()
    size, precision, bias = TYPES[dtype][1]
    if size == 8:
        return np.array(numbers, "<f8").tobytes()
    magnitude = np.abs(numbers)
    exponent = np.where(magnitude > 0, np.frexp(magnitude)[1] - 1, 1 - bias)
    exponent = np.maximum(exponent, 1 - bias)
    units = np.rint(np.ldexp(magnitude, precision - 1 - exponent)).astype(np.uint64)
    # A carry into the next power of two adds one to the exponent that lies above.
    bits = units + (np.uint64(1) << np.uint64(precision - 1)) * (exponent + bias - 1).astype(
        np.uint64
    )
    bits |= np.signbit(numbers).astype(np.uint64) << np.uint64(8 * size - 1)
    return bits.astype("<u%d" % size).tobytes()


def environment():
    """That of this process, without what may be set of NCCL."""
    return {k: v for k, v in os.environ.items() if not k.startswith("NCCL_")}


def find(variable, names, packages_first=False):
    """The file of a library: the variable's, one of CUDA's toolkit or of a package of Python's, or
    the one that the loader finds."""
    if os.environ.get(variable):
        return os.environ[variable]
    roots = [
        "/usr/local/cuda/lib64",
        "/usr/local/cuda-*/lib64",
        "/usr/lib/x86_64-linux-gnu",
        "/usr/local/nvidia/lib64",
    ]
    packages = [p + "/nvidia/*/lib" for p in site.getsitepackages() + [site.getusersitepackages()]]
    roots = packages + roots if packages_first else roots + packages
    for name in names:
        for root in roots:
            for path in sorted(glob.glob(root + "/" + name)):
                return path
    for name in names:
        try:
            ctypes.CDLL(name)
        except OSError:
            continue
        with open("/proc/self/maps") as f:
            return next((x.split()[-1] for x in f if os.path.basename(x.strip()) == name), name)
    return names[0]


def libcuda():
    return find("COLLSIM_LIBCUDA", ["libcuda.so.1"])


def libnccl():
    return find("COLLSIM_LIBNCCL", ["libnccl.so.2"], packages_first=True)


def library(path):
    try:
        return ctypes.CDLL(path)
    except OSError as e:
        sys.exit("%s: %s" % (path, e))


def driver():
    """The driver's version, as it says."""
    for path in ["/proc/driver/nvidia/version", "/sys/module/nvidia/version"]:
        try:
            with open(path) as f:
                return re.search(r"\d+\.\d+(\.\d+)?", f.read()).group()
        except OSError:
            continue
    try:
        nvml = ctypes.CDLL("libnvidia-ml.so.1")
        text = ctypes.create_string_buffer(80)
        if nvml.nvmlInit_v2() == 0 and nvml.nvmlSystemGetDriverVersion(text, 80) == 0:
            return text.value.decode()
    except OSError:
        pass
    return "not known"


def facts(nccl=None):
    """What every recording begins with: the command, the date, the GPU and the versions."""
    cuda = library(libcuda())
    number, device, name = ctypes.c_int(), ctypes.c_int(), ctypes.create_string_buffer(100)
    for code in [
        cuda.cuInit(0),
        cuda.cuDriverGetVersion(ctypes.byref(number)),
        cuda.cuDeviceGet(ctypes.byref(device), 0),
        cuda.cuDeviceGetName(name, 100, device),
    ]:
        if code:
            sys.exit("there is no GPU: CUDA's error %d" % code)
    nccl_version = "not called"
    if nccl:
        version = ctypes.c_int()
        nccl.ncclGetVersion(ctypes.byref(version))
        v = version.value
        nccl_version = "%d.%d.%d" % (v // 10000, v // 100 % 100, v % 100)
    return {
        "command": "python3 " + shlex.join([os.path.basename(sys.argv[0])] + sys.argv[1:]),
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC"),
        "gpu": name.value.decode(),
        "driver": driver(),
        "cuda": "%d.%d" % (number.value // 1000, number.value % 1000 // 10),
        "nccl": nccl_version,
        "generator": "splitmix64",
        "seed": SEED,
    }


def paired(first, second):
    """The points of two runs as one each, and those that are in one run only. A point says what it
    is of, the median, the 10th and the 90th percentile of each run's samples, and the spread: how
    far the medians are apart, as a share of the smaller."""

    def by_what(points):
        other = ("run", "samples", "covered")
        return {json.dumps({k: v for k, v in p.items() if k not in other}): p for p in points}

    first, second = by_what(first), by_what(second)
    points = []
    for key in first:
        if key not in second:
            continue
        a, b = first[key], second[key]
        low, high = sorted([a["run"][0], b["run"][0]])
        spread = round((high - low) / low, 4) if low > 0 else 0
        row = dict(json.loads(key), samples=a["samples"], runs=[a["run"], b["run"]], spread=spread)
        if "covered" in a:
            row["covered"] = [a["covered"], b["covered"]]
        points.append(row)
    alone = [{"what": key, "error": "it is in one run only"} for key in first if key not in second]
    alone += [{"what": key, "error": "it is in one run only"} for key in second if key not in first]
    return points, alone


def write(folder, name, head, rows_name, rows):
    """Writes a recording, a row a line. It is there as a whole, or not at all."""
    text = json.dumps(head, indent=1)[:-2] + ',\n "%s": [' % rows_name
    text += (
        ",".join("\n  " + json.dumps(row, separators=(", ", ": ")) for row in rows) + "\n ]\n}\n"
    )
    save(os.path.join(folder, name), text)


def save(path, text):
    with open(path + ".part", "w") as f:
        f.write(text)
    os.replace(path + ".part", path)


def inputs(ranks, dtypes, elements=1000):
    """Checksums of ranks' inputs, by which a reader sees that it makes the same."""
    for dtype in dtypes:
        for rank in range(ranks):
            sum = hashlib.sha256(generated(SEED, rank, elements, dtype)).hexdigest()
            yield {"dtype": dtype, "rank": rank, "elements": elements, "sha256": sum}


def table(rows):
    """Prints rows, the first of which is the heading, below each other."""
    widths = [max(len(str(row[i])) for row in rows) for i in range(len(rows[0]))]
    for row in rows:
        print("  ".join(str(x).ljust(w) for x, w in zip(row, widths)).rstrip())


KINDS = {
    "nccl-bits": "results of NCCL's collectives, with the algorithm, the protocol and the channels",
    "nccl-rules": "what NCCL says to arguments that are odd or wrong",
    "nccl-log": "what NCCL has printed: how it found the machine, its graphs and its cost tables",
    "nccl-choices": "what NCCL chooses by itself, for every size",
    "gpu-bench": "times of launches, events, graphs, copies, reductions and matmuls, in two runs",
    "gpu-nccl-calls": "what calls of NCCL cost on one rank, in two runs",
}


def complete(folder):
    """Writes README.md and SHA256SUMS of a folder of recordings."""
    names = sorted(n for n in os.listdir(folder) if n not in ("README.md", "SHA256SUMS"))
    about, failures = [], []
    for name in names:
        kind = max((k for k in KINDS if name.startswith(k)), key=len, default=None)
        if kind is None:
            sys.exit("%s: it is not the name of a recording" % name)
        line = "- `%s`: %s." % (name, KINDS[kind])
        if name.endswith(".json"):
            with open(os.path.join(folder, name)) as f:
                head = json.load(f)
            line += " By `%s` on %s (%s, driver %s, CUDA %s, NCCL %s), in %.0f s." % tuple(
                head[k] for k in "command date gpu driver cuda nccl seconds".split()
            )
            failures += [
                "- `%s`: %s:\n\n  ```text\n%s\n  ```\n"
                % (name, f["what"], "\n".join("  " + said for said in f["error"].splitlines()))
                for f in head["failed"]
            ]
        about.append(line)
    text = "# Recordings\n\nWritten by the programs of `tools/record`, which says how."
    text += " `SHA256SUMS` has the\nchecksum of every file. Inputs are of the generator that"
    text += " `record.py` describes.\n\n" + "\n".join(about) + "\n\n## What did not work\n\n"
    save(os.path.join(folder, "README.md"), text + ("\n".join(failures) or "Nothing.") + "\n")
    sums = ""
    for name in names:
        with open(os.path.join(folder, name), "rb") as f:
            sums += "%s  %s\n" % (hashlib.sha256(f.read()).hexdigest(), name)
    save(os.path.join(folder, "SHA256SUMS"), sums)


if __name__ == "__main__":
    if len(sys.argv) != 2 or not os.path.isdir(sys.argv[1]):
        sys.exit("usage: python3 record.py FOLDER")
    complete(sys.argv[1])
