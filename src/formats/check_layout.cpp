// SPDX-License-Identifier: Apache-2.0
#include "formats/loading.hpp"

#include "os/files.hpp"

#include <fmt/format.h>
#include <set>

namespace kw {
namespace {

/// "file:12" -> "file".
std::string file_of(const std::string& where) {
  return where.substr(0, where.rfind(':'));
}

class LayoutChecker {
 public:
  LayoutChecker(const TraceSet& set, Issues& issues) : set_(set), issues_(issues) {}

  void run() {
    for (const Definition& d : set_.definitions)
      expect(d.file, fmt::format("definitions/{}/{}.json", d.op_type, d.name));
    for (const Solution& s : set_.solutions)
      if (const Definition* d = set_.definition(s.definition))
        expect(s.file,
               fmt::format("solutions/{}/{}/{}/{}.json", s.author, d->op_type, d->name, s.name));
    for (const auto& [name, workloads] : set_.workloads)
      if (const Definition* d = set_.definition(name))
        for (const Workload& w : workloads)
          expect(file_of(w.where), fmt::format("workloads/{}/{}.jsonl", d->op_type, name));
    std::map<std::string, std::string> authors;
    for (const Solution& s : set_.solutions)
      authors.emplace(s.name, s.author);
    for (const Trace& t : set_.traces) {
      const Definition* d = set_.definition(t.definition);
      const auto author = authors.find(t.solution.value_or(""));
      if (d != nullptr && author != authors.end())
        expect(file_of(t.where),
               fmt::format("traces/{}/{}/{}.jsonl", author->second, d->op_type, d->name));
    }
  }

 private:
  void expect(const std::string& file, const std::string& wanted) {
    if (file == join_path(set_.root, wanted) || !told_.insert(file + '\n' + wanted).second)
      return;
    issues_.push_back(
        {Severity::warning,
         {ErrorKind::invalid_input, "the file is not where its content belongs",
          fmt::format("move it to {}; flashinfer-bench's validator skips it here", wanted), file}});
  }

  const TraceSet& set_;
  Issues& issues_;
  std::set<std::string> told_;
};

} // namespace

void check_layout(const TraceSet& set, Issues& issues) {
  LayoutChecker(set, issues).run();
}

} // namespace kw
