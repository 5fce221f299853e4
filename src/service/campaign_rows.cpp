// SPDX-License-Identifier: Apache-2.0
#include "service/campaign_rows.hpp"

#include "report/render.hpp"
#include "stats/robust.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

namespace kw {
namespace {

/// One list of fields for both directions.
template <class V, class W> void each_workload(V& v, W& w) {
  v("axes", w.axes), v("count", w.count), v("rounds", w.rounds), v("median", w.median);
  v("p95", w.p95), v("min", w.min), v("max", w.max), v("speedup", w.speedup), v("low", w.low);
  v("high", w.high), v("bound_fraction", w.bound_fraction), v("peer", w.peer);
  v("over_peer", w.over_peer);
}
template <class V, class R> void each_row(V& v, R& r) {
  v("track", r.track), v("definition", r.definition), v("state", r.state), v("reason", r.reason);
  v("run", r.run), v("record", r.record), v("speedup", r.speedup), v("low", r.low);
  v("high", r.high), v("workloads", r.workloads), v("trials", r.trials);
  v("replayed", r.replayed), v("replay_failures", r.replay_failures);
  v("over_peers", r.over_peers), v("bound_fraction", r.bound_fraction), v("score", r.score);
  auto& a = r.aggregates;
  v("mean_baseline", a.mean_baseline), v("mean_candidate", a.mean_candidate);
  v("ratio_of_means", a.ratio_of_means), v("mean_of_ratios", a.mean_of_ratios);
  v("geomean", a.geomean), v("weighted_geomean", a.weighted_geomean);
  v("p95_baseline", a.p95_baseline), v("p95_candidate", a.p95_candidate);
}

struct Writer {
  Json out = Json::object();
  template <class T> void operator()(const char* key, const T& value) { out[key] = value; }
};
struct Reader {
  const Json& in;
  template <class T> void operator()(const char* key, T& value) {
    value = in.value(key, value); // throws on another type: caught below
  }
};

} // namespace

CampaignRow campaign_row(const OptimizeResult& result) {
  CampaignRow row;
  row.definition = result.report.definition;
  row.run = result.run;
  row.record = result.report.record;
  row.aggregates = aggregates(result.report);
  if (!result.outcome.champion)
    return row;
  const Probe& champion = *result.outcome.champion;
  row.reason = champion.reason;
  row.trials = champion.verdict.trials;
  if (!champion.verdict.times)
    return row;
  const TimingEvidence& times = *champion.verdict.times;
  row.speedup = times.speedup, row.low = times.low, row.high = times.high;
  row.score =
      champion.verdict.correctness.outcome == Outcome::pass ? row.aggregates.mean_of_ratios : 0;
  double peers = 0, peer_count = 0, bound = 0, bound_count = 0;
  for (const ReportWorkload& w : result.report.workloads) {
    row.workloads += w.count;
    CampaignWorkload one{.axes = w.axes,
                         .count = w.count,
                         .speedup = w.speedup,
                         .low = w.low,
                         .high = w.high,
                         .bound_fraction = w.bound_fraction,
                         .peer = {}};
    for (const PairedTiming& p : times.confirmation)
      if (p.uuid == w.uuid && p.baseline == result.report.baseline && !p.candidate_ns.empty()) {
        one.rounds = p.candidate_ns.size();
        one.median = median(p.candidate_ns);
        one.p95 = quantile(p.candidate_ns, 0.95);
        one.min = quantile(p.candidate_ns, 0);
        one.max = quantile(p.candidate_ns, 1);
      }
    double fastest = 0;
    for (const auto& [peer, ns] : w.peers_ns)
      if (!peer.starts_with("copy") && ns > 0 && (fastest == 0 || ns < fastest))
        fastest = ns, one.peer = peer;
    const auto count = static_cast<double>(w.count);
    if (fastest > 0 && one.median > 0) {
      one.over_peer = fastest / one.median;
      peers += count * std::log(one.over_peer);
      peer_count += count;
    }
    if (w.bound_fraction > 0)
      bound += count * std::log(w.bound_fraction), bound_count += count;
    row.per_workload.push_back(std::move(one));
  }
  row.over_peers = peer_count > 0 ? std::exp(peers / peer_count) : 0;
  row.bound_fraction = bound_count > 0 ? std::exp(bound / bound_count) : 0;
  return row;
}

Json to_json(const CampaignRow& row) {
  Writer v;
  each_row(v, row);
  Json list = Json::array();
  for (const CampaignWorkload& w : row.per_workload) {
    Writer one;
    each_workload(one, w);
    list.push_back(std::move(one.out));
  }
  v.out["per_workload"] = std::move(list);
  return std::move(v.out);
}

Result<CampaignRow> campaign_row_from_json(const Json& json) {
  CampaignRow row;
  try {
    Reader v{json};
    each_row(v, row);
    for (const Json& one : json.at("per_workload")) {
      Reader w{one};
      each_workload(w, row.per_workload.emplace_back());
    }
  } catch (const nlohmann::json::exception&) {
    return fail(ErrorKind::invalid_input, "The progress of the campaign is damaged",
                "start it anew with --fresh");
  }
  return row;
}

} // namespace kw
