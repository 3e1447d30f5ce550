// Fully connected layer.
#pragma once

#include "scenarios/models/layers/passes.h"

namespace parbench {

/// torch.nn.Linear over the last dimension: {…, in} to {…, out}.
class Linear final : public LayerKind {
 public:
  explicit Linear(std::int64_t out_features, bool bias = true)
      : out_features_(out_features), bias_(bias) {}

  [[nodiscard]] bool has_bias() const { return bias_; }

  /// For a micro-batch of the input's shape: all dimensions but the last are rows.
  [[nodiscard]] LinearShape shape(const Shape& source) const;

  [[nodiscard]] std::string_view name() const override { return "linear"; }
  [[nodiscard]] Shape output_of(const std::vector<Shape>& inputs) const override;
  [[nodiscard]] std::vector<ParameterSpec> parameters(const Shape& input,
                                                      const Shape& output) const override;
  [[nodiscard]] std::vector<OpDesc> products(const LayerWork& work,
                                             bool with_data_gradient) const override;
  [[nodiscard]] std::optional<OpDesc> gradient_of(std::string_view role,
                                                  const LayerWork& work) const override;
  [[nodiscard]] bool backward_reads_input(std::size_t /*which*/) const override { return true; }
  void write_forward(ForwardPass& pass) const override;
  void write_backward(BackwardPass& pass) const override;

 private:
  [[nodiscard]] LinearForward forward(const LayerWork& work) const;
  [[nodiscard]] LinearBackwardData data_gradient(const LayerWork& work) const;
  [[nodiscard]] LinearBackwardWeights weight_gradient(const LayerWork& work, bool accumulate) const;

  [[nodiscard]] BufferView bias(ForwardPass& pass, const TensorDesc& wanted) const;

  std::int64_t out_features_;
  bool bias_;
};

}  // namespace parbench
