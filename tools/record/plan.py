"""What is called to record NCCL's bits: groups of calls that have their ranks, algorithm, protocol
and number of channels in common, those that are worth most first."""

import itertools

import record

COUNTS = [1, 7, 1000, 4097, 100003]
FLOATS = ["float32", "bfloat16", "float16", "float8_e4m3fn", "float8_e5m2"]
INTEGERS = ["int8", "int32", "uint64"]
REDUCING = ["all_reduce", "reduce_scatter", "reduce"]
MOVING = ["all_gather", "broadcast"]
KINDS = {"Ring": REDUCING + MOVING, "Tree": ["all_reduce"], "PAT": ["reduce_scatter", "all_gather"]}


def call(kind, dtype, op, count, ranks, in_place=False):
    factor = (0.7 if record.is_float(dtype) else 3) if op == "premulsum" else 0
    return {
        "kind": kind,
        "op": op,
        "dtype": dtype,
        "factor": factor,
        "count": count,
        "root": count % ranks if kind in ("reduce", "broadcast") else 0,
        "in_place": in_place,
    }


def row(call, ranks):
    """A call as a recording has it: what is 0, "" or False goes without saying."""
    return {k: v for k, v in dict(call, ranks=ranks).items() if v not in (0, "", False)}


def calls(kinds, ranks, whole, counts=COUNTS):
    """The calls of a group, those that are worth most first; not whole: only those."""
    reducing = [k for k in kinds if k in REDUCING]
    moving = [k for k in kinds if k in MOVING]
    product = itertools.product

    def reductions(types, ops):
        for dtype, op, count, kind in product(types, ops, counts, reducing):
            yield call(kind, dtype, op, count, ranks)

    yield from reductions(FLOATS, ["sum", "avg"])
    for dtype, count, kind in product(["float32", "bfloat16"], counts, moving):
        yield call(kind, dtype, "", count, ranks)
    if not whole:
        return
    yield from reductions(FLOATS, ["premulsum", "prod", "min", "max"])
    yield from reductions(INTEGERS, ["sum", "avg", "premulsum", "prod", "min", "max"])
    others = ["float16", "float8_e4m3fn", "float8_e5m2"] + INTEGERS
    for dtype, count, kind in product(others, counts, moving):
        yield call(kind, dtype, "", count, ranks)
    for kind in kinds:
        for count in counts[:3]:
            yield call(kind, "float32", "sum" if kind in REDUCING else "", count, ranks, True)
    yield from reductions(["float64", "uint8", "uint32", "int64"], ["sum", "avg"])


def group(ranks, algorithm, protocol, channels, list_of_calls):
    environment = {"NCCL_ALGO": algorithm, "NCCL_PROTO": protocol, "NCCL_MAX_NCHANNELS": channels}
    return {
        "name": "%s ranks, %s %s, %s channels"
        % (ranks, algorithm or "NCCL's", protocol or "choice", channels or "its"),
        "ranks": ranks,
        "calls": list(list_of_calls),
        "bits": algorithm != "",
        "environment": {k: v for k, v in environment.items() if v},
    }


def choices(ranks, most):
    """Calls of which what is recorded is NCCL's choice, for 8 bytes to most of them."""
    size = 8
    while size <= most:
        for kind in REDUCING + MOVING:
            count = size // 4 // (ranks if kind in ("reduce_scatter", "all_gather") else 1)
            if count:
                yield call(kind, "float32", "sum" if kind in REDUCING else "", count, ranks)
        size *= 2


def groups(ranks, small):
    """All groups."""
    if small:
        for n, algorithm in itertools.product(ranks, KINDS):
            yield group(n, algorithm, "Simple", "1", calls(KINDS[algorithm], n, True, [3, 40]))
        yield group(ranks[0], "", "", "", choices(ranks[0], 1 << 18))
        return
    for n, algorithm in itertools.product(ranks, KINDS):
        yield group(n, algorithm, "Simple", "1", calls(KINDS[algorithm], n, True))
    for n in ranks:
        yield group(n, "", "", "", choices(n, 1 << 24))
    for protocol, n, algorithm in itertools.product(["LL", "LL128"], ranks, ["Ring", "Tree"]):
        yield group(n, algorithm, protocol, "1", calls(KINDS[algorithm], n, False))
    for n, algorithm in itertools.product(ranks, KINDS):
        yield group(n, algorithm, "Simple", "2", calls(KINDS[algorithm], n, False))
