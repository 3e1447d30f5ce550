// Transposed convolution of images.
#pragma once

#include "scenarios/models/layers/layer_kind.h"
#include "scenarios/models/layers/window.h"

namespace parbench {

/// torch.nn.ConvTranspose2d: the gradient of a convolution's source, as a layer. `output_padding`:
/// additional rows and columns beyond those that the windows need, fewer than the stride. Initial
/// weights are normal, as torchvision draws those of the corresponding convolution.
class TransposedConvolution final : public LayerKind {
 public:
  struct Options {
    std::int64_t out_channels = 1;
    Window window = {};
    std::int64_t output_padding = 0;
    std::int64_t groups = 1;
    bool bias = false;
  };

  explicit TransposedConvolution(Options options) : options_(options) {}

  [[nodiscard]] const Options& options() const { return options_; }

  [[nodiscard]] std::string_view name() const override { return "transposed_convolution"; }
  [[nodiscard]] Shape output_of(const std::vector<Shape>& inputs) const override;
  [[nodiscard]] std::vector<ParameterSpec> parameters(const Shape& input,
                                                      const Shape& output) const override;
  [[nodiscard]] std::vector<OpDesc> products(const LayerWork& work,
                                             bool with_data_gradient) const override;
  [[nodiscard]] std::optional<OpDesc> gradient_of(std::string_view role,
                                                  const LayerWork& work) const override;
  [[nodiscard]] bool backward_reads_input(std::size_t /*which*/) const override { return true; }
  void write_forward(ForwardPass& pass) const override;
  void write_backward(BackwardPass& pass) const override;

 private:
  /// Returns the convolution from the output to the input, both with samples as first dimension.
  [[nodiscard]] ConvolutionShape transposed(const Shape& input, const Shape& output) const;
  [[nodiscard]] ConvolutionBackwardData forward(const LayerWork& work) const;
  [[nodiscard]] ConvolutionForward data_gradient(const LayerWork& work) const;
  [[nodiscard]] ConvolutionBackwardWeights weight_gradient(const LayerWork& work,
                                                           bool accumulate) const;

  Options options_;
};

}  // namespace parbench
