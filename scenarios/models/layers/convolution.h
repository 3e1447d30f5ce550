// Convolutions of images.
#pragma once

#include "scenarios/models/layers/operation_kind.h"
#include "scenarios/models/layers/window.h"

namespace parbench {

/// torch.nn.Conv2d. Initial weights are normal with variance 2/(output channels·k²) (He et al.
/// 2015, fan-out).
class Convolution final : public OperationKind {
 public:
  struct Options {
    std::int64_t out_channels = 1;
    Window window = {};
    std::int64_t groups = 1;
    bool bias = false;
    bool relu = false;  // clamps the output at zero; for inference only, without a backward pass
  };

  explicit Convolution(Options options) : options_(options) {}

  /// Returns the shape of the operation for inputs of shape `source`, which includes the samples.
  [[nodiscard]] ConvolutionShape shape(const Shape& source) const;
  [[nodiscard]] const Options& options() const { return options_; }

  [[nodiscard]] std::string_view name() const override { return "convolution"; }
  [[nodiscard]] Shape output_of(const std::vector<Shape>& inputs) const override;
  [[nodiscard]] std::vector<ParameterSpec> parameters(const Shape& input) const override;
  [[nodiscard]] OpDesc forward(const LayerWork& work) const override;

 private:
  Options options_;
};

/// torch.nn.ConvTranspose2d: the gradient of a convolution with respect to its source, as a layer.
/// The output has `output_padding` rows and columns more than the windows need; `output_padding` is
/// less than the stride. Initial weights are those of class Convolution for the convolution that
/// the layer transposes.
class TransposedConvolution final : public OperationKind {
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
  [[nodiscard]] std::vector<ParameterSpec> parameters(const Shape& input) const override;
  [[nodiscard]] OpDesc forward(const LayerWork& work) const override;
  void write_forward(ForwardPass& pass) const override;

 private:
  [[nodiscard]] std::vector<OpDesc> gradients(const LayerWork& work,
                                              bool accumulate) const override;
  /// Returns the convolution from the layer's output to its input, which the layer transposes.
  /// Shapes include the samples.
  [[nodiscard]] ConvolutionShape transposed(const Shape& input, const Shape& output) const;

  Options options_;
};

}  // namespace parbench
