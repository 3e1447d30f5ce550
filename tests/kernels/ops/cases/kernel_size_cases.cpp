// Sizes at which libraries take other kernels, and at which Winograd's algorithm pays.
#include <string>
#include <utility>
#include <vector>

#include "tests/kernels/ops/cases.h"

namespace parbench::test {

#ifdef PARBENCH_CUDA_EMULATION

std::vector<OperationCase> kernel_size_cases() { return {}; }

#else

namespace {

constexpr DType single = DType::f32;
constexpr double rounding = 2e-5;  // of the result, and of sums in f32

ConvolutionBackwardWeights weights_of(const ConvolutionShape& shape) { return {shape, single}; }
ConvolutionBackwardWeights added_weights_of(const ConvolutionShape& shape) {
  return {shape, single, false, true};
}

// batch, in, height, width, out, kernel, stride, padding, groups

std::vector<OperationCase> library_cases() {
  // Enough positions for Winograd's algorithm, in tiles that the image does not fill.
  constexpr ConvolutionShape many_tiles{4, 64, 15, 17, 80, 3, 1, 1, 1};
  constexpr ConvolutionShape unpadded_tiles{16, 64, 10, 10, 64, 3, 1, 0, 1};
  // More weights than a core's cache holds.
  constexpr ConvolutionShape heavy{1, 512, 3, 3, 512, 3, 1, 1, 1};
  // More patches than are in memory at once.
  constexpr ConvolutionShape many_patches{15000, 16, 2, 2, 16, 3, 1, 1, 1};
  return {
      {"convolution_many_tiles", ConvolutionForward{many_tiles, single, true}, rounding},
      {"convolution_data_many_tiles", ConvolutionBackwardData{many_tiles}, rounding},
      {"convolution_weights_many_tiles", ConvolutionBackwardWeights{many_tiles, single, true, true},
       rounding},
      {"convolution_unpadded_tiles", ConvolutionForward{unpadded_tiles, single, true}, rounding},
      {"convolution_data_unpadded_tiles", ConvolutionBackwardData{unpadded_tiles}, rounding},
      {"convolution_weights_unpadded_tiles",
       ConvolutionBackwardWeights{unpadded_tiles, single, true, true}, rounding},
      {"convolution_weights_heavy", weights_of(heavy), rounding},
      {"convolution_weights_many_patches", added_weights_of(many_patches), rounding},
  };
}

// All passes of depthwise convolutions with windows of several sizes, and of convolutions between
// images whose channels fill blocks and others.
std::vector<OperationCase> channel_cases() {
  const std::vector<std::pair<std::string, ConvolutionShape> > shapes{
      {"depthwise_5x5", {3, 32, 9, 7, 32, 5, 1, 2, 32}},
      {"depthwise_5x5_strided", {2, 72, 9, 8, 72, 5, 2, 2, 72}},
      {"depthwise_7x7", {2, 48, 8, 11, 48, 7, 1, 3, 48}},
      {"depthwise_7x7_small", {3, 16, 2, 3, 16, 7, 1, 3, 16}},
      {"depthwise_9x9_odd", {1, 27, 10, 9, 27, 9, 1, 2, 27}},
      {"depthwise_few", {2, 3, 6, 7, 3, 5, 1, 1, 3}},
      {"from_blocks", {2, 32, 9, 7, 24, 1, 1, 0, 1}},
      {"to_blocks", {2, 20, 9, 7, 64, 1, 2, 0, 1}},
      {"from_blocks_3x3", {2, 48, 9, 7, 20, 3, 2, 1, 1}},
      {"to_blocks_3x3", {2, 24, 9, 7, 64, 3, 1, 1, 1}},
      {"between_unfilled", {2, 72, 6, 7, 24, 1, 1, 0, 1}},
  };
  std::vector<OperationCase> cases;
  for (const auto& [name, shape] : shapes) {
    const std::string convolution = "convolution_" + name;
    cases.push_back({convolution, ConvolutionForward{shape, single, true}, rounding});
    cases.push_back({convolution + "_data", ConvolutionBackwardData{shape}, rounding});
    cases.push_back({convolution + "_weights", weights_of(shape), rounding});
    cases.push_back({convolution + "_weights_accumulate",
                     ConvolutionBackwardWeights{shape, single, true, true}, rounding});
    cases.push_back({convolution + "_weights_bf16",
                     ConvolutionBackwardWeights{shape, DType::bf16, true}, 1e-3});
  }
  return cases;
}

}  // namespace

std::vector<OperationCase> kernel_size_cases() {
  std::vector<OperationCase> cases = library_cases();
  const std::vector<OperationCase> more = channel_cases();
  cases.insert(cases.end(), more.begin(), more.end());
  return cases;
}

#endif

}  // namespace parbench::test
