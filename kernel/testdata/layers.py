"""Evaluates layers with numpy, and their gradients by formulas on whole arrays, and compares them with
the results in a file of cases. Formulas are written from docs/programs.md and the papers."""
import json
import math
import sys

import numpy as np

erf = np.vectorize(math.erf)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def softmax(x):
    p = np.exp(x - x.max(axis=-1, keepdims=True))
    return p / p.sum(axis=-1, keepdims=True)


def heads(a, x, which):
    """Splits tokens by sequences and heads: [sequences, heads, tokens, width]."""
    h, g, n = int(a["heads"]), int(a["kv_heads"]), int(a["sequences"])
    x = x.reshape(n, -1, x.shape[-1])
    if which is None:  # all three side by side
        d = x.shape[-1] // (h + 2 * g)
        parts = np.split(x, [h * d, (h + g) * d], axis=-1)
        return [heads(a, p, i) for i, p in enumerate(parts)]
    count = h if which == 0 else g
    return x.reshape(n, x.shape[1], count, -1).transpose(0, 2, 1, 3)


def tokens(x):
    return x.transpose(0, 2, 1, 3).reshape(x.shape[0] * x.shape[2], -1)


def attention(a, xs, g, by):
    q, k, v = heads(a, xs[0], None) if len(xs) == 1 else [heads(a, x, i) for i, x in enumerate(xs)]
    each = q.shape[1] // k.shape[1]
    kk, vv = np.repeat(k, each, axis=1), np.repeat(v, each, axis=1)
    s = q @ kk.transpose(0, 1, 3, 2) / math.sqrt(q.shape[-1])
    if a["causal"]:
        n, m = s.shape[-2:]
        s = np.where(np.tril(np.ones((n, m)), m - n) == 1, s, -np.inf)
    p = softmax(s)
    if by < 0:
        return tokens(p @ vv)
    dout = heads(a, g.reshape(xs[0].shape[:-1] + (-1,)), 0)
    dp = dout @ vv.transpose(0, 1, 3, 2)
    ds = p * (dp - (p * dp).sum(axis=-1, keepdims=True)) / math.sqrt(q.shape[-1])

    def grouped(x):
        n, _, t, d = x.shape
        return x.reshape(n, k.shape[1], each, t, d).sum(axis=2)

    grads = [tokens(ds @ kk), tokens(grouped(ds.transpose(0, 1, 3, 2) @ q)),
             tokens(grouped(p.transpose(0, 1, 3, 2) @ dout))]
    return np.concatenate(grads, axis=-1) if len(xs) == 1 else grads[by]


def norm(a, xs, g, by, centred):
    x = xs[0]
    w = xs[1] if len(xs) > 1 else np.ones(x.shape[-1])
    c = x - x.mean(axis=-1, keepdims=True) if centred else x
    r = 1 / np.sqrt((c * c).mean(axis=-1, keepdims=True) + a["eps"])
    h = c * r
    if by < 0:
        return h * w + (xs[2] if len(xs) > 2 else 0)
    n = x.shape[-1]
    if by > 0:
        return ((g * h) if by == 1 else g).reshape(-1, n).sum(axis=0)
    jacobian = np.eye(n) - h[..., :, None] * h[..., None, :] / n
    if centred:
        jacobian = jacobian - 1 / n
    return np.einsum("...i,...ij->...j", g * w * r, jacobian)


def gelu(a, x, derive):
    if a["tanh"]:
        u = math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)
        if derive:
            du = math.sqrt(2 / math.pi) * (1 + 3 * 0.044715 * x**2)
            return 0.5 * (1 + np.tanh(u)) + 0.5 * x * du / np.cosh(u) ** 2
        return 0.5 * x * (1 + np.tanh(u))
    phi = 0.5 * (1 + erf(x / math.sqrt(2)))
    return phi + x * np.exp(-x * x / 2) / math.sqrt(2 * math.pi) if derive else x * phi


def elementwise(kind, a, xs, g, by):
    x = xs[0]
    silu = x * sigmoid(x)
    slope = sigmoid(x) * (1 + x * (1 - sigmoid(x)))
    if kind == "swiglu":
        return silu * xs[1] if by < 0 else g * xs[1] * slope if by == 0 else g * silu
    value, derivative = {
        "gelu": lambda: (gelu(a, x, False), gelu(a, x, True)),
        "silu": lambda: (silu, slope),
        "relu": lambda: (np.maximum(x, 0), (x > 0) * 1.0),
    }[kind]()
    return value if by < 0 else g * derivative


def rows(kind, xs, g, by):
    p = softmax(xs[0])
    if kind == "softmax":
        jacobian = p[..., :, None] * np.eye(p.shape[-1]) - p[..., :, None] * p[..., None, :]
        return p if by < 0 else np.einsum("...i,...ij->...j", g, jacobian)
    t = xs[1].astype(int) % p.shape[-1]
    hot = np.eye(p.shape[-1])[t]
    return -np.log((p * hot).sum(axis=-1)).mean() if by < 0 else (p - hot) / len(t) * g


def embedding(xs, g, by):
    ids = xs[0].astype(int) % xs[1].shape[0]
    if by < 0:
        return xs[1][ids]
    out = np.zeros(xs[1].shape)
    np.add.at(out, ids.ravel(), g.reshape(-1, out.shape[1]))
    return out


def route(a, xs, g, by):
    x = xs[0]
    top = np.argsort(-x, axis=-1, kind="stable")[..., : int(a["k"])]
    kept = np.full(x.shape, -np.inf)
    np.put_along_axis(kept, top, np.take_along_axis(x, top, axis=-1), axis=-1)
    return rows("softmax", [kept], g, by)


def shard(a, xs, g, by):
    pieces = np.split(xs[0], int(a["of"]), axis=int(a["axis"]))
    if by < 0:
        return pieces[int(a["part"])]
    pieces = [np.zeros(p.shape) for p in pieces]
    pieces[int(a["part"])] = g.reshape(pieces[0].shape)
    return np.concatenate(pieces, axis=int(a["axis"]))


def pad(a, xs, g, by):
    x = xs[0]
    if by < 0:
        return np.concatenate([x, np.zeros((int(a["rows"]) - len(x),) + x.shape[1:])])
    return g[: len(x)]


def optimizer(kind, a, xs):
    x, y = xs[0], xs[1]
    if kind == "sgd":
        return x - a["lr"] * (y + a["weight_decay"] * x)
    if kind == "adam_m":
        return a["beta1"] * x + (1 - a["beta1"]) * y
    if kind == "adam_v":
        return a["beta2"] * x + (1 - a["beta2"]) * y * y
    m, v = y / (1 - a["beta1"] ** a["step"]), xs[2] / (1 - a["beta2"] ** a["step"])
    return x - a["lr"] * (m / (np.sqrt(v) + a["eps"]) + a["weight_decay"] * x)


def stand_in(xs, shape):
    G = np.uint64(0x9E3779B97F4A7C15)

    def s(x):
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return x ^ (x >> np.uint64(31))

    with np.errstate(over="ignore"):
        h = np.uint64(0)
        for k, x in enumerate(xs):
            bits = (x + 0.0).ravel().view(np.uint64) if k == 0 else x.ravel().astype(np.int64).view(np.uint64)
            i = np.arange(x.size, dtype=np.uint64)
            h = h + s(bits + G * s(i + G * np.uint64(k + 1))).sum(dtype=np.uint64)
        w = s(h + G * s(np.arange(1, np.prod(shape) + 1, dtype=np.uint64)))
    size = 1 + (w // np.uint64(2) % np.uint64(4)).astype(float)
    return np.where(w % np.uint64(2) == 1, -size, size)


def evaluate(c):
    a, by, kind = c["Attributes"], c["Gradient"], c["Kind"]
    xs = [np.array(x, dtype=float).reshape(n) for x, n in zip(c["Operands"], c["Shapes"])]
    g = None
    if by >= 0:
        xs, g = xs[:-1], xs[-1]
    if kind == "attention":
        return attention(a, xs, g, by)
    if kind in ("rms_norm", "layer_norm"):
        return norm(a, xs, g, by, kind == "layer_norm")
    if kind in ("gelu", "silu", "relu", "swiglu"):
        return elementwise(kind, a, xs, g, by)
    if kind in ("softmax", "cross_entropy"):
        return rows(kind, xs, g, by)
    if kind == "embedding":
        return embedding(xs, g, by)
    if kind in ("route", "shard", "pad"):
        return {"route": route, "shard": shard, "pad": pad}[kind](a, xs, g, by)
    if kind == "opaque":
        return stand_in(xs, c["Shapes"][-1])
    return optimizer(kind, a, xs)


def main():
    worst = 0.0
    cases = json.load(open(sys.argv[1]))
    for c in cases:
        want, got = np.asarray(evaluate(c)).ravel(), np.array(c["Result"])
        assert want.size == got.size, (c["Text"], want.size, got.size)
        off = np.max(np.abs(want - got) / np.maximum(np.abs(want), 1), initial=0)
        assert off < 1e-13 and (c["Kind"] != "opaque" or off == 0), (c["Text"], c["Gradient"], off)
        worst = max(worst, off)
    print(f"{len(cases)} results, off by {worst:.2g} at most")


main()
