// Writes the backward pass.
#include "scenarios/training/program/backward_writer.h"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

namespace parbench {

BackwardWriter::BackwardWriter(const StageParts& parts, const RegionPlanner& activations,
                               bool accumulate)
    : LayerWriter(parts),
      accumulate_(accumulate),
      pass_memory_(activations),
      recomputation_(parts, pass_memory_),
      contributions_(parts.memory.size()) {}

SymbolicPass BackwardWriter::write() {
  const StageRange& range = parts().range;
  if (range.is_last()) write_loss();
  for (const BoundaryTensor& output : parts().outputs.tensors()) {
    if (output.tensor == network_input) continue;
    contributions_to(output.tensor)
        .push_back({.view = parts().outputs.view(Space::output_gradient, output.tensor)});
  }
  for (int index = range.last; index >= range.first; --index) {
    const bool ends_unit =
        index == range.last || parts().layer(index + 1).unit != parts().layer(index).unit;
    if (range.recompute && ends_unit) write_recomputation(index);
    write_backward(index);
  }
  for (const BoundaryTensor& input : parts().inputs.tensors()) {
    if (input.tensor != network_input) write_input_gradient(input);
  }
  return take_pass();
}

/// Writes the backward pass of a layer, after the backward passes of all readers of its output, and
/// releases the memory that the forward pass has kept for this layer. Tensors that leave the stage
/// are not released, because checks of the step read them; RecomputeWriter releases recomputed
/// tensors.
void BackwardWriter::write_backward(int index) {
  const bool recomputes = parts().range.recompute;
  const LayerMemory& memory = parts().memory_of(index);
  const bool is_read = parts().layer(index).kind->backward_reads_output(parts().work_of(index));
  const bool stays = parts().leaves_stage(index) || (recomputes && !parts().leaves_unit(index));
  if (!is_read && !stays) release_activation(memory.output);
  write_layer(index, [&](const Layer& layer) { layer.kind->write_backward(*this); });
  for (const Gradient& copy : std::exchange(copies_, {})) release(copy);
  if (is_read && !stays) release_activation(memory.output);
  if (recomputes) return;
  for (const auto& [name, view] : memory.kept) release_activation(view);
}

void BackwardWriter::release_activation(const SymbolicView& view) {
  if (view.is_in(Space::activations) && view.bytes > 0) pass_memory_.release(view);
}

/// Writes the recomputation of the unit that ends with layer `last`, after the backward pass of the
/// next unit.
void BackwardWriter::write_recomputation(int last) {
  recomputation_.release();
  int first = last;
  while (first > parts().range.first && parts().layer(first - 1).unit == parts().layer(last).unit) {
    --first;
  }
  append(recomputation_.write(first, last));
}

std::vector<Gradient>& BackwardWriter::contributions_to(int producer) {
  return producer < parts().range.first ? to_inputs_[producer]
                                        : contributions_[parts().local(producer)];
}

// --- memory for a layer's pass ---

SymbolicView BackwardWriter::kept(std::string_view name) const {
  const auto& kept = parts().memory_of(index()).kept;
  const auto found = kept.find(name);
  if (found == kept.end()) {
    throw std::logic_error(layer().name + " has kept nothing as " + std::string(name));
  }
  return found->second;
}

Gradient BackwardWriter::gradient() {
  std::vector<Gradient>& all = contributions_to(index());
  if (all.empty()) throw std::logic_error("layer " + layer().name + " has no reader");
  return sum_of(std::move(all), work().output);
}

std::vector<Gradient> BackwardWriter::gradient_in_parts() {
  std::vector<Gradient>& all = contributions_to(index());
  if (all.size() == 2) return std::move(all);
  return {gradient()};
}

bool BackwardWriter::is_wanted(std::size_t which) const { return producer(which) != network_input; }

SymbolicView BackwardWriter::acquire(std::size_t bytes) {
  const SymbolicView view = pass_memory_.acquire(bytes);
  keep_gradients_after_memory();
  return view;
}

/// Increases `gradients_begin_` such that the gradients written so far do not overlap memory in
/// use.
void BackwardWriter::keep_gradients_after_memory() {
  const std::size_t end = pass_memory_.activations_end();
  if (written_ && end > *written_) gradients_begin_ = std::max(gradients_begin_, end - *written_);
}

Gradient BackwardWriter::make_temporary(std::size_t bytes) {
  temporaries_.push_back({acquire(bytes), 1});
  return {.view = temporaries_.back().view, .temporary = static_cast<int>(temporaries_.size()) - 1};
}

bool BackwardWriter::is_exclusive(const Gradient& gradient) const {
  return gradient.temporary >= 0 &&
         temporaries_[static_cast<std::size_t>(gradient.temporary)].readers == 1;
}

/// Returns a temporary or, for the first addend of the gradient of an input of the stage, the
/// memory of this gradient at the boundary.
Gradient BackwardWriter::make(std::size_t which, std::size_t bytes) {
  if (is_wanted(which) && is_boundary(which) && taken_.insert(producer(which)).second) {
    return {.view = parts().inputs.view(Space::input_gradient, producer(which))};
  }
  return make_temporary(bytes);
}

Gradient BackwardWriter::reuse(const Gradient& taken, std::size_t which, std::size_t bytes) {
  return is_exclusive(taken) && !is_boundary(which) ? taken : make(which, bytes);
}

void BackwardWriter::share(const Gradient& gradient) {
  if (gradient.temporary >= 0) ++temporaries_[static_cast<std::size_t>(gradient.temporary)].readers;
}

void BackwardWriter::release(const Gradient& gradient) {
  if (gradient.temporary < 0) return;
  Temporary& temporary = temporaries_[static_cast<std::size_t>(gradient.temporary)];
  if (--temporary.readers == 0) pass_memory_.release(temporary.view);
}

void BackwardWriter::contribute(std::size_t which, const Gradient& gradient) {
  if (is_wanted(which)) {
    contributions_to(producer(which)).push_back(gradient);
  } else {
    release(gradient);
  }
}

// --- sums ---

void BackwardWriter::add(const Shape& shape, const SymbolicView& a, const SymbolicView& b,
                         const SymbolicView& to) {
  Op& op = prepare(Add{.shape = shape, .dtype = parts().range.dtype});
  emit(op, {{"a", a}, {"b", b}, {"destination", to}});
}

Gradient BackwardWriter::sum_of(std::vector<Gradient> contributions, const Shape& shape) {
  // The sum overwrites the first contribution, so no other operation should read that contribution.
  std::stable_partition(contributions.begin(), contributions.end(),
                        [&](const Gradient& gradient) { return is_exclusive(gradient); });
  Gradient sum = contributions.front();
  for (std::size_t i = 1; i < contributions.size(); ++i) {
    const Gradient to = is_exclusive(sum) ? sum : make_temporary(sum.view.bytes);
    add(shape, sum.view, contributions[i].view, to.view);
    if (to.temporary != sum.temporary) release(sum);
    release(contributions[i]);
    sum = to;
  }
  return sum;
}

/// Completes the gradient of a stage's input in the memory at the boundary: adds addends from other
/// memory, after copying the first one if the memory is empty. The gradient of a tensor that only
/// passes through the stage remains where it was received.
void BackwardWriter::write_input_gradient(const BoundaryTensor& input) {
  const SymbolicView boundary = parts().inputs.view(Space::input_gradient, input.tensor);
  const std::vector<Gradient>& all = to_inputs_[input.tensor];
  const bool passes = all.size() == 1 && parts().outputs.has(input.tensor);
  if (passes) return;
  for (const Gradient& gradient : all) {
    if (gradient.view.base == boundary.base) continue;
    if (!taken_.insert(input.tensor).second) {
      add(input.desc.shape, boundary, gradient.view, boundary);
    } else {
      Op& copy = prepare(Reorder{.source = input.desc, .destination = input.desc});
      emit(copy, {{"source", gradient.view}, {"destination", boundary}});
    }
    release(gradient);
  }
}

void BackwardWriter::write_loss() {
  const StageRange& range = parts().range;
  const LossOperation loss = loss_of(range, parts().samples, accumulate_);
  Op& op = prepare(loss.desc);
  const Gradient gradient = make_temporary(op.tensor(loss.diff_prediction).bytes);
  prediction_gradient_ = gradient.view;
  emit(op, {{loss.prediction, parts().memory_of(range.last).output},
            {"target", SymbolicView(Space::target, 0, op.tensor("target").bytes)},
            {"loss", SymbolicView(Space::loss, 0, sizeof(float))},
            {loss.diff_prediction, gradient.view}});
  contributions_to(range.last).push_back(gradient);
}

// --- parameters ---

SymbolicView BackwardWriter::parameter_gradient(std::string_view role) {
  const SymbolicView gradient = parts().store.gradient(index(), role);
  written_ = std::min(written_.value_or(gradient.offset), gradient.offset);
  keep_gradients_after_memory();
  return gradient;
}

SymbolicView BackwardWriter::parameter(std::string_view role, const TensorDesc& wanted) {
  ParameterStore& store = parts().store;
  if (!store.is_read_once() || store.found(index(), role, wanted)) {
    return LayerWriter::parameter(role, wanted);
  }
  const TensorDesc& master = store.entry(index(), role).master;
  copies_.push_back(make_temporary(wanted.bytes));
  emit(prepare(Reorder{.source = master, .destination = wanted}),
       {{"source", LayerWriter::parameter(role, master)}, {"destination", copies_.back().view}});
  return copies_.back().view;
}

void BackwardWriter::emit_parameter_gradients(const OpDesc& overwriting, const OpDesc& adding,
                                              std::vector<SymbolicBinding> bindings,
                                              const std::vector<std::string_view>& roles) {
  Op& direct = prepare(accumulates() ? adding : overwriting);
  std::vector<std::string> names;  // roles of the gradients among the operation's operands
  for (const std::string_view role : roles) names.push_back("diff_" + std::string(role));
  for (std::size_t i = 0; i < roles.size(); ++i) {
    if (direct.tensor(names[i]) == parts().store.entry(index(), roles[i]).master) continue;
    emit_through_temporaries(overwriting, std::move(bindings), roles);
    return;
  }
  for (std::size_t i = 0; i < roles.size(); ++i) {
    bindings.push_back({names[i], parameter_gradient(roles[i])});
  }
  emit(direct, bindings);
}

void BackwardWriter::emit_through_temporaries(const OpDesc& overwriting,
                                              std::vector<SymbolicBinding> bindings,
                                              const std::vector<std::string_view>& roles) {
  Op& op = prepare(overwriting);
  std::vector<std::string> names;
  std::vector<Gradient> computed;
  for (const std::string_view role : roles) names.push_back("diff_" + std::string(role));
  for (const std::string& name : names) {
    computed.push_back(make_temporary(op.tensor(name).bytes));
    bindings.push_back({name, computed.back().view});
  }
  emit(op, bindings);
  for (std::size_t i = 0; i < roles.size(); ++i) {
    const TensorDesc& layout = op.tensor(names[i]);
    const TensorDesc& master = parts().store.entry(index(), roles[i]).master;
    if (layout == master) {
      add_or_overwrite(computed[i].view, parameter_gradient(roles[i]));
      continue;
    }
    Op& reorder = prepare(Reorder{.source = layout, .destination = master});
    if (!accumulates()) {
      emit(reorder, {{"source", computed[i].view}, {"destination", parameter_gradient(roles[i])}});
      continue;
    }
    const Gradient reordered = make_temporary(master.bytes);
    emit(reorder, {{"source", computed[i].view}, {"destination", reordered.view}});
    add_or_overwrite(reordered.view, parameter_gradient(roles[i]));
    release(reordered);
  }
  for (const Gradient& temporary : computed) release(temporary);
}

void BackwardWriter::add_or_overwrite(const SymbolicView& from, const SymbolicView& to) {
  const auto count = static_cast<std::int64_t>(to.bytes / sizeof(float));
  if (accumulates()) {
    Op& op = prepare(Accumulate{.count = count});
    emit(op, {{"source", from}, {"destination", to}});
  } else {
    Op& copy = prepare(Reorder{.source = canonical({count}), .destination = canonical({count})});
    emit(copy, {{"source", from}, {"destination", to}});
  }
}

}  // namespace parbench
