// SPDX-License-Identifier: Apache-2.0
#include "formats/definition_ext.hpp"

#include "base/expr.hpp"
#include "base/strings.hpp"
#include "tensor/generate.hpp"

#include <cmath>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace kw {
namespace {

constexpr int ext_version = 1;

const std::vector<std::string> ext_keys{
    "version", "family",     "numerics",      "threads",        "protocol", "min_tier",
    "flops",   "bytes_read", "bytes_written", "reference_file", "oracle",   "baseline",
    "peers",   "inputs",     "tolerance",     "templates"};
const std::vector<std::string> source_keys{"name",  "kind", "source",        "source_text",
                                           "entry", "link", "project_entry", "block_entry"};
const std::vector<std::string> input_keys{
    "kind",  "low",     "high",    "scale", "value",      "limit",          "page",
    "edges", "lengths", "classes", "hold",  "reached_by", "near_ties_entry"};
const std::vector<std::string> tolerance_keys{"eta",       "eta_one_signed_sqrt_k",
                                              "reduction", "accumulate",
                                              "rtol",      "atol_rms",
                                              "exact",     "ranks",
                                              "values",    "samples",
                                              "top_p",     "seed",
                                              "selects"};
const std::vector<std::string> kinds{
    "any",       "normal",  "uniform", "l2_normalized", "positive",    "constant", "indices",
    "positions", "offsets", "slots",   "lengths",       "block_table", "fp8_pages"};

class ExtDecoder {
 public:
  ExtDecoder(Decoding& decoding, Definition& d) : decoding_(decoding), d_(d) {
    for (const Axis& a : d.axes)
      axis_names_.push_back(a.name);
  }

  void run(const Json& j) {
    d_.ext.present = true;
    d_.ext_json = dump_json(j);
    KernwrightExt& e = d_.ext;
    ObjectReader r(j, decoding_.source(), "/x_kernwright", decoding_.errors());
    if (const auto version = r.integer_or("version", ext_version); version != ext_version)
      r.error("version", fmt::format("x_kernwright version {} is not known here", version),
              version > ext_version ? "read it with a newer Kernwright" : "write \"version\": 1");
    e.family = r.string_or("family", e.family);
    e.numerics = r.string_or("numerics", e.numerics);
    const std::int64_t threads = r.integer_or("threads", 1);
    if (threads < 1 || threads > 1024)
      r.error("threads", "`threads` must be between 1 and 1024");
    else
      e.threads = static_cast<int>(threads);
    e.protocol = r.string_or("protocol", e.protocol);
    if (e.protocol != "warm" && e.protocol != "cold")
      r.error("protocol", fmt::format("unknown protocol `{}`", e.protocol),
              "use \"warm\" or \"cold\"");
    e.min_tier = r.string_or("min_tier", e.min_tier);
    if (e.min_tier.size() != 2 || e.min_tier[0] != 'T' || e.min_tier[1] < '0' ||
        e.min_tier[1] > '3')
      r.error("min_tier", fmt::format("unknown sandbox tier `{}`", e.min_tier),
              "use \"T0\", \"T1\", \"T2\" or \"T3\"");
    e.flops = expression(r, "flops");
    e.bytes_read = expression(r, "bytes_read");
    e.bytes_written = expression(r, "bytes_written");
    e.reference_file = path(r, "reference_file");
    if (const Json* o = r.object_or_null("oracle"))
      oracle(*o, r.pointer("oracle"));
    if (const Json* b = r.object_or_null("baseline"))
      baseline(*b, r.pointer("baseline"));
    if (const Json* all = r.any("peers"); all != nullptr && !all->is_null())
      peers(*all, r.pointer("peers"));
    if (const Json* all = r.object_or_null("inputs"))
      for (const auto& [name, rule] : all->items())
        input(name, rule, pointer_to(r.pointer("inputs"), name));
    if (const Json* all = r.object_or_null("tolerance"))
      for (const auto& [name, policy] : all->items())
        tolerance(name, policy, pointer_to(r.pointer("tolerance"), name));
    near_ties(r.pointer("inputs"));
    block_tables(r.pointer("inputs"));
    e.templates = r.strings_or_empty("templates");
    for (std::size_t i = 0; i < e.templates.size(); ++i)
      inner_path(e.templates[i], pointer_to(r.pointer("templates"), std::to_string(i)));
    decoding_.unknown_keys(r, ext_keys);
  }

 private:
  void inner_path(const std::string& p, const std::string& pointer) {
    if (!is_inner_path(p))
      decoding_.error(pointer, fmt::format("`{}` leaves the operator's folder", p),
                      "name a file below the folder of the definition, without `..`");
  }
  std::string path(ObjectReader& r, const char* key) {
    std::string p = r.string_or(key, "");
    if (!p.empty())
      inner_path(p, r.pointer(key));
    return p;
  }
  std::string word(ObjectReader& r, const char* key) { // an extern "C" symbol or Python function
    std::string s = r.string_or(key, "");
    bool good = !(!s.empty() && s[0] >= '0' && s[0] <= '9');
    for (const char c : s)
      good = good && ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                      c == '_');
    if (!good)
      r.error(key, fmt::format("`{}` is no function name", s),
              "letters, digits and underscores only");
    return s;
  }

  /// Text of an expression over axes; a plain number is one.
  std::string expression(ObjectReader& r, const char* key) {
    const Json* v = r.any(key);
    if (v != nullptr && v->is_number())
      return dump_json(*v);
    std::string text = r.string_or(key, "");
    if (!text.empty())
      expression_text(text, [&](const std::string& what, const std::string& remedy) {
        r.error(key, what, remedy);
      });
    return text;
  }
  template <class Report> void expression_text(const std::string& text, const Report& report) {
    const auto parsed = Expr::parse(text);
    if (!parsed)
      return report(fmt::format("{} ({})", parsed.error().message, parsed.error().where),
                    parsed.error().remedy);
    for (const std::string& n : parsed->names())
      if (d_.axis(n) == nullptr) {
        const std::string meant = nearest_name(n, axis_names_);
        report(fmt::format("`{}` uses `{}`, which is no axis", text, n),
               meant.empty() ? fmt::format("axes: {}", fmt::join(axis_names_, " "))
                             : fmt::format("did you mean `{}`?", meant));
      }
  }
  std::vector<std::string> expressions(ObjectReader& r, const char* key) {
    std::vector<std::string> texts = r.strings_or_empty(key);
    for (std::size_t i = 0; i < texts.size(); ++i)
      expression_text(texts[i], [&](const std::string& what, const std::string& remedy) {
        decoding_.error(pointer_to(r.pointer(key), std::to_string(i)), what, remedy);
      });
    return texts;
  }
  double not_negative(ObjectReader& r, const char* key) {
    const double v = r.number_or(key, 0);
    if (!(v >= 0) || std::isinf(v))
      r.error(key, fmt::format("`{}` must be a finite number, 0 or more", key));
    return v;
  }

  void source_and_entry(ObjectReader& r, std::string& source, std::string& text, std::string& entry,
                        bool needed) {
    source = path(r, "source");
    text = r.string_or("source_text", "");
    entry = word(r, "entry");
    if (needed && source.empty())
      r.error({}, "`source` is missing", "name the source file, relative to the definition");
    if (!source.empty() && entry.empty())
      r.error({}, "`entry` is missing", "name the function to call");
  }
  void oracle(const Json& j, const std::string& pointer) {
    ObjectReader r(j, decoding_.source(), pointer, decoding_.errors());
    OracleSpec& o = d_.ext.oracle;
    source_and_entry(r, o.source, o.source_text, o.entry, false);
    o.project_entry = word(r, "project_entry");
    o.block_entry = word(r, "block_entry");
    decoding_.unknown_keys(r, source_keys);
  }
  void baseline(const Json& j, const std::string& pointer) {
    ObjectReader r(j, decoding_.source(), pointer, decoding_.errors());
    BaselineSpec b;
    b.name = r.string("name");
    source_and_entry(r, b.source, b.source_text, b.entry, true);
    decoding_.unknown_keys(r, source_keys);
    d_.ext.baseline = std::move(b);
  }
  void peers(const Json& all, const std::string& pointer) {
    if (!all.is_array())
      return decoding_.error(pointer, "`peers` must be an array");
    for (std::size_t i = 0; i < all.size(); ++i) {
      const std::string at = pointer_to(pointer, std::to_string(i));
      if (!all[i].is_object()) {
        decoding_.error(at, "a peer must be an object");
        continue;
      }
      ObjectReader r(all[i], decoding_.source(), at, decoding_.errors());
      PeerSpec p;
      p.name = r.string("name");
      p.kind = r.string_or("kind", "c++");
      if (p.kind != "c++" && p.kind != "python")
        r.error("kind", fmt::format("unknown kind of peer `{}`", p.kind),
                "use \"c++\" or \"python\"");
      source_and_entry(r, p.source, p.source_text, p.entry, true);
      p.link = r.strings_or_empty("link");
      decoding_.unknown_keys(r, source_keys);
      d_.ext.peers.push_back(std::move(p));
    }
  }

  const TensorSpec* find(const std::vector<TensorSpec>& among, const std::string& name,
                         const char* what, const std::string& pointer) {
    std::vector<std::string> names;
    for (const TensorSpec& t : among) {
      if (t.name == name)
        return &t;
      names.push_back(t.name);
    }
    const std::string meant = nearest_name(name, names);
    decoding_.error(pointer, fmt::format("`{}` is no {} of `{}`", name, what, d_.name),
                    meant.empty() ? fmt::format("{}s: {}", what, fmt::join(names, " "))
                                  : fmt::format("did you mean `{}`?", meant));
    return nullptr;
  }

  void input(const std::string& name, const Json& j, const std::string& pointer) {
    const TensorSpec* t = find(d_.inputs, name, "input", pointer);
    if (!j.is_object())
      return decoding_.error(pointer, "an input rule must be an object");
    ObjectReader r(j, decoding_.source(), pointer, decoding_.errors());
    InputRule rule;
    rule.kind = r.string_or("kind", rule.kind);
    rule.low = r.number_or("low", rule.low);
    rule.high = r.number_or("high", rule.high);
    rule.scale = r.number_or("scale", rule.scale);
    if (const Json* v = r.any("value"); v != nullptr && !v->is_null())
      rule.value = r.number_or("value", 0);
    rule.limit = expression(r, "limit");
    rule.page = expression(r, "page");
    rule.edges = expressions(r, "edges");
    rule.lengths = r.string_or("lengths", "");
    rule.hold = r.boolean_or("hold", false);
    rule.reached_by = r.string_or("reached_by", "");
    rule.near_ties_entry = word(r, "near_ties_entry");
    rule.classes = r.strings_or_empty("classes");
    for (std::size_t i = 0; i < rule.classes.size(); ++i)
      input_class(rule.classes[i], pointer_to(r.pointer("classes"), std::to_string(i)));
    if (std::ranges::find(kinds, rule.kind) == kinds.end())
      r.error("kind", fmt::format("unknown kind of input `{}`", rule.kind),
              fmt::format("known: {}", fmt::join(kinds, " ")));
    const bool packs = rule.kind == "offsets" || rule.kind == "slots";
    const bool paged = rule.kind == "lengths" || rule.kind == "block_table";
    const bool counts = rule.kind == "indices" || rule.kind == "positions" || packs || paged;
    if (rule.hold && t != nullptr && (t->is_scalar() || counts))
      r.error("hold", fmt::format("`{}` cannot be held: that is for large tensors of values", name),
              "leave `hold` out");
    if (!rule.reached_by.empty()) {
      find(d_.inputs, rule.reached_by, "input", r.pointer("reached_by"));
      if (rule.hold || (t != nullptr && (t->is_scalar() || counts)))
        r.error("reached_by",
                fmt::format("`{}` cannot be drawn by rows: that is for large tensors of values "
                            "without `hold`",
                            name),
                "leave `reached_by` out");
    }
    if (counts && rule.limit.empty())
      r.error({}, fmt::format("`{}` needs a `limit`", rule.kind),
              "give the number of valid values (offsets: the last one) as an expression over axes");
    if (t != nullptr && packs &&
        (t->is_scalar() || t->shape->empty() ||
         (t->dtype != DType::int32 && t->dtype != DType::int64)))
      r.error("kind", fmt::format("`{}` cannot hold {}", name, rule.kind),
              rule.kind == "slots" ? "declare it as int32 or int64, with at least one axis"
                                   : "declare it as int32 or int64, with one element more than "
                                     "there are sequences");
    if (rule.kind == "slots" && !(0 <= rule.low && rule.low <= rule.high && rule.high <= 1))
      r.error({}, fmt::format("`low` {} and `high` {} are no shares of a row", rule.low, rule.high),
              "0 <= low <= high <= 1; leave both out for rows of any length");
    if (rule.kind == "lengths" && rule.page.empty())
      r.error({}, "`lengths` needs a `page`",
              "give the tokens of a page as an expression over axes");
    if (rule.kind == "block_table" && rule.lengths.empty())
      r.error({}, "`block_table` needs `lengths`",
              "name the input that has the lengths of the sequences");
    if (t != nullptr && paged &&
        (t->is_scalar() || t->shape->empty() ||
         (t->dtype != DType::int32 && t->dtype != DType::int64)))
      r.error("kind", fmt::format("`{}` cannot be of kind {}", name, rule.kind),
              "declare it as int32 or int64, with an axis of sequences");
    if (t != nullptr && rule.kind == "fp8_pages" &&
        (t->dtype != DType::int8 || t->is_scalar() || t->shape->size() < 2))
      r.error("kind", fmt::format("`{}` cannot hold pages of float8", name),
              "declare it as int8: pages, vectors of a page, and in the last axis the length of a "
              "vector and 4");
    if (rule.kind == "constant" && !rule.value)
      r.error({}, "`constant` needs a `value`");
    if ((rule.kind == "uniform" || rule.kind == "positive") && !(rule.low <= rule.high))
      r.error({}, fmt::format("`low` {} is above `high` {}", rule.low, rule.high));
    if (t != nullptr && counts && is_float(t->dtype))
      r.error("kind", fmt::format("`{}` draws integers, and `{}` is {}", rule.kind, name,
                                  kw::name(t->dtype)));
    if (t != nullptr && (rule.kind == "normal" || rule.kind == "l2_normalized") &&
        !is_float(t->dtype))
      r.error("kind", fmt::format("`{}` draws real numbers, and `{}` is {}", rule.kind, name,
                                  kw::name(t->dtype)));
    decoding_.unknown_keys(r, input_keys);
    d_.ext.inputs.insert_or_assign(name, std::move(rule));
  }
  void input_class(const std::string& c, const std::string& pointer) {
    std::vector<std::string> known;
    for (const InputClass k : all_input_classes())
      known.emplace_back(kw::name(k));
    if (std::ranges::find(known, c) != known.end())
      return;
    const std::string meant = nearest_name(c, known);
    decoding_.error(pointer, fmt::format("unknown input class `{}`", c),
                    meant.empty() ? fmt::format("known: {}", fmt::join(known, " "))
                                  : fmt::format("did you mean `{}`?", meant));
  }

  void tolerance(const std::string& name, const Json& j, const std::string& pointer) {
    const TensorSpec* t = find(d_.outputs, name, "output", pointer);
    if (!j.is_object())
      return decoding_.error(pointer, "a tolerance must be an object");
    ObjectReader r(j, decoding_.source(), pointer, decoding_.errors());
    TolerancePolicy p;
    p.eta = not_negative(r, "eta");
    p.eta_one_signed_sqrt_k = not_negative(r, "eta_one_signed_sqrt_k");
    p.rtol = not_negative(r, "rtol");
    p.atol_rms = not_negative(r, "atol_rms");
    p.exact = r.boolean_or("exact", false);
    p.reduction = expression(r, "reduction");
    p.ranks = r.string_or("ranks", "");
    p.values = r.string_or("values", "");
    p.samples = r.string_or("samples", "");
    p.top_p = r.number_or("top_p", 1);
    p.seed = r.string_or("seed", "");
    p.selects = expression(r, "selects");
    const std::string accumulate = r.string_or("accumulate", "float32");
    if (const auto dtype = dtype_from_name(accumulate); dtype && is_float(*dtype))
      p.accumulate = *dtype;
    else
      r.error("accumulate", fmt::format("`{}` is no floating-point dtype", accumulate),
              "e.g. \"float32\"");
    const bool some = p.eta > 0 || p.rtol > 0 || p.atol_rms > 0;
    if (p.exact && some)
      r.error({}, "`exact` leaves no room for eta, rtol or atol_rms", "keep one of the two");
    if (!p.ranks.empty() || !p.values.empty())
      ranking(t, p, some, r);
    else if (!p.samples.empty() || p.top_p != 1 || !p.seed.empty())
      sampling(t, p, some, r);
    else if (!p.selects.empty())
      selection(t, p, r);
    else if (!p.exact && !some)
      r.error({}, fmt::format("the tolerance of `{}` allows nothing", name),
              "give `eta`, or \"exact\": true for a bit-exact output");
    if (p.eta_one_signed_sqrt_k > 0 && p.reduction.empty())
      r.error({}, "`eta_one_signed_sqrt_k` needs `reduction`, the reduction length K");
    if (t != nullptr && !is_float(t->dtype) && !p.exact && p.ranks.empty() && p.samples.empty() &&
        p.selects.empty())
      r.error({},
              fmt::format("`{}` is {}: rounding errors have no meaning there", name,
                          kw::name(t->dtype)),
              "write \"exact\": true");
    if (p.rtol > 0.1)
      decoding_.warn(r.pointer("rtol"),
                     fmt::format("rtol {} accepts errors of {:.0f} %", p.rtol, p.rtol * 100),
                     "derive the bound from the dtype with `eta` instead");
    decoding_.unknown_keys(r, tolerance_keys);
    d_.ext.tolerance.insert_or_assign(name, std::move(p));
  }

  /// `ranks` and `values` of the output `t` (null: reported already).
  void ranking(const TensorSpec* t, const TolerancePolicy& p, bool some, ObjectReader& r) {
    if (p.ranks.empty())
      return r.error("values", "`values` belongs to `ranks`",
                     "name the input whose greatest elements the output has the places of");
    if (p.exact || some)
      r.error({}, "`ranks` leaves no room for exact, eta, rtol or atol_rms",
              "equal elements may be in any order, and everything else is exact: keep `ranks` "
              "alone");
    const TensorSpec* x = find(d_.inputs, p.ranks, "input", r.pointer("ranks"));
    if (t == nullptr || x == nullptr)
      return;
    if (is_float(t->dtype) || t->dtype == DType::boolean || t->is_scalar() || t->shape->empty())
      r.error("ranks",
              fmt::format("`{}` cannot hold places: they are whole numbers in at least "
                          "one axis",
                          t->name),
              "declare it as int32 or int64, with the same axes as the input but for the last");
    else if (!is_float(x->dtype) || x->is_scalar() || !same_rows(*x, *t))
      r.error("ranks",
              fmt::format("`{}` cannot rank `{}`: that must be a floating-point tensor with the "
                          "same axes but for the last",
                          t->name, x->name));
    if (p.values.empty())
      return;
    const TensorSpec* v = find(d_.outputs, p.values, "output", r.pointer("values"));
    if (v != nullptr && (v->shape != t->shape || v->dtype != x->dtype))
      r.error("values",
              fmt::format("`{}` must have the shape of `{}` and the type of `{}`", v->name, t->name,
                          x->name),
              "it holds the elements at these places");
  }
  /// `samples`, `top_p` and `seed` of the output `t` (null: reported already).
  void sampling(const TensorSpec* t, const TolerancePolicy& p, bool some, ObjectReader& r) {
    if (p.samples.empty())
      return r.error({}, "`top_p` and `seed` belong to `samples`",
                     "name the input whose softmax the output is drawn from");
    if (p.exact || some)
      r.error({}, "`samples` leaves no room for exact, eta, rtol or atol_rms",
              "draws are held against their probabilities: keep `samples` and `top_p` alone");
    if (!(p.top_p > 0 && p.top_p <= 1))
      r.error("top_p", fmt::format("top_p {} is no share of the mass", p.top_p),
              "give a number above 0 and at most 1");
    const TensorSpec* seed = find(d_.inputs, p.seed, "input", r.pointer("seed"));
    if (seed != nullptr && (is_float(seed->dtype) || seed->is_scalar()))
      r.error("seed", fmt::format("`{}` is no seed: that must be a tensor of integers", seed->name),
              "declare it as int64 with the shape [] for one seed, or with one for every row");
    const TensorSpec* x = find(d_.inputs, p.samples, "input", r.pointer("samples"));
    if (t == nullptr || x == nullptr)
      return;
    if (is_float(t->dtype) || t->dtype == DType::boolean || t->is_scalar())
      r.error("samples",
              fmt::format("`{}` cannot hold places: they are whole numbers, one to a row", t->name),
              "declare it as int32 or int64, with the axes of the input but for the last");
    else if (!is_float(x->dtype) || x->is_scalar() || x->shape->empty() ||
             !std::equal(x->shape->begin(), x->shape->end() - 1, t->shape->begin(),
                         t->shape->end()))
      r.error("samples",
              fmt::format("`{}` cannot be drawn from `{}`: that must be a floating-point tensor "
                          "with one axis more",
                          t->name, x->name));
  }
  /// `selects` of the output `t` (null: reported already).
  void selection(const TensorSpec* t, const TolerancePolicy& p, ObjectReader& r) {
    if (p.exact || p.rtol > 0 || p.atol_rms > 0)
      r.error({}, "`selects` leaves no room for exact, rtol or atol_rms",
              "errors of scores are bounded by `eta` alone");
    if (p.eta == 0)
      r.error({}, "`selects` needs `eta`",
              "say how many roundings of its magnitude the score of a candidate may be off");
    if (d_.ext.oracle.source.empty())
      r.error("selects", "`selects` needs an oracle in C++",
              "candidates and their scores come from x_kernwright.oracle (docs/abi.md)");
    if (t != nullptr &&
        (is_float(t->dtype) || t->dtype == DType::boolean || t->is_scalar() || t->shape->empty()))
      r.error("selects", fmt::format("`{}` cannot hold ids, and -1 where there are none", t->name),
              "declare it as int32 or int64, with the axis of a row's ids last");
  }
  /// What `lengths` of a block table names, once all inputs are read.
  void block_tables(const std::string& pointer) {
    for (const auto& [name, rule] : d_.ext.inputs) {
      if (rule.kind != "block_table" || rule.lengths.empty())
        continue;
      const std::string at = pointer_to(pointer_to(pointer, name), "lengths");
      const TensorSpec* table = find(d_.inputs, name, "input", at);
      const TensorSpec* of = find(d_.inputs, rule.lengths, "input", at);
      const auto other = d_.ext.inputs.find(rule.lengths);
      if (table == nullptr || of == nullptr || table->is_scalar() || table->shape->empty())
        continue;
      if (other == d_.ext.inputs.end() || other->second.kind != "lengths")
        decoding_.error(at, fmt::format("`{}` is not of kind lengths", rule.lengths));
      else if (of->is_scalar() || !std::equal(of->shape->begin(), of->shape->end(),
                                              table->shape->begin(), table->shape->end() - 1))
        decoding_.error(
            at, fmt::format("`{}` must have a row for every sequence of `{}`", name, rule.lengths));
    }
  }
  static bool same_rows(const TensorSpec& a, const TensorSpec& b) {
    return a.shape->size() == b.shape->size() &&
           std::equal(a.shape->begin(), a.shape->end() - (a.shape->empty() ? 0 : 1),
                      b.shape->begin());
  }
  /// The class `near_ties` belongs to inputs that are ranked, by an output or within the operator.
  void near_ties(const std::string& pointer) {
    for (const auto& [name, rule] : d_.ext.inputs) {
      const bool ranked = std::ranges::any_of(
          d_.ext.tolerance, [&](const auto& of) { return of.second.ranks == name; });
      const bool made = !rule.near_ties_entry.empty();
      const bool listed =
          std::ranges::find(rule.classes, kw::name(InputClass::near_ties)) != rule.classes.end();
      const std::string at = pointer_to(pointer_to(pointer, name), "classes");
      if (listed && !ranked && !made && rule.kind != "fp8_pages")
        decoding_.error(at, fmt::format("no output ranks `{}`, so it has no `near_ties`", name),
                        "say which does with x_kernwright.tolerance.<output>.ranks, or name a "
                        "function of the oracle that makes them (`near_ties_entry`)");
      if (made && (ranked || !listed))
        decoding_.error(at,
                        ranked ? fmt::format("`{}` is ranked: its near-ties are drawn", name)
                               : fmt::format("the classes of `{}` leave out `near_ties`", name),
                        ranked ? "leave `near_ties_entry` out"
                               : "list it, beside the classes that are drawn");
      if (made && d_.ext.oracle.source.empty())
        decoding_.error(at, "`near_ties_entry` names a function of the C++ oracle: there is none",
                        "add x_kernwright.oracle");
      if (ranked && !listed && !rule.classes.empty())
        decoding_.warn(at,
                       fmt::format("`{}` is ranked, but its classes leave out `near_ties`", name),
                       "without it a kernel that compares fewer bits is found by luck only");
    }
  }

  Decoding& decoding_;
  Definition& d_;
  std::vector<std::string> axis_names_;
};

} // namespace

void decode_ext(Decoding& decoding, const Json& j, Definition& definition) {
  ExtDecoder(decoding, definition).run(j);
}

} // namespace kw
