// Layer normalisation.
#pragma once

#include "scenarios/models/layers/layer_kind.h"

namespace parbench {

/// torch.nn.LayerNorm over the last dimension.
class LayerNorm final : public LayerKind {
 public:
  explicit LayerNorm(float epsilon = 1e-5F) : epsilon_(epsilon) {}

  [[nodiscard]] float epsilon() const { return epsilon_; }

  [[nodiscard]] std::string_view name() const override { return "layer_norm"; }
  [[nodiscard]] Shape output_of(const std::vector<Shape>& inputs) const override {
    return inputs.at(0);
  }
  [[nodiscard]] std::vector<ParameterSpec> parameters(const Shape& input,
                                                      const Shape& output) const override;
  [[nodiscard]] bool backward_reads_input(std::size_t /*which*/) const override { return true; }
  void write_forward(ForwardPass& pass) const override;
  void write_backward(BackwardPass& pass) const override;

 private:
  float epsilon_;
};

}  // namespace parbench
