// Element-wise functions: ReLU, GELU, sigmoid and others. A ReLU after a batch normalisation is
// part of the latter.
#pragma once

#include "scenarios/models/layers/layer_kind.h"

namespace parbench {

class Activation final : public LayerKind {
 public:
  /// `low` and `high` are the limits of ActivationKind::clip; other kinds ignore them.
  explicit Activation(ActivationKind kind, float low = 0.0F, float high = 6.0F)
      : kind_(kind), low_(low), high_(high) {}

  [[nodiscard]] ActivationKind kind() const { return kind_; }
  [[nodiscard]] float low() const { return low_; }
  [[nodiscard]] float high() const { return high_; }

  [[nodiscard]] std::string_view name() const override { return "activation"; }
  [[nodiscard]] Shape output_of(const std::vector<Shape>& inputs) const override {
    return inputs.at(0);
  }
  [[nodiscard]] bool backward_reads_input(std::size_t /*which*/) const override {
    return backward_reads_source(kind_);
  }
  [[nodiscard]] bool backward_reads_output() const override {
    return !backward_reads_source(kind_);
  }
  void write_forward(ForwardPass& pass) const override;
  void write_backward(BackwardPass& pass) const override;

 private:
  ActivationKind kind_;
  float low_;
  float high_;
};

}  // namespace parbench
