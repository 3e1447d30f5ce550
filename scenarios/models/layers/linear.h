// Fully connected layer.
#pragma once

#include "scenarios/models/layers/operation_kind.h"

namespace parbench {

/// The sum over shards that a layer of a divided network requires, if each shard has a part of a
/// linear layer (Shoeybi et al. 2019).
enum class PartialSum {
  none,            // the layer is whole, or neighbouring layers compute the sum
  input_gradient,  // each shard has some outputs, so that the gradient of the input is a sum
  output,          // each shard has some inputs, so that the output is a sum
  output_part,     // like output, but each shard keeps only its part of the positions
};

/// torch.nn.Linear over the last dimension: {…, in} to {…, out}.
class Linear final : public OperationKind {
 public:
  explicit Linear(std::int64_t out_features, bool bias = true)
      : out_features_(out_features), bias_(bias) {}
  /// For a divided network. `out_features`: number of outputs of this shard. `part`: part of the
  /// positions, only for output_part.
  Linear(std::int64_t out_features, bool bias, PartialSum sum, PositionPart part = {})
      : out_features_(out_features), bias_(bias), sum_(sum), part_(part) {}

  [[nodiscard]] bool has_bias() const { return bias_; }

  /// Returns the shape of the operation for a micro-batch: all dimensions except the last are rows.
  [[nodiscard]] LinearShape shape(const Shape& source) const;

  [[nodiscard]] std::string_view name() const override { return "linear"; }
  [[nodiscard]] Shape output_of(const std::vector<Shape>& inputs) const override;
  [[nodiscard]] std::vector<ParameterSpec> parameters(const Shape& input) const override;
  [[nodiscard]] OpDesc forward(const LayerWork& work) const override;
  void write_forward(ForwardPass& pass) const override;
  void write_backward(BackwardPass& pass) const override;

 private:
  /// Returns the gradient of the whole output, gathered from the parts of all shards.
  [[nodiscard]] Gradient gathered_gradient(BackwardPass& pass) const;

  std::int64_t out_features_;
  bool bias_;
  PartialSum sum_ = PartialSum::none;
  PositionPart part_;
};

}  // namespace parbench
