// Layers of scenario branch: shapes, tensors and naive checks, shared by all strategies.
#pragma once

#include <cstdint>
#include <vector>

#include "scenarios/framework/prepared_case.h"

namespace parbench {

/// Sizes of a case. Every layer is a 3×3 convolution with bias, stride 1 and padding 1, from
/// `channels` to `channels`.
struct BranchSizes {
  std::int64_t batch = 1;
  std::int64_t channels = 1;
  std::int64_t image = 1;
  std::int64_t branches = 1;
  DType dtype = DType::f32;
  MathMode math = MathMode::strict;

  /// Returns `copies` layers as one convolution whose output channels are concatenated. The layers
  /// share one input (groups == 1), or have inputs that are concatenated as well (groups ==
  /// copies).
  [[nodiscard]] ConvolutionForward convolution(std::int64_t copies = 1,
                                               std::int64_t groups = 1) const;
  [[nodiscard]] double flops() const;  // FLOPs of all layers
  [[nodiscard]] double bytes() const;  // bytes of all layers' outputs and weights
};

[[nodiscard]] BranchSizes branch_sizes_of(const CaseSpec& spec);

/// A planned convolution with its tensors; computes `count` layers, starting with layer `first`.
struct BranchLayer {
  std::int64_t first = 0;
  std::int64_t count = 1;
  Tensor source;
  bool own_source = false;  // whether each layer reads its own channels of the source (grouped)
  Tensor weights;
  Tensor bias;
  Tensor destination;
  Op* op = nullptr;

  [[nodiscard]] OpCall call() const;
};

/// Plans a convolution for a stream, and borrows its parameters and its output. Layer i has the
/// same parameters in every strategy.
[[nodiscard]] BranchLayer make_layer(CaseParts& parts, Stream& stream, int device,
                                     const BranchSizes& sizes, const ConvolutionForward& desc,
                                     const Tensor& source, std::int64_t first);

/// Makes the input of all branches, in the layout of the device's activations.
[[nodiscard]] Tensor make_input(CaseParts& parts, int device, const BranchSizes& sizes);

/// Returns the input repeated along the channels, once per branch, as grouped convolutions need it.
[[nodiscard]] Tensor make_repeated_input(CaseParts& parts, int device, const BranchSizes& sizes);

/// Adds one output per image (at most 16 images, evenly spread): the concatenated results of all
/// layers.
void add_image_outputs(CaseParts& parts, const BranchSizes& sizes,
                       const std::vector<BranchLayer>& layers);

/// Adds a check that recomputes several dozen elements of every layer's result from the layer's
/// actual input, in up to three images.
void add_spot_checks(CaseParts& parts, const BranchSizes& sizes,
                     const std::vector<BranchLayer>& layers);

}  // namespace parbench
