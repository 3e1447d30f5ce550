// Shapes and operations of layers of sequences.
#include "scenarios/models/layers/sequences.h"

#include <fmt/format.h>

#include <stdexcept>

namespace parbench {

Shape Embedding::output_of(const std::vector<Shape>& inputs) const {
  Shape output = inputs.at(0);
  output.push_back(width_);
  return output;
}

std::vector<ParameterSpec> Embedding::parameters(const Shape& /*input*/) const {
  return {{.name = "weight",
           .role = "weights",
           .shape = {vocabulary_, width_},
           .initial = {.distribution = Distribution::normal, .low = 0.0F, .high = deviation_}}};
}

OpDesc Embedding::forward(const LayerWork& work) const {
  return EmbeddingForward{.vocabulary = vocabulary_,
                          .width = width_,
                          .count = element_count(work.inputs.at(0)),
                          .dtype = work.dtype};
}

Shape SelfAttention::output_of(const std::vector<Shape>& inputs) const {
  const Shape& input = inputs.at(0);
  if (input.size() != 2 || input.back() % (3 * heads_) != 0) {
    throw std::invalid_argument(
        fmt::format("attention of {} heads needs {{sequence, 3 times a multiple of {}}}, not {}",
                    heads_, heads_, to_string(input)));
  }
  return {input.front(), input.back() / 3};
}

OpDesc SelfAttention::forward(const LayerWork& work) const {
  return AttentionForward{.batch = work.output.at(0),
                          .sequence = work.output.at(1),
                          .heads = heads_,
                          .head_size = work.output.at(2) / heads_,
                          .causal = causal_,
                          .dtype = work.dtype,
                          .math = work.math};
}

Shape Lstm::output_of(const std::vector<Shape>& inputs) const {
  const Shape& input = inputs.at(0);
  if (input.size() != 2) {
    throw std::invalid_argument(
        fmt::format("an LSTM needs {{sequence, width}}, not {}", to_string(input)));
  }
  return {input.front(), hidden_};
}

std::vector<ParameterSpec> Lstm::parameters(const Shape& input) const {
  const InitialValues initial = uniform_by_inputs(hidden_);
  std::vector<ParameterSpec> found{{.name = "weight_ih",
                                    .role = "weights",
                                    .shape = {4 * hidden_, input.back()},
                                    .initial = initial},
                                   {.name = "weight_hh",
                                    .role = "recurrent_weights",
                                    .shape = {4 * hidden_, hidden_},
                                    .initial = initial}};
  if (bias_) {
    found.push_back({.name = "bias", .role = "bias", .shape = {4 * hidden_}, .initial = initial});
  }
  return found;
}

OpDesc Lstm::forward(const LayerWork& work) const {
  const Shape& source = work.inputs.at(0);
  return LstmForward{.shape = {.batch = source.at(0),
                               .sequence = source.at(1),
                               .in_features = source.at(2),
                               .hidden = hidden_},
                     .dtype = work.dtype,
                     .math = work.math};
}

/// Without a bias, the operation reads zeros.
void Lstm::write_forward(ForwardPass& pass) const {
  if (bias_) return write_operation(pass);
  const SymbolicView zeros = pass.scratch(canonical({4 * hidden_}).bytes);
  Op& fill =
      pass.prepare(Fill{.count = 4 * hidden_, .distribution = Distribution::constant, .low = 0.0F});
  pass.emit(fill, {{"destination", zeros}});
  write_operation(pass, {{"bias", zeros}});
}

}  // namespace parbench
