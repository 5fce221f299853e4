// SPDX-License-Identifier: Apache-2.0
// One list of fields per record serves writing and reading: each(v, record) calls v(key, member)
// for every field. A writer fills a JSON object; a reader takes what is there and leaves the rest.
#pragma once

#include "model/probe.hpp"
#include "model/profile.hpp"
#include "model/verdict.hpp"

#include <concepts>
#include <type_traits>

namespace kw::fields {

/// R is T or const T, so that one list serves both directions.
template <class R, class T>
concept Of = std::same_as<std::remove_const_t<R>, T>;

template <class V, Of<AxisVerdict> R> void each(V& v, R& r) {
  v("outcome", r.outcome);
  v("summary", r.summary);
  v("details", r.details);
}
template <class V, Of<MismatchPlace> R> void each(V& v, R& r) {
  v("cluster", r.cluster);
  v("text", r.text);
  v("rows", r.rows);
  v("columns", r.columns);
  v("bad_rows", r.bad_rows);
  v("bad_columns", r.bad_columns);
  v("first_row", r.first_row);
  v("last_row", r.last_row);
  v("first_column", r.first_column);
  v("last_column", r.last_column);
  v("relative_error", r.relative_error);
  v("worst_row", r.worst_row);
  v("worst_row_error", r.worst_row_error);
  v("worst_tile_row", r.worst_tile_row);
  v("worst_tile_column", r.worst_tile_column);
  v("worst_tile_error", r.worst_tile_error);
  v("max_abs", r.max_abs);
  v("max_eta", r.max_eta);
  v("max_ulp", r.max_ulp);
}
template <class V, Of<Mismatch> R> void each(V& v, R& r) {
  v("workload", r.workload);
  v("input_class", r.input_class);
  v("trial", r.trial);
  v("output", r.output);
  v("at", r.at);
  v("got", r.got);
  v("want", r.want);
  v("bound", r.bound);
  v("bad_elements", r.bad_elements);
  v("elements", r.elements);
  v("pattern", r.pattern);
  v.unless_absent("place", r.place);
}
template <class V, Of<Diagnostic> R> void each(V& v, R& r) {
  v("severity", r.severity);
  v("file", r.file);
  v("line", r.line);
  v("column", r.column);
  v("code", r.code);
  v("message", r.message);
  v("excerpt", r.excerpt);
}
template <class V, Of<RankingEvidence> R> void each(V& v, R& r) {
  v("rows", r.rows);
  v("tied", r.tied);
  v("reordered", r.reordered);
  v("least_margin", r.least_margin);
}
template <class V, Of<RowEvidence> R> void each(V& v, R& r) {
  v("rows", r.rows);
  v("compared", r.compared);
  v("trials", r.trials);
  v("seen_share", r.seen_share);
}
template <class V, Of<WorkloadTrials> R> void each(V& v, R& r) {
  v("uuid", r.uuid);
  v("trials", r.trials);
  v("failures", r.failures);
  v("max_eta", r.max_eta);
  v("max_abs_error", r.max_abs_error);
  v("max_rel_error", r.max_rel_error);
  v.unless_absent("max_ulp", r.max_ulp);
  v.unless_absent("ranking", r.ranking);
  v.unless_absent("sampled_rows", r.sampled_rows);
}
template <class V, Of<SandboxFacility> R> void each(V& v, R& r) {
  v("facility", r.facility);
  v("works", r.works);
  v("tried", r.tried);
  v("happened", r.happened);
}
template <class V, Of<SanitizedRun> R> void each(V& v, R& r) {
  v("sanitizers", r.sanitizers);
  v("outcome", r.outcome);
  v("summary", r.summary);
  v("report", r.report);
  v("calls", r.calls);
  v("build_ms", r.build_ms);
  v("run_ms", r.run_ms);
}
template <class V, Of<ProfileFigure> R> void each(V& v, R& r) {
  v("name", r.name);
  v("value", r.value);
  v("unit", r.unit);
  v("source", r.source);
  v("confidence", r.confidence);
}
template <class V, Of<LoopRemark> R> void each(V& v, R& r) {
  v("file", r.file);
  v("line", r.line);
  v("vectorized", r.vectorized);
  v("code", r.code);
  v("text", r.text);
  v("source", r.source);
}
template <class V, Of<PipelineEstimate> R> void each(V& v, R& r) {
  v("model", r.model);
  v("own", r.own);
  v("cycles", r.cycles);
  v("throughput", r.throughput);
  v("ports", r.ports);
  v("dependency", r.dependency);
  v("port", r.port);
  v("source", r.source);
  v("confidence", r.confidence);
}
template <class V, Of<ObjectLoop> R> void each(V& v, R& r) {
  v("function", r.function);
  v("file", r.file);
  v("line", r.line);
  v("depth", r.depth);
  v("instructions", r.instructions);
  v("vector_bits", r.vector_bits);
  v("packed", r.packed);
  v("scalar", r.scalar);
  v("fma", r.fma);
  v("accumulators", r.accumulators);
  v("loads", r.loads);
  v("stores", r.stores);
  v("spills", r.spills);
  v("gathers", r.gathers);
  v("divides", r.divides);
  v("calls", r.calls);
  v.unless_zero("chased", r.chased);
  v.unless_zero("atomics", r.atomics);
  v.unless_zero("branches", r.branches);
  v("share", r.share);
  v("hot", r.hot);
  v("confidence", r.confidence);
  v.unless_empty("code", r.code);
  v.unless_empty("pipeline", r.pipeline);
}
template <class V, Of<SweepPoint> R> void each(V& v, R& r) {
  v("axis", r.axis);
  v("value", r.value);
  v("bytes", r.bytes);
  v("level", r.level);
  v("ns", r.ns);
  v("ns_per_byte", r.ns_per_byte);
  v("source", r.source);
  v("confidence", r.confidence);
}
template <class V, Of<ThreadPoint> R> void each(V& v, R& r) {
  v("threads", r.threads);
  v("ns", r.ns);
  v("speedup", r.speedup);
  v("efficiency", r.efficiency);
  v("source", r.source);
  v("confidence", r.confidence);
}
template <class V, Of<BottleneckState> R> void each(V& v, R& r) {
  v("word", r.word);
  v.unless_empty("level", r.level);
  v("confidence", r.confidence);
  v("headroom", r.headroom);
  v("evidence", r.evidence);
  v("next", r.next);
}
template <class V, Of<Profile> R> void each(V& v, R& r) {
  v("definition", r.definition);
  v("solution", r.solution);
  v("axes", r.axes);
  v.unless_zero("threads", r.threads);
  v.unless_empty("level", r.level);
  v("state", r.state);
  v("figures", r.figures);
  v.unless_empty("sweep", r.sweep);
  v.unless_empty("scaling", r.scaling);
  v("loops", r.loops);
  v("remarks", r.remarks);
  v("missing", r.missing);
}
template <class V, Of<DrawTest> R> void each(V& v, R& r) {
  v("name", r.name);
  v("asked", r.asked);
  v("p", r.p);
  v("what", r.what);
}
template <class V, Of<DrawEvidence> R> void each(V& v, R& r) {
  v("draws", r.draws);
  v("alarm", r.alarm);
  v("tests", r.tests);
}
template <class V, Of<Exercise> R> void each(V& v, R& r) {
  v("end_aligned", r.end_aligned);
  v("start_aligned", r.start_aligned);
  v("shapes", r.shapes);
  v("ragged", r.ragged);
  v("hidden", r.hidden);
}
template <class V, Of<PrecisionEvidence> R> void each(V& v, R& r) {
  v("word", r.word);
  v("summary", r.summary);
  v("baseline", r.baseline);
  v("trials", r.trials);
  v("exact_probes", r.exact_probes);
  v("output", r.output);
  v("input_class", r.input_class);
  v("ratio", r.ratio);
  v("excess", r.excess);
  v("candidate_rms", r.candidate_rms);
  v("baseline_rms", r.baseline_rms);
  v("candidate_max", r.candidate_max);
  v("baseline_max", r.baseline_max);
}
template <class V, Of<PairedTiming> R> void each(V& v, R& r) {
  v("uuid", r.uuid);
  v.unless_empty("twins", r.twins);
  v("baseline", r.baseline);
  v("log_ratios", r.log_ratios);
  v("candidate_ns", r.candidate_ns);
  v("baseline_ns", r.baseline_ns);
  v("speedup", r.speedup);
  v("low", r.low);
  v("high", r.high);
  v("floor_ns", r.floor_ns);
  v("decision", r.decision);
  v("discarded_rounds", r.discarded_rounds);
}
template <class V, Of<TimingEvidence> R> void each(V& v, R& r) {
  v("protocol", r.protocol);
  v("clock", r.clock);
  v("doorbell", r.doorbell);
  v("window_ns", r.window_ns);
  v("windows_per_half", r.windows_per_half);
  v("aa_sigma", r.aa_sigma);
  v("fit", r.fit);
  v("gate", r.gate);
  v("confirmation", r.confirmation);
  v.unless_empty("objective", r.objective);
  v("speedup", r.speedup);
  v("low", r.low);
  v("high", r.high);
}
template <class V, Of<FibWorkload> R> void each(V& v, R& r) {
  v("uuid", r.uuid);
  v("trials", r.trials);
  v("matched", r.matched);
  v("least_ratio", r.least_ratio);
  v("max_abs", r.max_abs);
  v("max_rel", r.max_rel);
}
template <class V, Of<FibCompat> R> void each(V& v, R& r) {
  v("status", r.status);
  v("reason", r.reason);
  v("evaluator", r.evaluator);
  v("atol", r.atol);
  v("rtol", r.rtol);
  v("required_ratio", r.required_ratio);
  v("non_finite", r.non_finite);
  v("workloads", r.workloads);
}
template <class V, Of<Verdict> R> void each(V& v, R& r) {
  v("word", r.word);
  v("accepted", r.accepted);
  v("finding", r.finding);
  v("gate", r.gate);
  v("tier", r.tier);
  v.unless_empty("facilities", r.facilities);
  v("tainted", r.tainted);
  v("trials", r.trials);
  v("failure_rate_bound", r.failure_rate_bound);
  v("build", r.build);
  v("sandbox", r.sandbox);
  v("correctness", r.correctness);
  v("timing", r.timing);
  v("merit", r.merit);
  v("diagnostics", r.diagnostics);
  v("mismatch", r.mismatch);
  v("workloads", r.workloads);
  v.unless_empty("sanitized", r.sanitized);
  v.unless_absent("draws", r.draws);
  v.unless_absent("exercise", r.exercise);
  v.unless_absent("precision", r.precision);
  v("times", r.times);
  v.unless_absent("fib", r.fib);
  v("infrastructure_error", r.infrastructure_error);
  v("cost_ms", r.cost_ms);
}
template <class V, Of<Environment> R> void each(V& v, R& r) {
  v("hardware", r.hardware);
  v("compiler", r.compiler);
  v("flags", r.flags);
  v("kernel", r.kernel);
  v("version", r.version);
  v("more", r.more);
}
template <class V, Of<Contribution> R> void each(V& v, R& r) {
  v("role", r.role);
  v("who", r.who);
  v("proposed", r.proposed);
  v("right", r.right);
  v("kept", r.kept);
  v("in_winner", r.in_winner);
  v("minutes", r.minutes);
  v.unless_empty("source", r.source);
  v.unless_empty("commit", r.commit);
  v.unless_empty("licence", r.licence);
}
template <class V, Of<Probe> R> void each(V& v, R& r) {
  v("id", r.id);
  v("run", r.run);
  v("definition", r.definition);
  v("definition_hash", r.definition_hash);
  v("solution", r.solution);
  v("solution_hash", r.solution_hash);
  v("parent", r.parent);
  v("proposer", r.proposer);
  v("hypothesis", r.hypothesis);
  v("verdict", r.verdict);
  v("decision", r.decision);
  v("reason", r.reason);
  v("environment", r.environment);
  v("seed_commitment", r.seed_commitment);
  v("seed", r.seed);
  v("started_at", r.started_at);
  v("wall_ms", r.wall_ms);
  v("regime", r.regime);
  v.unless_empty("direction", r.direction);
  v.unless_empty("contributions", r.contributions);
  v("estimate", r.estimate);
}
template <class V, Of<Record> R> void each(V& v, R& r) {
  v("id", r.id);
  v("previous", r.previous);
  v("probe", r.probe);
  v("definition", r.definition);
  v("solution_name", r.solution_name);
  v("speedup", r.speedup);
  v("low", r.low);
  v("high", r.high);
  v("baseline", r.baseline);
  v("sealed_at", r.sealed_at);
}
template <class V, Of<Run> R> void each(V& v, R& r) {
  v("id", r.id);
  v("definition", r.definition);
  v("state", r.state);
  v("options", r.options);
  v("started_at", r.started_at);
  v("finished_at", r.finished_at);
  v("champion", r.champion);
}
template <class V, Of<SourceFile> R> void each(V& v, R& r) {
  v("path", r.path);
  v("content", r.content);
}
/// Not the upstream form (solution_json.hpp): a stored probe keeps the solution as it was judged.
template <class V, Of<BuildSpec> R> void each(V& v, R& r) {
  v("language", r.language);
  v("target_hardware", r.target_hardware);
  v("entry_point", r.entry_point);
  v("dependencies", r.dependencies);
  v("destination_passing_style", r.destination_passing_style);
  v("binding", r.binding);
  v("unknown", r.unknown);
}
template <class V, Of<Solution> R> void each(V& v, R& r) {
  v("name", r.name);
  v("definition", r.definition);
  v("author", r.author);
  v("spec", r.spec);
  v("sources", r.sources);
  v("description", r.description);
  v("unknown", r.unknown);
  v("file", r.file);
}

} // namespace kw::fields
