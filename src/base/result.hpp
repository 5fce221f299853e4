// SPDX-License-Identifier: Apache-2.0
// Expected failures are values: Result<T> carries either a T or an Error that says what to do.
#pragma once

#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace kw {

/// What went wrong, in the terms a caller may branch on. Everything else is prose for people.
enum class ErrorKind {
  invalid_input,  ///< the user's data breaks a rule; `where` names file and line
  not_found,      ///< a name, file or record that does not exist
  unsupported,    ///< valid, but this build or machine cannot do it
  refused,        ///< a policy says no (admission, sandbox tier, null-passing task)
  infrastructure, ///< our side failed (fork, disk, memory): never a verdict on a candidate; may be
                  ///< retried
  timeout,        ///< a deadline passed
  interrupted,    ///< the user asked to stop
};

/// One failure: where, cause, remedy. `message` is a full sentence without a final full stop.
struct Error {
  ErrorKind kind = ErrorKind::infrastructure;
  std::string message;
  std::string remedy; ///< what the user can do about it; may be empty
  std::string where;  ///< "file:line:column", "file", or empty

  /// "where: message\n  remedy: ..." for a terminal.
  [[nodiscard]] std::string text() const;
};

template <class T> using Result = tl::expected<T, Error>;
using Status = Result<void>;

inline tl::unexpected<Error> fail(ErrorKind kind, std::string message, std::string remedy = {},
                                  std::string where = {}) {
  return tl::make_unexpected(Error{kind, std::move(message), std::move(remedy), std::move(where)});
}
inline tl::unexpected<Error> fail(Error error) {
  return tl::make_unexpected(std::move(error));
}

/// A broken invariant: prints and aborts, in every build. Never for bad input.
[[noreturn]] void broken_invariant(const char* condition, const char* file, int line);

} // namespace kw

#define KW_ASSERT(condition)                                                                       \
  ((condition) ? void(0) : ::kw::broken_invariant(#condition, __FILE__, __LINE__))

/// Assigns the value of a Result expression or returns its error: KW_TRY(auto x, f());
#define KW_CONCAT_(a, b) a##b
#define KW_CONCAT(a, b) KW_CONCAT_(a, b)
#define KW_TRY_(tmp, decl, expr)                                                                   \
  auto tmp = (expr);                                                                               \
  if (!tmp)                                                                                        \
    return ::kw::fail(std::move(tmp.error()));                                                     \
  decl = std::move(*tmp)
#define KW_TRY(decl, expr) KW_TRY_(KW_CONCAT(kw_try_, __LINE__), decl, expr)
/// Returns the error of a Status expression, if any.
#define KW_CHECK(expr)                                                                             \
  do {                                                                                             \
    if (auto kw_status = (expr); !kw_status)                                                       \
      return ::kw::fail(std::move(kw_status.error()));                                             \
  } while (false)
