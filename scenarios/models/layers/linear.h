// Fully connected layer.
#pragma once

#include "scenarios/models/layers/operation_kind.h"

namespace parbench {

/// What the shards of a divided network add up, of which each has a part of a linear layer (Shoeybi
/// et al. 2019).
enum class PartialSum {
  none,            // the layer is whole, or its neighbours see to the sum
  input_gradient,  // each has some outputs, so that the gradient of the input is a sum
  output,          // each has some inputs, so that the output is a sum
  output_part,     // the same, of which each keeps its part of the positions
};

/// torch.nn.Linear over the last dimension: {…, in} to {…, out}.
class Linear final : public OperationKind {
 public:
  explicit Linear(std::int64_t out_features, bool bias = true)
      : out_features_(out_features), bias_(bias) {}
  /// In a divided network, `out_features` being this shard's. `part`: of the positions, with
  /// output_part alone.
  Linear(std::int64_t out_features, bool bias, PartialSum sum, PositionPart part = {})
      : out_features_(out_features), bias_(bias), sum_(sum), part_(part) {}

  [[nodiscard]] bool has_bias() const { return bias_; }

  /// For a micro-batch of the input's shape: all dimensions but the last are rows.
  [[nodiscard]] LinearShape shape(const Shape& source) const;

  [[nodiscard]] std::string_view name() const override { return "linear"; }
  [[nodiscard]] Shape output_of(const std::vector<Shape>& inputs) const override;
  [[nodiscard]] std::vector<ParameterSpec> parameters(const Shape& input,
                                                      const Shape& output) const override;
  [[nodiscard]] OpDesc forward(const LayerWork& work) const override;
  void write_forward(ForwardPass& pass) const override;
  void write_backward(BackwardPass& pass) const override;

 private:
  /// The gradient of the whole output from those of the parts of all shards.
  [[nodiscard]] Gradient gathered_gradient(BackwardPass& pass) const;

  std::int64_t out_features_;
  bool bias_;
  PartialSum sum_ = PartialSum::none;
  PositionPart part_;
};

}  // namespace parbench
