// SPDX-License-Identifier: Apache-2.0
#include "formats/verdict_json.hpp"

#include "base/json.hpp"
#include "formats/record_fields.hpp"

#include <charconv>
#include <fmt/format.h>
#include <limits>
#include <nlohmann/json.hpp>

namespace kw {
namespace {

using fields::each;

constexpr std::array outcomes{Outcome::unknown, Outcome::pass, Outcome::fail};
constexpr std::array findings{Finding::none,    Finding::build,    Finding::admission,
                              Finding::sandbox, Finding::protocol, Finding::crash,
                              Finding::wrong,   Finding::state,    Finding::nondeterminism,
                              Finding::timing,  Finding::resource, Finding::sanitizer};

class Writer {
 public:
  explicit Writer(Json& object) : object_(object) { object_ = Json::object(); }
  template <class T> void operator()(const char* key, const T& value) { put(object_[key], value); }
  /// For fields younger than the golden files: absent says the same as empty.
  template <class T> void unless_empty(const char* key, const T& value) {
    if (!value.empty())
      (*this)(key, value);
  }
  void unless_zero(const char* key, int value) {
    if (value != 0)
      (*this)(key, value);
  }
  template <class T> void unless_absent(const char* key, const std::optional<T>& value) {
    if (value)
      (*this)(key, value);
  }

 private:
  static void put(Json& j, const std::string& v) { j = v; }
  static void put(Json& j, bool v) { j = v; }
  static void put(Json& j, double v) { j = number_to_json(v); }
  static void put(Json& j, std::integral auto v) { j = v; }
  static void put(Json& j, Outcome v) { j = name(v); }
  static void put(Json& j, Finding v) { j = name(v); }
  template <class T> static void put(Json& j, const std::vector<T>& v) {
    j = Json::array();
    for (const T& item : v)
      put(j.emplace_back(), item);
  }
  template <class T> static void put(Json& j, const std::map<std::string, T>& v) {
    j = Json::object();
    for (const auto& [key, item] : v)
      put(j[key], item);
  }
  template <class T> static void put(Json& j, const std::optional<T>& v) {
    if (v)
      put(j, *v);
    else
      j = nullptr;
  }
  template <class T>
    requires requires(Writer& w, const T& r) { each(w, r); }
  static void put(Json& j, const T& record) {
    Writer inner(j);
    each(inner, record);
  }

  Json& object_;
};

class Reader {
 public:
  Reader(const Json& object, std::string pointer, const JsonSource& source,
         std::optional<Error>& error)
      : object_(object), pointer_(std::move(pointer)), source_(source), error_(error) {}

  template <class T> void operator()(const char* key, T& value) {
    const auto at = object_.find(key);
    if (at != object_.end())
      get(*at, value, pointer_to(pointer_, key));
  }
  template <class T> void unless_empty(const char* key, T& value) { (*this)(key, value); }
  void unless_zero(const char* key, int& value) { (*this)(key, value); }
  template <class T> void unless_absent(const char* key, std::optional<T>& value) {
    (*this)(key, value);
  }

 private:
  void stop(const std::string& pointer, std::string message) {
    if (!error_)
      error_ = Error{ErrorKind::invalid_input, std::move(message),
                     "the record is damaged or was edited by hand", locate(source_, pointer)};
  }
  void get(const Json& j, std::string& v, const std::string& p) {
    if (j.is_string())
      v = j.get<std::string>();
    else
      stop(p, "a string was expected");
  }
  void get(const Json& j, bool& v, const std::string& p) {
    if (j.is_boolean())
      v = j.get<bool>();
    else
      stop(p, "true or false was expected");
  }
  void get(const Json& j, double& v, const std::string& p) {
    const auto d = j.is_boolean() ? std::nullopt : lenient_number(j);
    if (d)
      v = *d;
    else
      stop(p, "a number was expected");
  }
  template <std::integral T> void get(const Json& j, T& v, const std::string& p) {
    if (j.is_number_unsigned() &&
        j.get<std::uint64_t>() <= static_cast<std::uint64_t>(std::numeric_limits<T>::max()))
      v = static_cast<T>(j.get<std::uint64_t>());
    else if (j.is_number_integer() && std::in_range<T>(j.get<std::int64_t>()))
      v = static_cast<T>(j.get<std::int64_t>());
    else
      stop(p, "an integer was expected");
  }
  template <class E, std::size_t N>
  void get_word(const Json& j, E& v, const std::string& p, const std::array<E, N>& all) {
    for (const E e : all)
      if (j.is_string() && j.get_ref<const std::string&>() == name(e)) {
        v = e;
        return;
      }
    stop(p, "unknown word");
  }
  void get(const Json& j, Outcome& v, const std::string& p) { get_word(j, v, p, outcomes); }
  void get(const Json& j, Finding& v, const std::string& p) { get_word(j, v, p, findings); }
  template <class T> void get(const Json& j, std::vector<T>& v, const std::string& p) {
    v.clear();
    if (!j.is_array())
      return stop(p, "an array was expected");
    for (std::size_t i = 0; i < j.size() && !error_; ++i)
      get(j[i], v.emplace_back(), pointer_to(p, std::to_string(i)));
  }
  template <class T> void get(const Json& j, std::map<std::string, T>& v, const std::string& p) {
    v.clear();
    if (!j.is_object())
      return stop(p, "an object was expected");
    for (const auto& [key, item] : j.items())
      get(item, v[key], pointer_to(p, key));
  }
  template <class T> void get(const Json& j, std::optional<T>& v, const std::string& p) {
    v.reset();
    if (!j.is_null())
      get(j, v.emplace(), p);
  }
  template <class T>
    requires requires(Reader& r, T& record) { each(r, record); }
  void get(const Json& j, T& record, const std::string& p) {
    if (!j.is_object())
      return stop(p, "an object was expected");
    Reader inner(j, p, source_, error_);
    each(inner, record);
  }

  const Json& object_;
  std::string pointer_;
  const JsonSource& source_;
  std::optional<Error>& error_;
};

constexpr int schema_version = 1;

template <class T> Json write(const char* what, const T& record) {
  Json body;
  Writer writer(body);
  each(writer, record);
  Json out = Json::object();
  out["schema"] = fmt::format("kernwright.{}/{}", what, schema_version);
  out.update(body);
  return out;
}

template <class T> Result<T> read(const char* what, std::string_view text) {
  const JsonSource source{.file = fmt::format("<{}>", what), .text = text};
  KW_TRY(const Json j, parse_json(source));
  if (!j.is_object())
    return fail(ErrorKind::invalid_input, "an object was expected", {}, locate(source, ""));
  const auto schema = j.find("schema");
  const std::string prefix = fmt::format("kernwright.{}/", what);
  if (schema == j.end() || !schema->is_string() ||
      !schema->get_ref<const std::string&>().starts_with(prefix))
    return fail(ErrorKind::invalid_input,
                fmt::format("no {} record: `schema` is not \"{}{}\"", what, prefix, schema_version),
                {}, locate(source, "/schema"));
  const std::string& word = schema->get_ref<const std::string&>();
  int version = 0;
  const char* end = word.data() + word.size();
  const auto number = std::from_chars(word.data() + prefix.size(), end, version);
  if (number.ec != std::errc{} || number.ptr != end || version < 1)
    return fail(ErrorKind::invalid_input, fmt::format("`{}` names no version", word), {},
                locate(source, "/schema"));
  if (version > schema_version)
    return fail(ErrorKind::unsupported, fmt::format("`{}` is newer than this program reads", word),
                "read it with a newer Kernwright", locate(source, "/schema"));
  T record;
  std::optional<Error> error;
  Reader reader(j, "", source, error);
  each(reader, record);
  if (error)
    return fail(std::move(*error));
  return record;
}

} // namespace

Json verdict_to_json(const Verdict& verdict) {
  return write("verdict", verdict);
}
Json profile_to_json(const Profile& profile) {
  return write("profile", profile);
}
Json probe_to_json(const Probe& probe) {
  return write("probe", probe);
}

std::string encode_verdict(const Verdict& verdict) {
  return dump_json(write("verdict", verdict));
}
std::string encode_probe(const Probe& probe) {
  return dump_json(write("probe", probe));
}
std::string encode_record(const Record& record) {
  return dump_json(write("record", record));
}
std::string encode_run(const Run& run) {
  return dump_json(write("run", run));
}

Result<Verdict> decode_verdict(std::string_view text) {
  return read<Verdict>("verdict", text);
}
Result<Probe> decode_probe(std::string_view text) {
  return read<Probe>("probe", text);
}
Result<Record> decode_record(std::string_view text) {
  return read<Record>("record", text);
}
Result<Run> decode_run(std::string_view text) {
  return read<Run>("run", text);
}

} // namespace kw
