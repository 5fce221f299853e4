// SPDX-License-Identifier: Apache-2.0
// SQLite's C API with owners and value errors, no more than the archive needs.
#pragma once

#include "base/result.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

struct sqlite3;
struct sqlite3_stmt;

namespace kw {

/// One prepared statement. Binding starts over with every `bind`.
class Statement {
 public:
  Statement(sqlite3* db, sqlite3_stmt* statement, std::string path);

  /// Binds ?1, ?2, ... in order and rewinds.
  template <class... Values> Statement& bind(const Values&... values) {
    rewind();
    int index = 0;
    (bind_one(++index, values), ...);
    return *this;
  }
  /// True = a row is there; false = done.
  Result<bool> step();
  /// For statements without result rows.
  Status run();

  [[nodiscard]] std::string text(int column) const;
  [[nodiscard]] std::int64_t integer(int column) const;
  [[nodiscard]] double real(int column) const;

 private:
  void rewind();
  void bind_one(int index, std::string_view text);
  void bind_one(int index, std::int64_t value);
  void bind_one(int index, std::uint64_t value) {
    bind_one(index, static_cast<std::int64_t>(value));
  }
  void bind_one(int index, double value);

  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };
  sqlite3* db_;
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
  std::string path_;
  int bind_error_ = 0;
};

class Database {
 public:
  enum class Mode { read_write, read_only, immutable };
  static Result<Database> open(const std::string& path, Mode mode, int busy_timeout_ms);

  Status exec(const std::string& sql);
  Result<Statement> prepare(std::string_view sql);
  /// First column of the first row, "" if there is none.
  Result<std::string> scalar(std::string_view sql);

 private:
  struct Close {
    void operator()(sqlite3* db) const;
  };
  Database(sqlite3* db, std::string path) : db_(db), path_(std::move(path)) {}
  std::unique_ptr<sqlite3, Close> db_;
  std::string path_;
};

/// Takes the writer lock at once (BEGIN IMMEDIATE), so that what is read inside stays true until
/// commit(). Rolls back when it goes out of scope uncommitted.
class Transaction {
 public:
  static Result<Transaction> begin(Database& db);
  Transaction(Transaction&& other) noexcept : db_(std::exchange(other.db_, nullptr)) {}
  Transaction& operator=(Transaction&&) = delete;
  ~Transaction();
  Status commit();

 private:
  explicit Transaction(Database& db) : db_(&db) {}
  Database* db_;
};

/// Turns a SQLite result code into cause and remedy. `system_errno` is that of the failed call.
Error database_error(int code, int system_errno, std::string_view detail, const std::string& path);

} // namespace kw
