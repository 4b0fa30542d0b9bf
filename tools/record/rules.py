"""Records what NCCL does on one rank, which needs one GPU and nobody else:

    python3 rules.py FOLDER [--small]

leaves nccl-rules.json, what NCCL says to arguments that are odd or wrong, each asked in a process
of its own; gpu-nccl-calls.json, what a call costs, in two runs; and nccl-bits-one.json, the bits of
every kind, type and operator.
"""

import argparse
import ctypes
import itertools
import json
import os
import subprocess
import sys
import time

import plan
import ranks
import record

FLOAT32, SUM = record.TYPES["float32"][0], record.OPS["sum"]
LIMIT = 45  # seconds of a process


def begin(size=1 << 20):
    """One rank, ready to be called."""
    cuda = ranks.Cuda(record.libcuda())
    rank = ranks.Rank(cuda, ranks.load(record.libnccl()), 0, 1, size)
    unique = ranks.UniqueId()
    ranks.check(rank.nccl.ncclGetUniqueId(ctypes.byref(unique)), "ncclGetUniqueId", rank.text)
    rank.init(unique)
    piece = rank.input("float32", min(size // 4, 1 << 20))
    for at in range(0, size, len(piece)):
        rank.put(rank.send + at, piece)
        rank.put(rank.receive + at, ranks.POISON * len(piece))
    return rank


class Asked:
    """Notes what NCCL's functions return, in the order of the calls."""

    def __init__(self, rank):
        self.rank, self.said = rank, []

    def __call__(self, name, *arguments):
        r = self.rank
        if not hasattr(r.nccl, name):
            self.said.append([name, None, "the library has no such function"])
            return None
        code = getattr(r.nccl, name)(*arguments)
        self.said.append([name, code, "" if code == 0 else r.text(code)])
        return code

    def all_reduce(self, send=None, receive=None, count=100, dtype=FLOAT32, op=SUM, comm=True):
        r = self.rank
        return self(
            "ncclAllReduce",
            r.send if send is None else send,
            r.receive if receive is None else receive,
            count,
            dtype,
            op,
            r.comm if comm else None,
            r.stream,
        )

    def premulsum(self, dtype="float32", residence=1, factor=None):
        op = ctypes.c_int()
        if factor is None:
            factor = ctypes.create_string_buffer(record.encoded(0.7, dtype), 8)
        self(
            "ncclRedOpCreatePreMulSum",
            ctypes.byref(op),
            factor,
            record.TYPES[dtype][0],
            residence,
            self.rank.comm,
        )
        return op.value

    def end(self):
        """What became of what the stream was given."""
        try:
            self.rank.wait("the stream")
            self.said.append(["the stream", 0, ""])
        except ranks.Failed as failure:
            self.said.append(["the stream", -1, str(failure)])


def group_of_two(a):
    a("ncclGroupStart")
    a.all_reduce()
    a.all_reduce(receive=a.rank.receive + 4000)
    a("ncclGroupEnd")


def itself(a, peer=0):
    a("ncclGroupStart")
    send, receive = ctypes.c_void_p(a.rank.send), ctypes.c_void_p(a.rank.receive)
    count, rest = ctypes.c_size_t(100), (FLOAT32, peer, a.rank.comm, a.rank.stream)
    a("ncclSend", send, count, *rest)
    a("ncclRecv", receive, count, *rest)
    a("ncclGroupEnd")


def destroyed(a):
    op = a.premulsum()
    a("ncclRedOpDestroy", op, a.rank.comm)
    a.all_reduce(op=op)
    a("ncclRedOpDestroy", op, a.rank.comm)


def of_another_type(a):
    a.all_reduce(op=a.premulsum("float16"))


def on_the_device(a):
    a.rank.put(a.rank.receive, record.encoded(0.7, "float32"))
    a.end()
    op = a.premulsum(residence=0, factor=ctypes.c_void_p(a.rank.receive))
    a.all_reduce(receive=a.rank.receive + 512, op=op)


def rooted(a, name, root):
    more = [root] if name == "ncclBroadcast" else [SUM, root]
    a(name, a.rank.send, a.rank.receive, 100, FLOAT32, *more, a.rank.comm, a.rank.stream)


def another(a, size, rank):
    comm, unique = ctypes.c_void_p(), ranks.UniqueId()
    a("ncclGetUniqueId", ctypes.byref(unique))
    a("ncclCommInitRank", ctypes.byref(comm), size, unique, rank)


def asks_itself(a):
    for name in ["ncclCommCount", "ncclCommUserRank", "ncclCommCuDevice"]:
        n = ctypes.c_int(-1)
        a(name, a.rank.comm, ctypes.byref(n))
        a.said[-1][2] += " %d" % n.value


def finish(a):
    a.all_reduce()
    a("ncclCommFinalize", a.rank.comm)
    a("ncclCommDestroy", a.rank.comm)
    a.rank.comm = ctypes.c_void_p()


def host_memory(a):
    memory = ctypes.create_string_buffer(4096)
    a.all_reduce(send=ctypes.addressof(memory))


def captured(a):
    """A collective in a graph, which is launched twice; the result is compared with a call's."""
    r, cuda = a.rank, a.rank.cuda
    if not hasattr(cuda.library, "cuStreamBeginCapture_v2"):
        a.said.append(["cuStreamBeginCapture_v2", None, "the library has no such function"])
        return
    graph, executable, op = ctypes.c_void_p(), ctypes.c_void_p(), a.premulsum()
    a.all_reduce(op=op)  # loads the kernel, which might not be done in a capture
    a.end()
    cuda.call("cuStreamBeginCapture_v2", r.stream, 0)
    a.all_reduce(op=op)
    cuda.call("cuStreamEndCapture", r.stream, ctypes.byref(graph))
    cuda.call("cuGraphInstantiateWithFlags", ctypes.byref(executable), graph, ctypes.c_ulonglong(0))
    for _ in range(2):
        r.put(r.receive, ranks.POISON * 400)
        cuda.call("cuGraphLaunch", executable, r.stream)
        a.end()
    by_graph = r.get(r.receive, 400)
    r.put(r.receive, ranks.POISON * 400)
    a.all_reduce(op=op)
    a.end()
    same = r.get(r.receive, 400) == by_graph
    a.said.append(["its result", int(not same), "" if same else "it is not that of a call"])


# What is asked, by its name, and what else the environment says.
RULES = {
    "no elements": lambda a: a.all_reduce(count=0),
    "no elements, no buffers": lambda a: a.all_reduce(send=0, receive=0, count=0),
    "in place": lambda a: a.all_reduce(receive=a.rank.send),
    "buffers that overlap": lambda a: a.all_reduce(receive=a.rank.send + 4),
    "an input that is not aligned": lambda a: a.all_reduce(send=a.rank.send + 1),
    "an output that is not aligned": lambda a: a.all_reduce(receive=a.rank.receive + 1),
    "a type behind the last": lambda a: a.all_reduce(dtype=12),
    "a type before the first": lambda a: a.all_reduce(dtype=-1),
    "an operator that was not made": lambda a: a.all_reduce(op=5),
    "an operator before the first": lambda a: a.all_reduce(op=-1),
    "an operator far behind the last": lambda a: a.all_reduce(op=1 << 20),
    "premulsum of another type": of_another_type,
    "premulsum, its factor on the device": on_the_device,
    "premulsum, used after its end": destroyed,
    "an end of ncclSum": lambda a: a("ncclRedOpDestroy", SUM, a.rank.comm),
    "broadcast from a root that is not there": lambda a: rooted(a, "ncclBroadcast", 1),
    "broadcast from root -1": lambda a: rooted(a, "ncclBroadcast", -1),
    "reduce to a root that is not there": lambda a: rooted(a, "ncclReduce", 1),
    "no input": lambda a: a.all_reduce(send=0),
    "no output": lambda a: a.all_reduce(receive=0),
    "host memory": host_memory,
    "no communicator": lambda a: a.all_reduce(comm=False),
    "more elements than there is memory": lambda a: a.all_reduce(count=1 << 61),
    "an end of no group": lambda a: a("ncclGroupEnd"),
    "two in a group": group_of_two,
    "a send to itself": itself,
    "a send to a rank that is not there": lambda a: itself(a, 1),
    "a communicator of no rank": lambda a: another(a, 0, 0),
    "rank 1 of 1": lambda a: another(a, 1, 1),
    "rank -1": lambda a: another(a, 1, -1),
    "what it is": asks_itself,
    "finished and destroyed": finish,
    "in a CUDA graph": captured,
}
# Those that are asked once more with NCCL_CHECK_POINTERS=1.
POINTERS = [name for name in RULES if "put" in name or "buffers" in name or name == "host memory"]


def ask(name):
    a = Asked(begin())
    RULES[name](a)
    if a.rank.comm:
        a.end()
    return a.said


def measure(small):
    """The points of what calls cost: on the host, less what the interpreter takes for a call, and
    on the device."""
    counts, repetitions = [1, 1 << 10, 1 << 20, 1 << 26], 50
    if small:
        counts, repetitions = [1, 100], 3
    calls = list(itertools.product(["sum", "avg", "premulsum"], counts, [False]))
    calls += itertools.product(["sum"], counts, [True])
    r = begin(4 * counts[-1])
    a = Asked(r)
    events = [ctypes.c_void_p(), ctypes.c_void_p()]
    for e in events:
        r.cuda.call("cuEventCreate", ctypes.byref(e), 0)
    points = []
    for op_name, count, in_place in calls:
        op = a.premulsum() if op_name == "premulsum" else record.OPS[op_name]
        given = (r.send, r.send if in_place else r.receive, count, FLOAT32, op, r.comm, r.stream)
        times, at_once, idle = {"host": [], "device": []}, 20, interpreted(r.nccl, given)
        for i in range(repetitions + 3):
            for _ in range(4):  # copies, for the stream to be busy until all is given to it
                r.cuda.call("cuMemcpyDtoDAsync_v2", r.receive, r.send, 4 * counts[-1], r.stream)
            r.cuda.call("cuEventRecord", events[0], r.stream)
            start = time.perf_counter_ns()
            code = 0
            for _ in range(at_once):
                code |= r.nccl.ncclAllReduce(*given)
            passed = time.perf_counter_ns() - start
            r.cuda.call("cuEventRecord", events[1], r.stream)
            ranks.check(code, "ncclAllReduce", r.text)
            r.wait("ncclAllReduce")
            took = ctypes.c_float()
            r.cuda.call("cuEventElapsedTime", ctypes.byref(took), *events)
            if i >= 3:  # behind those that warm up
                times["host"].append((passed / at_once - idle) / 1e3)
                times["device"].append(took.value * 1e3 / at_once)
        for of, samples in times.items():
            ordered = sorted(samples)
            run = [round(ordered[round(q * (len(ordered) - 1))], 4) for q in (0.5, 0.1, 0.9)]
            points.append(
                {
                    "experiment": "nccl call",
                    "kind": "all_reduce",
                    "op": op_name,
                    "dtype": "float32",
                    "count": count,
                    "in_place": in_place,
                    "of": of,
                    "calls": at_once,
                    "unit": "us",
                    "samples": repetitions,
                    "run": run,
                }
            )
    return points


def interpreted(nccl, given):
    """Nanoseconds that the interpreter takes for a call of ncclAllReduce, without what that does:
    it calls a function of C that does nothing with as many arguments."""
    nothing = ctypes.CDLL(None).abs
    nothing.argtypes = nccl.ncclAllReduce.argtypes
    start = time.perf_counter_ns()
    for _ in range(10000):
        nothing(*given)
    return (time.perf_counter_ns() - start) / 10000


def one_rank(small):
    """The bits of one rank, of each kind, type, operator and place; and what NCCL has refused."""
    r = begin()
    rows, refused = [], {}
    counts = [1, 40] if small else [1, 7, 1000]
    types = ["float32", "int8"] if small else list(record.TYPES)
    ops = ["sum", "avg", "premulsum", "prod", "min", "max"]
    called = list(itertools.product(plan.REDUCING, types, ops, counts, [False, True]))
    called += itertools.product(plan.MOVING, types, [""], counts, [False, True])
    for kind, dtype, op, count, in_place in called:
        c = plan.call(kind, dtype, op, count, 1, in_place)
        try:
            output = ranks.written(r.run(c))
        except ranks.Refused as refusal:
            refused.setdefault((dtype, op, str(refusal)), []).append(c)
            continue
        rows.append(dict(plan.row(c, 1), **ranks.kept([output])))
    failed = []
    for (dtype, op, said), which in refused.items():
        what = "%d calls of %s %s refused, the first %r" % (len(which), op, dtype, which[0])
        failed.append({"what": what, "error": said})
    return rows, failed


def child(*arguments, environment=None):
    """What this program prints in a process of its own, or what went wrong."""
    try:
        done = subprocess.run(
            [sys.executable, os.path.abspath(__file__), *arguments],
            timeout=LIMIT,
            capture_output=True,
            env=dict(record.environment(), **(environment or {})),
        )
    except subprocess.TimeoutExpired:
        return None, "not over after %d s" % LIMIT
    try:
        return json.loads(done.stdout), ""
    except ValueError:
        said = done.stderr.decode(errors="replace").strip().splitlines() or ["nothing was said"]
        return None, "exit status %d: %s" % (done.returncode, said[-1])


def ask_all(given, end, every):
    """What NCCL says to every so many rules. Those for which there is no time are not asked."""
    for checked, names in [(0, list(RULES)), (1, POINTERS)]:
        for name in names[::every]:
            environment = {"NCCL_CHECK_POINTERS": str(checked)}
            said, trouble = None, "not tried: the time was up"
            if time.monotonic() < end:
                said, trouble = child(*given, "--part", name, environment=environment)
            yield {
                "rule": name,
                "environment": environment,
                "said": said or [],
                "trouble": trouble,
            }


def twice(given):
    """The points of what calls cost, and what did not work."""
    runs, failed = [], []
    for at in range(2):
        points, trouble = child(*given, "--part", "costs")
        runs.append(points or [])
        failed += [{"what": "run %d" % (at + 1), "error": trouble}] if trouble else []
    points, alone = record.paired(*runs)
    return points, failed + alone


def main():
    p = argparse.ArgumentParser(description="Records what NCCL does on one rank.")
    p.add_argument("folder")
    p.add_argument("--limit", type=float, default=540, help="seconds that it may take (540)")
    p.add_argument("--small", action="store_true", help="few calls, to try the program")
    p.add_argument("--every", type=int, default=1, help="ask every so many rules (1)")
    p.add_argument("--part", help=argparse.SUPPRESS)  # what a child does
    args = p.parse_args()
    if args.part:
        parts = {"costs": lambda: measure(args.small), "bits": lambda: one_rank(args.small)}
        print(json.dumps(parts[args.part]() if args.part in parts else ask(args.part)))
        sys.stdout.flush()
        os._exit(0)  # what an odd call has left may keep the process from its end
    start = time.monotonic()
    os.makedirs(args.folder, exist_ok=True)
    head = record.facts(nccl=record.library(record.libnccl()))

    def leave(name, key, rows, failed):
        took = round(time.monotonic() - start, 1)
        record.write(args.folder, name, dict(head, seconds=took, failed=failed), key, rows)

    given = [args.folder] + (["--small"] if args.small else [])
    found, trouble = child(*given, "--part", "bits")
    rows, refused = found or ([], [])
    refused += [{"what": "the bits", "error": trouble}] if trouble else []
    leave("nccl-bits-one.json", "calls", rows, refused)
    points, failed = twice(given)
    leave("gpu-nccl-calls.json", "points", points, failed)
    rules = list(ask_all(given, start + args.limit - LIMIT, args.every))
    leave("nccl-rules.json", "rules", rules, [])
    summary = [["rule", "pointers checked", "said"]]
    for r in rules:
        text = r["trouble"] or ", ".join("%s %s" % (call, code) for call, code, _ in r["said"])
        summary.append([r["rule"], r["environment"]["NCCL_CHECK_POINTERS"], text[:90]])
    record.table(summary)
    summary = [["all_reduce of", "in place", "on the", "us, run 1", "run 2"]]
    for x in points:
        what = "%(op)s of %(count)d float32" % x
        summary.append([what, x["in_place"], x["of"], x["runs"][0][0], x["runs"][1][0]])
    record.table(summary)
    took = time.monotonic() - start
    print("%d results, %d rules in %.0f s" % (len(rows), len(rules), took))


if __name__ == "__main__":
    main()
