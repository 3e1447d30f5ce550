// Which kernels compute convolutions, by the instructions that oneDNN may use.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <oneapi/dnnl/dnnl.hpp>
#include <string>
#include <string_view>

#include "kernels/cpu/onednn/layout.h"
#include "kernels/cpu/runtime/engine.h"
#include "tests/kernels/harness.h"

namespace parbench::test {
namespace {

using testing::HasSubstr;
using testing::MatchesRegex;
using testing::Not;

/// Whether oneDNN has an instruction set on this processor and is not limited to a smaller one.
bool may_use(dnnl::cpu_isa wanted) {
  const auto bits = static_cast<unsigned>(wanted);
  return (static_cast<unsigned>(dnnl::get_effective_cpu_isa()) & bits) == bits;
}

// Shapes: batch, in, height, width, out, kernel, stride, padding, groups.

constexpr ConvolutionShape convolution_of_64{4, 64, 16, 16, 64, 3, 1, 1, 1};

class KernelChoice : public LaneTest {
 protected:
  [[nodiscard]] std::string implementation(const OpDesc& desc) const {
    return bench().prepare(desc)->implementation();
  }

  static constexpr std::string_view channels_last = "acdb";  // oneDNN's notation

  [[nodiscard]] std::string layout_of(DType dtype) const {
    return device().activation(convolution_of_64.source(), dtype).layout.name();
  }
  [[nodiscard]] static bool on_processor() { return GetParam().device.starts_with("cpu:"); }

  // Of the three passes.
  [[nodiscard]] std::string kernels(const ConvolutionShape& shape) const {
    return implementation(ConvolutionForward{shape}) + " " +
           implementation(ConvolutionBackwardData{shape}) + " " +
           implementation(ConvolutionBackwardWeights{shape});
  }

  // By oneDNN's instructions, so that another choice of kernels fails a test.
  [[nodiscard]] static bool has_avx512() {
    return on_processor() && may_use(dnnl::cpu_isa::avx512_core);
  }
  [[nodiscard]] bool has_blocks() const { return layout_of(DType::f32) != channels_last; }
};

const auto is_winograd = MatchesRegex(".*wino.*wino.*wino.*");

TEST_P(KernelChoice, WinogradsAlgorithmComputesLargeConvolutionsOf3x3) {
  if (!has_avx512() || !has_blocks()) GTEST_SKIP() << "needs AVX-512, and channels in blocks";
  EXPECT_THAT(kernels({8, 64, 8, 8, 64, 3, 1, 1, 1}), is_winograd);
  EXPECT_THAT(kernels({8, 128, 7, 7, 64, 3, 1, 1, 1}), is_winograd);
  EXPECT_THAT(kernels({32, 512, 4, 4, 512, 3, 1, 1, 1}), is_winograd);
  for (const ConvolutionShape& direct :
       {ConvolutionShape{7, 64, 8, 8, 64, 3, 1, 1, 1},   // too few tiles
        ConvolutionShape{33, 64, 4, 4, 64, 3, 1, 1, 1},  // tiles in no blocks of four
        ConvolutionShape{32, 64, 5, 5, 64, 3, 1, 1, 1},  // tiles nearly empty
        ConvolutionShape{32, 48, 8, 8, 64, 3, 1, 1, 1},  // too few channels
        ConvolutionShape{32, 64, 16, 16, 64, 3, 2, 1, 1},
        ConvolutionShape{32, 64, 8, 8, 64, 3, 1, 2, 1}}) {  // more padding than oneDNN takes
    EXPECT_THAT(kernels(direct), Not(HasSubstr("wino")));
  }
}

TEST_P(KernelChoice, GradientsOfManyRowsTurnTheWeightsAroundOnce) {
  if (!has_avx512()) GTEST_SKIP() << "needs AVX-512";
  const auto turns = HasSubstr("reorder of weights");
  EXPECT_THAT(implementation(LinearBackwardData{{512, 650, 1000}}), turns);
  EXPECT_THAT(implementation(LinearBackwardData{{511, 650, 1000}}), Not(turns));
  EXPECT_THAT(implementation(LstmBackwardData{{16, 32, 64, 64}}), turns);
  EXPECT_THAT(implementation(LstmBackwardData{{16, 31, 64, 64}}), Not(turns));
}

TEST_P(KernelChoice, Bf16HasChannelsLastExactlyWhereTheirKernelsUseAmx) {
  if (!on_processor()) GTEST_SKIP() << "needs a CPU device";
  if (!cpu::has_native_bf16()) GTEST_SKIP() << "needs a processor with AVX-512 BF16";
  if (!cpu::wanted_layout().empty()) GTEST_SKIP() << "PARBENCH_CPU_LAYOUT sets the layout";
  EXPECT_EQ(layout_of(DType::bf16) == channels_last,
            implementation(ConvolutionForward{convolution_of_64, DType::bf16}).find("amx") !=
                std::string::npos);
  EXPECT_NE(layout_of(DType::f32), channels_last);
}

TEST_P(KernelChoice, ChannelsAreLastWhereTheyFillNoBlocks) {
  if (!on_processor()) GTEST_SKIP() << "needs a CPU device";
  if (!cpu::wanted_layout().empty()) GTEST_SKIP() << "PARBENCH_CPU_LAYOUT sets the layout";
  const auto layout = [&](std::int64_t channels) {
    return device().activation({2, channels, 4, 4}, DType::f32).layout.name();
  };
  const std::int64_t block = cpu::channel_block();
  EXPECT_EQ(layout(2 * block), layout_of(DType::f32));
  EXPECT_NE(layout(2 * block), channels_last);
  for (const std::int64_t channels : {block + 1, 2 * block - 1, 5 * block / 2}) {
    EXPECT_EQ(layout(channels), channels_last) << channels;
  }
  EXPECT_EQ(layout(3), "canonical");
  EXPECT_EQ(layout(7), "canonical");
  EXPECT_THAT(implementation(BatchNormForward{{2, 5 * block / 2, 4, 4}}),
              HasSubstr(block == 16 ? "over pixels" : "bnorm"));
}

TEST_P(KernelChoice, GradientsOfLargeDepthwiseWindowsAreLoopsOverTaps) {
  if (!on_processor()) GTEST_SKIP() << "needs a CPU device";
  for (const std::int64_t channels : {32, 24}) {
    const auto weights = [&](std::int64_t kernel, std::int64_t dilation = 1) {
      return implementation(ConvolutionBackwardWeights{
          {2, channels, 16, 16, channels, kernel, 1, kernel / 2, channels, dilation}});
    };
    EXPECT_EQ(weights(5), "vector loop over taps");
    EXPECT_EQ(weights(7), "vector loop over taps");
    EXPECT_THAT(weights(5, 2), Not(HasSubstr("taps")));
    EXPECT_THAT(weights(11), Not(HasSubstr("taps")));
  }
}

TEST_P(KernelChoice, WithChannelsLastPassesAreProductsOverAllPixels) {
  if (!on_processor()) GTEST_SKIP() << "needs a CPU device";
  const DType dtype = cpu::has_native_bf16() ? DType::bf16 : DType::f32;
  if (layout_of(dtype) != channels_last) GTEST_SKIP() << "channels lie in blocks";
  const auto weights = [&](const ConvolutionShape& shape) {
    return implementation(ConvolutionBackwardWeights{shape, dtype});
  };
  const auto data = [&](const ConvolutionShape& shape) {
    return implementation(ConvolutionBackwardData{shape, dtype});
  };
  const ConvolutionShape pointwise{4, 64, 16, 16, 96, 1, 1, 0, 1};
  EXPECT_THAT(weights(pointwise), HasSubstr("over pixels"));
  EXPECT_THAT(data(pointwise), Not(HasSubstr("spread")));
  const ConvolutionShape strided{4, 64, 16, 16, 96, 1, 2, 0, 1};
  EXPECT_THAT(weights(strided), HasSubstr("gathered patches"));
  EXPECT_THAT(data(strided), HasSubstr("spread over the source"));
  EXPECT_THAT(weights({4, 64, 8, 8, 64, 3, 1, 1, 1}), HasSubstr("gathered patches"));
  for (const ConvolutionShape& other : {convolution_of_64,  // large images
                                        ConvolutionShape{4, 64, 8, 8, 64, 1, 1, 0, 2}}) {  // groups
    EXPECT_THAT(weights(other), Not(HasSubstr("patches")));
    EXPECT_THAT(weights(other), Not(HasSubstr("pixels")));
  }
  EXPECT_THAT(implementation(BatchNormForward{{4, 64, 8, 8}, dtype}), HasSubstr("over pixels"));
  EXPECT_THAT(implementation(BatchNormForward{{4, 63, 8, 8}, dtype}),
              Not(HasSubstr("over pixels")));
}

INSTANTIATE_TEST_SUITE_P(Lanes, KernelChoice, testing::ValuesIn(lanes()),
                         [](const auto& lane) { return name_of(lane.param); });

}  // namespace
}  // namespace parbench::test
