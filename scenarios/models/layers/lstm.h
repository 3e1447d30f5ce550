// Long short-term memory.
#pragma once

#include "scenarios/models/layers/layer_kind.h"

namespace parbench {

/// One layer of torch.nn.LSTM in one direction, samples first, with a zero initial state:
/// {sequence, in} to {sequence, hidden}. If it has biases, PyTorch's two are one.
class Lstm final : public LayerKind {
 public:
  explicit Lstm(std::int64_t hidden, bool bias = true) : hidden_(hidden), bias_(bias) {}

  [[nodiscard]] bool has_bias() const { return bias_; }

  [[nodiscard]] std::string_view name() const override { return "lstm"; }
  [[nodiscard]] Shape output_of(const std::vector<Shape>& inputs) const override;
  [[nodiscard]] std::vector<ParameterSpec> parameters(const Shape& input,
                                                      const Shape& output) const override;
  [[nodiscard]] std::optional<OpDesc> gradient_of(std::string_view role,
                                                  const LayerWork& work) const override;
  [[nodiscard]] bool backward_reads_input(std::size_t /*which*/) const override { return true; }
  [[nodiscard]] bool backward_reads_output() const override { return true; }
  void write_forward(ForwardPass& pass) const override;
  void write_backward(BackwardPass& pass) const override;

 private:
  [[nodiscard]] LstmShape shape(const LayerWork& work) const;
  [[nodiscard]] LstmBackwardWeights weight_gradient(const LayerWork& work, bool accumulate) const;

  std::int64_t hidden_;
  bool bias_;
};

}  // namespace parbench
