// Scaled dot-product attention of several heads.
#pragma once

#include "scenarios/models/layers/layer_kind.h"

namespace parbench {

/// Attention between the positions of a sequence. With `causal`, each position attends to itself
/// and earlier ones, otherwise to all. The input contains queries, keys and values one after the
/// other: {sequence, 3·width} to {sequence, width}.
class SelfAttention final : public LayerKind {
 public:
  explicit SelfAttention(std::int64_t heads, bool causal = true) : heads_(heads), causal_(causal) {}

  [[nodiscard]] std::int64_t heads() const { return heads_; }
  [[nodiscard]] bool causal() const { return causal_; }

  [[nodiscard]] std::string_view name() const override {
    return causal_ ? "causal_attention" : "attention";
  }
  [[nodiscard]] Shape output_of(const std::vector<Shape>& inputs) const override;
  [[nodiscard]] bool backward_reads_input(std::size_t /*which*/) const override { return true; }
  [[nodiscard]] bool backward_reads_output() const override { return true; }
  void write_forward(ForwardPass& pass) const override;
  void write_backward(BackwardPass& pass) const override;

 private:
  std::int64_t heads_;
  bool causal_;
};

}  // namespace parbench
