// Batch normalisation, alone or as the end of a residual block.
#pragma once

#include "scenarios/models/layers/layer_kind.h"

namespace parbench {

/// torch.nn.BatchNorm2d in training, optionally with a ReLU. A second input, which requires the
/// ReLU, is added before it: the shortcut of a residual block.
class BatchNorm final : public LayerKind {
 public:
  explicit BatchNorm(bool relu, float epsilon = 1e-5F) : relu_(relu), epsilon_(epsilon) {}

  [[nodiscard]] bool relu() const { return relu_; }
  [[nodiscard]] float epsilon() const { return epsilon_; }

  [[nodiscard]] std::string_view name() const override { return "batch_norm"; }
  [[nodiscard]] Shape output_of(const std::vector<Shape>& inputs) const override;
  [[nodiscard]] std::vector<ParameterSpec> parameters(const Shape& input,
                                                      const Shape& output) const override;
  [[nodiscard]] bool parameters_follow_input() const override { return true; }
  /// The running mean and the running variance, each in separate cache lines.
  [[nodiscard]] std::size_t statistics(const Shape& input) const override;
  /// A single value per channel has no variance.
  [[nodiscard]] std::int64_t min_samples(const Shape& output) const override;
  [[nodiscard]] bool backward_reads_input(std::size_t which) const override { return which == 0; }
  void write_forward(ForwardPass& pass) const override;
  void write_backward(BackwardPass& pass) const override;

 private:
  bool relu_;
  float epsilon_;
};

}  // namespace parbench
