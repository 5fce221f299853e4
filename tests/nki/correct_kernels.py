# SPDX-License-Identifier: Apache-2.0
"""Kernels of dialect 0.1 that are right: nothing may be reported of them, and their results are those of NumPy."""
import math

import neuronxcc.nki as nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl
import neuronxcc.nki.typing as nt
import numpy as np


@nki.jit
def add_rows(x, y):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    rows, columns = x.shape
    p, f = nl.arange(128)[:, None], nl.arange(columns)[None, :]
    for i in nl.affine_range(math.ceil(rows / 128)):
        inside = i * 128 + p < rows
        a = nl.load(x[i * 128 + p, f], mask=inside)
        b = nl.load(y[i * 128 + p, f], mask=inside)
        nl.store(out[i * 128 + p, f], value=nl.add(a, b, mask=inside), mask=inside)
    return out


@nki.jit
def softmax(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    t = nl.load(x)
    e = nl.exp(t - nl.max(t, axis=[1], keepdims=True))
    nl.store(out, value=e / nl.sum(e, axis=[1], keepdims=True))
    return out


@nki.jit
def softmax_isa(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    t = nl.load(x)
    least = nisa.tensor_reduce(nl.maximum, t, axis=[1], negate=True)
    total = nl.ndarray((nl.par_dim(128), 1), dtype=nl.float32)
    e = nisa.activation_reduce(op=nl.exp, data=t, bias=least, reduce_op=nl.add, reduce_res=total)
    nl.store(out, value=nisa.tensor_scalar(e, op0=nl.multiply, operand0=nisa.reciprocal(total)))
    return out


@nki.jit
def softmax_builtin(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    nl.store(out, value=nl.softmax(nl.load(x), axis=[1]))
    return out


@nki.jit
def layernorm(x, w, b):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    rows, columns = x.shape
    weight = nl.load(w.reshape((1, columns))).broadcast_to((128, columns))
    shift = nl.load(b.reshape((1, columns))).broadcast_to((128, columns))
    for i in nl.affine_range(rows // 128):
        t = nl.load(x[i * 128:(i + 1) * 128, :])
        mean = nl.mean(t, axis=[1], keepdims=True)
        centred = nisa.tensor_scalar(t, op0=nl.subtract, operand0=mean)
        variance = nl.mean(nl.square(centred), axis=[1], keepdims=True)
        scale = nl.rsqrt(variance + 1e-5)
        normal = nisa.tensor_scalar(centred, op0=nl.multiply, operand0=scale)
        nl.store(out[i * 128:(i + 1) * 128, :], value=nl.add(nl.multiply(normal, weight), shift))
    return out


@nki.jit
def layernorm_bn(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    t = nl.load(x)
    pieces = x.shape[1] // 512
    stats = nl.ndarray((nl.par_dim(128), 6 * pieces), dtype=nl.float32)
    for k in nl.affine_range(pieces):
        stats[:, 6 * k:6 * (k + 1)] = nisa.bn_stats(t[:, 512 * k:512 * (k + 1)])
    moments = nisa.bn_aggr(stats)
    scale = nl.rsqrt(moments[:, 1:2] + 1e-5)
    centred = nisa.tensor_scalar(t, op0=nl.subtract, operand0=moments[:, 0:1], op1=nl.multiply, operand1=scale)
    nl.store(out, value=centred)
    return out


@nki.jit
def rmsnorm(x, w):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    columns = x.shape[1]
    weight = nl.load(w.reshape((1, columns)))
    t = nl.load(x)
    nl.store(out, value=nl.rms_norm(t, weight.broadcast_to((128, columns)), axis=[1], n=columns, epsilon=1e-6))
    return out


@nki.jit
def matmul(lhs_t, rhs):
    K, M = lhs_t.shape
    _, N = rhs.shape
    out = nl.ndarray((M, N), dtype=lhs_t.dtype, buffer=nl.shared_hbm)
    for m in nl.affine_range(M // 128):
        for n in nl.affine_range(N // 512):
            acc = nl.zeros((128, 512), dtype=nl.float32, buffer=nl.psum)
            for k in nl.affine_range(K // 128):
                a = nl.load(lhs_t[k * 128:(k + 1) * 128, m * 128:(m + 1) * 128])
                b = nl.load(rhs[k * 128:(k + 1) * 128, n * 512:(n + 1) * 512])
                acc += nl.matmul(a, b, transpose_x=True)
            nl.store(out[m * 128:(m + 1) * 128, n * 512:(n + 1) * 512], value=nl.copy(acc, dtype=out.dtype))
    return out


@nki.jit
def matmul_rows(lhs, rhs):
    out = nl.ndarray((128, 512), dtype=lhs.dtype, buffer=nl.shared_hbm)
    acc = nl.zeros((128, 512), dtype=nl.float32, buffer=nl.psum)
    for k in nl.affine_range(2):
        a = nl.load(lhs[:, k * 128:(k + 1) * 128])
        b = nl.load(rhs[k * 128:(k + 1) * 128, :])
        acc += nl.matmul(a, b)
    nl.store(out, value=acc)
    return out


@nki.jit
def matmul_blocks(lhs_t, rhs):
    out = nl.ndarray((128, 1024), dtype=lhs_t.dtype, buffer=nl.shared_hbm)
    a = nl.ndarray((2, nl.par_dim(128), 128), dtype=lhs_t.dtype, buffer=nl.sbuf)
    b = nl.ndarray((2, nl.par_dim(128), 1024), dtype=lhs_t.dtype, buffer=nl.sbuf)
    i_p, i_m, i_n = nl.arange(128)[:, None], nl.arange(128)[None, :], nl.arange(512)[None, :]
    for k in nl.affine_range(2):
        a[k, i_p, i_m] = nl.load(lhs_t[k * 128 + i_p, i_m])
        b[k] = nl.load(rhs[k * 128:(k + 1) * 128, :])
    acc = nl.zeros((2, nl.par_dim(128), 512), dtype=nl.float32, buffer=nl.psum)
    for n in nl.affine_range(2):
        for k in nl.affine_range(2):
            acc[n, i_p, i_n] += nisa.nc_matmul(a[k, i_p, i_m], b[k, i_p, n * 512 + i_n])
        nl.store(out[i_p, n * 512 + i_n], value=nl.copy(acc[n, i_p, i_n]))
    return out


@nki.jit
def matmul_masked(lhs_t, rhs):
    """The last columns of the moving operand are not there."""
    columns = rhs.shape[1]
    out = nl.ndarray((128, columns), dtype=lhs_t.dtype, buffer=nl.shared_hbm)
    p, m, n = nl.arange(128)[:, None], nl.arange(128)[None, :], nl.arange(512)[None, :]
    a = nl.load(lhs_t)
    b = nl.ndarray((nl.par_dim(128), 512), dtype=rhs.dtype, buffer=nl.sbuf)
    b[p, n] = nl.load(rhs[p, n], mask=n < columns)
    acc = nl.zeros((128, 512), dtype=nl.float32, buffer=nl.psum)
    acc[p, n] += nisa.nc_matmul(a[p, m], b[p, n], mask=n < columns)
    nl.store(out[p, n], value=nl.copy(acc[p, n], mask=n < columns), mask=n < columns)
    return out


@nki.jit
def transpose(x):
    rows, columns = x.shape
    out = nl.ndarray((columns, rows), dtype=x.dtype, buffer=nl.shared_hbm)
    for i in nl.affine_range(rows // 128):
        for j in nl.affine_range(columns // 128):
            t = nl.load(x[i * 128:(i + 1) * 128, j * 128:(j + 1) * 128])
            nl.store(out[j * 128:(j + 1) * 128, i * 128:(i + 1) * 128], value=nl.copy(nl.transpose(t)))
    return out


@nki.jit
def transpose_by_product(x):
    out = nl.ndarray((128, 128), dtype=x.dtype, buffer=nl.shared_hbm)
    identity = nl.load(nl.shared_constant(np.identity(128, dtype=np.float32)))
    t = nl.load(x)
    p = nisa.nc_matmul(t, identity, is_moving_onezero=True, is_transpose=True)
    nl.store(out, value=nl.copy(p))
    return out


@nki.jit
def transpose_load(x):
    out = nl.ndarray((x.shape[1], x.shape[0]), dtype=x.dtype, buffer=nl.shared_hbm)
    nl.store(out, value=nl.load_transpose2d(x))
    return out


@nki.jit
def transpose_inner(x):
    """[P, F1, F2] -> [P, F2, F1], through access patterns."""
    P, F1, F2 = x.shape
    out = nl.ndarray((P, F2, F1), dtype=x.dtype, buffer=nl.shared_hbm)
    t = nl.load(x)
    y = nl.ndarray((nl.par_dim(P), F2, F1), dtype=x.dtype, buffer=nl.sbuf)
    p, i, j = nl.arange(P)[:, None, None], nl.arange(F1)[None, :, None], nl.arange(F2)[None, None, :]
    q, a, b = nl.arange(P)[:, None, None], nl.arange(F2)[None, :, None], nl.arange(F1)[None, None, :]
    y[q, a, b] = nl.copy(t.reshape((P, F1 * F2))[q, a + F2 * b])
    nl.store(out, value=y)
    return out


@nki.jit
def average_pool(x):
    """[C, H, W] by windows of 2 x 2."""
    C, H, W = x.shape
    out = nl.ndarray((C, H // 2, W // 2), dtype=x.dtype, buffer=nl.shared_hbm)
    t = nl.load(x)
    p = nl.arange(C)[:, None, None, None, None]
    h, w = nl.arange(H // 2)[None, :, None, None, None], nl.arange(W // 2)[None, None, :, None, None]
    dh, dw = nl.arange(2)[None, None, None, :, None], nl.arange(2)[None, None, None, None, :]
    s = nl.sum(t[p, 2 * h + dh, 2 * w + dw], axis=[3, 4])
    nl.store(out, value=s * 0.25)
    return out


@nki.jit
def causal_attention(q_t, k_t, v):
    """One head: q_t [D, S], k_t [D, S], v [S, D], S = 128."""
    D, S = q_t.shape
    out = nl.ndarray((S, D), dtype=nl.float32, buffer=nl.shared_hbm)
    q, k, values = nl.load(q_t), nl.load(k_t), nl.load(v)
    scores = nisa.nc_matmul(q, k)
    scaled = nisa.activation(op=nl.copy, data=scores, scale=1.0 / math.sqrt(D))
    p, f = nl.arange(S)[:, None], nl.arange(S)[None, :]
    masked = nisa.affine_select(pred=(p >= f), on_true_tile=scaled, on_false_value=-30000.0)
    least = nisa.tensor_reduce(nl.maximum, masked, axis=[1], negate=True)
    total = nl.ndarray((nl.par_dim(S), 1), dtype=nl.float32)
    weights = nisa.activation_reduce(op=nl.exp, data=masked, bias=least, reduce_op=nl.add, reduce_res=total)
    w_t = nl.copy(nisa.nc_transpose(weights))
    result = nisa.nc_matmul(w_t, values)
    nl.store(out, value=nisa.tensor_scalar(result, op0=nl.multiply, operand0=nisa.reciprocal(total)))
    return out


@nki.jit
def mamba_scan(a, x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    nl.store(out, value=nisa.tensor_tensor_scan(nl.load(a), nl.load(x), initial=0, op0=np.multiply, op1=np.add))
    return out


@nki.jit
def cumsum(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    t = nl.load(x)
    one = nl.ones((128, x.shape[1]), dtype=nl.float32)
    nl.store(out, value=nisa.tensor_tensor_scan(one, t, initial=0.0, op0=nl.multiply, op1=nl.add))
    return out


@nki.jit
def swiglu(gate, up):
    out = nl.ndarray(gate.shape, dtype=gate.dtype, buffer=nl.shared_hbm)
    nl.store(out, value=nl.multiply(nl.silu(nl.load(gate)), nl.load(up)))
    return out


@nki.jit
def gelu(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    nl.store(out, value=nl.gelu(nl.load(x)))
    return out


@nki.jit
def rope(x, cosine, sine):
    """Halves of each row turned: x [128, D], cosine and sine [128, D / 2]."""
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    half = x.shape[1] // 2
    t, c, s = nl.load(x), nl.load(cosine), nl.load(sine)
    y = nl.ndarray((nl.par_dim(128), 2 * half), dtype=x.dtype, buffer=nl.sbuf)
    low, high = t[:, 0:half], t[:, half:2 * half]
    y[:, 0:half] = nl.subtract(nl.multiply(low, c), nl.multiply(high, s))
    y[:, half:2 * half] = nl.add(nl.multiply(high, c), nl.multiply(low, s))
    nl.store(out, value=y)
    return out


@nki.jit
def gather_rows(table, ids):
    out = nl.ndarray((ids.shape[0], table.shape[1]), dtype=table.dtype, buffer=nl.shared_hbm)
    i = nl.load(ids)
    p, f = nl.arange(ids.shape[0])[:, None], nl.arange(table.shape[1])[None, :]
    nl.store(out, value=nl.load(table[i[p, 0], f]))
    return out


@nki.jit
def top8(x):
    values = nl.ndarray((128, 8), dtype=x.dtype, buffer=nl.shared_hbm)
    places = nl.ndarray((128, 8), dtype=nl.uint32, buffer=nl.shared_hbm)
    t = nl.load(x)
    best = nisa.max8(src=t)
    nl.store(values, value=best)
    nl.store(places, value=nisa.nc_find_index8(data=t, vals=best))
    return values, places


@nki.jit
def quantise(x):
    out = nl.ndarray(x.shape, dtype=nl.int8, buffer=nl.shared_hbm)
    t = nl.load(x)
    most = nl.max(nl.abs(t), axis=[1], keepdims=True)
    scale = nisa.tensor_scalar(nisa.reciprocal(most), op0=nl.multiply, operand0=127.0)
    nl.store(out, value=nisa.tensor_scalar(t, op0=nl.multiply, operand0=scale, dtype=nl.int8))
    return out


@nki.jit
def conv1d(x, w):
    """x [C, L + K - 1], w [C, K]: depthwise, valid."""
    C, K = w.shape
    L = x.shape[1] - K + 1
    out = nl.ndarray((C, L), dtype=x.dtype, buffer=nl.shared_hbm)
    t, weights = nl.load(x), nl.load(w)
    acc = nl.zeros((C, L), dtype=nl.float32)
    for k in nl.static_range(K):
        acc[...] = nisa.scalar_tensor_tensor(data=t[:, k:k + L], op0=nl.multiply, operand0=weights[:, k:k + 1], op1=nl.add, operand1=acc)
    nl.store(out, value=acc)
    return out


@nki.jit
def scaled_columns(x, w):
    """w [P] in HBM is a column on chip."""
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    nl.store(out, value=nisa.activation(op=nl.copy, data=nl.load(x), scale=nl.load(w)))
    return out


@nki.jit
def update(x: nt.mutable_tensor, y):
    nl.store(x, value=nl.load(x) + nl.load(y))
    return x


@nki.jit
def halves(x):
    out = nl.ndarray(x.shape, dtype=nl.bfloat16, buffer=nl.shared_hbm)
    nl.store(out, value=nl.copy(nl.load(x), dtype=nl.bfloat16))
    return out


@nki.jit
def first_iteration(x):
    """Asks for the value of a loop variable: runs eagerly."""
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    acc = nl.zeros((128, x.shape[1]), dtype=nl.float32)
    for i in nl.sequential_range(3):
        t = nl.load(x)
        if i == 0:
            acc[...] = nl.copy(t)
        else:
            acc[...] = nl.add(acc, t)
    nl.store(out, value=acc)
    return out


@nki.jit
def grid_rows(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    i = nl.program_id(0)
    p, f = nl.arange(128)[:, None], nl.arange(x.shape[1])[None, :]
    nl.store(out[i * 128 + p, f], value=nl.exp(nl.load(x[i * 128 + p, f])))
    return out


@nki.jit
def select(x, y):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    a, b = nl.load(x), nl.load(y)
    nl.store(out, value=nl.where(nl.greater(a, b), a, b))
    return out


@nki.jit
def partitions_summed(x):
    out = nl.ndarray((1, x.shape[1]), dtype=x.dtype, buffer=nl.shared_hbm)
    ones = nl.ones((128, 1), dtype=nl.float32)
    nl.store(out, value=nl.copy(nl.matmul(ones, nl.load(x), transpose_x=True)))
    return out


def _softmax(x):
    e = np.exp(x - x.max(1, keepdims=True))
    return e / e.sum(1, keepdims=True)


def _normal(x):
    return (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + 1e-5)


def _attention(q_t, k_t, v):
    s = q_t.T @ k_t / math.sqrt(q_t.shape[0])
    return _softmax(np.where(np.tril(np.ones_like(s)) > 0, s, -30000.0)) @ v


def _scan(a, x):
    out, state = np.empty_like(x), np.zeros(x.shape[0], x.dtype)
    for i in range(x.shape[1]):
        state = a[:, i] * state + x[:, i]
        out[:, i] = state
    return out


def _rope(x, c, s):
    h = x.shape[1] // 2
    return np.concatenate([x[:, :h] * c - x[:, h:] * s, x[:, h:] * c + x[:, :h] * s], 1)


def _top8(x):
    places = np.argsort(-x, axis=1, kind="stable")[:, :8]
    return np.take_along_axis(x, places, 1), places.astype(np.uint32)


def _conv1d(x, w):
    return np.stack([np.convolve(a, b[::-1], "valid") for a, b in zip(x, w)])


def _bf16(x):
    bits = x.astype(np.float32).view(np.uint32)
    return ((bits + 0x7fff + (bits >> 16 & 1)) >> 16).astype(np.uint16)


F = "float32"
# kernel: inputs, reference, what else the run is asked for
CASES = {
    "add_rows": ([(F, 300, 65), (F, 300, 65)], lambda x, y: x + y),
    "softmax": ([(F, 128, 512)], _softmax),
    "softmax_isa": ([(F, 128, 512)], _softmax),
    "softmax_builtin": ([(F, 128, 300)], _softmax),
    "layernorm": ([(F, 256, 512), (F, 512), (F, 512)], lambda x, w, b: _normal(x) * w + b),
    "layernorm_bn": ([(F, 128, 1024)], _normal),
    "rmsnorm": ([(F, 128, 512), (F, 512)], lambda x, w: x / np.sqrt((x * x).mean(1, keepdims=True) + 1e-6) * w),
    "matmul": ([(F, 256, 256), (F, 256, 1024)], lambda a, b: a.T @ b),
    "matmul_rows": ([(F, 128, 256), (F, 256, 512)], lambda a, b: a @ b),
    "matmul_blocks": ([(F, 256, 128), (F, 256, 1024)], lambda a, b: a.T @ b),
    "matmul_masked": ([(F, 128, 128), (F, 128, 300)], lambda a, b: a.T @ b),
    "transpose": ([(F, 256, 384)], lambda x: x.T),
    "transpose_by_product": ([(F, 128, 128)], lambda x: x.T),
    "transpose_load": ([(F, 300, 100)], lambda x: x.T),
    "transpose_inner": ([(F, 64, 6, 5)], lambda x: x.transpose(0, 2, 1)),
    "average_pool": ([(F, 64, 8, 12)], lambda x: x.reshape(64, 4, 2, 6, 2).mean((2, 4))),
    "causal_attention": ([(F, 64, 128), (F, 64, 128), (F, 128, 64)], _attention),
    "mamba_scan": ([("decay", 128, 100), (F, 128, 100)], _scan),
    "cumsum": ([(F, 128, 200)], lambda x: np.cumsum(x, 1)),
    "swiglu": ([(F, 128, 256), (F, 128, 256)], lambda g, u: g / (1 + np.exp(-g)) * u),
    "gelu": ([(F, 128, 256)], lambda x: np.array([[0.5 * v * (1 + math.erf(v / math.sqrt(2))) for v in r] for r in x])),
    "rope": ([(F, 128, 64), (F, 128, 32), (F, 128, 32)], _rope),
    "gather_rows": ([(F, 10, 64), ("int32", 100, 1)], lambda t, i: t[i[:, 0]]),
    "top8": ([(F, 128, 200)], _top8),
    "quantise": ([(F, 128, 64)], lambda x: np.rint(x * (127 / np.abs(x).max(1, keepdims=True))).astype(np.int8)),
    "conv1d": ([(F, 64, 100), (F, 64, 4)], _conv1d),
    "scaled_columns": ([(F, 128, 64), (F, 128)], lambda x, w: x * w[:, None]),
    "update": ([(F, 128, 64), (F, 128, 64)], lambda x, y: x + y),
    "halves": ([(F, 128, 64)], _bf16),
    "first_iteration": ([(F, 128, 64)], lambda x: 3 * x),
    "grid_rows": ([(F, 256, 64)], np.exp, {"grid": [2]}),
    "select": ([(F, 128, 64), (F, 128, 64)], np.maximum),
    "partitions_summed": ([(F, 128, 200)], lambda x: x.sum(0, keepdims=True)),
}
