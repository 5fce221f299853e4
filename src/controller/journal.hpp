// SPDX-License-Identifier: Apache-2.0
// The effects of a run in their order, so that going through the run again comes to the same
// decisions (docs/decisions/0011). Format: docs/archive.md, "Journals".
#pragma once

#include "base/json.hpp"
#include "base/result.hpp"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace kw {

class Journal {
 public:
  /// In memory, empty.
  Journal() = default;
  /// Reads what is at `path` (absent: empty); a torn last line is cut off. Appends there from now
  /// on. Errors: a damaged line before the last, another schema.
  static Result<Journal> open(const std::string& path);
  /// The same from its text, in memory; nothing may be torn. `name` is for messages.
  static Result<Journal> from_text(std::string_view text, const std::string& name);
  /// From now on effects are answered from the journal at `path` as long as it has any, instead of
  /// being carried out: the same evaluations once more.
  Status answer_from(const std::string& path);

  /// The recorded result, where the run has been here before; else `live` is carried out and its
  /// result recorded durably. Errors: `live`'s; invalid_input where another effect is recorded: the
  /// code or the spaces have changed since.
  Result<Json> once(std::string_view what, std::string_view key,
                    const std::function<Result<Json>()>& live);
  /// Whether the next effect is a recorded one.
  [[nodiscard]] bool replaying() const { return next_ < effects_.size(); }
  /// Whether it will not be carried out, be it recorded here or answered from another journal.
  [[nodiscard]] bool answered() const { return replaying() || next_ < answers_.size(); }
  [[nodiscard]] std::size_t size() const { return effects_.size(); }

 private:
  struct Effect {
    std::string what, key;
    std::string result; ///< JSON text
  };
  Status append(const Effect& effect);

  static Result<std::vector<Effect>> read(const std::string& path, bool mend);
  static Result<std::vector<Effect>> parse(std::string_view text, const std::string& name);
  Result<Json> match(const Effect& known, std::string_view what, std::string_view key,
                     std::size_t step) const;

  std::string path_; ///< "" = in memory
  std::vector<Effect> effects_, answers_;
  std::size_t next_ = 0;
};

} // namespace kw
