// The models that scenarios train.
#pragma once

#include <cstdint>

#include "scenarios/models/network.h"

namespace parbench {

/// ResNet-50 (He et al. 2015) in the variant of torchvision: the stride of a bottleneck lies in its
/// 3×3 convolution. 25,557,032 parameters at 1000 classes. Units: stem, layer1.0 … layer4.2, head.
/// `image` is the height and width of the three-channel input, at least 32.
[[nodiscard]] Network resnet50(std::int64_t image, std::int64_t classes = 1000);

/// Linear 10→10, ReLU | Linear 10→5: how small can a model be before splitting it is absurd?
[[nodiscard]] Network toy_model();

}  // namespace parbench
