#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Figures of the NKI checker and simulator, one thread each.   nki.py LIBRARY [--small]

  softmax.warm_ms       check and simulate a 128 x 512 softmax in a running interpreter: trace, replay, eager, two shaken orders
  softmax.cold_ms       the same from the start of the interpreter; cold_numpy_ms: the kernel imports NumPy
  matmul.ratio_to_sgemm fp32 product 4096 x 12288 x 5120 through the traced program with stamps on, over one sgemm of that size
  rows.ratio_to_numpy   NumPy's tile by tile simulation of a 128-tile elementwise and reduction kernel, over ours: times as fast
"""
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

os.environ["OPENBLAS_NUM_THREADS"] = "1"
LIBRARY = sys.argv[1]
SMALL = "--small" in sys.argv
PRELUDE = "import neuronxcc.nki as nki\nimport neuronxcc.nki.language as nl\nimport neuronxcc.nki.isa as nisa\n"
SOFTMAX = PRELUDE + """
@nki.jit
def kernel(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    t = nl.load(x)
    e = nl.exp(t - nl.max(t, axis=[1], keepdims=True))
    nl.store(out, value=e / nl.sum(e, axis=[1], keepdims=True))
    return out
"""
MATMUL = PRELUDE + """
@nki.jit
def kernel(a, b):
    K, M = a.shape
    _, N = b.shape
    out = nl.ndarray((M, N), dtype=a.dtype, buffer=nl.shared_hbm)
    for m in nl.affine_range(M // 128):
        for n in nl.affine_range(N // 512):
            acc = nl.zeros((128, 512), dtype=nl.float32, buffer=nl.psum)
            for k in nl.affine_range(K // 128):
                s = nl.load(a[k * 128:(k + 1) * 128, m * 128:(m + 1) * 128])
                t = nl.load(b[k * 128:(k + 1) * 128, n * 512:(n + 1) * 512])
                acc += nisa.nc_matmul(s, t)
            nl.store(out[m * 128:(m + 1) * 128, n * 512:(n + 1) * 512], value=nl.copy(acc))
    return out
"""
ROWS = PRELUDE + """
@nki.jit
def kernel(x, y):
    out = nl.ndarray((x.shape[0], 1), dtype=x.dtype, buffer=nl.shared_hbm)
    for i in nl.affine_range(x.shape[0] // 128):
        t = nl.load(x[i * 128:(i + 1) * 128, :])
        u = nl.load(y[i * 128:(i + 1) * 128, :])
        v = nl.multiply(nl.add(t, u), t)
        nl.store(out[i * 128:(i + 1) * 128, :], value=nl.sum(v, axis=[1], keepdims=True))
    return out
"""
BOOTSTRAP = ("import sys\nsys.path.insert(0, sys.argv[1])\nimport kernwright_nki\n"
             "sys.stdout.write(kernwright_nki.inspect(sys.stdin.read()))")


def figure(name, value, unit):
    print(f"FIGURE nki.{name} {value:.3g} {unit}", flush=True)


def request(text, **shapes):
    return {"file": "bench.py", "text": text, "arguments": {n: {"dtype": "float32", "shape": list(s)} for n, s in shapes.items()}}


def inspect(module, asked):
    answer = json.loads(module.inspect(json.dumps(asked)))
    if not answer["ok"]:
        sys.exit(answer["text"])
    return answer


def median_ms(f, times):
    out = []
    for _ in range(times):
        start = time.perf_counter()
        f()
        out.append((time.perf_counter() - start) * 1e3)
    return statistics.median(out)


def cold(text):
    asked = json.dumps(request(text, x=(128, 512)))
    environment = {"PATH": "/usr/bin:/bin", "OPENBLAS_NUM_THREADS": "1"}
    return median_ms(lambda: subprocess.run(["/usr/bin/python3", "-I", "-B", "-c", BOOTSTRAP, LIBRARY], input=asked, text=True, env=environment,
                                            stdout=subprocess.DEVNULL, check=True), 9)


def main():
    sys.path.insert(0, LIBRARY)
    import kernwright_nki
    asked = request(SOFTMAX, x=(128, 512))
    inspect(kernwright_nki, asked)
    figure("softmax.warm_ms", median_ms(lambda: inspect(kernwright_nki, asked), 21), "ms")
    figure("softmax.cold_ms", cold(SOFTMAX), "ms")
    figure("softmax.cold_numpy_ms", cold("import numpy as np\n" + SOFTMAX), "ms")

    import numpy as np
    M, N, K = (512, 1536, 640) if SMALL else (4096, 12288, 5120)
    random = np.random.default_rng(0)
    a, b = random.standard_normal((K, M), dtype=np.float32), random.standard_normal((K, N), dtype=np.float32)
    with tempfile.TemporaryDirectory() as folder:
        a.tofile(folder + "/a"), b.tofile(folder + "/b")
        asked = {**request(MATMUL, a=a.shape, b=b.shape), "twice": False, "out": folder}
        for name in "ab":
            asked["arguments"][name]["data"] = f"{folder}/{name}"
        start = time.perf_counter()
        answer = inspect(kernwright_nki, asked)
        ours = answer["run_s"]
        whole = time.perf_counter() - start
        start = time.perf_counter()
        want = a.T @ b
        sgemm = time.perf_counter() - start
        got = np.fromfile(folder + "/0.bin", dtype=np.float32).reshape(M, N)
        if np.abs(got - want).max() > 1e-3 * np.abs(want).max():
            sys.exit("the product is wrong")
    figure("matmul.ratio_to_sgemm", ours / sgemm, "x")
    print(f"# matmul {M} x {N} x {K}: replay {ours:.2f} s, sgemm {sgemm:.2f} s ({2 * M * N * K / sgemm / 1e9:.0f} GFLOP/s), with files and Python {whole:.2f} s")

    tiles, columns = 128, 512
    x, y = (random.standard_normal((128 * tiles, columns), dtype=np.float32) for _ in range(2))

    def by_numpy():
        out = np.empty((128 * tiles, 1), np.float32)
        written = np.zeros(out.shape, bool)
        for i in range(tiles):
            rows = slice(i * 128, (i + 1) * 128)
            t, u = x[rows].copy(), y[rows].copy()
            assert not (np.isnan(t).any() or np.isnan(u).any())
            v = (t + u) * t
            out[rows] = v.sum(1, keepdims=True)
            written[rows] = True
        assert written.all()

    asked = {**request(ROWS, x=x.shape, y=y.shape), "twice": False}
    ours = statistics.median(inspect(kernwright_nki, asked)["run_s"] for _ in range(5)) * 1e3
    figure("rows.ratio_to_numpy", median_ms(by_numpy, 5) / ours, "x")


if __name__ == "__main__":
    main()
