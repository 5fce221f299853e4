// SPDX-License-Identifier: Apache-2.0
#include "formats/definition_ext.hpp"

#include <nlohmann/json.hpp>

namespace kw {
namespace {

template <class T> void put(Json& j, const char* key, const T& value, const T& fallback = {}) {
  if (value != fallback)
    j[key] = value;
}

Json from_record(const KernwrightExt& e) {
  Json j = Json::object();
  j["version"] = 1;
  put(j, "family", e.family);
  j["numerics"] = e.numerics;
  j["threads"] = e.threads;
  j["protocol"] = e.protocol;
  j["min_tier"] = e.min_tier;
  put(j, "flops", e.flops);
  put(j, "bytes_read", e.bytes_read);
  put(j, "bytes_written", e.bytes_written);
  put(j, "reference_file", e.reference_file);
  if (!e.oracle.source.empty()) {
    Json& o = j["oracle"] = {{"source", e.oracle.source}, {"entry", e.oracle.entry}};
    put(o, "project_entry", e.oracle.project_entry);
    put(o, "block_entry", e.oracle.block_entry);
  }
  if (e.baseline)
    j["baseline"] = {
        {"name", e.baseline->name}, {"source", e.baseline->source}, {"entry", e.baseline->entry}};
  for (const PeerSpec& p : e.peers) {
    Json peer = {{"name", p.name}, {"kind", p.kind}, {"source", p.source}, {"entry", p.entry}};
    put(peer, "link", p.link);
    j["peers"].push_back(std::move(peer));
  }
  const InputRule plain;
  for (const auto& [name, rule] : e.inputs) {
    Json& r = j["inputs"][name] = {{"kind", rule.kind}};
    put(r, "low", rule.low, plain.low);
    put(r, "high", rule.high, plain.high);
    put(r, "scale", rule.scale, plain.scale);
    if (rule.value)
      r["value"] = *rule.value;
    put(r, "limit", rule.limit);
    put(r, "page", rule.page);
    put(r, "edges", rule.edges);
    put(r, "lengths", rule.lengths);
    put(r, "classes", rule.classes);
    put(r, "hold", rule.hold);
    put(r, "reached_by", rule.reached_by);
    put(r, "near_ties_entry", rule.near_ties_entry);
  }
  for (const auto& [name, p] : e.tolerance) {
    Json& t = j["tolerance"][name] = Json::object();
    put(t, "eta", p.eta);
    put(t, "eta_one_signed_sqrt_k", p.eta_one_signed_sqrt_k);
    put(t, "reduction", p.reduction);
    if (p.accumulate != DType::float32)
      t["accumulate"] = std::string(kw::name(p.accumulate));
    put(t, "rtol", p.rtol);
    put(t, "atol_rms", p.atol_rms);
    put(t, "exact", p.exact);
    put(t, "ranks", p.ranks);
    put(t, "values", p.values);
    put(t, "samples", p.samples);
    if (p.top_p != 1)
      t["top_p"] = p.top_p;
    put(t, "seed", p.seed);
    put(t, "selects", p.selects);
  }
  put(j, "templates", e.templates);
  return j;
}

} // namespace

Json ext_to_json(const Definition& definition, bool inlined) {
  const KernwrightExt& e = definition.ext;
  Json j;
  if (auto written = parse_json({.file = {}, .text = definition.ext_json});
      written && written->is_object())
    j = std::move(*written);
  else
    j = from_record(e);
  if (!inlined)
    return j;
  j.erase("reference_file"); // the text stands in `reference`
  j.erase("templates");      // files of the operator folder, which a trace set does not carry
  if (!e.oracle.source_text.empty())
    j["oracle"]["source_text"] = e.oracle.source_text;
  if (e.baseline && !e.baseline->source_text.empty())
    j["baseline"]["source_text"] = e.baseline->source_text;
  if (j.contains("peers") && j["peers"].size() == e.peers.size())
    for (std::size_t i = 0; i < e.peers.size(); ++i)
      if (!e.peers[i].source_text.empty())
        j["peers"][i]["source_text"] = e.peers[i].source_text;
  return j;
}

} // namespace kw
