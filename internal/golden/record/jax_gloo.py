"""Records the bits of JAX's gloo, as jax.lax calls it: jax_gloo.py KIND."""

import os
import socket
import sys

import inputs


def play(kind, address, rank, ranks):
    os.environ["JAX_PLATFORMS"] = "cpu"
    import jax
    import numpy as np
    from jax.sharding import Mesh, NamedSharding, PartitionSpec

    jax.config.update("jax_cpu_collectives_implementation", "gloo")
    jax.config.update("jax_enable_x64", True)
    jax.distributed.initialize(address, ranks, rank)
    import jaxlib
    if rank == 0:
        print(f"library JAX {jax.__version__}, jaxlib {jaxlib.__version__}, gloo", flush=True)
    mesh = Mesh(np.array(jax.devices()), ("r",))
    rows = NamedSharding(mesh, PartitionSpec("r"))

    def each(f):
        return jax.jit(jax.shard_map(f, mesh=mesh, in_specs=PartitionSpec("r"),
                                     out_specs=PartitionSpec("r"), check_vma=False))

    def everybody(x):  # bytes are moved, which no type changes
        return each(lambda y: jax.lax.all_gather(y, "r", tiled=True))(x)

    for i, name, op, count in inputs.cases(ranks):
        scatters = kind == "reduce_scatter_block"
        if scatters and op != "sum":
            continue  # jax.lax.psum_scatter only adds
        if op == "prod":
            continue  # jax.lax has no product over ranks
        n = count * ranks if scatters else count
        data = inputs.fill(name, op, rank, n)
        local = np.frombuffer(data, dtype=jax.numpy.dtype(name)).reshape(1, n)
        x = jax.make_array_from_process_local_data(rows, local)
        if scatters:
            y = each(lambda v: jax.lax.psum_scatter(v[0], "r", tiled=True)[None])(x)
        else:
            reduce = jax.lax.psum if op == "sum" else jax.lax.pmax
            y = each(lambda v: reduce(v, "r"))(x)
        mine = np.asarray(y.addressable_shards[0].data).tobytes()
        local = np.frombuffer(mine, dtype=np.uint8).reshape(1, -1)
        all = everybody(jax.make_array_from_process_local_data(rows, local))
        if rank == 0:
            all = np.asarray(all.addressable_shards[0].data).tobytes()
            inputs.print_case(kind, ranks, count, 0, name, op, all)
    jax.distributed.shutdown()


if len(sys.argv) > 2:
    play(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
else:
    for ranks in range(2, 10):
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            port = s.getsockname()[1]
        inputs.spawn(inputs.here("jax_gloo.py"), ranks, sys.argv[1], f"127.0.0.1:{port}")
