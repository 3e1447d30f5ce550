// One overload for each operation that has a gradient.
#include "kernels/ops/gradients.h"

#include <stdexcept>
#include <string>
#include <variant>

namespace parbench {
namespace {

using Gradients = std::vector<OpDesc>;

// In convolutions and linear layers, the operation for the weights comes first. Both operations
// read the gradient of the output.

Gradients gradients(const ConvolutionForward& of, bool accumulate) {
  if (of.relu) throw std::logic_error("a convolution with a ReLU has no gradient");
  return {ConvolutionBackwardWeights{.shape = of.shape,
                                     .dtype = of.dtype,
                                     .bias = of.bias,
                                     .accumulate = accumulate,
                                     .math = of.math},
          ConvolutionBackwardData{.shape = of.shape, .dtype = of.dtype, .math = of.math}};
}

/// Gradients of a transposed convolution, whose forward pass is a ConvolutionBackwardData.
Gradients gradients(const ConvolutionBackwardData& of, bool accumulate) {
  return {ConvolutionBackwardWeights{
              .shape = of.shape, .dtype = of.dtype, .accumulate = accumulate, .math = of.math},
          ConvolutionForward{.shape = of.shape, .dtype = of.dtype, .math = of.math}};
}

Gradients gradients(const LinearForward& of, bool accumulate) {
  return {LinearBackwardWeights{.shape = of.shape,
                                .dtype = of.dtype,
                                .accumulate = accumulate,
                                .math = of.math,
                                .bias = of.bias},
          LinearBackwardData{.shape = of.shape, .dtype = of.dtype, .math = of.math}};
}

/// Gradients of the normalisation and, unless there is an addend, the ReLU. With `add`, callers run
/// AddReluBackward first for the gradient of the addition and the ReLU.
Gradients gradients(const BatchNormForward& of, bool accumulate) {
  return {BatchNormBackward{.shape = of.shape,
                            .dtype = of.dtype,
                            .relu = of.relu && !of.add,
                            .epsilon = of.epsilon,
                            .accumulate = accumulate}};
}

Gradients gradients(const LayerNormForward& of, bool accumulate) {
  return {LayerNormBackward{
      .shape = of.shape, .dtype = of.dtype, .epsilon = of.epsilon, .accumulate = accumulate}};
}

Gradients gradients(const LocalResponseNormForward& of, bool /*accumulate*/) {
  return {LocalResponseNormBackward{.shape = of.shape,
                                    .dtype = of.dtype,
                                    .size = of.size,
                                    .alpha = of.alpha,
                                    .beta = of.beta,
                                    .offset = of.offset}};
}

Gradients gradients(const ActivationForward& of, bool /*accumulate*/) {
  return {ActivationBackward{
      .shape = of.shape, .dtype = of.dtype, .kind = of.kind, .low = of.low, .high = of.high}};
}

Gradients gradients(const Dropout& of, bool /*accumulate*/) { return {of}; }

Gradients gradients(const Add& /*of*/, bool /*accumulate*/) { return {}; }

Gradients gradients(const AddRepeated& of, bool accumulate) {
  return {SumRepeats{
      .repeats = of.repeats, .count = of.count, .dtype = of.dtype, .accumulate = accumulate}};
}

Gradients gradients(const AddChannelBias& of, bool accumulate) {
  return {SumChannels{.shape = of.shape, .dtype = of.dtype, .accumulate = accumulate}};
}

Gradients gradients(const MaxPoolForward& of, bool /*accumulate*/) {
  return {MaxPoolBackward{.shape = of.shape, .dtype = of.dtype}};
}

Gradients gradients(const AveragePoolForward& of, bool /*accumulate*/) {
  return {
      AveragePoolBackward{.shape = of.shape, .dtype = of.dtype, .count_padding = of.count_padding}};
}

Gradients gradients(const GlobalAveragePoolForward& of, bool /*accumulate*/) {
  return {GlobalAveragePoolBackward{.source = of.source, .dtype = of.dtype}};
}

Gradients gradients(const ShuffleChannels& of, bool /*accumulate*/) {
  return {
      ShuffleChannels{.shape = of.shape, .groups = of.shape.at(1) / of.groups, .dtype = of.dtype}};
}

Gradients gradients(const PadImage& of, bool /*accumulate*/) {
  return {PadImage{.source = of.destination(), .edges = of.edges.reversed(), .dtype = of.dtype}};
}

Gradients gradients(const EmbeddingForward& of, bool accumulate) {
  return {EmbeddingBackward{.vocabulary = of.vocabulary,
                            .width = of.width,
                            .count = of.count,
                            .dtype = of.dtype,
                            .accumulate = accumulate}};
}

Gradients gradients(const AttentionForward& of, bool /*accumulate*/) {
  return {AttentionBackward{.batch = of.batch,
                            .sequence = of.sequence,
                            .heads = of.heads,
                            .head_size = of.head_size,
                            .causal = of.causal,
                            .dtype = of.dtype,
                            .math = of.math}};
}

/// The operation for the source comes first: it saves the gradients of the gates, which the
/// operation for the weights reads.
Gradients gradients(const LstmForward& of, bool accumulate) {
  return {LstmBackwardData{.shape = of.shape, .dtype = of.dtype, .math = of.math},
          LstmBackwardWeights{
              .shape = of.shape, .dtype = of.dtype, .accumulate = accumulate, .math = of.math}};
}

template <class Desc>
Gradients gradients(const Desc& of, bool /*accumulate*/) {
  throw std::logic_error(std::string(name_of(of)) + " has no gradient");
}

}  // namespace

std::vector<OpDesc> gradients_of(const OpDesc& forward, bool accumulate) {
  return std::visit([&](const auto& of) { return gradients(of, accumulate); }, forward);
}

bool gradient_may_overwrite(const OpDesc& forward) {
  return std::holds_alternative<ActivationForward>(forward) ||
         std::holds_alternative<Dropout>(forward) ||
         std::holds_alternative<BatchNormForward>(forward) ||
         std::holds_alternative<LayerNormForward>(forward);
}

}  // namespace parbench
