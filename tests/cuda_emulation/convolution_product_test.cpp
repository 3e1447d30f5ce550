// Convolutions as matrix products, against the direct kernel: weight gradients of patches, and the
// other passes of convolutions with one tap. All values are small integers, so sums are exact in
// any order.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "kernels/base/bfloat16.h"
#include "kernels/cuda/device/device.h"
#include "kernels/cuda/device_code/convolutions/direct_convolution.h"
#include "kernels/cuda/ops/matmul.h"
#include "kernels/cuda/ops/pointwise_product.h"
#include "kernels/cuda/ops/weight_gradient.h"
#include "kernels/cuda/runtime/stream.h"

namespace parbench::cuda {
namespace {

struct ProductCase {
  std::string name;
  ConvolutionShape shape;
  DType dtype;
  std::size_t max_bytes;
  std::int64_t images;  // at once
};

constexpr std::size_t ample = std::size_t{1} << 20U;

/// Memory without anything after it, for the address sanitizer.
using Memory = std::unique_ptr<std::byte[]>;  // NOLINT(modernize-avoid-c-arrays): of exact size

Memory memory(std::size_t bytes) { return std::make_unique<std::byte[]>(bytes); }

Memory integers(std::int64_t count, DType dtype, unsigned int seed) {
  Memory values = memory(static_cast<std::size_t>(count) * size_of(dtype));
  for (std::int64_t i = 0; i < count; ++i) {
    seed = seed * 1664525U + 1013904223U;
    const float value = static_cast<float>(seed >> 24U) / 32 - 4;
    const float integer = static_cast<float>(static_cast<int>(value));
    if (dtype == DType::bf16) {
      reinterpret_cast<std::uint16_t*>(values.get())[i] = to_bf16(integer);
    } else {
      reinterpret_cast<float*>(values.get())[i] = integer;
    }
  }
  return values;
}

class GradientProducts : public testing::TestWithParam<ProductCase> {
 protected:
  [[nodiscard]] static const ConvolutionShape& shape() { return GetParam().shape; }

  /// Starts from `before`.
  [[nodiscard]] std::vector<float> product(bool accumulate, float before) {
    const auto gradient = make_gradient_product(device_, graph_, accumulate, GetParam().max_bytes);
    if (!gradient) throw std::logic_error("there is no product");
    const Memory scratch = memory(gradient->scratch_bytes());
    constexpr int nans = 0xFF;
    std::memset(scratch.get(), nans, gradient->scratch_bytes());
    std::vector<float> weights(weights_, before);
    gradient->run(stream_, {.source = source_.get(),
                            .diff_destination = destination_.get(),
                            .diff_weights = reinterpret_cast<std::byte*>(weights.data()),
                            .scratch = scratch.get()});
    return weights;
  }

  [[nodiscard]] std::vector<float> direct(float before) {
    std::vector<float> weights(weights_);
    convolve_directly(
        ConvolutionPass::backward_weights, shape(), GetParam().dtype,
        std::array{source_.get(), destination_.get(), reinterpret_cast<std::byte*>(weights.data())},
        stream_.handle());
    for (float& weight : weights) weight += before;
    return weights;
  }

  CudaDevice device_{0};
  CudaStream stream_{device_};
  ConvolutionGraph graph_{
      .pass = ConvolutionPass::backward_weights, .shape = shape(), .dtype = GetParam().dtype};
  std::size_t weights_ = static_cast<std::size_t>(element_count(shape().weights()));
  Memory source_ = integers(element_count(shape().source()), GetParam().dtype, 1);
  Memory destination_ = integers(element_count(shape().destination()), GetParam().dtype, 2);
};

TEST_P(GradientProducts, EqualTheDirectKernel) {
  ASSERT_EQ(plan_patches(shape(), GetParam().dtype, GetParam().max_bytes).images,
            GetParam().images);
  EXPECT_EQ(product(false, std::numeric_limits<float>::quiet_NaN()), direct(0));
  EXPECT_EQ(product(true, 5), direct(5));
}

// batch, in, height, width, out, kernel, stride, padding, groups
INSTANTIATE_TEST_SUITE_P(
    Shapes, GradientProducts,
    testing::Values(
        ProductCase{"whole_batch", {5, 8, 6, 5, 16, 3, 1, 1, 1}, DType::f32, ample, 5},
        ProductCase{"parts_and_a_rest", {5, 8, 6, 5, 16, 3, 1, 1, 1}, DType::f32, 18'000, 2},
        ProductCase{"parts_of_an_image", {3, 5, 8, 9, 7, 3, 1, 1, 1}, DType::f32, 1, 1},
        ProductCase{"first_layer", {3, 3, 11, 9, 8, 7, 2, 3, 1}, DType::f32, 40'000, 2},
        ProductCase{"groups", {5, 16, 6, 5, 8, 3, 2, 1, 2}, DType::f32, 6'000, 2},
        ProductCase{"strided_pointwise", {3, 8, 7, 6, 4, 1, 2, 0, 1}, DType::f32, 1'000, 2},
        ProductCase{"source_itself", {3, 16, 4, 5, 8, 1, 1, 0, 1}, DType::f32, 1, 3},
        ProductCase{"source_itself_groups", {3, 16, 4, 5, 8, 1, 1, 0, 2}, DType::f32, 1, 3},
        ProductCase{"bf16", {5, 16, 6, 5, 8, 3, 1, 1, 1}, DType::bf16, 18'000, 2},
        ProductCase{"bf16_groups", {3, 32, 6, 5, 16, 3, 1, 1, 2}, DType::bf16, 18'000, 2}),
    [](const auto& one) { return one.param.name; });

TEST(GradientProduct, OfBf16NeedsPixelsThatVectorLoadsCanTake) {
  CudaDevice device(0);
  const ConvolutionGraph graph{.pass = ConvolutionPass::backward_weights,
                               .shape = {2, 5, 8, 9, 7, 3, 1, 1, 1},
                               .dtype = DType::bf16};
  EXPECT_EQ(make_gradient_product(device, graph, false), nullptr);
}

constexpr ConvolutionShape one_tap{3, 16, 4, 5, 8, 1, 1, 0, 1};

/// In bf16 all results are exact: integers up to 256.
class PointwiseProducts : public testing::TestWithParam<DType> {
 protected:
  /// Returns the result of the product for this graph of `one_tap`.
  [[nodiscard]] std::vector<float> product(const ConvolutionGraph& graph,
                                           const std::vector<std::byte*>& inputs) {
    const auto wanted = pointwise_product(graph);
    if (!wanted) throw std::logic_error("there is no product");
    return result_of(inputs, [&](std::span<std::byte* const> tensors) {
      Matmul::get(device_, "convolution", *wanted)
          ->run(stream_.handle(), pointwise_addresses(graph, tensors), nullptr);
    });
  }

  [[nodiscard]] std::vector<float> direct(ConvolutionPass pass,
                                          const std::vector<std::byte*>& inputs) {
    return result_of(inputs, [&](std::span<std::byte* const> tensors) {
      convolve_directly(pass, one_tap, GetParam(), tensors, stream_.handle());
    });
  }

  Memory source_ = integers(element_count(one_tap.source()), GetParam(), 1);
  Memory destination_ = integers(element_count(one_tap.destination()), GetParam(), 2);
  Memory weights_ = integers(element_count(one_tap.weights()), GetParam(), 3);
  Memory bias_ = integers(one_tap.out_channels, DType::f32, 4);

 private:
  /// Returns the last tensor, as large as the larger of the activations; what is not written stays
  /// as integers of another seed.
  template <class Run>
  [[nodiscard]] static std::vector<float> result_of(std::vector<std::byte*> tensors,
                                                    const Run& run) {
    const auto count =
        std::max(element_count(one_tap.source()), element_count(one_tap.destination()));
    const Memory result = integers(count, GetParam(), 5);
    tensors.push_back(result.get());
    run(tensors);
    std::vector<float> values(static_cast<std::size_t>(count));
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] = GetParam() == DType::bf16
                      ? from_bf16(reinterpret_cast<const std::uint16_t*>(result.get())[i])
                      : reinterpret_cast<const float*>(result.get())[i];
    }
    return values;
  }

  CudaDevice device_{0};
  CudaStream stream_{device_};
};

TEST_P(PointwiseProducts, OfForwardPassesEqualTheDirectKernel) {
  ConvolutionGraph graph{.pass = ConvolutionPass::forward, .shape = one_tap, .dtype = GetParam()};
  std::vector<float> want = direct(graph.pass, {source_.get(), weights_.get()});
  EXPECT_EQ(product(graph, {source_.get(), weights_.get()}), want);
  if (GetParam() != DType::f32) return;  // no product has a bias
  graph.bias = true;
  const auto* bias = reinterpret_cast<const float*>(bias_.get());
  const auto results = static_cast<std::size_t>(element_count(one_tap.destination()));
  for (std::size_t i = 0; i < results; ++i) {
    want[i] += bias[i % static_cast<std::size_t>(one_tap.out_channels)];
  }
  EXPECT_EQ(product(graph, {source_.get(), weights_.get(), bias_.get()}), want);
}

TEST_P(PointwiseProducts, OfDataGradientsEqualTheDirectKernel) {
  const ConvolutionGraph graph{
      .pass = ConvolutionPass::backward_data, .shape = one_tap, .dtype = GetParam()};
  EXPECT_EQ(product(graph, {destination_.get(), weights_.get()}),
            direct(graph.pass, {destination_.get(), weights_.get()}));
}

INSTANTIATE_TEST_SUITE_P(Types, PointwiseProducts, testing::Values(DType::f32, DType::bf16),
                         [](const auto& one) { return std::string(to_string(one.param)); });

TEST(PointwiseProduct, HasTheArithmeticOfTheConvolution) {
  ConvolutionGraph graph{.pass = ConvolutionPass::forward, .shape = one_tap};
  EXPECT_EQ(pointwise_product(graph)->math, MathMode::strict);
  graph.arithmetic = Arithmetic::tensor_cores;
  EXPECT_EQ(pointwise_product(graph)->math, MathMode::tf32);
  graph.dtype = DType::bf16;
  EXPECT_EQ(pointwise_product(graph)->math, MathMode::strict);
  EXPECT_EQ(pointwise_product(graph)->input, DType::bf16);
  EXPECT_EQ(pointwise_product(graph)->output, DType::bf16);
}

TEST(PointwiseProduct, IsForPixelsThatAreTheirOwnPatchesAlone) {
  const ConvolutionGraph graph{.pass = ConvolutionPass::forward, .shape = one_tap};
  EXPECT_TRUE(pointwise_product(graph).has_value());
  const auto refused = [&](auto change) {
    ConvolutionGraph other = graph;
    change(other);
    return !pointwise_product(other).has_value();
  };
  EXPECT_TRUE(refused([](auto& one) { one.pass = ConvolutionPass::backward_weights; }));
  EXPECT_TRUE(refused([](auto& one) {
    one.dtype = DType::bf16;
    one.bias = true;
  })) << "cuBLASLt adds a bias of the result's type";
  EXPECT_TRUE(refused([](auto& one) { one.shape.groups = 2; }));
  EXPECT_TRUE(refused([](auto& one) { one.shape.stride = 2; }));
  EXPECT_TRUE(refused([](auto& one) { one.shape.padding = 1; }));
  EXPECT_TRUE(refused([](auto& one) { one.shape.kernel = 3; }));
}

}  // namespace
}  // namespace parbench::cuda
