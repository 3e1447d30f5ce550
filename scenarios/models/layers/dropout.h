// Dropout.
#pragma once

#include "scenarios/models/layers/layer_kind.h"

namespace parbench {

/// torch.nn.Dropout in training. Which elements are dropped depends on the position in the
/// micro-batch. It is the same in every step, on every device, and in all micro-batches of one
/// size.
class RandomDropout final : public LayerKind {
 public:
  /// `subsequence`: layers with different ones are independent.
  RandomDropout(float probability, std::uint64_t subsequence)
      : probability_(probability), subsequence_(subsequence) {}

  [[nodiscard]] float probability() const { return probability_; }
  [[nodiscard]] std::uint64_t subsequence() const { return subsequence_; }

  [[nodiscard]] std::string_view name() const override { return "dropout"; }
  [[nodiscard]] Shape output_of(const std::vector<Shape>& inputs) const override {
    return inputs.at(0);
  }
  void write_forward(ForwardPass& pass) const override;
  void write_backward(BackwardPass& pass) const override;

 private:
  [[nodiscard]] Dropout operation(const LayerWork& work) const;

  float probability_;
  std::uint64_t subsequence_;
};

}  // namespace parbench
