// SPDX-License-Identifier: Apache-2.0
#include "nki/trace/session.hpp"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace kw::nki {

Session::Session(SessionOptions options) : options_(std::move(options)) {
  program_.grid = options_.grid;
  for (std::size_t axis = 0; axis < options_.grid.size(); ++axis)
    program_.variables.push_back(fmt::format("program_id({})", axis));
  if (options_.mode == Mode::eager) {
    options_.machine.generation = options_.generation;
    machine_ = std::make_unique<Machine>(options_.machine);
  }
}
Session::~Session() = default;

std::int32_t Session::file(const std::string& name) {
  const auto at = std::ranges::find(program_.files, name);
  if (at != program_.files.end())
    return static_cast<std::int32_t>(at - program_.files.begin());
  program_.files.push_back(name);
  return static_cast<std::int32_t>(program_.files.size() - 1);
}

void Session::rename(BufferId id, const std::string& name) {
  if (id >= 0 && program_.buffers[static_cast<std::size_t>(id)].name.empty())
    program_.buffers[static_cast<std::size_t>(id)].name = name;
}

bool Session::has_errors() const {
  return std::ranges::any_of(diagnostics_,
                             [](const Diagnostic& d) { return d.severity == Severity::error; });
}

void Session::report(Report r) {
  const std::string key =
      fmt::format("{}:{}:{}:{}:{}", r.code, place_.file, place_.line, place_.column, api);
  const auto [at, fresh] = reported_.try_emplace(key, diagnostics_.size());
  if (!fresh) {
    ++diagnostics_[at->second].times;
    return;
  }
  Diagnostic d{.severity = r.severity,
               .code = std::move(r.code),
               .message = std::move(r.message),
               .file = static_cast<std::size_t>(place_.file) < program_.files.size()
                           ? program_.files[static_cast<std::size_t>(place_.file)]
                           : std::string(),
               .line = place_.line,
               .column = place_.column,
               .end_column = place_.end_column,
               .api = std::string(api),
               .limit = std::move(r.limit),
               .edit = std::move(r.edit)};
  for (const auto& [parameter, tensor] : r.operands) {
    if (!tensor || tensor->view.buffer < 0)
      continue;
    const Buffer& b = buffer(*tensor);
    std::int64_t bytes = static_cast<std::int64_t>(bytes_of(tensor->element));
    const std::vector<std::int64_t> shape = tensor->view.shape();
    for (std::size_t j = on_chip(b.memory) ? 1 : 0; j < shape.size(); ++j)
      bytes *= shape[j];
    d.operands.push_back({.parameter = parameter,
                          .name = b.name,
                          .element = std::string(name(tensor->element)),
                          .memory = std::string(name(b.memory)),
                          .shape = shape,
                          .bytes_per_partition = bytes});
  }
  diagnostics_.push_back(std::move(d));
}

void Session::report_findings(const std::vector<RunFinding>& findings) {
  for (const RunFinding& f : findings) {
    place_ = f.place;
    api = f.api;
    report({.code = f.code,
            .message = f.message,
            .limit = f.limit,
            .edit = f.edit,
            .severity = f.warning ? Severity::warning : Severity::error});
    const auto at = std::ranges::find_if(diagnostics_, [&](const Diagnostic& d) {
      return d.code == f.code && d.line == f.place.line && d.column == f.place.column;
    });
    if (at != diagnostics_.end())
      at->times = std::max(at->times, f.times);
  }
}

TensorPtr Session::poison(std::vector<std::int64_t> shape, Element element) {
  const TensorPtr t = create("", std::move(shape), element, Memory::sbuf, 0, 0.0, true);
  auto poisoned = std::make_shared<Tensor>(*t);
  poisoned->poison = true;
  poisoned_.insert(t->view.buffer);
  return poisoned;
}

TensorPtr Session::create(std::string name, std::vector<std::int64_t> shape, Element element,
                          Memory memory, int partition_axis, std::optional<double> fill,
                          bool result) {
  for (std::int64_t& size : shape)
    size = std::max<std::int64_t>(size, 0);
  Buffer b{.id = static_cast<BufferId>(program_.buffers.size()),
           .name = std::move(name),
           .element = element,
           .memory = memory,
           .shape = std::move(shape),
           .partition_axis = on_chip(memory) ? partition_axis : -1,
           .result = result,
           .fill = fill,
           .scope = scopes_.empty() ? 0 : scopes_.back(),
           .made = place_};
  program_.buffers.push_back(b);
  if (machine_)
    machine_->add(b);
  Tensor t{.view = whole(b), .element = element};
  if (on_chip(memory) || memory == Memory::private_hbm) {
    // A tensor of an iteration begins anew in each.
    if (!result && repeats()) {
      flush();
      place_instruction({.kind = Kind::allocate, .api = api, .dst = t.view, .place = place_});
    }
  }
  return std::make_shared<Tensor>(std::move(t));
}

TensorPtr Session::parameter(std::string name, Element element, std::vector<std::int64_t> shape,
                             bool writable, std::span<const std::byte> content) {
  Buffer b{.id = static_cast<BufferId>(program_.buffers.size()),
           .name = std::move(name),
           .element = element,
           .memory = Memory::shared_hbm,
           .shape = std::move(shape),
           .partition_axis = -1,
           .parameter = true,
           .writable = writable,
           .made = place_};
  program_.buffers.push_back(b);
  program_.parameters.push_back(b.id);
  contents_[b.id].assign(content.begin(), content.end());
  if (machine_)
    machine_->add(b, content);
  return std::make_shared<Tensor>(Tensor{.view = whole(b), .element = element});
}

void Session::result(const TensorPtr& t) {
  if (std::ranges::find(program_.results, t->view.buffer) == program_.results.end())
    program_.results.push_back(t->view.buffer);
}

std::vector<Node>& Session::body() {
  return open_loops_.empty() ? program_.body : open_loops_.back()->body;
}

void Session::place_instruction(Instruction instruction) {
  instruction.id = next_id_++;
  if (machine_)
    machine_->execute(instruction);
  else
    body().emplace_back(std::move(instruction));
}

void Session::flush() {
  if (!pending_)
    return;
  Pending p = std::move(*pending_);
  pending_.reset();
  if (p.result >= 0 && repeats()) {
    View dst = whole(buffer(p.result));
    place_instruction({.kind = Kind::allocate,
                       .api = p.instruction.api,
                       .dst = std::move(dst),
                       .place = p.instruction.place});
  }
  place_instruction(std::move(p.instruction));
}

bool Session::reads_poison(const Instruction& i) const {
  const auto is = [&](const Operand& o) {
    return o.view() != nullptr && poisoned_.contains(o.view()->buffer);
  };
  return poisoned_.contains(i.dst.buffer) || std::ranges::any_of(i.sources, is) ||
         std::ranges::any_of(i.steps, [&](const Step& s) { return is(s.with); });
}

void Session::emit(Instruction instruction) {
  flush();
  if (reads_poison(instruction))
    return;
  instruction.place = place_;
  instruction.api = api;
  pending_ = Pending{.instruction = std::move(instruction)};
}

TensorPtr Session::emit_result(Instruction instruction, std::vector<std::int64_t> shape,
                               Element element, Memory memory) {
  flush();
  while (shape.size() < 2) // a column
    shape.push_back(1);
  if (reads_poison(instruction))
    return poison(std::move(shape), element);
  const TensorPtr t = create("", std::move(shape), element, memory, 0, std::nullopt, true);
  instruction.dst = t->view;
  instruction.place = place_;
  instruction.api = api;
  pending_ = Pending{.instruction = std::move(instruction), .result = t->view.buffer};
  return t;
}

/// The instruction that made `value` writes to `to` instead, if it has not been placed yet.
bool Session::retarget(const TensorPtr& value, const View& to, Element element, bool accumulate) {
  if (!pending_ || pending_->result < 0 || pending_->result != value->view.buffer)
    return false;
  Instruction& i = pending_->instruction;
  const View made = whole(buffer(*value));
  if (value->view.dims != made.dims || value->view.offset != made.offset ||
      value->view.shape() != to.shape() || i.reduce_dst)
    return false;
  if (accumulate && i.kind != Kind::matmul)
    return false;
  if (i.kind == Kind::transpose && to.dims.size() != 2)
    return false;
  if (value->element != element && value->element != Element::float32)
    i.via = value->element;
  i.dst = to;
  i.accumulate = accumulate;
  pending_->result = -1;
  return true;
}

bool Session::readable(const TensorPtr& t, std::string_view parameter) {
  if (t->poison)
    return true;
  const Buffer& b = buffer(*t);
  if (b.scope != 0 && ended_.contains(b.scope)) {
    report({.code = "err_local_variable_used_out_of_scope",
            .message = fmt::format("`{}` was made inside a loop that is over: tensors live in the "
                                   "block that makes them",
                                   b.name.empty() ? parameter : b.name),
            .edit = "declare it before the loop with nl.ndarray and assign to it: name[...] = ...",
            .operands = {{std::string(parameter), t}}});
    return false;
  }
  return true;
}

Variable Session::begin_loop(LoopKind kind, std::int64_t first, std::int64_t step,
                             std::int64_t count) {
  flush();
  const auto v = static_cast<Variable>(program_.variables.size());
  program_.variables.push_back(fmt::format("i{}", v - static_cast<Variable>(options_.grid.size())));
  scopes_.push_back(++next_scope_);
  if (machine_) {
    machine_->enter(kind, v);
    return v;
  }
  auto loop = std::make_unique<Loop>();
  loop->kind = kind, loop->variable = v;
  loop->first = first, loop->step = step, loop->count = count;
  loop->place = place_;
  Loop* raw = loop.get();
  body().emplace_back(std::move(loop));
  open_loops_.push_back(raw);
  return v;
}

void Session::iterate(std::int64_t value) {
  flush();
  if (machine_)
    machine_->iterate(value);
}

void Session::end_loop(Variable v) {
  flush();
  if (!scopes_.empty()) {
    ended_.insert(scopes_.back());
    scopes_.pop_back();
  }
  if (machine_)
    return machine_->leave();
  if (!open_loops_.empty() && open_loops_.back()->variable == v)
    open_loops_.pop_back();
}

void Session::finish() {
  flush();
}

} // namespace kw::nki
