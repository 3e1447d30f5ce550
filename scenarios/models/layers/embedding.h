// Rows of a trainable table, selected by tokens.
#pragma once

#include "scenarios/models/layers/layer_kind.h"

namespace parbench {

/// torch.nn.Embedding of the network's tokens: {…} to {…, width}. Initially normal with the given
/// standard deviation.
class Embedding final : public LayerKind {
 public:
  Embedding(std::int64_t vocabulary, std::int64_t width, float deviation = 1.0F)
      : vocabulary_(vocabulary), width_(width), deviation_(deviation) {}

  [[nodiscard]] std::int64_t vocabulary() const { return vocabulary_; }

  [[nodiscard]] std::string_view name() const override { return "embedding"; }
  [[nodiscard]] Shape output_of(const std::vector<Shape>& inputs) const override;
  [[nodiscard]] std::vector<ParameterSpec> parameters(const Shape& input,
                                                      const Shape& output) const override;
  [[nodiscard]] bool backward_reads_input(std::size_t /*which*/) const override { return true; }
  void write_forward(ForwardPass& pass) const override;
  void write_backward(BackwardPass& pass) const override;

 private:
  std::int64_t vocabulary_;
  std::int64_t width_;
  float deviation_;
};

}  // namespace parbench
