// Plans a stage; ForwardWriter and BackwardWriter write its passes.
#include "scenarios/training/program/stage_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <stdexcept>

#include "kernels/base/round_up.h"
#include "scenarios/training/program/backward_writer.h"
#include "scenarios/training/program/forward_writer.h"

namespace parbench {

TensorDesc tensor_of(const Device& device, const StageRange& range, int tensor,
                     std::int64_t samples) {
  const Shape shape = with_samples(samples, range.network->shape_of(tensor));
  const bool is_tokens = tensor == network_input && range.network->vocabulary > 0;
  return is_tokens ? canonical(shape, DType::i32) : device.activation(shape, range.dtype);
}

TensorDesc target_tensor(const Device& device, const StageRange& range, std::int64_t samples) {
  Shape shape = with_samples(samples, range.network->layers.back().output);
  if (range.network->loss == Loss::mean_squared_error) return device.activation(shape, range.dtype);
  shape.pop_back();  // one class per position
  return canonical(shape, DType::i32);
}

LossOperation loss_of(const StageRange& range, std::int64_t samples, bool accumulate) {
  const Network& network = *range.network;
  const Shape shape = with_samples(samples, network.layers.back().output);
  const std::int64_t elements = element_count(shape);
  const std::int64_t parts = network.part.count;
  if (network.loss == Loss::cross_entropy) {
    return {.desc = SoftmaxCrossEntropy{.rows = elements / shape.back(),
                                        .classes = shape.back(),
                                        .dtype = range.dtype,
                                        .total = network.target_positions(range.batch) * parts,
                                        .accumulate = accumulate},
            .prediction = "logits",
            .diff_prediction = "diff_logits"};
  }
  return {.desc = MseLoss{.shape = shape,
                          .dtype = range.dtype,
                          .total_elements = elements / samples * range.batch * parts,
                          .accumulate = accumulate},
          .prediction = "prediction",
          .diff_prediction = "diff_prediction"};
}

std::size_t statistics_offset(const Network& network, int layer) {
  std::size_t floats = 0;
  for (int i = 0; i < layer; ++i) {
    const Layer& one = network.layer(i);
    floats += one.kind->statistics(network.input_of(one));
  }
  return floats * sizeof(float);
}

std::size_t statistics_bytes(const Network& network) {
  return statistics_offset(network, static_cast<int>(network.layers.size()));
}

Boundary::Boundary(const Device& device, const StageRange& range, const std::vector<int>& tensors,
                   std::int64_t samples) {
  for (const int tensor : tensors) {
    tensors_.push_back({tensor, tensor_of(device, range, tensor, samples), bytes_});
    bytes_ += round_up(tensors_.back().desc.bytes, RegionPlanner::alignment);
  }
}

bool Boundary::has(int tensor) const {
  return std::ranges::find(tensors_, tensor, &BoundaryTensor::tensor) != tensors_.end();
}

SymbolicView Boundary::view(Space space, int tensor) const {
  const auto found = std::ranges::find(tensors_, tensor, &BoundaryTensor::tensor);
  if (found == tensors_.end()) {
    throw std::logic_error(fmt::format("the output of layer {} does not cross", tensor));
  }
  return SymbolicView(space, found->offset, found->desc.bytes);
}

std::vector<OpDesc> StageProgram::products(const StageRange& range, std::int64_t samples) {
  std::vector<OpDesc> products;
  for (int index = range.first; index <= range.last; ++index) {
    const Layer& layer = range.network->layer(index);
    const bool needs_data = layer.inputs.front() != network_input;
    std::ranges::move(layer.kind->products(range.work_of(index, samples), needs_data),
                      std::back_inserter(products));
  }
  return products;
}

void StageProgram::add_parameters(Stream& stream, const StageRange& range, std::int64_t samples,
                                  ParameterStore& store) {
  OpSet planned;  // used only to query layouts
  const Network& network = *range.network;
  const std::vector<ParameterSpec> specs = network.parameters();
  for (ParameterSpec spec : specs) {
    if (spec.layer < range.first || spec.layer > range.last) continue;
    const LayerKind& kind = *network.layer(spec.layer).kind;
    const auto gradient = network.is_tied_to(spec.layer)
                              ? std::nullopt
                              : kind.gradient_of(spec.role, range.work_of(spec.layer, samples));
    TensorDesc master = gradient
                            ? planned.prepare_shared(stream, *gradient).tensor("diff_" + spec.role)
                            : canonical(spec.shape);
    store.add(std::move(spec), std::move(master));
  }
  for (int index = range.first; index <= range.last; ++index) {
    const int owner = network.owner_of(index);
    if (owner == index) continue;
    if (owner >= range.first) {
      store.share(index, owner);
      continue;
    }
    for (ParameterSpec spec : specs) {
      if (spec.layer != owner) continue;
      spec.layer = index;
      TensorDesc master = canonical(spec.shape);
      store.add_copy(std::move(spec), std::move(master));
    }
  }
}

StageProgram::StageProgram(Stream& stream, const StageRange& range, std::int64_t samples,
                           ParameterStore& store)
    : stream_(stream), range_(range), samples_(samples) {
  const Device& device = stream.device();
  const Network& network = *range.network;
  inputs_ = Boundary(device, range, network.crossing(range.first), samples);
  outputs_ = Boundary(device, range, network.crossing(range.last + 1), samples);
  memory_.resize(static_cast<std::size_t>(range.last - range.first) + 1);

  const StageParts parts{stream_, range_, samples_, inputs_, outputs_, store, ops_, memory_};
  ForwardWriter writer(parts);
  forward_ = writer.write();
  activation_bytes_ = writer.activations().peak();
  transient_bytes_ = writer.transient_bytes();
  const auto backward = [&](bool accumulate) {
    BackwardWriter backward_writer(parts, writer.activations(), accumulate);
    SymbolicPass pass = backward_writer.write();
    transient_bytes_ = std::max(transient_bytes_, backward_writer.transient_bytes());
    if (!accumulate) {
      prediction_gradient_ = backward_writer.prediction_gradient();
      gradients_begin_ = backward_writer.gradients_begin();
    }
    return pass;
  };
  backward_ = backward(false);
  backward_accumulate_ = backward(true);
}

std::size_t StageProgram::activation_bytes_of(int layer) const {
  const LayerMemory& memory = memory_.at(static_cast<std::size_t>(layer - range_.first));
  std::size_t bytes = memory.output.is_in(Space::activations) ? memory.output.bytes : 0;
  for (const auto& [name, view] : memory.kept) bytes += view.bytes;
  return bytes;
}

TensorDesc StageProgram::desc_of(int tensor) const {
  return tensor_of(stream_.device(), range_, tensor, samples_);
}

SymbolicView StageProgram::view_of(int tensor) const {
  if (tensor < range_.first) return inputs_.view(Space::input, tensor);
  return memory_.at(static_cast<std::size_t>(tensor - range_.first)).output;
}

SymbolicView StageProgram::input_gradient_view(int tensor) const {
  bool is_read = false;
  for (int reader = range_.first; reader <= range_.last; ++reader) {
    is_read = is_read || range_.network->layer(reader).reads(tensor);
  }
  return is_read ? inputs_.view(Space::input_gradient, tensor)
                 : outputs_.view(Space::output_gradient, tensor);
}

}  // namespace parbench
