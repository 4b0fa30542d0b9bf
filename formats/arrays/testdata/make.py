"""Makes the files in testdata/files with NumPy 2.4, ml_dtypes 0.6 and safetensors 0.8."""

import os

import ml_dtypes
import numpy as np
import safetensors.numpy

os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), "files"))
x = np.array([[1, -2, 3], [0.5, 0, -1.5]])

np.save("float32.npy", x.astype("<f4"))
np.save("float64-big-endian.npy", x.astype(">f8"))
np.save("int16-big-endian-fortran.npy", np.asfortranarray((2 * x).astype(">i2")))
np.save("float32-fortran-3d.npy", np.asfortranarray(np.arange(24, dtype="<f4").reshape(2, 3, 4)))
np.save("scalar.npy", np.float16(1.5))
np.save("empty.npy", np.zeros((0, 3), np.uint8))
np.save("bool.npy", np.array([True, False, True]))
np.save("bfloat16.npy", x.astype(ml_dtypes.bfloat16))
np.save("float8_e4m3fn.npy", x.astype(ml_dtypes.float8_e4m3fn))
np.save("float8_e5m2.npy", x.astype(ml_dtypes.float8_e5m2))
np.save("complex.npy", x.astype("c8"))
np.save("objects.npy", np.array([None, "two"], object), allow_pickle=True)
np.save("structured.npy", np.zeros(2, [("a", "<i4"), ("b", "<f8", (2,))]))
np.save("structured-utf8.npy", np.zeros(2, [("β", "<i4")]))
np.save("text.npy", np.array(["one", "two"]))
np.save("dates.npy", np.zeros(2, "M8[ns]"))
with open("version-2.npy", "wb") as f:
    np.lib.format.write_array(f, x.astype("<f4"), version=(2, 0))
with open("version-3.npy", "wb") as f:
    np.lib.format.write_array(f, x.astype("<f4"), version=(3, 0))

ranks = {"rank0": x[0].astype("<f4"), "rank1": x[1].astype("<f4")}
np.savez("stored.npz", **ranks)
np.savez_compressed("deflated.npz", **ranks)
np.savez_compressed("bfloat16.npz", arr_0=x.astype(ml_dtypes.bfloat16))

save = safetensors.numpy.save_file
save(ranks, "float32.safetensors")
save({k: v.astype(ml_dtypes.bfloat16) for k, v in ranks.items()}, "bfloat16.safetensors",
     metadata={"format": "np"})
save({"e4m3": x.astype(ml_dtypes.float8_e4m3fn), "e5m2": x.astype(ml_dtypes.float8_e5m2),
      "wide": x, "scalar": np.array(7, "<u4"), "bool": np.array([True, False])},
     "mixed.safetensors")
save({"z": x.astype("c8")}, "complex.safetensors")
