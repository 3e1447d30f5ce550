// Which kernels compute convolutions, by the instructions that oneDNN may use.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "tests/kernels/harness.h"

namespace parbench::test {
namespace {

using testing::HasSubstr;
using testing::MatchesRegex;
using testing::Not;

/// The limit that oneDNN reads for the instructions that it uses; empty: none.
std::string isa_limit() {
  for (const char* name : {"DNNL_MAX_CPU_ISA", "ONEDNN_MAX_CPU_ISA"}) {
    if (const char* value = std::getenv(name)) return value;
  }
  return "";
}

bool processor_has_avx512() {
  return __builtin_cpu_supports("avx512bw") != 0 && __builtin_cpu_supports("avx512dq") != 0 &&
         __builtin_cpu_supports("avx512vl") != 0;
}

bool processor_has_avx2() { return __builtin_cpu_supports("avx2") != 0; }

// Shapes: batch, in, height, width, out, kernel, stride, padding, groups.

class KernelChoice : public LaneTest {
 protected:
  [[nodiscard]] std::string implementation(const OpDesc& desc) const {
    return bench().prepare(desc)->implementation();
  }

  // Of the three passes.
  [[nodiscard]] std::string kernels(const ConvolutionShape& shape) const {
    return implementation(ConvolutionForward{shape}) + " " +
           implementation(ConvolutionBackwardData{shape}) + " " +
           implementation(ConvolutionBackwardWeights{shape});
  }

  // By the processor and the limit, so that another choice of oneDNN fails a test.
  [[nodiscard]] static bool has_avx512() {
    return on_processor() && processor_has_avx512() && isa_limit().empty();
  }
  [[nodiscard]] static bool has_avx2() {
    return on_processor() && processor_has_avx2() &&
           (isa_limit() == "AVX2" || (isa_limit().empty() && !processor_has_avx512()));
  }

 private:
  [[nodiscard]] static bool on_processor() { return GetParam().device.starts_with("cpu:"); }
};

const auto is_winograd = MatchesRegex(".*wino.*wino.*wino.*");

TEST_P(KernelChoice, WinogradsAlgorithmComputesLargeConvolutionsOf3x3) {
  if (!has_avx512()) GTEST_SKIP() << "needs a processor with AVX-512, and no limit to oneDNN";
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
  if (!has_avx512()) GTEST_SKIP() << "needs a processor with AVX-512, and no limit to oneDNN";
  const auto turns = HasSubstr("reorder of weights");
  EXPECT_THAT(implementation(LinearBackwardData{{512, 650, 1000}}), turns);
  EXPECT_THAT(implementation(LinearBackwardData{{511, 650, 1000}}), Not(turns));
  EXPECT_THAT(implementation(LstmBackwardData{{16, 32, 64, 64}}), turns);
  EXPECT_THAT(implementation(LstmBackwardData{{16, 31, 64, 64}}), Not(turns));
}

TEST_P(KernelChoice, OneProductComputesGradientsOfManyWeightsWithAvx2) {
  if (!has_avx2()) GTEST_SKIP() << "needs a processor whose best is AVX2, or DNNL_MAX_CPU_ISA=AVX2";
  const auto kernel = [&](const ConvolutionShape& shape) {
    return implementation(ConvolutionBackwardWeights{shape});
  };
  EXPECT_THAT(kernel({2, 512, 4, 4, 512, 3, 1, 1, 1}), HasSubstr("gathered patches"));
  EXPECT_THAT(kernel({2, 512, 8, 8, 512, 3, 2, 1, 1}), HasSubstr("gathered patches"));
  EXPECT_THAT(kernel({2, 256, 4, 4, 256, 3, 1, 1, 1}), Not(HasSubstr("gathered patches")));
  EXPECT_THAT(kernel({2, 512, 4, 4, 2048, 1, 1, 0, 1}), Not(HasSubstr("gathered patches")));
}

TEST_P(KernelChoice, OwnTilesComputeLargeConvolutionsOf3x3WithAvx2) {
  if (!has_avx2()) GTEST_SKIP() << "needs a processor whose best is AVX2, or DNNL_MAX_CPU_ISA=AVX2";
  for (const ConvolutionShape& tiled : std::vector<ConvolutionShape>{
           {4, 64, 8, 8, 64, 3, 1, 1, 1},
           {7, 72, 7, 10, 64, 3, 1, 1, 1},  // tiles that outputs do not fill, an odd number of them
           {4, 64, 10, 10, 64, 3, 1, 0, 1},
           {1, 64, 20, 18, 128, 3, 1, 2, 1},
           {4, 512, 8, 8, 512, 3, 1, 1, 1}}) {
    EXPECT_THAT(kernels(tiled), is_winograd) << to_string(tiled.source());
  }
  for (const ConvolutionShape& direct : std::vector<ConvolutionShape>{
           {3, 64, 8, 8, 64, 3, 1, 1, 1},   // too few tiles
           {32, 64, 5, 5, 64, 3, 1, 1, 1},  // tiles nearly empty
           {32, 56, 8, 8, 64, 3, 1, 1, 1},  // too few channels
           {32, 68, 8, 8, 64, 3, 1, 1, 1},  // in no blocks
           {32, 64, 8, 8, 64, 3, 1, 3, 1},  // more padding than a tile has around its outputs
           {32, 64, 16, 16, 64, 3, 2, 1, 1},
           {32, 64, 8, 8, 64, 3, 1, 2, 1, 2},  // dilated
           {32, 128, 8, 8, 128, 3, 1, 1, 2}}) {
    EXPECT_THAT(kernels(direct), Not(HasSubstr("wino"))) << to_string(direct.source());
  }
  EXPECT_THAT(implementation(ConvolutionForward{{6, 64, 8, 8, 64, 3, 1, 1, 1}, DType::f32, true}),
              Not(HasSubstr("wino")))
      << "with a bias";
}

INSTANTIATE_TEST_SUITE_P(Lanes, KernelChoice, testing::ValuesIn(lanes()),
                         [](const auto& lane) { return name_of(lane.param); });

}  // namespace
}  // namespace parbench::test
