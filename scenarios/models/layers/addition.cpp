// Calls of sums: the gradient of a sum is that of each of its addends.
#include "scenarios/models/layers/addition.h"

#include <stdexcept>

#include "scenarios/models/layers/passes.h"

namespace parbench {

Shape Addition::output_of(const std::vector<Shape>& inputs) const {
  if (inputs.size() != 2 || inputs[0] != inputs[1]) {
    throw std::invalid_argument("an addition has two inputs of one shape");
  }
  return inputs.front();
}

void Addition::write_forward(ForwardPass& pass) const {
  Op& op = pass.prepare(Add{.shape = pass.work().output, .dtype = pass.work().dtype});
  pass.emit(op, {{"a", pass.input(0)},
                 {"b", pass.input(1)},
                 {"destination", pass.place_output(op.tensor("destination").bytes)}});
}

void Addition::write_backward(BackwardPass& pass) const {
  const Gradient incoming = pass.gradient();
  pass.share(incoming);
  pass.contribute(0, incoming);
  pass.contribute(1, incoming);
}

Shape LearnedPositions::output_of(const std::vector<Shape>& inputs) const { return inputs.at(0); }

std::vector<ParameterSpec> LearnedPositions::parameters(const Shape& input,
                                                        const Shape& /*output*/) const {
  constexpr float deviation = 0.02F;
  return {{.name = "weight",
           .role = "addend",
           .shape = {element_count(input)},
           .initial = {.distribution = Distribution::normal, .low = 0.0F, .high = deviation}}};
}

void LearnedPositions::write_forward(ForwardPass& pass) const {
  const LayerWork& work = pass.work();
  const std::int64_t samples = work.output.front();
  Op& op = pass.prepare(AddRepeated{
      .repeats = samples, .count = element_count(work.output) / samples, .dtype = work.dtype});
  pass.emit(op, {{"source", pass.input(0)},
                 {"addend", pass.parameter("addend", op.tensor("addend"))},
                 {"destination", pass.place_output(op.tensor("destination").bytes)}});
}

void LearnedPositions::write_backward(BackwardPass& pass) const {
  const LayerWork& work = pass.work();
  const std::int64_t samples = work.output.front();
  const Gradient incoming = pass.gradient();
  Op& op = pass.prepare(SumRepeats{.repeats = samples,
                                   .count = element_count(work.output) / samples,
                                   .dtype = work.dtype,
                                   .accumulate = pass.accumulates()});
  pass.emit(op, {{"diff_destination", incoming.view},
                 {"diff_addend", pass.parameter_gradient("addend")}});
  pass.contribute(0, incoming);
}

}  // namespace parbench
