# SPDX-License-Identifier: Apache-2.0
"""Figures that are rates: many judgements of kernels whose true worth is known beforehand."""
import os
import pathlib
import shutil
import statistics

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SOFTMAX = ROOT / "operators/softmax"


def figure(name, value, unit, kind=None, reference=None):
    tail = f" {kind} {reference:.4g}" if kind else ""
    print(f"FIGURE {name} {value:.4g} {unit}{tail}", flush=True)


class Campaigns:
    """Part of Bench (run.py)."""

    def timed_verdict(self, path, *more):
        result, _ = self.run("evaluate", path, "-d", "softmax_f32", "--gate", "smoke", "--time", "--least-window", 2, "--no-archive", *more)
        return result["evaluations"][0]["probe"]["verdict"]

    def a_versus_a(self):
        """A kernel against itself: no campaign may accept it."""
        text = (SOFTMAX / "baseline.cpp").read_text()
        accepted = decided = 0
        for i in range(self.options.campaigns):
            path = os.path.join(self.dir, "same.cpp")
            pathlib.Path(path).write_text(f"// campaign {i}\n{text}")
            verdict = self.timed_verdict(path, "--workload", "rows=128", "--timing-budget", "20s")
            accepted += verdict["word"] == "ACCEPTED"
            decided += verdict["merit"]["outcome"] != "unknown"
        figure("aa.campaigns", self.options.campaigns, "count")
        figure("aa.accepted", accepted, "count")
        figure("aa.decided_not_faster", decided - accepted, "count")

    def planted(self):
        """The baseline does each twentieth row twice: the kernel without that is 1.05x as fast."""
        folder = os.path.join(self.dir, "planted-operators")
        shutil.copytree(ROOT / "operators/include", os.path.join(folder, "include"))
        shutil.copytree(SOFTMAX, os.path.join(folder, "softmax"))
        text = (SOFTMAX / "baseline.cpp").read_text()
        slower = text.replace('extern "C" int baseline', "static int plain") + (
            '\nextern "C" int baseline(const float* x, float* y, std::int64_t rows, std::int64_t n) {\n'
            "  plain(x, y, rows, n);\n  return plain(x, y, rows / 20, n);\n}\n")
        pathlib.Path(folder, "softmax/baseline.cpp").write_text(slower)
        workloads = pathlib.Path(folder, "softmax/softmax_f32.workloads.jsonl")
        workloads.write_text(workloads.read_text().replace('"rows": 128, "n": 512', '"rows": 120, "n": 512'))
        quiet = accepted = 0
        speedups, noise = [], []
        for i in range(self.options.planted_campaigns):
            path = os.path.join(self.dir, "twentieth.cpp")
            pathlib.Path(path).write_text(f"// campaign {i}\n{text}")
            verdict = self.timed_verdict(path, "--operators", folder, "--workload", "rows=120", "--timing-budget", "120s")
            times = verdict["times"]
            noise.append(100 * times["aa_sigma"])
            if noise[-1] > 3:
                continue
            quiet += 1
            if verdict["word"] == "ACCEPTED":
                accepted += 1
                speedups += [p["speedup"] for p in times["confirmation"]]
        figure("planted_105.campaigns_with_noise_up_to_3_percent", quiet, "count")
        figure("planted_105.median_noise", statistics.median(noise), "percent")
        if quiet:
            figure("planted_105.accepted", 100 * accepted / quiet, "percent", "floor", 95)
        if speedups:
            figure("planted_105.median_speedup", statistics.median(speedups), "x", "peer", 1.05)

    def detection(self):
        """A kernel that is wrong on 3 inputs of 200: how many of 100 accept gates turn it down."""
        result, _ = self.run("redteam", "RH-16/2", "--no-timing", "--repeats", 100)
        runs = result["results"]
        figure("detection.three_in_200.rejected", sum(r["observed"] == "REJECT_WRONG" for r in runs), "of_100", "floor", 97)

    def gate_cost(self):
        """The gates of a small operator against smoke, each on sources nobody compiled before, alternating."""
        walls = {"smoke": [], "gate": [], "accept": []}
        for _ in range(self.options.repeats):
            for gate, wall in walls.items():
                _, seconds = self.run("evaluate", self.source(), "-d", "softmax_f32", "--workload", "rows=128", "--gate", gate)
                wall.append(seconds)
        smoke = statistics.median(walls["smoke"])
        for gate in ("gate", "accept"):
            figure(f"{gate}.ratio_to_smoke", statistics.median(walls[gate]) / smoke, "x", "peer", 1.0)
