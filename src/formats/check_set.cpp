// SPDX-License-Identifier: Apache-2.0
#include "base/expr.hpp"
#include "base/strings.hpp"
#include "formats/trace_set.hpp"

#include <cmath>
#include <fmt/format.h>
#include <set>

namespace kw {
namespace {

/// Elements of one tensor beyond this are taken for a mistake (8 TiB of float64).
constexpr double max_elements = 0x1p40;

double integer_limit(DType t) { // largest magnitude; the lowest value is one further down
  switch (t) {
  case DType::int8:
    return 127;
  case DType::int16:
    return 32767;
  case DType::int32:
    return 2147483647;
  default:
    return 0x1p63;
  }
}

class SetChecker {
 public:
  explicit SetChecker(const TraceSet& set) : set_(set) {
    for (const Definition& d : set.definitions) {
      definitions_.emplace(d.name, &d);
      definition_names_.push_back(d.name);
    }
    for (const Solution& s : set.solutions)
      solution_names_.insert(s.name);
  }

  Issues run() {
    for (const Definition& d : set_.definitions)
      definition(d);
    for (const auto& [name, workloads] : set_.workloads)
      workloads_of(name, workloads);
    for (const Solution& s : set_.solutions)
      solution(s);
    for (const Trace& t : set_.traces)
      trace(t);
    return std::move(issues_);
  }

 private:
  void report(Severity severity, const std::string& where, std::string message,
              std::string remedy = {}) {
    issues_.push_back(
        {severity, {ErrorKind::invalid_input, std::move(message), std::move(remedy), where}});
  }
  static std::string hint(const std::string& word, const std::vector<std::string>& names,
                          std::string otherwise) {
    const std::string meant = nearest_name(word, names);
    return meant.empty() ? std::move(otherwise) : fmt::format("did you mean `{}`?", meant);
  }
  const Definition* find(const std::string& name, const std::string& where, const char* who) {
    const auto at = definitions_.find(name);
    if (at != definitions_.end())
      return at->second;
    if (!set_.definitions.empty())
      report(Severity::error, where,
             fmt::format("{} names the definition `{}`, which is not in the set", who, name),
             hint(name, definition_names_, "add the definition, or correct the name"));
    return nullptr;
  }

  void definition(const Definition& d) {
    std::set<std::string> in_inputs, used;
    for (const TensorSpec& t : d.inputs)
      if (t.shape)
        in_inputs.insert(t.shape->begin(), t.shape->end());
    used = in_inputs;
    for (const TensorSpec& t : d.outputs)
      if (t.shape)
        used.insert(t.shape->begin(), t.shape->end());
    for (const Axis& a : d.axes) {
      if (a.is_variable() && !in_inputs.contains(a.name))
        report(Severity::warning, d.file,
               fmt::format("the variable axis `{}` of `{}` is in no input shape", a.name, d.name),
               "flashinfer-bench takes variable axes from input shapes and fails at run time; "
               "Kernwright takes the workload's value");
      else if (!a.is_variable() && !used.contains(a.name) && !d.ext.present)
        report(Severity::warning, d.file,
               fmt::format("the axis `{}` of `{}` is used by no tensor", a.name, d.name));
      if (!is_identifier(a.name))
        report(Severity::warning, d.file,
               fmt::format("the axis name `{}` of `{}` is no identifier", a.name, d.name),
               "C++ kernels see const axes as macros: use letters, digits and underscores");
    }
    if (d.outputs.empty())
      report(Severity::error, d.file,
             fmt::format("`{}` has no output, so nothing could be verified", d.name),
             "declare at least one tensor under \"outputs\"");
    if (d.ext.present)
      for (const TensorSpec& out : d.outputs)
        if (!d.ext.tolerance.contains(out.name))
          report(Severity::warning, d.file,
                 fmt::format("the output `{}` of `{}` has no tolerance policy", out.name, d.name),
                 "add x_kernwright.tolerance for it; the default is derived from its dtype");
    if (!set_.workloads.contains(d.name) && !set_.workloads.empty())
      report(Severity::warning, d.file, fmt::format("`{}` has no workloads", d.name),
             "without one there is nothing to judge on");
  }

  void workloads_of(const std::string& name, const std::vector<Workload>& workloads) {
    const Definition* d =
        find(name, workloads.empty() ? "" : workloads.front().where, "a workload");
    for (Issue& repeated : repeated_uuids(name, workloads))
      issues_.push_back(std::move(repeated));
    for (const Workload& w : workloads)
      if (d != nullptr)
        workload(*d, w);
  }

  void workload(const Definition& d, const Workload& w) {
    std::vector<std::string> variable;
    Bindings bound;
    for (const Axis& a : d.axes) {
      if (a.is_variable())
        variable.push_back(a.name);
      else
        bound[a.name] = static_cast<double>(*a.value);
    }
    for (const auto& [name, value] : w.axes) {
      const Axis* a = d.axis(name);
      if (a == nullptr)
        report(Severity::error, w.where,
               fmt::format("the workload binds `{}`, which is no axis of `{}`", name, d.name),
               hint(name, variable, fmt::format("variable axes: {}", fmt::join(variable, " "))));
      else if (!a->is_variable() && *a->value != value)
        report(Severity::error, w.where,
               fmt::format("the workload sets the const axis `{}` to {}, the definition to {}",
                           name, value, *a->value));
      else if (!a->is_variable())
        report(Severity::warning, w.where,
               fmt::format("the workload repeats the const axis `{}`", name),
               "list variable axes only; other tools refuse more");
      else
        bound[name] = static_cast<double>(value);
      if (value == 0)
        report(Severity::warning, w.where,
               fmt::format("axis `{}` is 0: there is nothing to compute", name));
    }
    bool complete = true;
    for (const std::string& name : variable)
      if (!bound.contains(name)) {
        complete = false;
        report(
            Severity::error, w.where,
            fmt::format("the workload does not bind the variable axis `{}` of `{}`", name, d.name),
            fmt::format("add \"{}\": N to its axes", name));
      }
    inputs(d, w);
    if (complete)
      values(d, w, bound);
  }

  void inputs(const Definition& d, const Workload& w) {
    std::vector<std::string> names;
    for (const TensorSpec& t : d.inputs)
      names.push_back(t.name);
    std::set<std::string> given;
    for (const auto& [name, spec] : w.inputs) {
      given.insert(name);
      const auto at = std::ranges::find(d.inputs, name, &TensorSpec::name);
      if (at == d.inputs.end())
        report(Severity::error, w.where,
               fmt::format("the workload gives `{}`, which is no input of `{}`", name, d.name),
               hint(name, names, fmt::format("inputs: {}", fmt::join(names, " "))));
      else
        input(*at, spec, w);
    }
    for (const std::string& name : names)
      if (!given.contains(name))
        report(Severity::warning, w.where,
               fmt::format("the workload says nothing about the input `{}`: it is drawn at random",
                           name),
               "write {\"type\": \"random\"}; the validator of flashinfer-bench wants every input");
  }

  void input(const TensorSpec& t, const InputSpec& spec, const Workload& w) {
    const auto* scalar = std::get_if<ScalarInput>(&spec);
    if (t.is_scalar() && std::holds_alternative<SafetensorsInput>(spec))
      return report(Severity::error, w.where,
                    fmt::format("`{}` is a scalar argument and cannot come from a file", t.name),
                    "write {\"type\": \"scalar\", \"value\": ...}");
    if (t.is_scalar() && scalar == nullptr)
      return report(Severity::warning, w.where,
                    fmt::format("the scalar argument `{}` is drawn at random", t.name),
                    "give the value the operator is used with; the validator of flashinfer-bench "
                    "refuses this");
    if (scalar == nullptr)
      return;
    if (!t.is_scalar())
      return report(Severity::error, w.where,
                    fmt::format("`{}` is a tensor and cannot be given as a scalar", t.name),
                    "use \"random\" or \"safetensors\"");
    const double v = scalar->value;
    if (t.dtype == DType::boolean) {
      if (v != 0 && v != 1)
        report(Severity::error, w.where, fmt::format("`{}` is a bool, not {}", t.name, v),
               "write true or false");
    } else if (!is_float(t.dtype)) {
      const double limit = integer_limit(t.dtype);
      if (v != std::trunc(v) || !(v <= limit) || v < -limit - 1)
        report(Severity::error, w.where,
               fmt::format("{} is no {} value for `{}`", v, name(t.dtype), t.name));
    } else if (scalar->written == ScalarInput::Written::boolean) {
      report(Severity::error, w.where,
             fmt::format("`{}` is {}, not a boolean", t.name, name(t.dtype)), "write a number");
    }
  }

  /// Everything that has a value once all axes are bound.
  void values(const Definition& d, const Workload& w, const Bindings& bound) {
    const auto tensors = [&](const std::vector<TensorSpec>& all) {
      for (const TensorSpec& t : all) {
        double elements = 1;
        for (const std::string& a : t.shape.value_or(std::vector<std::string>{}))
          elements *= bound.contains(a) ? bound.at(a) : 1;
        if (elements > max_elements)
          report(Severity::error, w.where,
                 fmt::format("`{}` would have {:.3g} elements", t.name, elements),
                 "check the axes of the workload");
      }
    };
    tensors(d.inputs);
    tensors(d.outputs);
    const auto expression = [&](const std::string& text, const std::string& what) {
      if (text.empty())
        return;
      const auto parsed = Expr::parse(text);
      const auto value = parsed ? parsed->eval(bound) : Result<double>(fail(parsed.error()));
      if (!value)
        report(
            Severity::error, w.where,
            fmt::format("{} of `{}` has no value here: {}", what, d.name, value.error().message));
      else if (!(*value >= 0) || std::isinf(*value))
        report(Severity::error, w.where,
               fmt::format("{} of `{}` is {} here", what, d.name, *value));
    };
    expression(d.ext.flops, "flops");
    expression(d.ext.bytes_read, "bytes_read");
    expression(d.ext.bytes_written, "bytes_written");
    for (const auto& [name, rule] : d.ext.inputs)
      expression(rule.limit, "the limit of " + name);
    for (const auto& [name, policy] : d.ext.tolerance) {
      expression(policy.reduction, "the reduction length of " + name);
      expression(policy.selects, "the number of candidates of " + name);
    }
    for (const std::string& text : d.constraints) {
      const auto parsed =
          Expr::parse(text); // one that looks at tensor values is for the reference worker
      if (!parsed || !std::ranges::all_of(parsed->names(),
                                          [&](const std::string& n) { return bound.contains(n); }))
        continue;
      if (const auto holds = parsed->eval(bound); holds && *holds == 0)
        report(Severity::warning, w.where,
               fmt::format("the workload breaks the constraint `{}` of `{}`", text, d.name),
               "nothing in flashinfer-bench evaluates constraints");
    }
  }

  void solution(const Solution& s) {
    find(s.definition, s.file, "the solution");
    if (!s.spec.dependencies.empty())
      report(Severity::warning, s.file,
             fmt::format("the dependencies of `{}` are not installed by anything", s.name),
             "vendor the code as sources");
    if (s.spec.binding && s.spec.language != "cpp" && s.spec.language != "cuda")
      report(Severity::warning, s.file,
             fmt::format("`{}` names a binding, which {} solutions do not have", s.name,
                         s.spec.language));
  }

  void trace(const Trace& t) {
    if (const Definition* d = find(t.definition, t.where, "the trace"))
      workload(*d, t.workload);
    if (t.solution && !set_.solutions.empty() && !solution_names_.contains(*t.solution)) {
      const std::vector<std::string> names(solution_names_.begin(), solution_names_.end());
      report(Severity::warning, t.where,
             fmt::format("the trace names the solution `{}`, which is not in the set", *t.solution),
             hint(*t.solution, names, ""));
    }
    if (t.evaluation && t.evaluation->performance) {
      const TracePerformance& p = *t.evaluation->performance;
      const double ratio = p.latency_ms > 0 ? p.reference_latency_ms / p.latency_ms : 0;
      if (p.latency_ms > 0 && p.reference_latency_ms > 0 &&
          std::fabs(ratio - p.speedup_factor) > 0.05 * ratio)
        report(
            Severity::warning, t.where,
            fmt::format("speedup_factor {:.3g} is not reference_latency_ms / latency_ms = {:.3g}",
                        p.speedup_factor, ratio));
    }
  }

  const TraceSet& set_;
  std::map<std::string, const Definition*> definitions_;
  std::vector<std::string> definition_names_;
  std::set<std::string> solution_names_;
  Issues issues_;
};

} // namespace

Issues repeated_uuids(const std::string& definition, const std::vector<Workload>& workloads) {
  Issues out;
  std::map<std::string, std::string> seen;
  for (const Workload& w : workloads)
    if (const auto [at, fresh] = seen.emplace(w.uuid, w.where); !fresh)
      out.push_back(
          {Severity::error, Error{ErrorKind::invalid_input,
                                  fmt::format("the workload uuid `{}` of `{}` is taken at {}",
                                              w.uuid, definition, at->second),
                                  "give each workload its own", w.where}});
  return out;
}

Issues check_set(const TraceSet& set) {
  return SetChecker(set).run();
}

} // namespace kw
