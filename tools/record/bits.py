"""Records the bits that NCCL computes on one GPU, of several ranks (ranks.py):

    python3 bits.py FOLDER [--limit SECONDS] [--ranks 4,2,3,8] [--from GROUP] [--small]

leaves nccl-bits-FROM-N.json (results), nccl-choices-FROM.json (what NCCL chooses by itself) and
nccl-log-FROM.txt. What is worth most comes first: when the time is up, what there is by then is
written, and another command can go on from a group.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import typing

import plan
import record
from ranks import kept

HERE = os.path.dirname(os.path.abspath(__file__))
FILE = 12 << 20  # bytes of a file of results

# Sockets on one machine, and nothing that one GPU does not have. All connections are made before
# the first call: they need memory, for which a context waits until its kernels are over.
ENVIRONMENT = {
    "NCCL_DEBUG": "INFO",
    "NCCL_DEBUG_SUBSYS": "INIT,GRAPH,TUNING,ENV,NET",
    "NCCL_NET": "Socket",
    "NCCL_SOCKET_IFNAME": "lo",
    "NCCL_IB_DISABLE": "1",
    "NCCL_NVLS_ENABLE": "0",
    "NCCL_MNNVL_ENABLE": "0",
    "NCCL_RAS_ENABLE": "0",
    "NCCL_RUNTIME_CONNECT": "0",
    "NCCL_SET_STACK_SIZE": "1",
    "CUDA_DEVICE_MAX_CONNECTIONS": "32",
}


def begin(one, how, copies, folder):
    """Begins the processes of a group's ranks."""
    n, together = one["ranks"], how == "threads"
    most = max(c["count"] * record.width(c["dtype"]) for c in one["calls"])
    job = {
        "folder": folder,
        "size": n,
        "largest": most * n,
        "calls": one["calls"],
        "cuda": record.libcuda(),
        "nccl": copies if together else [record.libnccl()] * n,
        "one": record.libcuda() == record.libnccl(),
    }
    for mine in [list(range(n))] if together else [[r] for r in range(n)]:
        path = os.path.join(folder, "job-%d" % mine[0])
        record.save(path, json.dumps(dict(job, mine=mine)))
        yield subprocess.Popen(
            [sys.executable, "-X", "faulthandler", os.path.join(HERE, "ranks.py"), path],
            env=dict(record.environment(), **ENVIRONMENT, **one["environment"]),
            stderr=subprocess.PIPE,
        )


def await_end(processes, limit):
    """Waits for processes, and ends them all if one fails or the time is up. What went wrong."""
    end, trouble = time.monotonic() + limit, []
    while any(p.poll() is None for p in processes):
        lost = any(p.poll() not in (None, 0) for p in processes)
        if lost or time.monotonic() > end:
            time.sleep(0.5 if lost else 0)  # the others may have something to say
            trouble = [] if lost else ["stopped after %.0f s" % limit]
            for p in processes:
                p.kill()
            break
        time.sleep(0.01)
    for p in processes:
        said = p.communicate()[1].decode(errors="replace").strip()
        said = said.replace(HERE + os.sep, "").replace(sys.base_prefix + os.sep, "")
        trouble += ["\n".join(said.splitlines()[-15:])] if said else []
        if p.returncode not in (0, 1, -9):  # it has not said itself what was wrong
            trouble.append("exit status %d" % p.returncode)
    return trouble


class Outcome(typing.NamedTuple):
    how: str  # the ranks live
    lines: list  # of each rank, as ranks.py writes them
    log: str  # of NCCL, of rank 0
    trouble: str  # what went wrong, "" if nothing did
    ends: str  # of the logs of all ranks, if something did


def carry_out(one, how, copies, limit):
    """Runs a group, and returns what has come of it."""
    with tempfile.TemporaryDirectory(prefix="collsim-") as folder:
        trouble = await_end(list(begin(one, how, copies, folder)), limit)
        lines = []
        for rank in range(one["ranks"]):
            mine = read(os.path.join(folder, "rank-%d" % rank)).splitlines(keepends=True)
            whole = [json.loads(line) for line in mine if line.endswith("\n")]
            trouble += ["rank %d: %s" % (rank, x["error"]) for x in whole if "error" in x]
            lines.append([x for x in whole if "error" not in x])
        logs = [read(os.path.join(folder, "log-%d" % r)) for r in range(one["ranks"])]
        ends = ""
        for rank, log in enumerate(logs if trouble else []):
            ends += "-- the end of rank %d's log\n%s\n" % (rank, "\n".join(log.splitlines()[-100:]))
        return Outcome(how, lines, logs[0], "; ".join(dict.fromkeys(trouble)), ends)


def read(path):
    try:
        with open(path, errors="replace") as f:
            return f.read()
    except OSError:
        return ""


CHOICE = re.compile(
    r"NCCL INFO (\w+): (\d+) Bytes -> Algo (\w+) proto (\w+) channel\{Lo\.\.Hi\}=\{(\d+)\.\.(\d+)\}"
)


def joined(one, lines, log):
    """The calls that all ranks have done, as they are recorded, what NCCL has refused, the log
    without its choices, and what it has in place of the next call's choice, "" if all are there."""
    chosen = iter(CHOICE.findall(log))
    channels = re.findall(r"(\d+) coll channels", log)
    rows, refused, instead = [], [], ""
    for c, *outputs in zip(one["calls"], *(mine[1:] for mine in lines)):
        no = [o["refused"] for o in outputs if "refused" in o]
        if no:
            refused.append((c, no[0]))
            continue
        choice = next(chosen, None)
        size = c["count"] * record.width(c["dtype"])
        called = [c["kind"].replace("_", ""), str(size)]
        if not channels or not choice or [choice[0].lower(), choice[1]] != called:
            instead = "%r: NCCL's log has %r instead" % (c, choice)
            break
        row = plan.row(c, one["ranks"])
        row.update(algorithm=choice[2], protocol=choice[3], lo=int(choice[4]), hi=int(choice[5]))
        row.update(nchannels=int(channels[-1]), machine="socket", per_node=1)
        if one["bits"]:
            row.update(kept(outputs))
        rows.append(row)
    rest = [line for line in log.splitlines() if not CHOICE.search(line)]
    return rows, refused, "\n".join(rest) + "\n", instead


class Ways:
    """How so many ranks live: as threads; where they come to nothing, as threads once more, since
    streams have other queues then; and then as processes."""

    def __init__(self, asked):
        self.asked = asked
        self.left = {}  # by the number of ranks
        self.found = {}

    def of(self, ranks):
        """The ways that are to be tried: the one in which something has come of such ranks."""
        if ranks in self.found:
            return [self.found[ranks]]
        order = [self.asked] if self.asked else ["threads", "threads", "processes"]
        return self.left.setdefault(ranks, order)


class Recording:
    """What has been recorded so far."""

    def __init__(self):
        self.results, self.chosen, self.logs, self.failed = [], [], [], []
        self.summary = [["", "group", "as", "calls", "of", "refused", "s", ""]]
        self.planned = self.refused = 0

    def run(self, number, one, ways, copies, limit):
        """Runs a group, in the way in which something comes of it, within seconds."""
        end, order = time.monotonic() + limit, ways.of(one["ranks"])
        trouble = "not tried: " + ("the time was up" if order else "nothing came of such ranks")
        while order and end - time.monotonic() > 5:
            how, start = order.pop(0), time.monotonic()
            outcome = carry_out(one, how, copies, end - start)
            done, trouble = self.add(number, one, outcome, time.monotonic() - start)
            if done:
                ways.found[one["ranks"]] = how
                return
            if order:
                what = "%s, as %s" % (one["name"], how)
                self.failed.append({"what": what, "error": trouble})
        if trouble.startswith("not tried"):
            self.summary.append([number, one["name"], "", 0, len(one["calls"]), 0, "", trouble])
        self.missing(one, 0, trouble)

    def add(self, number, one, outcome, took):
        """Adds what has come of a group. The result is of how many calls that is, and what went
        wrong, "" if nothing did."""
        how, lines, log, trouble, ends = outcome
        rows, refused, log, instead = joined(one, lines, log)
        done, of = len(rows) + len(refused), len(one["calls"])
        trouble = "; ".join(t for t in [trouble, instead] if t)
        if done < of:
            trouble = trouble or "no result"
        cells = [number, one["name"], how, len(rows), of, len(refused), "%.1f" % took]
        self.summary.append(cells + [" ".join(trouble.split())[:60]])
        self.logs.append(
            "== %s %s, as %s: %s\n%s%s" % (one["name"], one["environment"], how, trouble, log, ends)
        )
        if not done:
            return done, trouble
        if one["bits"]:
            self.results += rows
            self.planned += of
            self.refused += len(refused)
        else:
            self.chosen += rows
        if refused:
            what = "%s: %d calls refused, the first %r" % (one["name"], len(refused), refused[0][0])
            self.failed.append({"what": what, "error": refused[0][1]})
        if done < of:
            self.missing(one, done, trouble)
        return done, trouble

    def missing(self, one, done, why):
        """Notes that the calls of a group from one on are missing."""
        what = "%s: call %d of %d" % (one["name"], done, len(one["calls"]))
        self.failed.append({"what": what, "error": why})
        if one["bits"] and not done:
            self.planned += len(one["calls"])

    def leave(self, folder, head, first):
        """Writes all files."""
        head.update(planned=self.planned, refused=self.refused, failed=self.failed)
        ranks = max((row["ranks"] for row in self.results), default=0)
        inputs = list(record.inputs(ranks, sorted({row["dtype"] for row in self.results})))
        part, size, number = [], 0, 1
        for at, row in enumerate(self.results):
            part.append(row)
            size += len(json.dumps(row))
            if size > FILE or at == len(self.results) - 1:
                name = "nccl-bits-%d-%d.json" % (first, number)
                record.write(folder, name, dict(head, inputs=inputs), "calls", part)
                part, size, number = [], 0, number + 1
        if self.results:
            head.update(planned=0, refused=0, failed=[])  # those of the results
        record.write(folder, "nccl-choices-%d.json" % first, head, "calls", self.chosen)
        record.save(os.path.join(folder, "nccl-log-%d.txt" % first), "\n".join(self.logs))
        record.table(self.summary)


def main():
    p = argparse.ArgumentParser(description="Records the bits of NCCL's collectives on one GPU.")
    p.add_argument("folder")
    p.add_argument("--limit", type=float, default=540, help="seconds that it may take (540)")
    p.add_argument("--ranks", default="4,2,3,8", help="numbers of ranks, most valuable first")
    p.add_argument("--from", dest="first", type=int, default=0, help="the first group, from 0 on")
    p.add_argument("--as", dest="how", choices=["threads", "processes"], help="how ranks live")
    p.add_argument("--small", action="store_true", help="few calls, to try the program")
    p.add_argument("--list", action="store_true", help="only print what would be called")
    args = p.parse_args()
    ranks = [int(n) for n in args.ranks.split(",")]
    todo = list(plan.groups(ranks, args.small))[args.first :]
    if args.list:
        print("\n".join(json.dumps(one) for one in todo))
        return
    start = time.monotonic()
    os.makedirs(args.folder, exist_ok=True)
    head = record.facts(nccl=record.library(record.libnccl()))
    found, ways = Recording(), Ways(args.how)
    with tempfile.TemporaryDirectory(prefix="collsim-") as folder:
        copies = [os.path.join(folder, "nccl-%d.so" % r) for r in range(max(ranks))]
        for path in copies:
            shutil.copyfile(record.libnccl(), path)
        for at, one in enumerate(todo):
            # A group may take three times its share of what is left.
            left = args.limit - 5 - (time.monotonic() - start)
            limit = min(left, max(30, 3 * left / (len(todo) - at)))
            found.run(args.first + at, one, ways, copies, limit)
    head["ranks_are"] = " or ".join(sorted(set(ways.found.values())))
    head["seconds"] = round(time.monotonic() - start, 1)
    found.leave(args.folder, head, args.first)
    print("%d results in %.0f s" % (len(found.results), head["seconds"]))
    sys.exit(0 if found.results else 1)


if __name__ == "__main__":
    main()
