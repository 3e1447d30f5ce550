// Addition of trainable numbers, one per channel.
#pragma once

#include "scenarios/models/layers/passes.h"

namespace parbench {

/// Adds a trainable number to each channel of an image, or to each column of rows; initially 0.
class ChannelBias final : public LayerKind {
 public:
  [[nodiscard]] std::string_view name() const override { return "channel_bias"; }
  [[nodiscard]] Shape output_of(const std::vector<Shape>& inputs) const override {
    return inputs.at(0);
  }
  [[nodiscard]] std::vector<ParameterSpec> parameters(const Shape& input,
                                                      const Shape& output) const override;
  void write_forward(ForwardPass& pass) const override;
  void write_backward(BackwardPass& pass) const override;
};

/// Writes destination = source + the layer's parameter "bias", for images and for rows. The
/// destination may be the source.
void write_bias(ForwardPass& pass, const BufferView& source, const BufferView& destination);
/// Writes the gradient of that parameter. `incoming`: gradient of the layer's output.
void write_bias_gradient(BackwardPass& pass, const BufferView& incoming);

}  // namespace parbench
