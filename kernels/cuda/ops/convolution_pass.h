// The three computations of a convolution in training.
#pragma once

namespace parbench::cuda {

enum class ConvolutionPass { forward, backward_data, backward_weights };

}  // namespace parbench::cuda
