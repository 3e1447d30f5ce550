// Layer normalisation.
#pragma once

#include "scenarios/models/layers/layer_kind.h"

namespace parbench {

/// torch.nn.LayerNorm over the last dimension.
class LayerNorm final : public LayerKind {
 public:
  explicit LayerNorm(float epsilon = 1e-5F) : epsilon_(epsilon) {}
  /// For a divided network whose shards normalise a part of the positions each: the output contains
  /// all positions, gathered from all shards.
  LayerNorm(float epsilon, PositionPart gathered) : epsilon_(epsilon), gathered_(gathered) {}

  [[nodiscard]] float epsilon() const { return epsilon_; }

  [[nodiscard]] std::string_view name() const override { return "layer_norm"; }
  [[nodiscard]] Shape output_of(const std::vector<Shape>& inputs) const override;
  [[nodiscard]] std::vector<ParameterSpec> parameters(const Shape& input,
                                                      const Shape& output) const override;
  [[nodiscard]] bool backward_reads_input(std::size_t /*which*/) const override { return true; }
  void write_forward(ForwardPass& pass) const override;
  void write_backward(BackwardPass& pass) const override;

 private:
  float epsilon_;
  PositionPart gathered_;
};

}  // namespace parbench
