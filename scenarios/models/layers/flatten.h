// Images as rows.
#pragma once

#include "scenarios/models/layers/layer_kind.h"

namespace parbench {

/// torch.nn.Flatten: {C, H, W} to {C·H·W}, from the device's layout of images.
class Flatten final : public LayerKind {
 public:
  [[nodiscard]] std::string_view name() const override { return "flatten"; }
  [[nodiscard]] Shape output_of(const std::vector<Shape>& inputs) const override {
    return {element_count(inputs.at(0))};
  }
  void write_forward(ForwardPass& pass) const override;
  void write_backward(BackwardPass& pass) const override;
};

}  // namespace parbench
