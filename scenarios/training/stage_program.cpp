// Planning of a stage's forward pass; the backward pass is written by BackwardWriter.
#include "scenarios/training/stage_program.h"

#include <algorithm>

#include "kernels/base/round_up.h"
#include "scenarios/training/backward_writer.h"

namespace parbench {

Shape with_samples(std::int64_t samples, const Shape& sample) {
  Shape shape = {samples};
  shape.insert(shape.end(), sample.begin(), sample.end());
  return shape;
}

ConvolutionShape convolution_of(const Network& network, const Layer& layer, std::int64_t samples) {
  const Shape in = network.input_of(layer);
  return {.batch = samples,
          .in_channels = in.at(0),
          .height = in.at(1),
          .width = in.at(2),
          .out_channels = layer.output.at(0),
          .kernel = layer.kernel,
          .stride = layer.stride,
          .padding = layer.padding};
}

LinearShape linear_of(const Network& network, const Layer& layer, std::int64_t samples) {
  return {.batch = samples,
          .in_features = network.input_of(layer).front(),
          .out_features = layer.output.front()};
}

namespace {

constexpr std::size_t statistics_alignment = 16;  // floats: one cache line

std::size_t statistics_floats(const Layer& layer) {
  if (layer.kind != LayerKind::batch_norm) return 0;
  const auto channels = static_cast<std::size_t>(layer.output.front());
  return 2 * round_up(channels, statistics_alignment);
}

}  // namespace

std::size_t statistics_offset(const Network& network, int layer) {
  std::size_t floats = 0;
  for (int i = 0; i < layer; ++i) {
    floats += statistics_floats(network.layers[static_cast<std::size_t>(i)]);
  }
  return floats * sizeof(float);
}

std::size_t statistics_bytes(const Network& network) {
  return statistics_offset(network, static_cast<int>(network.layers.size()));
}

std::vector<OpDesc> StageProgram::products(const StageRange& range, std::int64_t samples) {
  const Network& network = *range.network;
  std::vector<OpDesc> products;
  const auto add = [&](auto desc) {
    desc.dtype = range.dtype;
    desc.math = range.math;
    products.emplace_back(desc);
  };
  for (int index = range.first; index <= range.last; ++index) {
    const Layer& layer = network.layers[static_cast<std::size_t>(index)];
    const bool needs_data = layer.inputs.front() != network_input;
    if (layer.kind == LayerKind::convolution) {
      const ConvolutionShape shape = convolution_of(network, layer, samples);
      add(ConvolutionForward{.shape = shape});
      if (needs_data) add(ConvolutionBackwardData{.shape = shape});
      add(ConvolutionBackwardWeights{.shape = shape});
    } else if (layer.kind == LayerKind::linear) {
      const LinearShape shape = linear_of(network, layer, samples);
      add(LinearForward{.shape = shape});
      if (needs_data) add(LinearBackwardData{.shape = shape});
      add(LinearBackwardWeights{.shape = shape});
    }
  }
  return products;
}

void StageProgram::add_parameters(Stream& stream, const StageRange& range, std::int64_t samples,
                                  ParameterStore& store) {
  OpSet planned;  // only asked for layouts
  for (ParameterSpec& spec : range.network->parameters()) {
    if (spec.layer < range.first || spec.layer > range.last) continue;
    const Layer& layer = range.network->layers[static_cast<std::size_t>(spec.layer)];
    TensorDesc master = canonical(spec.shape);
    if (layer.kind == LayerKind::convolution) {
      master = planned
                   .prepare(stream, ConvolutionBackwardWeights{.shape = convolution_of(
                                                                   *range.network, layer, samples),
                                                               .dtype = range.dtype,
                                                               .math = range.math})
                   .tensor("diff_weights");
    } else if (layer.kind == LayerKind::linear && spec.role == "weights") {
      master =
          planned
              .prepare(stream,
                       LinearBackwardWeights{.shape = linear_of(*range.network, layer, samples),
                                             .dtype = range.dtype,
                                             .math = range.math})
              .tensor("diff_weights");
    }
    store.add(std::move(spec), std::move(master));
  }
}

StageProgram::StageProgram(Stream& stream, const StageRange& range, std::int64_t samples,
                           ParameterStore& store)
    : stream_(stream), range_(range), samples_(samples), store_(store) {
  const Device& device = stream.device();
  input_ = device.activation(with_samples(samples, range.network->input_of(layer(range.first))),
                             range.dtype);
  output_ = device.activation(with_samples(samples, layer(range.last).output), range.dtype);
  const auto count = static_cast<std::size_t>(range.last - range.first) + 1;
  outputs_.resize(count);
  saved_.resize(count);
  for (int index = range.first; index <= range.last; ++index) write_forward(index);
  backward_ = BackwardWriter(*this, false).write();
  backward_accumulate_ = BackwardWriter(*this, true).write();
}

BufferView StageProgram::input_of(int index, std::size_t which) const {
  const int producer = layer(index).inputs.at(which);
  if (producer < range_.first) return symbolic(Space::input, 0, input_.bytes);
  return outputs_[local(producer)];
}

TensorDesc StageProgram::last_source() const {
  return stream_.device().activation(
      with_samples(samples_, range_.network->input_of(layer(range_.last))), range_.dtype);
}

BufferView StageProgram::keep(std::size_t bytes) {
  const BufferView view = symbolic(Space::activations, activation_bytes_, bytes);
  activation_bytes_ += round_up(bytes, RegionPlanner::alignment);
  return view;
}

bool StageProgram::only_feeds_an_addend(int index) const {
  bool feeds = false;
  for (int consumer = index + 1; consumer <= range_.last; ++consumer) {
    const std::vector<int>& inputs = layer(consumer).inputs;
    const auto found = std::ranges::find(inputs, index);
    if (found == inputs.begin()) return false;
    feeds = feeds || found != inputs.end();
  }
  return feeds;
}

BufferView StageProgram::place_output(int index, std::size_t bytes) {
  // Nothing reads the projection of a residual block after its addition; at most one is alive.
  const bool temporary = layer(index).kind == LayerKind::batch_norm && !layer(index).relu &&
                         only_feeds_an_addend(index);
  if (!temporary) return keep(bytes);
  transient_bytes_ = std::max(transient_bytes_, bytes);
  return symbolic(Space::transient, 0, bytes);
}

void name_layer(std::vector<OpCall>& calls, std::size_t begin, const Layer& layer) {
  for (std::size_t i = begin; i < calls.size(); ++i) calls[i].layer = layer.name;
}

void StageProgram::write_forward(int index) {
  const std::size_t begin = forward_.size();
  const Layer& current = layer(index);
  const Shape source = with_samples(samples_, range_.network->input_of(current));
  const DType dtype = range_.dtype;
  BufferView& output = outputs_[local(index)];
  switch (current.kind) {
    case LayerKind::convolution:
      write_convolution(index);
      break;
    case LayerKind::batch_norm:
      write_batch_norm(index);
      break;
    case LayerKind::linear:
      write_linear(index);
      break;
    case LayerKind::max_pool: {
      Op& op = ops_.prepare(stream_, MaxPoolForward{.shape = {.source = source,
                                                              .kernel = current.kernel,
                                                              .stride = current.stride,
                                                              .padding = current.padding},
                                                    .dtype = dtype});
      output = keep(op.tensor("destination").bytes);
      BufferView& indices = saved_[local(index)].indices;
      indices = keep(op.tensor("indices").bytes);
      forward_.push_back(
          bind(op, {{"source", input_of(index)}, {"destination", output}, {"indices", indices}}));
      break;
    }
    case LayerKind::global_average_pool: {
      Op& op = ops_.prepare(stream_, GlobalAveragePoolForward{.source = source, .dtype = dtype});
      output = keep(op.tensor("destination").bytes);
      forward_.push_back(bind(op, {{"source", input_of(index)}, {"destination", output}}));
      break;
    }
    case LayerKind::relu: {
      Op& op = ops_.prepare(stream_, ReluForward{.shape = source, .dtype = dtype});
      output = keep(op.tensor("destination").bytes);
      forward_.push_back(bind(op, {{"source", input_of(index)}, {"destination", output}}));
      break;
    }
  }
  name_layer(forward_, begin, current);
}

void StageProgram::write_convolution(int index) {
  Op& op = ops_.prepare(
      stream_, ConvolutionForward{.shape = convolution_of(*range_.network, layer(index), samples_),
                                  .dtype = range_.dtype,
                                  .math = range_.math});
  BufferView& output = outputs_[local(index)];
  output = place_output(index, op.tensor("destination").bytes);
  forward_.push_back(
      bind(op, {{"source", input_of(index)},
                {"weights", store_.parameter(index, "weights", op.tensor("weights"))},
                {"destination", output}}));
}

void StageProgram::write_batch_norm(int index) {
  const Layer& current = layer(index);
  const bool adds = current.inputs.size() > 1;
  Op& op = ops_.prepare(stream_, BatchNormForward{.shape = with_samples(samples_, current.output),
                                                  .dtype = range_.dtype,
                                                  .relu = current.relu,
                                                  .add = adds});
  BufferView& output = outputs_[local(index)];
  Saved& saved = saved_[local(index)];
  output = place_output(index, op.tensor("destination").bytes);
  const std::size_t bytes = op.tensor("mean").bytes;
  saved.mean = keep(bytes);
  saved.variance = keep(bytes);
  const std::size_t running = statistics_offset(*range_.network, index);
  const std::size_t half = statistics_floats(current) / 2 * sizeof(float);
  std::vector<Binding> bindings = {
      {"source", input_of(index)},
      {"scale", store_.parameter(index, "scale", op.tensor("scale"))},
      {"shift", store_.parameter(index, "shift", op.tensor("shift"))},
      {"running_mean", symbolic(Space::statistics, running, bytes)},
      {"running_variance", symbolic(Space::statistics, running + half, bytes)},
      {"destination", output},
      {"mean", saved.mean},
      {"variance", saved.variance}};
  if (current.relu) {
    saved.mask = keep(op.tensor("mask").bytes);
    bindings.push_back({"mask", saved.mask});
  }
  if (adds) bindings.push_back({"addend", input_of(index, 1)});
  forward_.push_back(parbench::bind(op, bindings));
}

void StageProgram::write_linear(int index) {
  Op& op = ops_.prepare(stream_,
                        LinearForward{.shape = linear_of(*range_.network, layer(index), samples_),
                                      .dtype = range_.dtype,
                                      .math = range_.math});
  BufferView& output = outputs_[local(index)];
  output = keep(op.tensor("destination").bytes);
  forward_.push_back(
      bind(op, {{"source", input_of(index)},
                {"weights", store_.parameter(index, "weights", op.tensor("weights"))},
                {"bias", store_.parameter(index, "bias", op.tensor("bias"))},
                {"destination", output}}));
}

}  // namespace parbench
