"""Ranks of a communicator of NCCL on one GPU. NCCL refuses two ranks of one host on a GPU, so each
says that it is a host of its own (NCCL_HOSTID), and they talk through sockets.

A library remembers its host. So a process holds one rank; or it holds all, as threads, each with a
copy of the library, which has variables of its own. As threads they share a CUDA context, and their
kernels run at once; the kernels of several processes take turns, a time slice each.

    python3 ranks.py JOB.json

carries out a job of bits.py: for each of its ranks it writes a line of JSON for every call.
"""

import base64
import ctypes
import hashlib
import json
import os
import sys
import threading
import time

import record

GUARD = 64  # bytes behind an output, which nobody may write
POISON = b"\xa5"
SHORT = 32  # bytes: outputs up to that are kept whole, of longer ones the checksum
HANG = 10  # seconds, in which a collective is over


class Failed(Exception):
    pass


class Refused(Failed):
    """A call that NCCL does not accept, which changes nothing."""


class UniqueId(ctypes.Structure):
    _fields_ = [("internal", ctypes.c_char * 128)]


def check(code, what, text, kind=Failed):
    if code:
        raise kind("%s: %d: %s" % (what, code, text(code)))


def accepted(code, what, text):
    refusal = code in (4, 5)  # an invalid argument, an invalid usage
    check(code, what, text, Refused if refusal else Failed)


class Cuda:
    """The driver's calls, in the primary context of the first GPU, which NCCL is in, too."""

    def __init__(self, path):
        self.library = ctypes.CDLL(path)
        pointer, size = ctypes.c_void_p, ctypes.c_size_t
        self.library.cuMemAlloc_v2.argtypes = [pointer, size]
        self.library.cuMemcpyHtoDAsync_v2.argtypes = [pointer, ctypes.c_char_p, size, pointer]
        self.library.cuMemcpyDtoHAsync_v2.argtypes = [pointer, pointer, size, pointer]
        self.library.cuMemcpyDtoDAsync_v2.argtypes = [pointer, pointer, size, pointer]
        self.library.cuStreamQuery.argtypes = [pointer]
        self.context = ctypes.c_void_p()
        self.call("cuInit", 0)
        device = ctypes.c_int()
        self.call("cuDeviceGet", ctypes.byref(device), 0)
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(self.context), device)
        self.enter()

    def text(self, code):
        name = ctypes.c_char_p()
        self.library.cuGetErrorName(code, ctypes.byref(name))
        return (name.value or b"?").decode()

    def call(self, name, *arguments):
        check(getattr(self.library, name)(*arguments), name, self.text)

    def enter(self):
        """Has the calling thread use the context."""
        self.call("cuCtxSetCurrent", self.context)

    def alloc(self, size):
        at = ctypes.c_uint64()
        self.call("cuMemAlloc_v2", ctypes.byref(at), size)
        return at.value

    def stream(self):
        """A stream that does not wait for the null stream. Its priority is not that of NCCL's own,
        so that they are not likely to have a queue of the GPU in common: a stream waits for what
        is before it in its queue, and ranks wait for each other."""
        s = ctypes.c_void_p()
        self.call("cuStreamCreateWithPriority", ctypes.byref(s), 1, -5)
        return s


def load(path):
    library = ctypes.CDLL(path)
    library.ncclGetErrorString.restype = ctypes.c_char_p
    library.ncclGetLastError.restype = ctypes.c_char_p
    library.ncclGetLastError.argtypes = [ctypes.c_void_p]
    library.ncclCommInitRank.argtypes = [ctypes.c_void_p, ctypes.c_int, UniqueId, ctypes.c_int]
    pointer, size, number = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int
    given = [pointer, pointer, size, number]
    for name, more in {
        "AllReduce": [number],
        "ReduceScatter": [number],
        "AllGather": [],
        "Broadcast": [number],
        "Reduce": [number, number],
    }.items():
        getattr(library, "nccl" + name).argtypes = given + more + [pointer, pointer]
    return library


class Rank:
    """A rank: a communicator, a stream and buffers. All that it does is in the stream's order."""

    def __init__(self, cuda, nccl, rank, size, largest):
        self.cuda, self.nccl, self.rank, self.size = cuda, nccl, rank, size
        self.comm = ctypes.c_void_p()
        self.stream = cuda.stream()
        self.send, self.receive = cuda.alloc(largest + GUARD), cuda.alloc(largest + GUARD)
        self.inputs = {}
        # What CUDA needs for copies of this size, it allocates before there are kernels.
        self.put(self.send, POISON * largest)
        self.get(self.send, largest)

    def put(self, at, data):
        self.cuda.call("cuMemcpyHtoDAsync_v2", at, data, len(data), self.stream)

    def get(self, at, size):
        data = ctypes.create_string_buffer(size)
        self.cuda.call("cuMemcpyDtoHAsync_v2", data, at, size, self.stream)
        self.wait("cuMemcpyDtoHAsync_v2")
        return data.raw

    def end(self):
        """Ends the communicator and the stream."""
        check(self.nccl.ncclCommDestroy(self.comm), "ncclCommDestroy", self.text)
        self.cuda.call("cuStreamDestroy_v2", self.stream)

    def text(self, code):
        said = self.nccl.ncclGetErrorString(code).decode()
        last = (self.nccl.ncclGetLastError(self.comm) or b"").decode()
        return said + (": " + last if last else "")

    def init(self, unique_id):
        check(
            self.nccl.ncclCommInitRank(ctypes.byref(self.comm), self.size, unique_id, self.rank),
            "ncclCommInitRank",
            self.text,
        )

    def input(self, dtype, elements):
        """The first elements of this rank's input, which are the same however many there are."""
        size = elements * record.width(dtype)
        if len(self.inputs.get(dtype, b"")) < size:
            self.inputs[dtype] = record.generated(record.SEED, self.rank, elements, dtype)
        return self.inputs[dtype][:size]

    def op(self, call):
        """The number of a call's operator, and whether it was made for it."""
        if call["op"] != "premulsum":
            return record.OPS[call["op"]], False
        factor = ctypes.create_string_buffer(record.encoded(call["factor"], call["dtype"]), 8)
        op = ctypes.c_int()
        made = self.nccl.ncclRedOpCreatePreMulSum(
            ctypes.byref(op), factor, record.TYPES[call["dtype"]][0], 1, self.comm
        )
        accepted(made, "ncclRedOpCreatePreMulSum", self.text)
        return op.value, True

    def run(self, call):
        """Carries out a collective. The result is the output, or b"" if this rank has none."""
        kind, count, dtype, root = call["kind"], call["count"], call["dtype"], call["root"]
        block = count * record.width(dtype)
        sends = {"reduce_scatter": self.size, "broadcast": int(self.rank == root)}.get(kind, 1)
        receives = {"all_gather": self.size, "reduce": int(self.rank == root)}.get(kind, 1)
        send, receive = self.send, self.receive
        largest = max(sends, receives, 1) * block
        if call["in_place"]:
            if kind == "reduce_scatter":
                receive = send + self.rank * block
            elif kind == "all_gather":
                send = receive + self.rank * block
            else:
                receive = send
        guarded = self.receive if receive == self.receive else self.send
        self.put(guarded, POISON * (largest + GUARD))
        if sends:
            self.put(send, self.input(dtype, sends * count))
        given = [send, receive, count, record.TYPES[dtype][0]]
        op, made = self.op(call) if call["op"] else (0, False)
        name, more = {
            "all_reduce": ("ncclAllReduce", [op]),
            "reduce_scatter": ("ncclReduceScatter", [op]),
            "all_gather": ("ncclAllGather", []),
            "broadcast": ("ncclBroadcast", [root]),
            "reduce": ("ncclReduce", [op, root]),
        }[kind]
        accepted(getattr(self.nccl, name)(*given, *more, self.comm, self.stream), name, self.text)
        self.wait(name)
        if made:
            check(self.nccl.ncclRedOpDestroy(op, self.comm), "ncclRedOpDestroy", self.text)
        end = guarded + largest if call["in_place"] else receive + receives * block
        if self.get(end, GUARD) != POISON * GUARD:
            raise Failed(name + " wrote behind its output")
        return self.get(receive, receives * block) if receives else b""

    def wait(self, name):
        """Waits until the stream has nothing to do."""
        begin, code = time.monotonic(), ctypes.c_int()
        while (query := self.cuda.library.cuStreamQuery(self.stream)) == 600:  # not ready
            passed = time.monotonic() - begin
            if passed > 0.002:
                time.sleep(0.0002)
            if self.comm:
                asked = self.nccl.ncclCommGetAsyncError(self.comm, ctypes.byref(code))
                check(asked, name, self.text)
                check(code.value, name, self.text)
            if passed > HANG:
                raise Failed("%s: not over after %d s" % (name, HANG))
        check(query, "cuStreamQuery", self.cuda.text)


def written(output):
    """An output as a recording has it."""
    if len(output) <= SHORT:
        return {"output": base64.b64encode(output).decode()}
    return {"sha256": hashlib.sha256(output).hexdigest()}


def kept(outputs):
    """Outputs of all ranks as a recording has them: of one, where all are the same."""
    key, of = "outputs", "output"
    if any("sha256" in o for o in outputs):
        key, of = "sha256", "sha256"
    texts = [o.get(of, "") for o in outputs]
    return {key: texts[:1] if len(set(texts)) == 1 else texts}


def share(path, nccl):
    """The communicator's id, which rank 0 writes to a file."""
    unique = UniqueId()
    if nccl is not None:
        check(nccl.ncclGetUniqueId(ctypes.byref(unique)), "ncclGetUniqueId", str)
        with open(path + ".part", "wb") as f:
            f.write(bytes(unique))
        os.replace(path + ".part", path)
        return unique
    while not os.path.exists(path):
        time.sleep(0.005)
    with open(path, "rb") as f:
        return UniqueId.from_buffer_copy(f.read())


def settle(job, rank):
    """The environment in which a library first looks: whose host it is, and where its log goes."""
    os.environ["NCCL_HOSTID"] = "collsim-%d" % rank
    os.environ["NCCL_DEBUG_FILE"] = os.path.join(job["folder"], "log-%d" % rank)


def serve(job, cuda, nccl, rank, together):
    """One rank's part of a job."""
    with open(os.path.join(job["folder"], "rank-%d" % rank), "w", buffering=1) as out:
        try:
            cuda.enter()
            mine = Rank(cuda, nccl, rank, job["size"], job["largest"])
            unique = share(os.path.join(job["folder"], "id"), nccl if rank == 0 else None)
            begin = time.monotonic()
            mine.init(unique)
            print(json.dumps({"init": round(time.monotonic() - begin, 3)}), file=out)
            together.wait(60)  # nobody allocates while kernels wait for each other
            for call in job["calls"]:
                begin = time.monotonic()
                try:
                    said = written(mine.run(call))
                except Refused as refusal:
                    said = {"refused": str(refusal)}
                said["seconds"] = round(time.monotonic() - begin, 6)
                print(json.dumps(said), file=out)
        except (Failed, OSError, threading.BrokenBarrierError) as failure:
            print(json.dumps({"error": str(failure) or repr(failure)}), file=out)
            out.flush()
            os._exit(1)  # its kernels may still wait for what will not come


def main():
    with open(sys.argv[1]) as f:
        job = json.load(f)
    mine = job["mine"]
    cuda = None
    libraries = {}
    for rank in mine:
        settle(job, rank)
        # The stand-in is both libraries in one.
        path = job["nccl"][rank]
        if cuda is None:
            cuda = Cuda(job["cuda"])
        own = Cuda(path) if job["one"] else cuda
        libraries[rank] = own, load(path)
        if len(mine) > 1:  # as a rank of its own, it looks before the next one's environment is set
            alone = Rank(*libraries[rank], 0, 1, 8)
            unique = UniqueId()
            check(alone.nccl.ncclGetUniqueId(ctypes.byref(unique)), "ncclGetUniqueId", alone.text)
            alone.init(unique)
            alone.end()
    settle(job, mine[0])
    together = threading.Barrier(len(mine))
    threads = [threading.Thread(target=serve, args=(job, *libraries[r], r, together)) for r in mine]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    os._exit(0)  # as above; and nothing is left to be written


if __name__ == "__main__":
    main()
