// Products with numbers: one for all elements, or a trainable one for each channel.
#pragma once

#include "scenarios/models/layers/layer_kind.h"

namespace parbench {

/// Multiplies each element by a number and adds another one to it. Neither is trained.
class Scaling final : public LayerKind {
 public:
  explicit Scaling(float factor, float addend = 0.0F) : factor_(factor), addend_(addend) {}

  [[nodiscard]] float factor() const { return factor_; }
  [[nodiscard]] float addend() const { return addend_; }

  [[nodiscard]] std::string_view name() const override { return "scaling"; }
  [[nodiscard]] Shape output_of(const std::vector<Shape>& inputs) const override {
    return inputs.at(0);
  }
  void write_forward(ForwardPass& pass) const override;
  void write_backward(BackwardPass& pass) const override;

 private:
  float factor_;
  float addend_;
};

/// Multiplies each channel of an image, or each column of rows, by a trainable number, at first 1:
/// a depthwise convolution of single pixels.
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
