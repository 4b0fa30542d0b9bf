"""Runs a tensor- and sequence-parallel feed-forward layer forward and backward on 4 processes, and
writes every tensor of it into torch-layer-float32.safetensors and torch-layer-bfloat16.safetensors."""
import os
import torch
import torch.distributed as dist
import torch.multiprocessing as processes
from safetensors.torch import save_file

RANKS, TOKENS, WIDTH, HIDDEN = 4, 16, 32, 128


class Gather(torch.autograd.Function):
    """all_gather along the tokens; backward it is a reduce_scatter."""

    @staticmethod
    def forward(ctx, x):
        whole = x.new_empty(x.shape[0] * RANKS, *x.shape[1:])
        dist.all_gather_into_tensor(whole, x.contiguous())
        return whole

    @staticmethod
    def backward(ctx, gradient):
        own = gradient.new_empty(gradient.shape[0] // RANKS, *gradient.shape[1:])
        dist.reduce_scatter_tensor(own, gradient.contiguous())
        return own


class Scatter(torch.autograd.Function):
    """reduce_scatter along the tokens; backward it is an all_gather."""

    @staticmethod
    def forward(ctx, partial):
        own = partial.new_empty(partial.shape[0] // RANKS, *partial.shape[1:])
        dist.reduce_scatter_tensor(own, partial.contiguous())
        return own

    @staticmethod
    def backward(ctx, gradient):
        whole = gradient.new_empty(gradient.shape[0] * RANKS, *gradient.shape[1:])
        dist.all_gather_into_tensor(whole, gradient.contiguous())
        return whole


def layer(rank, dtype):
    """One rank's tensors, forward and backward, by name."""
    torch.manual_seed(0)
    x = torch.randn(TOKENS, WIDTH, dtype=dtype).chunk(RANKS, 0)[rank].clone()
    up = torch.randn(WIDTH, HIDDEN, dtype=dtype).chunk(RANKS, 1)[rank].contiguous()
    down = torch.randn(HIDDEN, WIDTH, dtype=dtype).chunk(RANKS, 0)[rank].clone()
    y_grad = torch.randn(TOKENS, WIDTH, dtype=dtype).chunk(RANKS, 0)[rank].clone()
    for leaf in (x, up, down):
        leaf.requires_grad_()
    tokens = Gather.apply(x)
    u = tokens @ up
    h = torch.relu(u)
    partial = h @ down
    y = Scatter.apply(partial)
    for inner in (tokens, u, h, partial):
        inner.retain_grad()
    y.backward(y_grad)
    forward = dict(x=x, up=up, down=down, tokens=tokens, u=u, h=h, partial=partial, y=y)
    gradients = {name + "_grad": t.grad for name, t in forward.items() if name != "y"}
    return {name: t.detach() for name, t in (forward | gradients | {"y_grad": y_grad}).items()}


# How each tensor lies on the ranks: the axis along which it is cut, "replicate", or None for a
# tensor of which every rank has its own.
PLACED = dict(x=0, up=1, down=0, tokens="replicate", u=1, h=1, partial=None, y=0)


def joined(name, parts):
    """What a file holds of a tensor: the whole, or the ranks' parts along a new first axis."""
    axis = PLACED[name.removesuffix("_grad")]
    if name == "tokens_grad":  # each rank's share of it, whose sum the reduce_scatter makes
        axis = None
    if name == "partial_grad":
        axis = "replicate"
    if axis is None:
        return torch.stack(parts)
    return parts[0].clone() if axis == "replicate" else torch.cat(parts, axis)


def work(rank):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT="29511")
    dist.init_process_group("gloo", rank=rank, world_size=RANKS)
    torch.set_num_threads(1)
    for dtype in (torch.float32, torch.bfloat16):
        own, all_ranks = layer(rank, dtype), [None] * RANKS
        dist.all_gather_object(all_ranks, own)
        if rank == 0:
            save_file({name: joined(name, [one[name] for one in all_ranks]).contiguous()
                       for name in own}, f"torch-layer-{str(dtype).removeprefix('torch.')}.safetensors")
    dist.destroy_process_group()


if __name__ == "__main__":
    processes.spawn(work, nprocs=RANKS)
