"""Computes layers and their gradients with PyTorch, forward and by autograd, on random and awkward
inputs, and writes a line of JSON for each result: the kernel, its operands as bytes, and PyTorch's
result. Lines with a mutant have the result of a wrong formula instead. Rows are at most SIZE long.

    python3 bytorch.py SEED CASES SIZE | gzip -9n > torch.jsonl.gz        (1 20 24 for the file beside it)
"""
import base64
import json
import math
import sys

import torch
import torch.nn.functional as F

TYPES = {torch.float32: "float32", torch.bfloat16: "bfloat16", torch.float16: "float16",
         torch.float64: "float64", torch.int64: "int64"}
STYLES = ["normal", "large", "huge", "tiny", "equal", "negative", "offset", "mixed", "zero", "wide"]


def made(style, shape, dtype, scale=1.0):
    x = torch.randn(shape, dtype=torch.float64)
    if style == "large":
        x = x * 300
    elif style == "huge":
        x = x * 10.0 ** torch.randint(3, 25, (1,)).item()
    elif style == "tiny":
        x = x * 10.0 ** -torch.randint(3, 42, (1,)).item()
    elif style == "equal":
        x = torch.full(shape, 10 * torch.randn(1, dtype=torch.float64).item(), dtype=torch.float64)
    elif style == "negative":
        x = -x.abs() * 8
    elif style == "offset":
        x = x + 10.0 ** torch.randint(0, 5, (1,)).item()
    elif style == "mixed":
        x = x * 10.0 ** (torch.rand(shape, dtype=torch.float64) * 10 - 6)
    elif style == "zero":
        x = x * (torch.rand(shape) < 0.3)
    elif style == "wide":
        x = x * 20
    return (x * scale).to(dtype)


def data(t):
    t = t.detach().contiguous().reshape(-1)
    return base64.b64encode(bytes(t.view(torch.uint8).tolist())).decode()


def emit(kind, words, operands, result, style, mutant=""):
    print(json.dumps({"kind": kind, "words": words, "style": style, "mutant": mutant,
                      "operands": [{"shape": list(t.shape), "type": TYPES[t.dtype], "data": data(t)}
                                   for t in operands],
                      "type": TYPES[result.dtype], "result": data(result)}))


def layer(kind, words, operands, f, style, by=None, mutant=""):
    """Emits the result of a function, and its gradients by operands of floats."""
    floats = [i for i, t in enumerate(operands) if t.dtype.is_floating_point]
    by = floats if by is None else by
    leaves = [t.detach().clone().requires_grad_(i in floats) for i, t in enumerate(operands)]
    y = f(*leaves)
    emit(kind, words, operands, y, style, mutant)
    if not by:
        return
    g = made("normal" if style in ("huge", "tiny", "zero", "equal") else style, y.shape, y.dtype)
    if kind == "cross_entropy":
        g = torch.ones_like(y)
        g = g.reshape(1)
    y.backward(g.reshape(y.shape))
    for i in by:
        emit(kind, words + [f"gradient={i}"], operands + [g], leaves[i].grad, style, mutant)


def heads(t, n):
    return t.reshape(t.shape[0], t.shape[1], n, -1).transpose(1, 2)


def attention(h, kv, causal, scale=None, shift=0):
    def f(q, k, v):
        mask = None
        if causal:
            n, m = q.shape[1], k.shape[1]
            mask = torch.ones(n, m, dtype=torch.bool).tril(m - n + shift)
        y = F.scaled_dot_product_attention(heads(q, h), heads(k, kv), heads(v, kv), enable_gqa=kv != h,
                                           attn_mask=None if causal and q.shape == k.shape and not shift else mask,
                                           is_causal=causal and q.shape == k.shape and not shift, scale=scale)
        return y.transpose(1, 2).reshape(q.shape)
    return f


def pick(*list):
    return list[torch.randint(len(list), (1,)).item()]


def case(dtype, style):
    rows, n = pick(1, 3, SIZE // 8), pick(1, 2, 7, SIZE // 3, SIZE)
    x = made(style, (rows, n), dtype)
    other = made(pick("normal", style), (rows, n), dtype)
    w, b = made("normal", (n,), dtype), made("normal", (n,), dtype)
    eps = pick(1e-5, 1e-6, 1e-2)
    layer("gelu", [], [x], F.gelu, style)
    layer("gelu", ["tanh"], [x], lambda x: F.gelu(x, approximate="tanh"), style)
    layer("silu", [], [x], F.silu, style)
    layer("relu", [], [x], F.relu, style)
    layer("swiglu", [], [x, other], lambda x, y: F.silu(x) * y, style)
    layer("softmax", [], [x], lambda x: F.softmax(x, -1), style)
    layer("layer_norm", [f"eps={eps}"], [x, w, b], lambda x, w, b: F.layer_norm(x, (n,), w, b, eps), style)
    layer("layer_norm", [f"eps={eps}"], [x], lambda x: F.layer_norm(x, (n,), None, None, eps), style)
    layer("rms_norm", [f"eps={eps}"], [x, w], lambda x, w: F.rms_norm(x, (n,), w, eps), style)

    def llama(x, w):  # as Hugging Face has it
        wide = x.float()
        return w * (wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + eps)).to(dtype)
    layer("rms_norm", [f"eps={eps}"], [x, w], llama, style)
    targets = torch.randint(n, (rows,))
    layer("cross_entropy", [], [x, targets], lambda x, t: F.cross_entropy(x, t).reshape(1), style)
    k = pick(1, 2, n)
    if k <= n and len(torch.unique(x)) == x.numel():
        def route(x):
            top, at = x.topk(k, -1)
            return torch.zeros_like(x).scatter(-1, at, F.softmax(top, -1))
        layer("route", [f"k={k}"], [x], route, style)
    ids = torch.randint(5, (pick(3, 40),))
    table = made(style, (5, 6), dtype)
    layer("embedding", [], [ids, table], lambda i, t: F.embedding(i, t), style)
    attend(dtype, style)
    steps(dtype, style)


def attend(dtype, style):
    h, kv = pick((1, 1), (2, 2), (4, 2))
    tokens, d, batch = pick(1, 5, SIZE // 2), pick(4, 16) if SIZE > 100 else 4, pick(1, 2)
    keys = pick(tokens, tokens + SIZE)
    q = made(style, (batch, tokens, h * d), dtype)
    k = made(style, (batch, keys, kv * d), dtype)
    v = made(pick("normal", style), (batch, keys, kv * d), dtype)
    causal = pick(True, False)
    words = [f"heads={h}", f"kv_heads={kv}"] + ["causal"] * causal
    layer("attention", words, [q, k, v], attention(h, kv, causal), style)


def steps(dtype, style, mutant=""):
    p, g = made(style, (30,), dtype), made(style, (30,), dtype)
    m, v = made(style, (30,), dtype), made(style, (30,), dtype).abs()
    lr, decay, step = pick(1e-3, 0.1, 1.0, 0.3, 0.07), pick(0.0, 0.1, 0.03), pick(1, 2, 10, 1000)
    parameter = torch.nn.Parameter(p.clone())
    parameter.grad = g.clone()
    torch.optim.SGD([parameter], lr=lr, weight_decay=decay).step()
    emit("sgd", [f"lr={lr}", f"weight_decay={decay}"], [p, g], parameter, style)
    for fused in (False, True):
        parameter = torch.nn.Parameter(p.clone())
        parameter.grad = g.clone()
        o = torch.optim.AdamW([parameter], lr=lr, weight_decay=decay, fused=fused, foreach=False if fused else pick(True, False))
        o.state[parameter] = {"step": torch.tensor(float(step - 1)), "exp_avg": m.clone(),
                              "exp_avg_sq": v.clone()}
        o.step()
        state = o.state[parameter]
        emit("adam_m", ["beta1=0.9"], [m, g], state["exp_avg"], style)
        emit("adam_v", ["beta2=0.999"], [v, g], state["exp_avg_sq"], style)
        if not fused:  # which has moments that are not rounded yet
            emit("adam", [f"lr={lr}", f"weight_decay={decay}", f"step={step}"],
                 [p, state["exp_avg"], state["exp_avg_sq"]], parameter, style)


def mutants():
    """Emits what wrong formulas give in float32."""
    x = made("normal", (4, 32), torch.float32)
    w, b = made("normal", (32,), torch.float32), made("normal", (32,), torch.float32)
    small = made("normal", (4, 32), torch.float32, 0.05)
    other = made("normal", (4, 32), torch.float32)

    def wrong(kind, words, operands, f, name, by=None):
        layer(kind, words, operands, f, "normal", by, name)

    wrong("gelu", [], [x], lambda x: F.gelu(x, approximate="tanh"), "tanh")
    wrong("gelu", ["tanh"], [x], F.gelu, "erf")
    wrong("gelu", [], [x], lambda x: x * torch.sigmoid(1.702 * x), "quick")
    wrong("silu", [], [x], lambda x: x * torch.sigmoid(1.001 * x), "slope")
    wrong("swiglu", [], [x, other], lambda x, y: F.gelu(x) * y, "geglu")
    wrong("softmax", [], [x], lambda x: F.softmax(x * 1.0001, -1), "temperature")

    def norm(x, w, b, unbiased, outside, eps, centred=True):
        d = x - x.mean(-1, keepdim=True) if centred else x
        v = (d * d).sum(-1, keepdim=True) / (x.shape[-1] - unbiased)
        r = 1 / (v.sqrt() + eps) if outside else (v + eps).rsqrt()
        return d * r * w + b
    for eps in (1e-5, 1e-3):
        words = [f"eps={eps}"]
        wrong("layer_norm", words, [x, w, b], lambda x, w, b: norm(x, w, b, 1, False, eps), "unbiased", [0, 1])
        wrong("layer_norm", words, [small, w, b], lambda x, w, b: norm(x, w, b, 0, True, eps), "outside", [0, 1])
        wrong("rms_norm", words, [small, w], lambda x, w: norm(x, w, 0, 0, True, eps, False), "outside", [0, 1])
        wrong("rms_norm", words, [x, w], lambda x, w: norm(x, w, 0, 0, False, eps), "centred", [0, 1])
    wrong("layer_norm", ["eps=1e-05"], [small, w, b], lambda x, w, b: norm(x, w, b, 0, False, 1e-6), "eps", [])
    wrong("rms_norm", ["eps=1e-05"], [small, w], lambda x, w: norm(x, w, 0, 0, False, 1e-6, False), "eps", [0, 1])
    targets = torch.randint(32, (4,))
    wrong("cross_entropy", [], [x, targets], lambda x, t: F.cross_entropy(x, t, reduction="sum").reshape(1), "sum")
    wrong("cross_entropy", [], [x, targets], lambda x, t: F.cross_entropy(x, t, label_smoothing=1e-3).reshape(1), "smoothed")
    q, k, v = (made("normal", (1, 20, 16), torch.float32) for _ in range(3))
    wrong("attention", ["heads=2"], [q, k, v], attention(2, 2, False, scale=0.354), "scale")
    wrong("attention", ["heads=2", "causal"], [q, k, v], attention(2, 2, True, shift=1), "shifted")
    wrong("attention", ["heads=2"], [q, k, v], attention(2, 2, True), "causal")
    wrong("attention", ["heads=2"], [q, k, v], attention(1, 1, False, scale=8 ** -0.5), "heads")
    p, g, m = (made("normal", (30,), torch.float32) for _ in range(3))
    s = made("normal", (30,), torch.float32, 1e-3).abs()
    emit("sgd", ["lr=0.1", "weight_decay=0.1"], [p, g], p - 0.1 * g, "normal", "no decay")
    emit("adam_m", [], [m, g], 0.9 * m + g, "normal", "no weight")
    emit("adam_v", [], [s, g], 0.999 * s + 0.001 * g, "normal", "no square")
    emit("adam", ["lr=0.1"], [p, m, s], p - 0.1 * m / (s.sqrt() + 1e-8), "normal", "biased")
    emit("adam", ["lr=0.1", "eps=0.01"], [p, m, s],
         p - 0.1 * (m / (1 - 0.9)) / (s / (1 - 0.999) + 1e-2).sqrt(), "normal", "inside")
    emit("adam", ["lr=0.1", "weight_decay=0.1"], [p, m, s],
         p - 0.1 * (m / (1 - 0.9) + 0.1 * p) / ((s / (1 - 0.999)).sqrt() + 1e-8), "normal", "coupled")


seed, cases, SIZE = (int(word) for word in sys.argv[1:])
torch.manual_seed(seed)
mutants()
for i in range(cases):
    case(pick(torch.float32, torch.bfloat16), STYLES[i % len(STYLES)])
