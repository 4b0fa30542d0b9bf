# Made the arrays in this directory, with numpy 2, ml_dtypes and safetensors from PyPI.
import ml_dtypes
import numpy as np
from safetensors.numpy import save_file

rng = np.random.default_rng(7)
bf16 = ml_dtypes.bfloat16

# A dump of gradients, as torch.save_file(…) would write them, and the result of an all-reduce whose
# ring adds the other way round: chunk c of 8 begins at rank c, and goes down instead of up.
n, rows, columns = 8, 12, 16
grads = [rng.normal(size=(rows, columns)).astype(bf16) for _ in range(n)]
save_file({f"rank{r}": grads[r] for r in range(n)}, "grads.safetensors")
flat = [g.reshape(-1) for g in grads]
chunk = flat[0].size // n
result = np.empty_like(flat[0])
for c in range(n):
    at = slice(c * chunk, (c + 1) * chunk)
    total = flat[c][at]
    for k in range(1, n):
        total = (total + flat[(c - k) % n][at]).astype(bf16)
    result[at] = total
save_file({f"rank{r}": result.reshape(rows, columns) for r in range(n)}, "theirs.safetensors")
np.save("bits.npy", np.stack(grads).view(np.uint16))  # the same, as an integer container

# Tensors on axes other than 0, by numpy's own concatenate and split.
n = 4
x = rng.integers(-9, 9, size=(n, 2, 8, 3)).astype(np.float32)
np.savez("tensors.npz", **{f"rank{r}": x[r] for r in range(n)})
np.savez("gathered.npz", **{f"rank{r}": np.concatenate(list(x), axis=1) for r in range(n)})
parts = np.split(x.sum(axis=0), n, axis=1)
np.savez("scattered.npz", **{f"rank{r}": parts[r] for r in range(n)})
sent = [np.split(t, n, axis=1) for t in x]
np.savez("exchanged.npz", **{f"rank{r}": np.concatenate([s[r] for s in sent], axis=2)
                             for r in range(n)})

# The same result, gone wrong: on rank 3 twenty elements of the last chunk still hold what it passed
# in, and on rank 5 one bit of an exponent has flipped.
n = 8
wrong = [result.copy() for _ in range(n)]
wrong[3][168:188] = flat[3][168:188]
bits = wrong[5].view(np.uint16)
bits[77] ^= 1 << 9
save_file({f"rank{r}": wrong[r].reshape(rows, columns) for r in range(n)}, "wrong.safetensors")
