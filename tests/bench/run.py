#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Prints one line per figure: FIGURE <name> <value> <unit> [floor|peer <value>].  docs/BENCH.md explains them.

Every figure is a ratio or a difference within one run; nothing here asserts an absolute time.
"""
import argparse
import concurrent.futures
import glob
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

from campaigns import Campaigns, figure

KERNEL = """// variant {nonce}
extern "C" int softmax(const float* x, float* y, long rows, long n) {{
  for (long r = 0; r < rows; ++r, x += n, y += n) {{
    float top = x[0];
    for (long i = 1; i < n; ++i) top = x[i] > top ? x[i] : top;
    float all = 0;
    for (long i = 0; i < n; ++i) {{
      y[i] = __builtin_expf(x[i] - top);
      all += y[i];
    }}
    for (long i = 0; i < n; ++i) y[i] /= all;
  }}
  return {value};
}}
"""


class Bench(Campaigns):
    def __init__(self, options):
        self.bin = os.path.abspath(options.bin)
        self.options = options
        self.dir = tempfile.mkdtemp(prefix="kernwright-bench-")
        self.state = os.path.join(self.dir, "state")
        self.nonce = 0

    def run(self, *arguments, check=True):
        command = [self.bin, "--json", "--state", self.state, *map(str, arguments)]
        start = time.perf_counter()
        done = subprocess.run(command, capture_output=True, text=True)
        wall = time.perf_counter() - start
        if check and done.returncode not in (0, 1):
            sys.exit(f"{' '.join(command)}\nexit {done.returncode}\n{done.stdout}{done.stderr}")
        return (json.loads(done.stdout) if done.stdout.strip().startswith("{") else {}), wall

    def source(self, folder=None):
        """A kernel nobody compiled before."""
        self.nonce += 1
        path = os.path.join(folder or self.dir, f"k{self.nonce}.cpp")
        pathlib.Path(path).write_text(KERNEL.format(nonce=f"{time.time_ns()}-{self.nonce}", value=0))
        return path

    def solution(self, folder):
        path = self.source()
        out = os.path.join(folder, f"s{self.nonce}.json")
        self.run("pack", path, "-o", out, "-d", "softmax_f32", "--name", f"k{self.nonce}", "--author", "bench", "--entry", "softmax")
        return out

    def flags(self):
        result, _ = self.run("evaluate", self.source(), "-d", "softmax_f32", "--workload", "rows=128", "--gate", "smoke")
        probe = result["evaluations"][0]["probe"]
        return probe["environment"]["flags"].split()

    def smoke(self):
        """Uncached smoke of softmax 128x512 against the bare compiler, alternating."""
        flags = self.flags()
        ratios, overheads, cached = [], [], []
        script = os.path.join(self.dir, "exports")
        pathlib.Path(script).write_text("{global: softmax; local: *;};\n")
        for _ in range(self.options.repeats):
            path = self.source()
            start = time.perf_counter()
            subprocess.run(["g++-12", *flags, f"-Wl,--version-script={script}", path, "-o", os.path.join(self.dir, "bare.so")],
                           check=True, capture_output=True)
            bare = time.perf_counter() - start
            path = self.source()
            arguments = ("evaluate", path, "-d", "softmax_f32", "--workload", "rows=128", "--gate", "smoke")
            result, wall = self.run(*arguments)
            cost = result["evaluations"][0]["probe"]["verdict"]["cost_ms"]
            outside = cost.get("oracle", 0) + cost.get("generate", 0)
            ratios.append((wall * 1e3 - outside) / (bare * 1e3))
            overheads.append(wall * 1e3 - outside - cost["build"] - cost.get("kernel", 0))
            # The same source again: the build comes from the cache.
            _, again = self.run(*arguments, "--no-archive")
            cached.append(again * 1e3)
        figure("smoke.ratio_to_compiler", statistics.median(ratios), "x", "floor", 1.0)
        figure("smoke.overhead_ms", statistics.median(overheads), "ms")
        figure("smoke.cached_total_ms", statistics.median(cached), "ms")

    def throughput(self):
        """Distinct candidates per second against what the compiler alone manages on the same cores."""
        flags = self.flags()
        jobs = os.cpu_count() or 1
        script = os.path.join(self.dir, "exports")
        for gate, count in (("smoke", 60), ("gate", 40)):
            folder = tempfile.mkdtemp(dir=self.dir)
            for _ in range(count):
                self.solution(folder)
            sources = [self.source() for _ in range(count)]
            start = time.perf_counter()
            with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
                list(pool.map(lambda s: subprocess.run(["g++-12", *flags, f"-Wl,--version-script={script}", s, "-o", s + ".so"],
                                                       check=True, capture_output=True), sources))
            compiler = count / (time.perf_counter() - start)
            _, wall = self.run("evaluate", folder, "--workload", "rows=128", "--gate", gate, "--jobs", jobs)
            figure(f"throughput.{gate}", count / wall / compiler, "x", "peer", 1.0)

    def optimize(self):
        for definition, budget, workloads in self.options.optimize:
            filters = [f for w in workloads for f in ("--workload", w)]
            result, wall = self.run("optimize", definition, "--budget", budget, "--gate", "gate", *filters)
            figure(f"optimize.{definition}.wall_s", wall, "s")
            champion = result.get("champion")
            if not champion or not champion["verdict"].get("times"):
                word = champion["verdict"]["word"] if champion else "no champion"
                print(f"# optimize {definition}: {word}", flush=True)
                continue
            rows = {w["uuid"]: w for w in result["workloads"]}
            for pair in champion["verdict"]["times"]["confirmation"]:
                row = rows.get(pair["uuid"])
                if row is None:
                    continue
                axes = row["axes"].replace(" ", ",")
                figure(f"optimize.{definition}.{axes}.vs_{pair['baseline']}", pair["speedup"], f"x[{pair['low']:.3f},{pair['high']:.3f}]")
            for row in rows.values():
                axes = row["axes"].replace(" ", ",")
                copies = [ns for name, ns in row["peers_ns"].items() if name.startswith("copy")]
                if copies:
                    figure(f"optimize.{definition}.{axes}.of_copy", 100 * min(copies) / row["candidate_ns"], "percent", "floor", 100)
                if row["floor_ns"] > 0:
                    figure(f"optimize.{definition}.{axes}.of_roofline", 100 * row["floor_ns"] / row["candidate_ns"], "percent", "floor", 100)

    def ablation(self):
        """What the controller is worth: equal evaluations, champions raced. Not in the default set: up to 90 minutes."""
        state = os.path.abspath(self.options.ablation_state or self.state)
        command = [self.bin, "--json", "--state", state, "ablate"]
        if os.path.exists(os.path.join(state, "ablations", "0001", "plan.json")):
            command += ["--resume", "0001"]
        else:
            command += [*(self.options.definitions or ABLATION), "--seeds", str(self.options.ablation_seeds),
                        "--evaluations", str(self.options.ablation_evaluations), "--longest-call", str(ABLATION_LONGEST_CALL_MS)]
        start = time.perf_counter()
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
        if done.returncode not in (0, 1):
            sys.exit(f"{' '.join(command)}\nexit {done.returncode}\n{done.stdout}")
        result = json.loads(done.stdout)
        for c in result["comparisons"]:
            name = f"ablation.{c['arm']}_vs_{c['against']}"
            if "refused" in c:
                print(f"# {name}: not ranked: {c['refused']}", flush=True)
            elif c["pairs"]:
                figure(f"{name}.geomean", c["geomean"], f"x[{c['low']:.3f},{c['high']:.3f}]")
                figure(f"{name}.low95", c["low95"], "x")
                for definition, value in c["per_definition"].items():
                    figure(f"{name}.{definition}", value, "x")
        if not result["complete"]:
            print(f"# ablation: {result['steps_done']} of {result['steps']} runs and races are done", flush=True)
        figure("ablation.wall_s", time.perf_counter() - start, "s")

    def tuner(self):
        folder = self.options.spaces
        if not folder or not glob.glob(os.path.join(folder, "*.csv*")):
            print("# tuner: no recorded spaces; give their folder with --spaces or KERNWRIGHT_TUNING_SPACES", flush=True)
            return
        subprocess.run([self.options.tuner, folder], check=True)

    def sandbox(self):
        """What closing the sandbox adds to one candidate, against not closing it."""
        if not self.options.sandbox:
            print("# sandbox: give the benchmark's binary with --sandbox", flush=True)
            return
        subprocess.run([self.options.sandbox], check=True)

    def profile(self):
        """What profiles say of kernels whose bottleneck is known."""
        subprocess.run([sys.executable, "-B", str(pathlib.Path(__file__).with_name("profile_corpus.py")), "--bin", self.bin], check=True)

    def nki(self):
        """What checking and simulating Trainium kernels costs."""
        library = str(pathlib.Path(self.bin).resolve().parent.parent / "lib" / "kernwright")
        subprocess.run(["/usr/bin/python3", "-B", str(pathlib.Path(__file__).with_name("nki.py")), library], check=True)

    def controller(self):
        """What planning a round costs when 10,000 attempts are known."""
        if not self.options.controller:
            print("# controller: give the benchmark's binary with --controller", flush=True)
            return
        subprocess.run([self.options.controller], check=True)


# One of each shipped operator that has templates, those with the shortest calls. Sparse attention is left out: seconds per evaluation,
# most of them its oracle's; name it with --definitions.
ABLATION = ["softmax_f32", "layernorm_f32_h4096", "fused_add_rmsnorm_h4096", "rope_neox_h32_kv8_d128", "swiglu_f32_d14336",
            "gdn_decode_qk4_v8_d128_k_last", "gdn_prefill_qk4_v8_d128_k_last", "gemm_f32_n128_k2048", "gemm_bf16_n4096_k4096",
            "dsa_topk_indexer_fp8_h64_d128_topk2048_ps64", "moe_fp8_block_scale_ds_routing_topk8_ng8_kg4_e32_h512_i256"]
ABLATION_LONGEST_CALL_MS = 20

OPTIMIZE = [
    ("softmax_f32", "60s", ["rows=128"]),
    ("layernorm_f32_h4096", "60s", []),
    ("fused_add_rmsnorm_h4096", "90s", []),
    ("gdn_decode_qk4_v8_d128_k_last", "90s", []),
    ("gemm_f32_n4096_k4096", "200s", ["M=1", "M=4", "M=16", "M=1024"]),
]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bin", required=True)
    parser.add_argument("--tuner", default="")
    parser.add_argument("--sandbox", default="")
    parser.add_argument("--controller", default="")
    parser.add_argument("--spaces", default=os.environ.get("KERNWRIGHT_TUNING_SPACES", ""))
    parser.add_argument("--repeats", type=int, default=15)
    parser.add_argument("--campaigns", type=int, default=200)
    parser.add_argument("--planted-campaigns", type=int, default=40)
    parser.add_argument("--only", nargs="*", default=["smoke", "throughput", "sandbox", "controller", "profile", "nki", "optimize", "tuner", "detection", "gate_cost",
                                                          "planted", "a_versus_a"])
    parser.add_argument("--definitions", nargs="*", default=[])
    parser.add_argument("--ablation-seeds", type=int, default=5)
    parser.add_argument("--ablation-evaluations", type=int, default=60)
    parser.add_argument("--ablation-state", default="", help="keeps an ablation that is interrupted; given again, it goes on")
    options = parser.parse_args()
    options.optimize = [o for o in OPTIMIZE if not options.definitions or o[0] in options.definitions]
    bench = Bench(options)
    for part in options.only:
        getattr(bench, part)()


if __name__ == "__main__":
    main()
