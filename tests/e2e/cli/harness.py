# SPDX-License-Identifier: Apache-2.0
"""Drives the real binary: one scratch folder per test process, every output checked for form."""
import atexit
import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import unittest

BIN = os.path.abspath(os.environ.get("KW_BIN", "build/release/bin/kernwright"))
SOFTMAX = ["-d", "softmax_f32", "--gate", "smoke", "--workload", "rows=128"]

# Holds, does not hold, wrong input, our side failed, interrupted.
HOLDS, FAILS, BAD_INPUT, OUR_SIDE, INTERRUPTED = 0, 1, 2, 3, 130

_scratch = pathlib.Path(tempfile.mkdtemp(prefix="kernwright-e2e-"))
atexit.register(shutil.rmtree, _scratch, ignore_errors=True)


class Outcome:
    def __init__(self, code, out, err):
        self.code, self.out, self.err = code, out, err

    @property
    def text(self):
        """Both streams, wrapped lines joined, for looking up sentences."""
        return " ".join((self.out + " " + self.err).split())

    @property
    def json(self):
        """The one JSON document on stdout; anything around it is an error."""
        return json.loads(self.out)


def environment(**more):
    env = {k: v for k, v in os.environ.items() if not k.startswith("KERNWRIGHT_")}
    env.update(KERNWRIGHT_STATE=str(_scratch / "state"), KERNWRIGHT_CACHE=str(_scratch / "cache"),
               TERM="dumb", **more)
    return env


def kernwright(*args, limit=55, env=None, cwd=None):
    done = subprocess.run([BIN, *map(str, args)], capture_output=True, text=True, timeout=limit,
                          env=env or environment(), cwd=cwd or _scratch)
    return Outcome(done.returncode, done.stdout, done.stderr)


def start(*args):
    """A run to interrupt; its progress goes to a file, so that nothing blocks on a full pipe."""
    log = tempfile.NamedTemporaryFile("w+", dir=_scratch, suffix=".log", delete=False)
    process = subprocess.Popen([BIN, *map(str, args)], stdout=log, stderr=log, env=environment(), cwd=_scratch)
    return process, log.name


def descendants(pid):
    """Process ids below `pid`, from the kernel's own lists. Whoever ends meanwhile is left out."""
    found = []
    try:
        tasks = os.listdir(f"/proc/{pid}/task")
    except OSError:
        return found
    for task in tasks:
        try:
            children = pathlib.Path(f"/proc/{pid}/task/{task}/children").read_text().split()
        except OSError:
            continue
        for child in children:
            found += [int(child), *descendants(int(child))]
    return found


def alive(pid):
    try:
        state = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except OSError:
        return False
    return state not in "ZX"


class Case(unittest.TestCase):
    maxDiff = 4000

    def setUp(self):
        self.dir = pathlib.Path(tempfile.mkdtemp(dir=_scratch))

    def write(self, name, text):
        path = self.dir / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def expect(self, outcome, code, *sentences):
        self.assertEqual(outcome.code, code, f"\nstdout: {outcome.out}\nstderr: {outcome.err}")
        for sentence in sentences:
            self.assertIn(sentence, outcome.text)
        return outcome

    def run_expecting(self, code, *args, says=(), **options):
        return self.expect(kernwright(*args, **options), code, *says)

    def error_of(self, *args, code=BAD_INPUT, **options):
        """The same failure for people and machines: stderr with a remedy, and one JSON document."""
        text = kernwright(*args, **options)
        self.expect(text, code, "error: ", "remedy: ")
        self.assertEqual(text.out, "")
        error = self.expect(kernwright("--json", *args, **options), code).json["error"]
        self.assertTrue(error["message"] and error["remedy"], error)
        self.assertIn(" ".join(error["message"].split()), text.text)
        return error

    def evaluate(self, source, *more, code):
        """Judges one source; returns the text outcome and the probe of a second, JSON run. The
        latter leaves the archive out, which would answer for a kernel that was wrong before."""
        text = self.run_expecting(code, "evaluate", source, *(more or SOFTMAX))
        parsed = self.run_expecting(code, "--json", "evaluate", source, "--no-archive", *(more or SOFTMAX)).json
        return text, parsed["evaluations"][0]["probe"]


SOFTMAX_BODY = """
  for (std::int64_t r = 0; r < rows; ++r, x += n, y += n) {
    float top = x[0], total = 0;
    for (std::int64_t i = 1; i < n; ++i)
      top = x[i] > top ? x[i] : top;
    for (std::int64_t i = 0; i < n; ++i)
      total += y[i] = expf(x[i] - top);
    for (std::int64_t i = 0; i < n; ++i)
      y[i] /= total;
  }
"""


def softmax(after="", before="", head="", body=SOFTMAX_BODY, name="kernel"):
    """An honest softmax with something done before or after it. `y` then points past the output."""
    return (f"#include <cmath>\n#include <cstdint>\n{head}\n"
            f'extern "C" int {name}(const float* x, float* y, std::int64_t rows, std::int64_t n) {{\n'
            f"{before}{body}{after}\n  return 0;\n}}\n")


def stop(process, sig, seconds=55):
    process.send_signal(sig)
    return process.wait(timeout=seconds)


KILL, INT = signal.SIGKILL, signal.SIGINT
