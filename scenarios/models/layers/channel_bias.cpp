// Calls that add a number to each channel; for rows, the bias is added to each row.
#include "scenarios/models/layers/channel_bias.h"

#include "scenarios/models/layers/passes.h"

namespace parbench {
namespace {

bool is_image(const Shape& shape) { return shape.size() == 4; }

std::int64_t rows_of(const Shape& shape) { return element_count(shape) / shape.back(); }

}  // namespace

void write_bias(ForwardPass& pass, const BufferView& source, const BufferView& destination) {
  const LayerWork& work = pass.work();
  if (is_image(work.output)) {
    Op& op = pass.prepare(AddChannelBias{.shape = work.output, .dtype = work.dtype});
    return pass.emit(op, {{"source", source},
                          {"bias", pass.parameter("bias", op.tensor("bias"))},
                          {"destination", destination}});
  }
  Op& op = pass.prepare(AddRepeated{
      .repeats = rows_of(work.output), .count = work.output.back(), .dtype = work.dtype});
  pass.emit(op, {{"source", source},
                 {"addend", pass.parameter("bias", op.tensor("addend"))},
                 {"destination", destination}});
}

void write_bias_gradient(BackwardPass& pass, const BufferView& incoming) {
  const LayerWork& work = pass.work();
  if (is_image(work.output)) {
    Op& op = pass.prepare(
        SumChannels{.shape = work.output, .dtype = work.dtype, .accumulate = pass.accumulates()});
    return pass.emit(
        op, {{"diff_destination", incoming}, {"diff_bias", pass.parameter_gradient("bias")}});
  }
  Op& op = pass.prepare(SumRepeats{.repeats = rows_of(work.output),
                                   .count = work.output.back(),
                                   .dtype = work.dtype,
                                   .accumulate = pass.accumulates()});
  pass.emit(op, {{"diff_destination", incoming}, {"diff_addend", pass.parameter_gradient("bias")}});
}

std::vector<ParameterSpec> ChannelBias::parameters(const Shape& input,
                                                   const Shape& /*output*/) const {
  const Shape channels{input.size() == 3 ? input.front() : input.back()};
  return {{.name = "bias", .role = "bias", .shape = channels, .initial = constant(0.0F)}};
}

void ChannelBias::write_forward(ForwardPass& pass) const {
  const BufferView output = pass.place_output(pass.activation(pass.work().output).bytes);
  write_bias(pass, pass.input(0), output);
}

void ChannelBias::write_backward(BackwardPass& pass) const {
  const Gradient incoming = pass.gradient();
  write_bias_gradient(pass, incoming.view);
  pass.contribute(0, incoming);
}

}  // namespace parbench
