// Planning of a stage: its passes are written by ForwardWriter and BackwardWriter.
#include "scenarios/training/program/stage_program.h"

#include <algorithm>
#include <iterator>

#include "scenarios/training/program/backward_writer.h"
#include "scenarios/training/program/forward_writer.h"

namespace parbench {

TensorDesc input_tensor(const Device& device, const StageRange& range, std::int64_t samples) {
  const Network& network = *range.network;
  const Shape shape = with_samples(samples, network.input_of(network.layer(range.first)));
  const bool is_tokens = range.is_first() && network.vocabulary > 0;
  return is_tokens ? canonical(shape, DType::i32) : device.activation(shape, range.dtype);
}

TensorDesc target_tensor(const Device& device, const StageRange& range, std::int64_t samples) {
  Shape shape = with_samples(samples, range.network->layers.back().output);
  if (range.network->loss == Loss::mean_squared_error) return device.activation(shape, range.dtype);
  shape.pop_back();  // a class for each position
  return canonical(shape, DType::i32);
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
  OpSet planned;  // only asked for layouts
  for (ParameterSpec& spec : range.network->parameters()) {
    if (spec.layer < range.first || spec.layer > range.last) continue;
    const LayerKind& kind = *range.network->layer(spec.layer).kind;
    const auto gradient = kind.gradient_of(spec.role, range.work_of(spec.layer, samples));
    TensorDesc master = gradient ? planned.prepare(stream, *gradient).tensor("diff_" + spec.role)
                                 : canonical(spec.shape);
    store.add(std::move(spec), std::move(master));
  }
}

StageProgram::StageProgram(Stream& stream, const StageRange& range, std::int64_t samples,
                           ParameterStore& store)
    : stream_(stream), range_(range), samples_(samples) {
  const Device& device = stream.device();
  const Network& network = *range.network;
  input_ = input_tensor(device, range, samples);
  output_ = device.activation(with_samples(samples, network.layer(range.last).output), range.dtype);
  memory_.resize(static_cast<std::size_t>(range.last - range.first) + 1);

  const StageParts parts{stream_, range_, samples_, input_, store, ops_, memory_};
  ForwardWriter writer(parts);
  forward_ = writer.write();
  activation_bytes_ = writer.activation_bytes();
  transient_bytes_ = writer.transient_bytes();
  const auto backward = [&](bool accumulate) {
    BackwardWriter backward_writer(parts, accumulate);
    std::vector<OpCall> calls = backward_writer.write();
    transient_bytes_ = std::max(transient_bytes_, backward_writer.transient_bytes());
    return calls;
  };
  backward_ = backward(false);
  backward_accumulate_ = backward(true);
}

TensorDesc StageProgram::last_source() const {
  const Network& network = *range_.network;
  return stream_.device().activation(
      with_samples(samples_, network.input_of(network.layer(range_.last))), range_.dtype);
}

BufferView StageProgram::last_source_view() const {
  const int producer = range_.network->layer(range_.last).inputs.front();
  if (producer < range_.first) return symbolic(Space::input, 0, input_.bytes);
  return memory_.at(static_cast<std::size_t>(producer - range_.first)).output;
}

}  // namespace parbench
