// SPDX-License-Identifier: Apache-2.0
// A journal from anywhere is read or refused; what is read goes through without a crash.
#include "controller/journal.hpp"
#include "controller/known.hpp"
#include "controller/proposer.hpp"
#include "controller/steering.hpp"

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  kw::Result<kw::Journal> journal = kw::Journal::from_text(text, "journal.jsonl");
  if (!journal)
    return 0;
  for (const char* what : {"known", "evaluate"})
    if (const kw::Result<kw::Json> result =
            journal->once(what, "", [] { return kw::Result<kw::Json>(kw::Json()); })) {
      (void)kw::knowledge_from_json(*result);
      (void)kw::proposals_from_json(*result);
      (void)kw::steering_from_json(*result);
    }
  return 0;
}
