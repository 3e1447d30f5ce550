// Scaled dot-product attention of several heads.
#pragma once

#include "scenarios/models/layers/layer_kind.h"

namespace parbench {

/// Attention between the positions of a sequence, each to itself and those before it. The input has
/// queries, keys and values one after the other: {sequence, 3·width} to {sequence, width}.
class CausalAttention final : public LayerKind {
 public:
  explicit CausalAttention(std::int64_t heads) : heads_(heads) {}

  [[nodiscard]] std::int64_t heads() const { return heads_; }

  [[nodiscard]] std::string_view name() const override { return "causal_attention"; }
  [[nodiscard]] Shape output_of(const std::vector<Shape>& inputs) const override;
  [[nodiscard]] bool backward_reads_input(std::size_t /*which*/) const override { return true; }
  [[nodiscard]] bool backward_reads_output() const override { return true; }
  void write_forward(ForwardPass& pass) const override;
  void write_backward(BackwardPass& pass) const override;

 private:
  std::int64_t heads_;
};

}  // namespace parbench
