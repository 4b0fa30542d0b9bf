"""Writes torch.txt: the steps of redistributions as DTensor plans them, without executing any.

python3 redistribute.py >torch.txt     (torch 2.15, on one process)
"""
import itertools

import torch
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import Partial, Replicate, Shard
from torch.distributed.tensor._dtensor_spec import DTensorSpec, TensorMeta
from torch.distributed.tensor._redistribute import _gen_transform_infos_non_cached
from torch.testing._internal.distributed.fake_pg import FakeStore


def name(p):
    if p.is_replicate():
        return "replicate"
    return "partial" if p.is_partial() else f"shard({p.dim})"


def steps(mesh, source, target):
    meta = TensorMeta(torch.Size([48, 48]), (48, 1), torch.float32)
    planned = _gen_transform_infos_non_cached(
        DTensorSpec(mesh, source, tensor_meta=meta), DTensorSpec(mesh, target, tensor_meta=meta))
    for t in planned:
        a, b = t.src_dst_placements
        if a != b:
            yield f"{t.mesh_dim}:{name(a)}>{name(b)}"


print(f"# torch {torch.__version__}: placements before, after, and the steps between them")
for shape in (6,), (2, 3), (2, 2, 2):
    size = torch.Size(shape).numel()
    dist.init_process_group("fake", store=FakeStore(), rank=0, world_size=size)
    mesh = init_device_mesh("cpu", shape)
    kinds = [Replicate(), Shard(0), Shard(1), Partial()]
    every = list(itertools.product(kinds, repeat=len(shape)))
    for n, (source, target) in enumerate(itertools.product(every, every)):
        if len(shape) == 3 and n % 7:
            continue
        if any(b.is_partial() and a != b for a, b in zip(source, target)):
            continue  # no collective does it
        words = [",".join(map(name, source)), ",".join(map(name, target))]
        print(*words, *steps(mesh, source, target))
    dist.destroy_process_group()
