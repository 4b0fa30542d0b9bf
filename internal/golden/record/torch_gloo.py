"""Records the bits of PyTorch's gloo, as torch.distributed calls it: torch_gloo.py KIND."""

import os
import sys
import tempfile

import torch
import torch.distributed as dist

import inputs

OPS = {"sum": dist.ReduceOp.SUM, "prod": dist.ReduceOp.PRODUCT, "max": dist.ReduceOp.MAX}


def tensor(name, data):
    return torch.frombuffer(bytearray(data), dtype=getattr(torch, name))


def raw(t):
    return t.contiguous().view(torch.uint8).numpy().tobytes()


def play(kind, store, rank, world):
    dist.init_process_group("gloo", init_method="file://" + store, rank=rank, world_size=world)
    if rank == 0:
        print(f"library PyTorch {torch.__version__}, gloo", flush=True)
    for ranks in range(2, world + 1):
        group = dist.new_group(list(range(ranks)))
        if rank >= ranks:
            continue
        for i, name, op, count in inputs.cases(ranks):
            scatters = kind == "reduce_scatter_block"
            n, root = count * ranks if scatters else count, i % ranks if kind == "reduce" else 0
            x = tensor(name, inputs.fill(name, op, rank, n))
            if kind == "all_reduce":
                dist.all_reduce(x, OPS[op], group)
            elif kind == "reduce":
                dist.reduce(x, root, OPS[op], group)
            else:
                out = torch.zeros(count, dtype=x.dtype)
                dist.reduce_scatter_tensor(out, x, OPS[op], group)
                x = out
            # Bytes are moved, which no type changes.
            x = x.view(torch.uint8)
            parts = [torch.zeros_like(x) for _ in range(ranks)]
            dist.all_gather(parts, x, group)
            if rank == 0:
                if kind == "reduce":
                    parts = [parts[root]]
                inputs.print_case(kind, ranks, count, root, name, op,
                                  b"".join(raw(p) for p in parts))
    dist.barrier()
    dist.destroy_process_group()


if len(sys.argv) > 2:
    play(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
else:
    with tempfile.TemporaryDirectory() as d:
        inputs.spawn(inputs.here("torch_gloo.py"), 9, sys.argv[1], os.path.join(d, "store"))
