// Normalisations: of batches, of rows, and over neighbouring channels.
#pragma once

#include "scenarios/models/layers/operation_kind.h"

namespace parbench {

/// torch.nn.BatchNorm2d in training, optionally followed by a ReLU. A second input, which requires
/// the ReLU, is added before the ReLU: the shortcut of a residual block.
class BatchNorm final : public OperationKind {
 public:
  explicit BatchNorm(bool relu, float epsilon = 1e-5F) : relu_(relu), epsilon_(epsilon) {}

  [[nodiscard]] bool relu() const { return relu_; }
  [[nodiscard]] float epsilon() const { return epsilon_; }

  [[nodiscard]] std::string_view name() const override { return "batch_norm"; }
  [[nodiscard]] Shape output_of(const std::vector<Shape>& inputs) const override;
  [[nodiscard]] std::vector<ParameterSpec> parameters(const Shape& input) const override;
  [[nodiscard]] bool parameters_follow_input() const override { return true; }
  /// Returns the number of values for the running mean and the running variance, each rounded up to
  /// whole cache lines.
  [[nodiscard]] std::size_t statistics(const Shape& input) const override;
  /// At least two values per channel are required, because the variance of one value is 0.
  [[nodiscard]] std::int64_t min_samples(const Shape& output) const override;
  [[nodiscard]] OpDesc forward(const LayerWork& work) const override;
  void write_forward(ForwardPass& pass) const override;
  void write_backward(BackwardPass& pass) const override;

 private:
  bool relu_;
  float epsilon_;
};

/// torch.nn.LayerNorm over the last dimension.
class LayerNorm final : public OperationKind {
 public:
  explicit LayerNorm(float epsilon = 1e-5F) : epsilon_(epsilon) {}
  /// For a divided network, in which each shard normalises a part of the positions. The output has
  /// all positions, gathered from all shards.
  LayerNorm(float epsilon, PositionPart gathered) : epsilon_(epsilon), gathered_(gathered) {}

  [[nodiscard]] float epsilon() const { return epsilon_; }

  [[nodiscard]] std::string_view name() const override { return "layer_norm"; }
  [[nodiscard]] Shape output_of(const std::vector<Shape>& inputs) const override;
  [[nodiscard]] std::vector<ParameterSpec> parameters(const Shape& input) const override;
  [[nodiscard]] OpDesc forward(const LayerWork& work) const override;
  void write_forward(ForwardPass& pass) const override;
  void write_backward(BackwardPass& pass) const override;

 private:
  float epsilon_;
  PositionPart gathered_;
};

/// torch.nn.LocalResponseNorm of images, for odd sizes; `offset` is its parameter k.
class LocalResponseNorm final : public OperationKind {
 public:
  struct Options {
    std::int64_t size = 5;
    float alpha = 1e-4F;
    float beta = 0.75F;
    float offset = 1;
  };

  explicit LocalResponseNorm(Options options) : options_(options) {}

  [[nodiscard]] const Options& options() const { return options_; }

  [[nodiscard]] std::string_view name() const override { return "local_response_norm"; }
  [[nodiscard]] Shape output_of(const std::vector<Shape>& inputs) const override;
  [[nodiscard]] OpDesc forward(const LayerWork& work) const override;

 private:
  Options options_;
};

}  // namespace parbench
