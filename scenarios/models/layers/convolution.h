// Convolution of images.
#pragma once

#include "scenarios/models/layers/layer_kind.h"
#include "scenarios/models/layers/window.h"

namespace parbench {

/// torch.nn.Conv2d. Initial weights are normal with variance 2/(outputs·k²) (He et al. 2015,
/// fan-out).
class Convolution final : public LayerKind {
 public:
  struct Options {
    std::int64_t out_channels = 1;
    Window window = {};
    std::int64_t groups = 1;
    bool bias = false;
    bool relu = false;  // clamps the output at zero; for inference only, without a backward pass
  };

  explicit Convolution(Options options) : options_(options) {}

  /// Returns the operation's shape for a micro-batch.
  [[nodiscard]] ConvolutionShape shape(const Shape& source) const;
  [[nodiscard]] ConvolutionForward forward(const LayerWork& work) const;
  [[nodiscard]] const Options& options() const { return options_; }

  [[nodiscard]] std::string_view name() const override { return "convolution"; }
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
  [[nodiscard]] ConvolutionBackwardData data_gradient(const LayerWork& work) const;
  [[nodiscard]] ConvolutionBackwardWeights weight_gradient(const LayerWork& work,
                                                           bool accumulate) const;

  Options options_;
};

}  // namespace parbench
