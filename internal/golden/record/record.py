"""Records one library: record.py NAME PREFIX > ../testdata/NAME.txt. PREFIX is where the library is
installed (bin, include, lib): a virtual environment, or /usr. See README.md."""

import datetime
import hashlib
import os
import re
import subprocess
import sys
import tempfile

import inputs

OPENMPI = {
    "all_reduce": ("allreduce", ["basic_linear", "nonoverlapping", "recursive_doubling", "ring",
                                 "segmented_ring", "rabenseifner"]),
    "reduce": ("reduce", ["linear", "chain", "pipeline", "binary", "binomial", "in-order_binary",
                          "rabenseifner"]),
    "reduce_scatter": ("reduce_scatter", ["non-overlapping", "recursive_halving", "ring",
                                          "butterfly"]),
    "reduce_scatter_block": ("reduce_scatter_block", ["basic_linear", "recursive_doubling",
                                                      "recursive_halving", "butterfly"]),
}
SEGMENTED = ("segmented_ring", "chain", "pipeline", "binary", "binomial")
# What the library makes of a reduce and something that moves.
COMPOSED = ("nonoverlapping", "non-overlapping", "basic_linear")


def openmpi(prefix):
    mca = ["mpirun", "-n", "9", "--oversubscribe", "--mca", "coll", "basic,tuned,libnbc,self",
           "--mca", "coll_tuned_use_dynamic_rules", "1"]
    for kind, (function, names) in OPENMPI.items():
        for i, name in enumerate(names):
            own = f"coll_tuned_{function}_algorithm"
            chosen = {own: i + 1}
            if name in SEGMENTED:
                chosen[own + "_segmentsize"] = 64
            if name in COMPOSED and (kind, name) != ("all_reduce", "basic_linear"):
                chosen["coll_tuned_reduce_algorithm"] = 5  # binomial
            more = [w for k, v in chosen.items() for w in ("--mca", k, str(v))]
            yield name, kind, {}, [*mca, *more, "RECORDER", kind, "0"]


MPICH = {
    "all_reduce": ("ALLREDUCE", {"recursive_doubling": 0, "reduce_scatter_allgather": 1, "ring": 0,
                                 "tree": 0, "recursive_multiplying": 0, "recexch": 0,
                                 "k_reduce_scatter_allgather": 1}),
    "reduce": ("REDUCE", {"binomial": 0, "reduce_scatter_gather": 1}),
    "reduce_scatter": ("REDUCE_SCATTER", {"pairwise": 0, "recursive_doubling": 0,
                                          "recursive_halving": 0}),
    "reduce_scatter_block": ("REDUCE_SCATTER_BLOCK", {"pairwise": 0, "recursive_doubling": 0,
                                                      "recursive_halving": 0}),
}


def mpich(prefix):
    for kind, (function, names) in MPICH.items():
        for name, least in names.items():
            # What cannot play is an error, but for this one, which MPI_Init calls with too little.
            otherwise = "print" if name == "reduce_scatter_allgather" else "error"
            yield name, kind, {
                f"MPIR_CVAR_{function}_INTRA_ALGORITHM": name,
                "MPIR_CVAR_COLLECTIVE_FALLBACK": otherwise,
                "MPIR_CVAR_DEVICE_COLLECTIVES": "none",
            }, ["mpiexec", "-n", "9", "RECORDER", kind, str(least)]


# By the numbers of I_MPI_ADJUST_…, with the names of Intel's Developer Reference.
INTEL = {
    "all_reduce": ("ALLREDUCE", {"recursive doubling": 1, "Rabenseifner's": 2, "Reduce + Bcast": 3,
                                 "binomial gather + scatter": 5, "Shumilin's ring": 7, "ring": 8,
                                 "knomial": 9}),
    "reduce": ("REDUCE", {"Shumilin's": 1, "binomial": 2, "Rabenseifner's": 5}),
    "reduce_scatter": ("REDUCE_SCATTER", {"recursive halving": 1, "pairwise exchange": 2,
                                          "recursive doubling": 3, "Reduce + Scatterv": 4}),
}


def intel(prefix):
    for kind, (function, names) in INTEL.items():
        for name, number in names.items():
            composed = {"I_MPI_ADJUST_REDUCE": "2"} if name.startswith("Reduce +") else {}
            yield name.replace(" ", "-"), kind, {
                f"I_MPI_ADJUST_{function}": str(number), **composed, "I_MPI_HYDRA_BOOTSTRAP": "fork",
                "I_MPI_ROOT": prefix,
            }, ["mpiexec.hydra", "-n", "9", "RECORDER", kind, "0"]


# Not "nreduce" and "double_tree": their bits differ from run to run.
CCL = {
    "all_reduce": ("ALLREDUCE", ["recursive_doubling", "rabenseifner", "ring"]),
    "reduce": ("REDUCE", ["rabenseifner", "ring", "tree"]),
    "reduce_scatter_block": ("REDUCE_SCATTER", ["naive", "ring"]),
}


def oneccl(prefix):
    for kind, (function, names) in CCL.items():
        for name in names:
            for ranks in range(2, 10):
                yield name, kind, {
                    f"CCL_{function}": name, "CCL_ATL_TRANSPORT": "ofi", "FI_PROVIDER": "tcp",
                    "FI_PROVIDER_PATH": prefix + "/lib", "LD_LIBRARY_PATH": prefix + "/lib",
                }, ["RECORDER", kind, "0", str(ranks)]


def script(name, kinds):
    return lambda prefix: (("gloo", kind, {"OMP_NUM_THREADS": "1"}, ["python", name, kind])
                           for kind in kinds)


def compiled(source, how):
    return lambda prefix, out: subprocess.run(
        [a.replace("PREFIX", prefix) for a in how] + ["-O1", "-Wall", "-o", out, inputs.here(source)]
        + [a.replace("PREFIX", prefix) for a in LINK.get(source, [])], check=True)


LINK = {"ccl.cpp": ["-LPREFIX/lib", "-lccl", "-Wl,-rpath-link,PREFIX/lib"]}
LIBRARIES = {
    "openmpi-4.1.4": (openmpi, compiled("mpi.c", ["PREFIX/bin/mpicc"])),
    "openmpi-5.0.11": (openmpi, compiled("mpi.c", ["PREFIX/bin/mpicc"])),
    "mpich-5.0.2": (mpich, compiled("mpi.c", ["PREFIX/bin/mpicc"])),
    "impi-2021.18.1": (intel, compiled("mpi.c", [
        "gcc", "-IPREFIX/include", "-LPREFIX/lib", "-Wl,-rpath,PREFIX/lib", "-Wl,--no-as-needed",
        "-lmpi"])),
    "oneccl-2022.1.2": (oneccl, compiled("ccl.cpp", ["g++", "-std=c++17", "-IPREFIX/include"])),
    "torch-2.15.0": (script("torch_gloo.py", ["all_reduce", "reduce", "reduce_scatter_block"]), None),
    "jax-0.10.2": (script("jax_gloo.py", ["all_reduce", "reduce_scatter_block"]), None),
}


def value(kind, ranks, data):
    """All that has been recorded, in hex or as its SHA-256; of an all_reduce what all ranks have."""
    if kind == "all_reduce":
        each = len(data) // ranks
        if any(data[i:i + each] != data[:each] for i in range(0, len(data), each)):
            sys.exit(f"ranks disagree: {kind} {ranks}")
        data = data[:each]
    return data.hex() if len(data) <= 32 else "sha256:" + hashlib.sha256(data).hexdigest()


def clean(word, prefix):
    """A word of a command without where things are on this machine."""
    return word.replace(prefix, "PREFIX")


def main():
    name, prefix = sys.argv[1], os.path.abspath(sys.argv[2])
    runs, build = LIBRARIES[name]
    told, last = set(), None
    print(f"# {name}, recorded {datetime.date.today()} by record/record.py; see README.md")
    with tempfile.TemporaryDirectory() as scratch:
        recorder = os.path.join(scratch, "recorder")
        if build:
            build(prefix, recorder)
        for algorithm, kind, forced, command in runs(prefix):
            place = {"RECORDER": recorder, "torch_gloo.py": inputs.here("torch_gloo.py"),
                     "jax_gloo.py": inputs.here("jax_gloo.py")}
            real = [place.get(w, w) for w in command]
            env = {**os.environ, "PATH": prefix + "/bin:" + os.environ["PATH"],
                   "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
                   "PYTHONDONTWRITEBYTECODE": "1", **forced}
            got = subprocess.run(real, env=env, stdout=subprocess.PIPE, check=True, text=True,
                                 timeout=3000).stdout
            for line in got.splitlines():
                words = line.split()
                if line.startswith("library ") and line not in told:
                    told.add(line)
                    print("#", line[len("library "):])
            if (kind, algorithm) != last:
                last = kind, algorithm
                print("#", " ".join([f"{k}={clean(v, prefix)}" for k, v in forced.items()] + command))
                print("algorithm", algorithm)
            for line in got.splitlines():
                m = re.fullmatch(r"case (\S+) (\d+) (\d+) (\d+) (\S+) (\S+) ?([0-9a-f]*)", line)
                if m:
                    bits = value(m[1], int(m[2]), bytes.fromhex(m[7]))
                    print(*m.groups()[:6], bits, flush=True)


if __name__ == "__main__":
    main()
