"""Runs a block of a transformer forward and backward for the tokens of 2 ranks, and writes every
tensor of it into torch-block.safetensors: of each rank its own, the first axis is the rank."""
import torch
import torch.nn.functional as F
from safetensors.torch import save_file

RANKS, TOKENS, WIDTH, HEADS, HIDDEN, WORDS = 2, 12, 16, 2, 40, 24


def block(rank):
    """One rank's tensors, forward and backward, by name."""
    torch.manual_seed(0)
    weights = {name: torch.randn(shape) / shape[0] ** 0.5 for name, shape in dict(
        qkv=(WIDTH, 3 * WIDTH), wo=(WIDTH, WIDTH), up=(WIDTH, HIDDEN), down=(HIDDEN, WIDTH),
        words=(WIDTH, WORDS), w1=(WIDTH,), b1=(WIDTH,), w2=(WIDTH,)).items()}
    torch.manual_seed(1 + rank)
    t = dict(x=torch.randn(TOKENS, WIDTH), **weights)
    for leaf in t.values():
        leaf.requires_grad_()
    targets = torch.randint(WORDS, (TOKENS,))
    t["n1"] = F.layer_norm(t["x"], (WIDTH,), t["w1"], t["b1"])
    t["p"] = t["n1"] @ t["qkv"]
    q, k, v = (one.reshape(1, TOKENS, HEADS, -1).transpose(1, 2) for one in t["p"].chunk(3, -1))
    t["a"] = F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(TOKENS, WIDTH)
    t["r"] = t["x"] + t["a"] @ t["wo"]
    t["n2"] = F.rms_norm(t["r"], (WIDTH,), t["w2"], 1e-6)
    t["u"] = t["n2"] @ t["up"]
    t["h"] = F.gelu(t["u"])
    t["s"] = t["r"] + t["h"] @ t["down"]
    t["l"] = t["s"] @ t["words"]
    t["loss"] = F.cross_entropy(t["l"], targets).reshape(1)
    for inner in t.values():
        inner.retain_grad()
    t["loss"].backward()
    gradients = {name + "_grad": one.grad for name, one in t.items()}
    return {name: one.detach() for name, one in (t | gradients | {"targets": targets}).items()}


if __name__ == "__main__":
    ranks = [block(rank) for rank in range(RANKS)]
    save_file({name: torch.stack([one[name] for one in ranks]) for name in ranks[0]}, "torch-block.safetensors")
