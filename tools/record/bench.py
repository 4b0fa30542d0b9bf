"""Times a GPU (bench.c), twice:

    python3 bench.py FOLDER [--small]

leaves gpu-bench.json: a point a line, each with its two runs (record.py). cc compiles bench.c, with
CUDA's headers where there are any.
"""

import argparse
import glob
import json
import os
import subprocess
import sys
import tempfile
import time

import record

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCES = ["bench.c", "gpu.c", "matmul.c"]


def compiled(folder):
    """The program, linked to the libraries that are found."""
    libraries = [
        record.libcuda(),
        record.find("COLLSIM_LIBNVRTC", ["libnvrtc.so.13", "libnvrtc.so.12"]),
        record.find("COLLSIM_LIBCUBLASLT", ["libcublasLt.so.13", "libcublasLt.so.12"]),
    ]
    libraries = list(dict.fromkeys(map(os.path.abspath, libraries)))
    headers = []
    for library in libraries:
        for pattern in ["/../include", "/../targets/x86_64-linux/include"]:
            headers += glob.glob(os.path.dirname(library) + pattern)
    headers += [d + "/cccl" for d in headers if os.path.isdir(d + "/cccl")]
    program = os.path.join(folder, "bench")
    paths = [os.path.dirname(p) for p in libraries]
    command = ["cc", "-O2", "-std=gnu11", "-Wall", "-o", program]
    command += [os.path.join(HERE, s) for s in SOURCES] + libraries
    command += ["-Wl,-rpath," + p for p in paths] + ["-Wl,--allow-shlib-undefined", "-lm"]
    said = ""
    for more in [["-I" + d for d in headers], ["-DNO_HEADERS"]]:
        done = subprocess.run(command + more, capture_output=True, text=True)
        if done.returncode == 0:
            print("compiled %s; libraries %s" % (" ".join(more), ", ".join(libraries)))
            path = ":".join(paths + [os.environ.get("LD_LIBRARY_PATH", "")])
            # A stream waits for what is before it in its queue: there are to be more than streams.
            more = {"LD_LIBRARY_PATH": path, "CUDA_DEVICE_MAX_CONNECTIONS": "32"}
            return program, dict(os.environ, **more)
        said += "%s\n%s" % (" ".join(command + more), done.stderr)
    sys.exit(said)


def run(program, environment, small, limit):
    """The points of one run, and what did not work."""
    command = [program, HERE] + (["small"] if small else [])
    trouble = ""
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=limit, env=environment
        )
        out, code = done.stdout, done.returncode
        if code:
            trouble = "exit status %d: %s" % (code, (done.stderr.strip().splitlines() or [""])[-1])
    except subprocess.TimeoutExpired as e:
        out, trouble = (e.stdout or b"").decode(), "stopped after %.0f s" % limit
    rows = [json.loads(line) for line in out.splitlines(keepends=True) if line.endswith("\n")]
    points = [row for row in rows if "error" not in row]
    failed = [row for row in rows if "error" in row]
    if trouble:
        last = json.dumps(points[-1]) if points else "nothing"
        failed.append({"what": "the run, after " + last, "error": trouble})
    return points, failed


def main():
    p = argparse.ArgumentParser(description="Times a GPU.")
    p.add_argument("folder")
    p.add_argument("--limit", type=float, default=540, help="seconds that it may take (540)")
    p.add_argument("--small", action="store_true", help="little work, to try the program")
    args = p.parse_args()
    begin = time.monotonic()
    os.makedirs(args.folder, exist_ok=True)
    head = record.facts()
    with tempfile.TemporaryDirectory(prefix="collsim-") as folder:
        program, environment = compiled(folder)
        first, failed = run(program, environment, args.small, args.limit / 2)
        left = args.limit - (time.monotonic() - begin)
        second, again = run(program, environment, args.small, left)
    points, alone = record.paired(first, second)
    head.update(seconds=round(time.monotonic() - begin, 1), failed=failed + again + alone)
    record.write(args.folder, "gpu-bench.json", head, "points", points)
    summary = [["experiment", "points", "median spread", "largest"]]
    for name in dict.fromkeys(p["experiment"] for p in points):
        spreads = sorted(p["spread"] or 0 for p in points if p["experiment"] == name)
        summary.append(
            [
                name,
                len(spreads),
                "%.1f %%" % (100 * spreads[len(spreads) // 2]),
                "%.1f %%" % (100 * spreads[-1]),
            ]
        )
    record.table(summary)
    for f in head["failed"]:
        print("failed: %(what)s: %(error)s" % f)
    print("%d points, twice, in %.0f s" % (len(points), head["seconds"]))
    sys.exit(0 if points else 1)


if __name__ == "__main__":
    main()
