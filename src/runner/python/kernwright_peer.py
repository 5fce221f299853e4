# SPDX-License-Identifier: Apache-2.0
"""Trusted Python arm: speaks the two-page protocol of src/runner/protocol.hpp.

The user's file defines the entry function; it is called with the arguments of the C prototype:
flat arrays over the shared buffers (inputs read-only, outputs to be written in place), then
integers and floats. Module-level settings of that file:

    KW_FRAMEWORK = "torch"                      # tensors instead of NumPy arrays
    KW_DTYPES = ["float32", "bfloat16", ...]    # one per buffer argument; default: bytes (uint8)

NumPy has no bfloat16 or float8: their bit patterns arrive as uint16 and uint8.
"""
import ctypes
import importlib.util
import mmap
import os
import signal
import socket
import struct
import sys
import threading
import traceback
import warnings

PAGE = 4096
START = struct.Struct("<IIIIiIQQQII")  # protocol::StartRequest
MAGIC, VERSION, LOADED = 0x4B575231, 1, 2
FUTEX_WAIT, FUTEX_WAKE, SYS_FUTEX = 0, 1, 202
EXIT_LOAD, EXIT_PROTOCOL, EXIT_RAISED = 41, 43, 44
# 32-bit word indices of JudgePage and ArmPage
J_SPIN, J_SLEEPING, J_GO, J_ENTRY, J_WARM, J_EVICT = 2, 3, 16, 32, 33, 34
J_INPUTS, J_OUTPUTS, J_ARGUMENTS = 36, 37, 38
A_DONE, A_SLEEPING, A_RETURN, A_LOADED, A_MESSAGE = 0, 16, 17, 21, 152
PLACES_IN, PLACES_OUT, ARGUMENTS = 208, 976, 1744


def run(channel):
    bytes_, fds, _, _ = socket.recv_fds(channel, START.size + 8192, 8)
    if len(bytes_) < START.size or len(fds) < 4:
        os._exit(EXIT_PROTOCOL)
    head = START.unpack_from(bytes_)
    if head[0] != MAGIC or head[1] != VERSION:
        os._exit(EXIT_PROTOCOL)
    threads, cpu, input_bytes, output_bytes = head[3], head[4], head[6], head[7]
    if cpu >= 0:
        os.sched_setaffinity(0, {cpu})  # before any library starts threads; like the other arms
    names = bytes_[START.size:].split(b"\0")[:-1]
    path, entries = os.fsdecode(names[0]), [n.decode() for n in names[1:]]
    threading.Thread(target=end_with, args=(channel,), daemon=True).start()

    arm = mmap.mmap(fds[1], PAGE)
    try:
        import numpy as np

        judge = mmap.mmap(fds[0], PAGE, prot=mmap.PROT_READ)
        inputs = np.frombuffer(mmap.mmap(fds[2], input_bytes, prot=mmap.PROT_READ), np.uint8)
        outputs = np.frombuffer(mmap.mmap(fds[3], output_bytes), np.uint8)
        module = load(path)
        functions = [getattr(module, name) for name in entries]
        framework = getattr(module, "KW_FRAMEWORK", "numpy")
        if framework == "torch":
            import torch

            torch.set_num_threads(threads)
            warnings.filterwarnings("ignore", message=".*not writ.*able.*")
    except BaseException:
        say(arm, traceback.format_exc())
        os._exit(EXIT_LOAD)
    for fd in fds:
        os.close(fd)
    try:
        serve(np, module, functions, framework, judge, arm, inputs, outputs)
    except BaseException:
        say(arm, traceback.format_exc())
        os._exit(EXIT_RAISED)


def say(arm, text):
    """The last lines of a traceback, on one line."""
    text = " | ".join(line.strip() for line in text.strip().splitlines())[-500:]
    arm[A_MESSAGE:A_MESSAGE + 512] = text.encode("ascii", "replace")[:511].ljust(512, b"\0")


def end_with(channel):
    """Nothing survives the judge."""
    while channel.recv(1):
        pass
    os.kill(0, signal.SIGKILL)


def load(path):
    sys.path.insert(0, os.path.dirname(os.path.abspath(path)))
    spec = importlib.util.spec_from_file_location("kernwright_peer_module", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def typed(np, framework, flat, dtype):
    if framework == "torch":
        import torch

        tensor = torch.from_numpy(flat)
        return tensor if dtype is None else tensor.view(getattr(torch, dtype))
    if dtype is None:
        return flat
    return flat.view({"bfloat16": np.uint16, "float8_e4m3fn": np.uint8, "float8_e5m2": np.uint8,
                      "bool": np.bool_}.get(dtype) or np.dtype(dtype))


def arguments(np, module, framework, judge, inputs, outputs):
    count = struct.unpack_from("<I", judge, 4 * J_ARGUMENTS)[0]
    dtypes = list(getattr(module, "KW_DTYPES", []))
    result, buffers = [], 0
    for i in range(count):
        kind, index, bits = struct.unpack_from("<IIQ", judge, ARGUMENTS + 16 * i)
        if kind <= 1:
            arena, places = (inputs, PLACES_IN) if kind == 0 else (outputs, PLACES_OUT)
            offset, size = struct.unpack_from("<QQ", judge, places + 16 * index)
            dtype = dtypes[buffers] if buffers < len(dtypes) else None
            result.append(typed(np, framework, arena[offset:offset + size], dtype))
            buffers += 1
        elif kind == 2:
            result.append(bits - (1 << 64) if bits >> 63 else bits)
        else:
            raw = struct.pack("<Q", bits)
            result.append(struct.unpack("<f", raw[:4])[0] if kind == 3 else struct.unpack("<d", raw)[0])
    return result


def touch(np, judge, arena, places, count, step):
    for i in range(count):
        offset, size = struct.unpack_from("<QQ", judge, places + 16 * i)
        arena[offset:offset + size:step].max(initial=0)


def serve(np, module, functions, framework, judge, arm, inputs, outputs):
    jw, aw = np.frombuffer(judge, np.uint32), np.frombuffer(arm, np.uint32)
    result = np.frombuffer(arm, np.int32)
    syscall = ctypes.CDLL(None).syscall
    go_address = ctypes.c_void_p(jw.ctypes.data + 4 * J_GO)
    done_address = ctypes.c_void_p(aw.ctypes.data + 4 * A_DONE)

    def ring(value):
        aw[A_DONE] = value
        if jw[J_SLEEPING]:
            syscall(SYS_FUTEX, done_address, FUTEX_WAKE, 1, None, None, 0)

    seen, call = LOADED, None
    aw[A_LOADED] = 1
    ring(LOADED)
    while True:
        spins = 0
        while (go := int(jw[J_GO])) == seen:
            spins += 1
            if jw[J_SPIN] or spins < 200:
                continue
            aw[A_SLEEPING] = 1
            if jw[J_GO] == seen:
                syscall(SYS_FUTEX, go_address, FUTEX_WAIT, ctypes.c_uint(seen), None, None, 0)
            aw[A_SLEEPING] = 0
        seen = go
        if go % 2 == 1:
            call = (functions[int(jw[J_ENTRY])],
                    arguments(np, module, framework, judge, inputs, outputs))
            step = 64 if jw[J_WARM] and not jw[J_EVICT] else PAGE
            touch(np, judge, inputs, PLACES_IN, int(jw[J_INPUTS]), step)
            touch(np, judge, outputs, PLACES_OUT, int(jw[J_OUTPUTS]), step)
        else:
            code = call[0](*call[1])
            result[A_RETURN] = code if isinstance(code, int) else 0
        ring(go)


run(socket.socket(fileno=int(sys.argv[1])))
