// Multiplication by a trainable number per channel.
#pragma once

#include "scenarios/models/layers/layer_kind.h"

namespace parbench {

/// Multiplies each channel of an image, or each column of rows, by a trainable number, initially 1:
/// a depthwise convolution with 1×1 windows.
class ChannelScale final : public LayerKind {
 public:
  [[nodiscard]] std::string_view name() const override { return "channel_scale"; }
  [[nodiscard]] Shape output_of(const std::vector<Shape>& inputs) const override {
    return inputs.at(0);
  }
  [[nodiscard]] std::vector<ParameterSpec> parameters(const Shape& input,
                                                      const Shape& output) const override;
  [[nodiscard]] std::vector<OpDesc> products(const LayerWork& work,
                                             bool with_data_gradient) const override;
  [[nodiscard]] std::optional<OpDesc> gradient_of(std::string_view role,
                                                  const LayerWork& work) const override;
  [[nodiscard]] bool backward_reads_input(std::size_t /*which*/) const override { return true; }
  void write_forward(ForwardPass& pass) const override;
  void write_backward(BackwardPass& pass) const override;
};

}  // namespace parbench
