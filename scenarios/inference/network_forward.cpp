// Memory and content of a forward pass, by layer.
#include "scenarios/inference/network_forward.h"

#include <fmt/format.h>

#include <algorithm>

#include "scenarios/framework/prepared_case.h"
#include "scenarios/models/layers/convolution.h"
#include "scenarios/training/batch_data.h"

namespace parbench {

StageRange whole_range(const Network& network, NumberFormat format, std::int64_t batch) {
  return {.network = &network,
          .first = 0,
          .last = static_cast<int>(network.layers.size()) - 1,
          .dtype = format.dtype,
          .math = format.math,
          .batch = batch};
}

NetworkForward::NetworkForward(const StageRange& whole, Stream& stream, int device,
                               std::uint64_t seed, ForwardMemory& memory)
    : whole_(whole),
      first_stream_(stream),
      device_(device),
      seed_(seed),
      memory_(memory),
      specs_(whole.network->parameters()),
      outputs_(whole.network->layers.size()),
      flops_(whole.network->layers.size()) {
  input_.device = device_;
  input_.desc = tensor_of(first_stream_.device(), whole_, network_input, whole_.batch);
}

std::string NetworkForward::key(std::string_view what) const {
  return fmt::format("forward of {} {}: {}", whole_.network->name, to_string(whole_.network->input),
                     what);
}

void NetworkForward::draw_input(int perturbation) {
  std::string what =
      fmt::format("input {} {}", to_string(input_.desc.shape), to_string(input_.desc.dtype));
  auto write = writer_of_inputs(first_stream_, whole_, seed_);
  if (perturbation != 0 && input_.desc.dtype == DType::f32) {
    what += fmt::format(" perturbed {}", perturbation);
    write = [draw = std::move(write), &stream = first_stream_, perturbation,
             change = perturbation_of({whole_.dtype, whole_.math})](BufferView view) {
      draw(view);
      perturb(stream, view, perturbation, change);
    };
  }
  input_.view = memory_.filled(key(what), input_.desc.bytes, write);
}

void NetworkForward::receive(int tensor) {
  BufferView& view =
      tensor == network_input ? input_.view : outputs_.at(static_cast<std::size_t>(tensor));
  view = memory_.work(this->tensor(tensor).desc.bytes);
}

void NetworkForward::begin(int layer, Stream& stream, OpSet& ops) {
  layer_ = layer;
  work_ = whole_.work_of(layer, whole_.batch);
  stream_ = &stream;
  ops_ = &ops;
  calls_.clear();
}

std::vector<OpCall> NetworkForward::plan(int layer, Stream& stream, OpSet& ops) {
  begin(layer, stream, ops);
  this->layer().kind->write_forward(*this);
  double& flops = flops_.at(static_cast<std::size_t>(layer));
  flops = 0;
  for (OpCall& call : calls_) {
    call.layer = this->layer().name;
    flops += call.op->work().flops;
  }
  return std::move(calls_);
}

std::vector<OpCall> NetworkForward::plan_merged(const std::vector<int>& layers, Stream& stream,
                                                OpSet& ops) {
  const auto convolution_of = [&](int layer) {
    return as<Convolution>(whole_.network->layer(layer))->options();
  };
  begin(layers.front(), stream, ops);
  Convolution::Options all = convolution_of(layers.front());
  all.out_channels = 0;
  for (const int layer : layers) all.out_channels += convolution_of(layer).out_channels;
  Op& op = prepare(Convolution(all).forward(work_));
  const TensorDesc& output = op.tensor("destination");
  const BufferView together = memory_.work(output.bytes);
  std::vector<SymbolicBinding> bindings = {
      {"source", input(0)},
      {"weights", parameter_of_all(layers, "weights", op.tensor("weights"))},
      {"destination", together}};
  if (all.bias) bindings.push_back({"bias", parameter_of_all(layers, "bias", op.tensor("bias"))});
  emit(op, bindings);
  std::int64_t first = 0;
  for (const int layer : layers) {
    layer_ = layer;  // the layer whose output gets memory
    const std::int64_t count = convolution_of(layer).out_channels;
    Op& slice = prepare(SliceChannels{
        .range = {.whole = output.shape, .first = first, .count = count}, .dtype = work_.dtype});
    emit(slice,
         {{"source", together}, {"destination", place_output(slice.tensor("destination").bytes)}});
    first += count;
  }
  for (OpCall& call : calls_) call.layer = whole_.network->layer(layers.front()).name;
  return std::move(calls_);
}

Op& NetworkForward::prepare(const OpDesc& desc) { return ops_->prepare(*stream_, desc); }

void NetworkForward::emit(Op& op, const std::vector<SymbolicBinding>& bindings) {
  calls_.push_back(rebase(bind(op, bindings), {}));
}

TensorDesc NetworkForward::activation(const Shape& shape) const {
  return first_stream_.device().activation(shape, work_.dtype);
}

SymbolicView NetworkForward::input(std::size_t which) const {
  const int producer = layer().inputs.at(which);
  return producer == network_input ? input_.view : outputs_.at(static_cast<std::size_t>(producer));
}

const ParameterSpec& NetworkForward::spec_of(int layer, std::string_view role) const {
  const int owner = whole_.network->owner_of(layer);
  const auto spec = std::ranges::find_if(
      specs_, [&](const ParameterSpec& one) { return one.layer == owner && one.role == role; });
  if (spec == specs_.end()) {
    throw std::logic_error(
        fmt::format("{} has no parameter {}", whole_.network->layer(layer).name, role));
  }
  return *spec;
}

SymbolicView NetworkForward::parameter(std::string_view role, const TensorDesc& wanted) {
  return parameter_of_all({layer_}, role, wanted);
}

/// Returns memory with one parameter of several layers, concatenated along the first dimension.
BufferView NetworkForward::parameter_of_all(const std::vector<int>& layers, std::string_view role,
                                            const TensorDesc& wanted) {
  std::vector<Fill> numbers;
  std::string names;
  for (const int layer : layers) {
    const ParameterSpec& spec = spec_of(layer, role);
    numbers.push_back(initial_fill(*whole_.network, spec, seed_));
    names += spec.name + " ";
  }
  const std::string what = fmt::format("{}{} {} as {}", names, to_string(wanted.shape),
                                       to_string(wanted.dtype), wanted.layout.name());
  const BufferView view = memory_.filled(key(what), wanted.bytes,
                                         [&stream = first_stream_, wanted, numbers](BufferView to) {
                                           draw_parts(stream, wanted, to, numbers);
                                         });
  const Tensor tensor{.device = device_, .desc = wanted, .view = view};
  std::int64_t first = 0;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    parameters_[{layers[i], std::string(role)}] = {
        .tensor = tensor, .first = first, .count = numbers[i].count};
    first += numbers[i].count;
  }
  return view;
}

SymbolicView NetworkForward::place_output(std::size_t bytes) {
  return outputs_.at(static_cast<std::size_t>(layer_)) = memory_.work(bytes);
}

SymbolicView NetworkForward::keep(std::string_view /*name*/, std::size_t bytes) {
  return memory_.work(bytes);
}

SymbolicView NetworkForward::statistics() const {
  const std::size_t floats = layer().kind->statistics(whole_.network->input_of(layer()));
  const TensorDesc desc = canonical({static_cast<std::int64_t>(floats)});
  const Fill zeros{.count = static_cast<std::int64_t>(floats),
                   .distribution = Distribution::constant,
                   .low = 0.0F};
  return memory_.filled(
      key("statistics of " + layer().name), desc.bytes,
      [&stream = first_stream_, desc, zeros](BufferView to) { draw(stream, desc, to, zeros); });
}

Tensor NetworkForward::tensor(int index) const {
  if (index == network_input) return input_;
  const LayerWork work = whole_.work_of(index, whole_.batch);
  return {.device = device_,
          .desc = first_stream_.device().activation(work.output, work.dtype),
          .view = outputs_.at(static_cast<std::size_t>(index))};
}

Tensor NetworkForward::source(int layer, std::size_t which) const {
  return tensor(whole_.network->layer(layer).inputs.at(which));
}

const ParameterPart& NetworkForward::parameter_part(int layer, std::string_view role) const {
  return parameters_.at({layer, std::string(role)});
}

}  // namespace parbench
