// Sums of activations: of two layers, and of a layer and a trainable table.
#pragma once

#include "scenarios/models/layers/layer_kind.h"

namespace parbench {

/// The sum of two layers' outputs, such as that of a residual connection.
class Addition final : public LayerKind {
 public:
  [[nodiscard]] std::string_view name() const override { return "addition"; }
  [[nodiscard]] Shape output_of(const std::vector<Shape>& inputs) const override;
  void write_forward(ForwardPass& pass) const override;
  void write_backward(BackwardPass& pass) const override;
};

/// Adds a trainable table of the input's shape to each sample: learned positions of a sequence
/// (Radford et al. 2019). Initially normal with standard deviation 0.02, as in GPT-2.
class LearnedPositions final : public LayerKind {
 public:
  [[nodiscard]] std::string_view name() const override { return "learned_positions"; }
  [[nodiscard]] Shape output_of(const std::vector<Shape>& inputs) const override;
  [[nodiscard]] std::vector<ParameterSpec> parameters(const Shape& input,
                                                      const Shape& output) const override;
  void write_forward(ForwardPass& pass) const override;
  void write_backward(BackwardPass& pass) const override;
};

}  // namespace parbench
