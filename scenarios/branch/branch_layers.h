// The layers of scenario branch: shapes, tensors and naive checks, whatever the strategy.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "scenarios/framework/prepared_case.h"

namespace parbench {

/// Sizes of one case. Every layer is a convolution 3×3 with bias, stride 1 and padding 1, from
/// `channels` to `channels`.
struct BranchSizes {
  std::int64_t batch = 1;
  std::int64_t channels = 1;
  std::int64_t image = 1;
  std::int64_t branches = 1;
  DType dtype = DType::f32;
  MathMode math = MathMode::strict;

  /// `copies` such layers as one convolution: their outputs side by side in the channels, over one
  /// input (groups == 1) or over inputs that lie side by side too (groups == copies).
  [[nodiscard]] ConvolutionForward convolution(std::int64_t copies = 1,
                                               std::int64_t groups = 1) const;
  [[nodiscard]] double flops() const;  // of all layers
  [[nodiscard]] double bytes() const;  // of all layers' outputs and weights
};

[[nodiscard]] BranchSizes branch_sizes_of(const CaseSpec& spec);

/// One planned convolution with its tensors; it computes `count` layers from layer `first` on.
struct BranchLayer {
  std::int64_t first = 0;
  std::int64_t count = 1;
  Tensor source;
  bool own_source = false;  // each layer reads its own channels of the source (grouped)
  Tensor weights;
  Tensor bias;
  Tensor destination;
  Op* op = nullptr;

  [[nodiscard]] OpCall call() const;
};

/// Plans a convolution for a stream and borrows its parameters and its output; layer i has the same
/// parameters in every strategy.
[[nodiscard]] BranchLayer make_layer(CaseParts& parts, Stream& stream, int device,
                                     const BranchSizes& sizes, const ConvolutionForward& desc,
                                     const Tensor& source, std::int64_t first);

/// The network's input, in the device's layout.
[[nodiscard]] Tensor make_input(CaseParts& parts, int device, const BranchSizes& sizes);

/// The input repeated once per branch along the channels, as grouped convolution needs it.
[[nodiscard]] Tensor make_repeated_input(CaseParts& parts, int device, const BranchSizes& sizes);

/// One output per image (of up to 16, evenly spread): the results of all layers side by side.
void add_image_outputs(CaseParts& parts, const BranchSizes& sizes,
                       const std::vector<BranchLayer>& layers);

/// Recomputes several dozen places of every layer's result from the source it really had.
void add_spot_checks(CaseParts& parts, const BranchSizes& sizes,
                     const std::vector<BranchLayer>& layers);

}  // namespace parbench
