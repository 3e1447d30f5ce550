// Writes calls of general operations. The results of reductions, products and operations on rows
// that the backward pass reads are kept for it; element operations are recomputed.
#include "scenarios/models/layers/composition.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <stdexcept>
#include <utility>

#include "kernels/base/round_up.h"
#include "scenarios/models/general/gradient.h"
#include "scenarios/models/general/lowering.h"
#include "scenarios/models/general/relayout.h"
#include "scenarios/models/layers/passes.h"
#include "scenarios/models/network.h"
#include "scenarios/plan/region.h"

namespace parbench {
namespace {

using general::Extents;
using general::LoweredGraph;
using general::Operation;
using general::OpKind;

/// Returns whether a result that the backward pass reads is kept rather than recomputed.
bool is_worth_keeping(const Operation& operation) {
  return operation.kind == OpKind::reduction || operation.kind == OpKind::product ||
         operation.kind == OpKind::rows || operation.kind == OpKind::scattered_rows;
}

DType kept_type(const Operation& operation, DType dtype) {
  return operation.kind == OpKind::reduction ? DType::f32 : dtype;
}

std::size_t bytes_of(const Extents& extents, std::int64_t samples, DType dtype) {
  return static_cast<std::size_t>(element_count(general::shape_at(extents, samples))) *
         size_of(dtype);
}

std::string kept_name(int index) { return fmt::format("operation {}", index); }

/// Offsets of temporaries in one shared memory.
struct TemporaryPlan {
  std::map<int, std::pair<std::size_t, std::size_t>> places;  // by operation: offset and bytes
  std::size_t bytes = 0;
};

TemporaryPlan plan_temporaries(const LoweredGraph& lowered) {
  TemporaryPlan plan;
  RegionPlanner region;
  for (std::size_t call = 0; call < lowered.calls.size(); ++call) {
    for (const general::Temporary& one : lowered.temporaries) {
      if (one.first == call) plan.places[one.operation] = {region.acquire(one.bytes), one.bytes};
    }
    for (const general::Temporary& one : lowered.temporaries) {
      if (one.last == call) region.release(plan.places.at(one.operation).first);
    }
  }
  plan.bytes = region.peak();
  return plan;
}

/// Memory of the tensors of a composition in one pass.
struct Memory {
  std::map<int, SymbolicView> located;  // inputs, parameters, and kept results
  std::vector<SymbolicView> targets;
};

void emit(LayerPass& pass, const LoweredGraph& lowered, const Memory& memory,
          const std::function<SymbolicView(std::size_t bytes)>& allocate) {
  const TemporaryPlan plan = plan_temporaries(lowered);
  const SymbolicView shared = plan.bytes > 0 ? allocate(plan.bytes) : SymbolicView();
  for (const general::LoweredCall& call : lowered.calls) {
    Op& op = pass.prepare(call.desc);
    std::vector<SymbolicBinding> bindings;
    for (const auto& [role, name] : call.arguments) {
      SymbolicView view;
      if (name < 0) {
        view = memory.targets.at(static_cast<std::size_t>(-1 - name));
      } else if (const auto found = memory.located.find(name); found != memory.located.end()) {
        view = found->second;
      } else {
        const auto [offset, bytes] = plan.places.at(name);
        view = shared.part(offset, bytes);
      }
      bindings.push_back({role, view});
    }
    pass.emit(op, bindings);
  }
}

/// Writes the calls of a forward or a backward pass. The calls access activations in the layout of
/// the device.
class CompositionWriter {
 public:
  CompositionWriter(LayerPass& pass, bool is_flat,
                    std::function<SymbolicView(std::size_t bytes)> allocate)
      : pass_(pass), is_flat_(is_flat), allocate_(std::move(allocate)) {
    options_.samples = pass.work().output.front();
    options_.dtype = pass.work().dtype;
    options_.math = pass.work().math;
  }

  void locate(int index, const SymbolicView& view, DType dtype) {
    options_.located[index] = dtype;
    memory_.located[index] = view;
  }

  /// Adds an activation of the layer that operations of the graph read.
  void locate_activation(int index, const Shape& shape, const SymbolicView& view) {
    const TensorDesc tensor = pass_.activation(shape);
    locate(index, view, tensor.dtype);
    add_layout(index, tensor);
  }

  void locate_parameter(int index, const ParameterSpec& spec) {
    locate(index, pass_.parameter(spec.role, canonical(spec.shape, options_.dtype)),
           options_.dtype);
  }

  void add_target(const general::Target& target, const SymbolicView& view) {
    targets_.push_back(target);
    memory_.targets.push_back(view);
  }

  /// Adds a result that is written to an activation of the layer, or to the gradient of an
  /// activation.
  void add_activation(int operation, const Shape& shape, const SymbolicView& view) {
    const TensorDesc tensor = pass_.activation(shape);
    add_layout(-1 - static_cast<int>(targets_.size()), tensor);
    add_target({.operation = operation, .dtype = tensor.dtype}, view);
  }

  void write(const general::Graph& graph) {
    LoweredGraph lowered = general::lower(graph, targets_, options_);
    // reorders of results, emitted after all other calls
    std::vector<std::function<void()>> reorders;
    for (const auto& [name, tensor] : layouts_) {
      if (auto calls = general::in_layout(lowered.calls, name, tensor)) {
        lowered.calls = *std::move(calls);
        continue;
      }
      SymbolicView& view = name < 0 ? memory_.targets.at(static_cast<std::size_t>(-1 - name))
                                    : memory_.located.at(name);
      const TensorDesc plain = canonical(tensor.shape, tensor.dtype);
      const SymbolicView own = std::exchange(view, allocate_(plain.bytes));
      if (name >= 0) {
        reorder(tensor, own, plain, view);
      } else {
        reorders.emplace_back(
            [=, this, copy = view, to = tensor] { reorder(plain, copy, to, own); });
      }
    }
    emit(pass_, lowered, memory_, allocate_);
    for (const auto& reorder : reorders) reorder();
  }

 private:
  /// Records a layout to which calls must be converted: one that is not canonical, unless the
  /// composition is flat. `name`: an operation or a target, as in LoweredCall.
  void add_layout(int name, const TensorDesc& tensor) {
    if (!is_flat_ && !tensor.layout.is_canonical()) layouts_[name] = tensor;
  }

  void reorder(const TensorDesc& from, const SymbolicView& source, const TensorDesc& to,
               const SymbolicView& destination) {
    Op& op = pass_.prepare(Reorder{.source = from, .destination = to});
    pass_.emit(op, {{"source", source}, {"destination", destination}});
  }

  LayerPass& pass_;
  bool is_flat_;
  std::function<SymbolicView(std::size_t bytes)> allocate_;
  general::LoweringOptions options_;
  std::vector<general::Target> targets_;
  Memory memory_;
  std::map<int, TensorDesc> layouts_;  // by name: layouts to which calls must be converted
};

}  // namespace

Extents extents_of(const Shape& sample) {
  Extents extents{{1, true}};
  for (const std::int64_t size : sample) extents.push_back({size});
  return extents;
}

Composition::Composition(std::string name, general::Graph graph, int output,
                         std::vector<ParameterSpec> parameters)
    : name_(std::move(name)),
      forward_(std::move(graph)),
      output_(output),
      parameters_(std::move(parameters)) {
  const Extents& shape = forward_.shape(output_);
  if (shape.size() < 2 || shape.front() != general::Extent{1, true}) {
    throw std::invalid_argument(
        fmt::format("its output {} does not begin with the samples", general::to_string(shape)));
  }
  for (int index = 0; index < static_cast<int>(forward_.operations().size()); ++index) {
    if (forward_.at(index).kind == OpKind::input) inputs_.push_back(index);
    if (forward_.at(index).kind == OpKind::parameter) parameter_indices_.push_back(index);
  }
  backward_ = forward_;
  upstream_ = backward_.input(shape);
  std::vector<int> wanted = inputs_;
  wanted.insert(wanted.end(), parameter_indices_.begin(), parameter_indices_.end());
  gradients_ = general::add_gradients(backward_, output_, upstream_, wanted);
  for (const int index : wanted) {
    if (!gradients_.contains(index)) gradients_[index] = backward_.number(0, forward_.shape(index));
  }
  find_what_is_kept();
  is_flat_ = is_elementwise();
}

void Composition::find_what_is_kept() {
  std::vector<bool> stops(forward_.operations().size());
  for (std::size_t i = 0; i < stops.size(); ++i) {
    stops[i] = static_cast<int>(i) == output_ || is_worth_keeping(forward_.operations()[i]);
  }
  std::vector<int> results;
  for (const auto& [of, gradient] : gradients_) results.push_back(gradient);
  read_inputs_.resize(inputs_.size());
  for (const int index : general::read_by(backward_, results, stops)) {
    const Operation& operation = backward_.at(index);
    if (index == output_) {
      reads_output_ = true;
    } else if (operation.kind == OpKind::input && index != upstream_) {
      read_inputs_.at(static_cast<std::size_t>(operation.index)) = true;
    } else if (is_worth_keeping(operation)) {
      kept_.push_back(index);
    }
  }
}

bool Composition::is_elementwise() const {
  return std::ranges::all_of(backward_.operations(), [&](const Operation& one) {
    if (one.kind != OpKind::input && one.kind != OpKind::element) return false;
    const bool has_place = one.kind == OpKind::element && one.element == ElementOp::coordinate;
    const bool is_number = one.kind == OpKind::element && one.element == ElementOp::number;
    return !has_place && (is_number || one.shape == forward_.shape(output_));
  });
}

bool Composition::mixes_samples() const {
  return std::ranges::any_of(forward_.operations(), [&](const Operation& one) {
    return one.kind == OpKind::reduction && std::ranges::any_of(one.axes, [&](std::int64_t axis) {
             return forward_.shape(one.inputs.front())[static_cast<std::size_t>(axis)].samples;
           });
  });
}

Shape Composition::output_of(const std::vector<Shape>& inputs) const {
  if (inputs.size() != inputs_.size()) {
    throw std::invalid_argument(
        fmt::format("it has {} inputs instead of {}", inputs.size(), inputs_.size()));
  }
  for (std::size_t which = 0; which < inputs.size(); ++which) {
    const Extents& wanted = forward_.shape(inputs_[which]);
    if (extents_of(inputs[which]) == wanted) continue;
    throw std::invalid_argument(fmt::format("input {} is {} instead of {}", which,
                                            general::to_string(extents_of(inputs[which])),
                                            general::to_string(wanted)));
  }
  const Shape with_one = general::shape_at(forward_.shape(output_), 1);
  return {with_one.begin() + 1, with_one.end()};
}

std::vector<ParameterSpec> Composition::parameters(const Shape& /*input*/) const {
  return parameters_;
}

void Composition::write_forward(ForwardPass& pass) const {
  const LayerWork& work = pass.work();
  const std::int64_t samples = work.output.front();
  CompositionWriter writer(pass, is_flat_, [&](std::size_t bytes) { return pass.scratch(bytes); });
  for (std::size_t which = 0; which < inputs_.size(); ++which) {
    writer.locate_activation(inputs_[which], work.inputs[which], pass.input(which));
  }
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    writer.locate_parameter(parameter_indices_[i], parameters_[i]);
  }
  writer.add_activation(output_, work.output,
                        pass.place_output(pass.activation(work.output).bytes));
  for (const int index : kept_) {
    const DType dtype = kept_type(forward_.at(index), work.dtype);
    writer.add_target({.operation = index, .dtype = dtype},
                      pass.keep(kept_name(index), bytes_of(forward_.shape(index), samples, dtype)));
  }
  writer.write(forward_);
}

void Composition::write_backward(BackwardPass& pass) const {
  const LayerWork& work = pass.work();
  std::vector<Gradient> temporaries;
  CompositionWriter writer(pass, is_flat_, [&](std::size_t bytes) {
    temporaries.push_back(pass.make_temporary(bytes));
    return temporaries.back().view;
  });
  const Gradient incoming = pass.gradient();
  writer.locate_activation(upstream_, work.output, incoming.view);
  for (std::size_t which = 0; which < inputs_.size(); ++which) {
    if (!read_inputs_[which]) continue;
    writer.locate_activation(inputs_[which], work.inputs[which], pass.input(which));
  }
  if (reads_output_) writer.locate_activation(output_, work.output, pass.output());
  for (const int index : kept_) {
    writer.locate(index, pass.kept(kept_name(index)), kept_type(forward_.at(index), work.dtype));
  }
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    writer.locate_parameter(parameter_indices_[i], parameters_[i]);
  }
  std::vector<std::pair<std::size_t, Gradient>> results;
  for (std::size_t which = 0; which < inputs_.size(); ++which) {
    if (!pass.is_wanted(which)) continue;
    results.emplace_back(which, pass.make(which, pass.activation(work.inputs[which]).bytes));
    writer.add_activation(gradients_.at(inputs_[which]), work.inputs[which],
                          results.back().second.view);
  }
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    writer.add_target(
        {.operation = gradients_.at(parameter_indices_[i]), .accumulate = pass.accumulates()},
        pass.parameter_gradient(parameters_[i].role));
  }
  writer.write(backward_);
  for (const Gradient& one : temporaries) pass.release(one);
  for (const auto& [which, result] : results) pass.contribute(which, result);
  pass.release(incoming);
}

}  // namespace parbench
