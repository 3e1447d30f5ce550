// Implementation of the backward pass's writer.
#include "scenarios/training/backward_writer.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace parbench {

BackwardWriter::BackwardWriter(StageProgram& program, bool accumulate)
    : program_(program),
      accumulate_(accumulate),
      dtype_(program.range_.dtype),
      math_(program.range_.math),
      contributions_(program.outputs_.size()) {}

std::vector<OpCall> BackwardWriter::write() {
  const StageRange& range = program_.range_;
  if (range.is_last()) {
    write_loss();
  } else {
    contribute(range.last, {.view = symbolic(Space::output_gradient, 0, program_.output_.bytes)});
  }
  for (int index = range.last; index >= range.first; --index) {
    const std::size_t begin = calls_.size();
    write_layer(index);
    name_layer(calls_, begin, program_.layer(index));
  }
  write_input_gradient();
  program_.transient_bytes_ = std::max(program_.transient_bytes_, region_.peak());
  return std::move(calls_);
}

BackwardWriter::Gradient BackwardWriter::make_temporary(std::size_t bytes) {
  const std::size_t offset = region_.acquire(bytes);
  temporaries_.push_back({offset, 1});
  return {.view = symbolic(Space::transient, offset, bytes),
          .temporary = static_cast<int>(temporaries_.size()) - 1};
}

bool BackwardWriter::is_exclusive(const Gradient& gradient) const {
  return gradient.temporary >= 0 &&
         temporaries_[static_cast<std::size_t>(gradient.temporary)].readers == 1;
}

void BackwardWriter::add_reader(const Gradient& gradient) {
  if (gradient.temporary >= 0) ++temporaries_[static_cast<std::size_t>(gradient.temporary)].readers;
}

void BackwardWriter::release(const Gradient& gradient) {
  if (gradient.temporary < 0) return;
  Temporary& temporary = temporaries_[static_cast<std::size_t>(gradient.temporary)];
  if (--temporary.readers == 0) region_.release(temporary.offset);
}

BackwardWriter::Gradient BackwardWriter::make_input_gradient(int producer, std::size_t bytes) {
  if (producer < program_.range_.first && !std::exchange(boundary_taken_, true)) {
    return {.view = symbolic(Space::input_gradient, 0, bytes)};
  }
  return make_temporary(bytes);
}

void BackwardWriter::contribute(int producer, const Gradient& gradient) {
  (producer < program_.range_.first ? to_input_ : contributions_[program_.local(producer)])
      .push_back(gradient);
}

void BackwardWriter::write_input_gradient() {
  const BufferView boundary = symbolic(Space::input_gradient, 0, program_.input_.bytes);
  for (const Gradient& gradient : to_input_) {
    if (gradient.temporary < 0) continue;  // written there directly
    Op& add = prepare(Add{.shape = program_.input_.shape, .dtype = dtype_});
    emit(add, {{"a", boundary}, {"b", gradient.view}, {"destination", boundary}});
    release(gradient);
  }
}

BackwardWriter::Gradient BackwardWriter::sum_of(std::vector<Gradient> contributions,
                                                const Shape& shape) {
  // Sum into memory that no other operation reads.
  std::stable_partition(contributions.begin(), contributions.end(),
                        [&](const Gradient& gradient) { return is_exclusive(gradient); });
  if (contributions.size() > 1 && !is_exclusive(contributions.front())) {
    throw std::logic_error("gradients meet in memory that others still read");
  }
  const Gradient sum = contributions.front();
  for (std::size_t i = 1; i < contributions.size(); ++i) {
    Op& add = prepare(Add{.shape = shape, .dtype = dtype_});
    emit(add, {{"a", sum.view}, {"b", contributions[i].view}, {"destination", sum.view}});
    release(contributions[i]);
  }
  return sum;
}

void BackwardWriter::write_loss() {
  const StageRange& range = program_.range_;
  const Shape shape = shape_of(range.last);
  Op& op = prepare(MseLoss{.shape = shape,
                           .dtype = dtype_,
                           .total_elements = range.batch * element_count(shape) / shape.front(),
                           .accumulate = accumulate_});
  const Gradient gradient = make_temporary(op.tensor("diff_prediction").bytes);
  emit(op, {{"prediction", program_.outputs_.back()},
            {"target", symbolic(Space::target, 0, op.tensor("target").bytes)},
            {"loss", symbolic(Space::loss, 0, sizeof(float))},
            {"diff_prediction", gradient.view}});
  contribute(range.last, gradient);
}

void BackwardWriter::write_layer(int index) {
  const Layer& layer = program_.layer(index);
  const std::vector<Gradient>& incoming = contributions_[program_.local(index)];
  if (incoming.empty()) throw std::logic_error("layer " + layer.name + " has no reader");
  const bool adds = layer.kind == LayerKind::batch_norm && layer.inputs.size() > 1;
  const Gradient sum = adds ? write_addition(index, incoming) : sum_of(incoming, shape_of(index));
  switch (layer.kind) {
    case LayerKind::convolution:
      write_convolution(index, sum);
      break;
    case LayerKind::batch_norm:
      write_batch_norm(index, sum);
      break;
    case LayerKind::max_pool:
      write_max_pool(index, sum);
      break;
    case LayerKind::global_average_pool:
      write_average_pool(index, sum);
      break;
    case LayerKind::linear:
      write_linear(index, sum);
      break;
    case LayerKind::relu:
      write_relu(index, sum);
      break;
  }
}

BackwardWriter::Gradient BackwardWriter::write_addition(int index,
                                                        const std::vector<Gradient>& incoming) {
  const Shape shape = shape_of(index);
  const bool two = incoming.size() == 2;
  Gradient a = two ? incoming[0] : sum_of(incoming, shape);
  Gradient b = two ? incoming[1] : a;
  if (!is_exclusive(a)) std::swap(a, b);
  Op& op = prepare(AddReluBackward{.shape = shape, .dtype = dtype_, .two_gradients = two});
  const bool in_place = is_exclusive(a);
  const Gradient result = in_place ? a : make_temporary(op.tensor("diff_source").bytes);
  std::vector<Binding> bindings = {{"mask", program_.saved_[program_.local(index)].mask},
                                   {"a", a.view},
                                   {"diff_source", result.view}};
  if (two) bindings.push_back({"b", b.view});
  emit(op, bindings);
  if (!in_place) release(a);
  if (two) release(b);
  add_reader(result);
  contribute(program_.layer(index).inputs.at(1), result);
  return result;
}

void BackwardWriter::write_relu(int index, const Gradient& incoming) {
  Op& op = prepare(ReluBackward{.shape = shape_of(index), .dtype = dtype_});
  const int producer = program_.layer(index).inputs.front();
  const Gradient result = is_exclusive(incoming) && producer >= program_.range_.first
                              ? incoming
                              : make_input_gradient(producer, op.tensor("diff_source").bytes);
  emit(op, {{"destination", program_.outputs_[program_.local(index)]},
            {"diff_destination", incoming.view},
            {"diff_source", result.view}});
  if (result.temporary != incoming.temporary || result.temporary < 0) release(incoming);
  contribute(producer, result);
}

void BackwardWriter::write_batch_norm(int index, const Gradient& incoming) {
  const Layer& layer = program_.layer(index);
  const StageProgram::Saved& saved = program_.saved_[program_.local(index)];
  const bool relu = layer.relu && layer.inputs.size() == 1;  // write_addition takes the others
  Op& op = prepare(BatchNormBackward{
      .shape = shape_of(index), .dtype = dtype_, .relu = relu, .accumulate = accumulate_});
  const int producer = layer.inputs.front();
  const bool in_place = is_exclusive(incoming) && producer >= program_.range_.first;
  const Gradient result =
      in_place ? incoming : make_input_gradient(producer, op.tensor("diff_source").bytes);
  ParameterStore& store = program_.store_;
  std::vector<Binding> bindings = {{"source", program_.input_of(index)},
                                   {"diff_destination", incoming.view},
                                   {"mean", saved.mean},
                                   {"variance", saved.variance},
                                   {"scale", store.parameter(index, "scale", op.tensor("scale"))},
                                   {"shift", store.parameter(index, "shift", op.tensor("shift"))},
                                   {"diff_source", result.view},
                                   {"diff_scale", store.gradient(index, "scale")},
                                   {"diff_shift", store.gradient(index, "shift")}};
  if (relu) bindings.push_back({"mask", saved.mask});
  emit(op, bindings);
  if (!in_place) release(incoming);
  contribute(producer, result);
}

template <typename Weights>
void BackwardWriter::write_weight_gradient(int index, Weights desc, const Gradient& incoming) {
  const ParameterStore& store = program_.store_;
  const BufferView weights = store.gradient(index, "weights");
  const TensorDesc& master = store.entry(index, "weights").master;
  std::vector<Binding> bindings = {{"source", program_.input_of(index)},
                                   {"diff_destination", incoming.view}};
  desc.accumulate = accumulate_;
  Op& direct = prepare(desc);
  const bool bias = direct.has("diff_bias");
  if (direct.tensor("diff_weights") == master) {
    bindings.push_back({"diff_weights", weights});
    if (bias) bindings.push_back({"diff_bias", store.gradient(index, "bias")});
    emit(direct, bindings);
    return;
  }

  desc.accumulate = false;
  Op& op = prepare(desc);
  const TensorDesc& layout = op.tensor("diff_weights");
  const Gradient computed = make_temporary(layout.bytes);
  const Gradient reordered = make_temporary(master.bytes);
  bindings.push_back({"diff_weights", computed.view});
  const Gradient of_bias = make_temporary(bias ? op.tensor("diff_bias").bytes : 0);
  if (bias) bindings.push_back({"diff_bias", of_bias.view});
  emit(op, bindings);
  Op& reorder = prepare(Reorder{.source = layout, .destination = master});
  emit(reorder, {{"source", computed.view}, {"destination", reordered.view}});
  add_or_overwrite(reordered, weights);
  if (bias) add_or_overwrite(of_bias, store.gradient(index, "bias"));
  for (const Gradient& temporary : {computed, reordered, of_bias}) release(temporary);
}

void BackwardWriter::add_or_overwrite(const Gradient& from, const BufferView& to) {
  const auto count = static_cast<std::int64_t>(to.bytes / sizeof(float));
  if (accumulate_) {
    Op& add = prepare(Accumulate{.count = count});
    emit(add, {{"source", from.view}, {"destination", to}});
  } else {
    Op& copy = prepare(Reorder{.source = canonical({count}), .destination = canonical({count})});
    emit(copy, {{"source", from.view}, {"destination", to}});
  }
}

void BackwardWriter::write_convolution(int index, const Gradient& incoming) {
  const ConvolutionShape shape =
      convolution_of(*program_.range_.network, program_.layer(index), program_.samples_);
  write_weight_gradient(
      index, ConvolutionBackwardWeights{.shape = shape, .dtype = dtype_, .math = math_}, incoming);
  write_data_gradient(
      index, ConvolutionBackwardData{.shape = shape, .dtype = dtype_, .math = math_}, incoming);
}

void BackwardWriter::write_linear(int index, const Gradient& incoming) {
  const LinearShape shape =
      linear_of(*program_.range_.network, program_.layer(index), program_.samples_);
  write_weight_gradient(
      index, LinearBackwardWeights{.shape = shape, .dtype = dtype_, .math = math_}, incoming);
  write_data_gradient(index, LinearBackwardData{.shape = shape, .dtype = dtype_, .math = math_},
                      incoming);
}

void BackwardWriter::write_data_gradient(int index, const OpDesc& desc, const Gradient& incoming) {
  const int producer = program_.layer(index).inputs.front();
  if (producer != network_input) {
    Op& op = prepare(desc);
    const Gradient result = make_input_gradient(producer, op.tensor("diff_source").bytes);
    emit(op, {{"diff_destination", incoming.view},
              {"weights", program_.store_.parameter(index, "weights", op.tensor("weights"))},
              {"diff_source", result.view}});
    contribute(producer, result);
  }
  release(incoming);
}

void BackwardWriter::write_max_pool(int index, const Gradient& incoming) {
  const Layer& layer = program_.layer(index);
  const Shape source = with_samples(program_.samples_, program_.range_.network->input_of(layer));
  Op& op = prepare(MaxPoolBackward{.shape = {.source = source,
                                             .kernel = layer.kernel,
                                             .stride = layer.stride,
                                             .padding = layer.padding},
                                   .dtype = dtype_});
  const int producer = layer.inputs.front();
  const Gradient result = make_input_gradient(producer, op.tensor("diff_source").bytes);
  emit(op, {{"diff_destination", incoming.view},
            {"indices", program_.saved_[program_.local(index)].indices},
            {"diff_source", result.view}});
  release(incoming);
  contribute(producer, result);
}

void BackwardWriter::write_average_pool(int index, const Gradient& incoming) {
  const Layer& layer = program_.layer(index);
  const Shape source = with_samples(program_.samples_, program_.range_.network->input_of(layer));
  Op& op = prepare(GlobalAveragePoolBackward{.source = source, .dtype = dtype_});
  const int producer = layer.inputs.front();
  const Gradient result = make_input_gradient(producer, op.tensor("diff_source").bytes);
  emit(op, {{"diff_destination", incoming.view}, {"diff_source", result.view}});
  release(incoming);
  contribute(producer, result);
}

}  // namespace parbench
