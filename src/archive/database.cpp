// SPDX-License-Identifier: Apache-2.0
#include "archive/database.hpp"

#include <cerrno>
#include <fmt/format.h>
#include <sqlite3.h>

namespace kw {
namespace {

Error error_of(sqlite3* db, int code, const std::string& path) {
  return database_error(code, sqlite3_system_errno(db), sqlite3_errmsg(db), path);
}

/// "a b?c#d" -> the path part of a file: URI, so that a folder name cannot add URI parameters.
std::string uri_path(std::string_view path) {
  std::string out;
  for (const char c : path) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '/' || c == '.' || c == '_' || c == '-';
    out += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return out;
}

} // namespace

Error database_error(int code, int system_errno, std::string_view detail, const std::string& path) {
  const auto infrastructure = [&](std::string message, std::string remedy) {
    return Error{ErrorKind::infrastructure, std::move(message), std::move(remedy), path};
  };
  const int primary = code & 0xff;
  if (primary == SQLITE_FULL || system_errno == ENOSPC || system_errno == EDQUOT)
    return infrastructure("cannot write to the archive: the disk is full",
                          "free some space and run the same command again; every finished probe is "
                          "kept");
  switch (primary) {
  case SQLITE_BUSY:
  case SQLITE_LOCKED:
    return Error{
        ErrorKind::timeout, "another process is writing to this archive and did not finish in time",
        "wait for it, or stop it, or give this run an archive of its own with --state DIR; "
        "nothing was lost",
        path};
  case SQLITE_READONLY:
  case SQLITE_PERM:
  case SQLITE_AUTH:
    return infrastructure("the archive cannot be written: its folder or file is read-only",
                          "make the folder writable, or choose another with --state DIR");
  case SQLITE_CANTOPEN:
    return infrastructure(
        fmt::format("cannot open the archive ({})", detail),
        "check that the folder exists and may be written, or choose another with --state DIR");
  case SQLITE_CORRUPT:
  case SQLITE_NOTADB:
    return infrastructure(
        fmt::format("the archive file is damaged ({})", detail),
        "move it aside and restore the last `kernwright archive export`; blobs/ beside it is "
        "separate and still readable");
  case SQLITE_NOMEM:
    return infrastructure("not enough memory to use the archive",
                          "close other programs and run the same command again");
  case SQLITE_IOERR:
    return infrastructure(
        fmt::format("reading or writing the archive failed ({})", detail),
        "check the disk (dmesg) and the free space; every finished probe is kept");
  default:
    return infrastructure(fmt::format("the archive refused an operation ({})", detail),
                          "check it with `kernwright archive verify`");
  }
}

Statement::Statement(sqlite3* db, sqlite3_stmt* statement, std::string path)
    : db_(db), statement_(statement), path_(std::move(path)) {}

void Statement::Finalize::operator()(sqlite3_stmt* statement) const {
  sqlite3_finalize(statement);
}

void Statement::rewind() {
  // The code that reset returns repeats the failure of the last step, which was reported there.
  sqlite3_reset(statement_.get());
  bind_error_ = SQLITE_OK;
}

void Statement::bind_one(int index, std::string_view text) {
  // An empty view may carry a null pointer, which SQLite would take for NULL.
  const char* data = text.data() != nullptr ? text.data() : "";
  const int code = sqlite3_bind_text64(statement_.get(), index, data, text.size(), SQLITE_TRANSIENT,
                                       SQLITE_UTF8);
  if (code != SQLITE_OK)
    bind_error_ = code;
}

void Statement::bind_one(int index, std::int64_t value) {
  if (const int code = sqlite3_bind_int64(statement_.get(), index, value); code != SQLITE_OK)
    bind_error_ = code;
}

void Statement::bind_one(int index, double value) {
  if (const int code = sqlite3_bind_double(statement_.get(), index, value); code != SQLITE_OK)
    bind_error_ = code;
}

Result<bool> Statement::step() {
  if (bind_error_ != SQLITE_OK)
    return fail(error_of(db_, bind_error_, path_));
  const int code = sqlite3_step(statement_.get());
  if (code == SQLITE_ROW)
    return true;
  if (code == SQLITE_DONE)
    return false;
  return fail(error_of(db_, code, path_));
}

Status Statement::run() {
  KW_TRY(bool row, step());
  while (row) {
    KW_TRY(row, step());
  }
  return {};
}

std::string Statement::text(int column) const {
  const auto* bytes = static_cast<const char*>(
      static_cast<const void*>(sqlite3_column_text(statement_.get(), column)));
  const int size = sqlite3_column_bytes(statement_.get(), column);
  return bytes == nullptr ? std::string{} : std::string(bytes, static_cast<std::size_t>(size));
}

std::int64_t Statement::integer(int column) const {
  return sqlite3_column_int64(statement_.get(), column);
}

double Statement::real(int column) const {
  return sqlite3_column_double(statement_.get(), column);
}

void Database::Close::operator()(sqlite3* db) const {
  sqlite3_close_v2(db);
}

Result<Database> Database::open(const std::string& path, Mode mode, int busy_timeout_ms) {
  int flags = SQLITE_OPEN_URI | SQLITE_OPEN_FULLMUTEX | SQLITE_OPEN_EXRESCODE;
  flags |=
      mode == Mode::read_write ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READONLY;
  // A relative path in a URI must not look like an authority, so it starts with "./".
  const std::string uri = "file:" + (path.starts_with('/') ? "" : std::string("./")) +
                          uri_path(path) + (mode == Mode::immutable ? "?immutable=1" : "");
  sqlite3* raw = nullptr;
  const int code = sqlite3_open_v2(uri.c_str(), &raw, flags, nullptr);
  Database db(raw, path); // also after a failure there is a handle to close
  if (code != SQLITE_OK)
    return fail(raw == nullptr ? database_error(SQLITE_NOMEM, 0, "", path)
                               : error_of(raw, code, path));
  sqlite3_busy_timeout(raw, busy_timeout_ms);
  sqlite3_db_config(raw, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  // An archive may come from somebody else: its schema must not be able to call functions.
  sqlite3_db_config(raw, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  return db;
}

Status Database::exec(const std::string& sql) {
  const int code = sqlite3_exec(db_.get(), sql.c_str(), nullptr, nullptr, nullptr);
  if (code != SQLITE_OK)
    return fail(error_of(db_.get(), code, path_));
  return {};
}

Result<Statement> Database::prepare(std::string_view sql) {
  sqlite3_stmt* statement = nullptr;
  const int code =
      sqlite3_prepare_v2(db_.get(), sql.data(), static_cast<int>(sql.size()), &statement, nullptr);
  if (code != SQLITE_OK)
    return fail(error_of(db_.get(), code, path_));
  return Statement(db_.get(), statement, path_);
}

Result<std::string> Database::scalar(std::string_view sql) {
  KW_TRY(Statement statement, prepare(sql));
  KW_TRY(const bool row, statement.step());
  return row ? statement.text(0) : std::string{};
}

Result<Transaction> Transaction::begin(Database& db) {
  KW_CHECK(db.exec("BEGIN IMMEDIATE"));
  return Transaction(db);
}

Transaction::~Transaction() {
  // A failure here means SQLite has rolled back already (disk full, for one).
  if (db_ != nullptr)
    static_cast<void>(db_->exec("ROLLBACK"));
}

Status Transaction::commit() {
  KW_CHECK(db_->exec("COMMIT"));
  db_ = nullptr;
  return {};
}

} // namespace kw
