// Padding and cropping of images.
#pragma once

#include "scenarios/models/layers/layer_kind.h"

namespace parbench {

/// torch.nn.ZeroPad2d: rows and columns of zeros at each edge of an image. Negative numbers remove
/// rows and columns.
class Padding final : public LayerKind {
 public:
  explicit Padding(Edges edges) : edges_(edges) {}

  [[nodiscard]] const Edges& edges() const { return edges_; }

  [[nodiscard]] std::string_view name() const override { return "padding"; }
  [[nodiscard]] Shape output_of(const std::vector<Shape>& inputs) const override;
  void write_forward(ForwardPass& pass) const override;
  void write_backward(BackwardPass& pass) const override;

 private:
  Edges edges_;
};

}  // namespace parbench
