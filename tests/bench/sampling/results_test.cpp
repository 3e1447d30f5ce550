// What a session's report takes from plans.
#include "bench/sampling/results.h"

#include <gtest/gtest.h>

#include <span>
#include <string_view>
#include <vector>

#include "kernels/core/described_op.h"
#include "tests/scenarios/fake_device.h"

namespace parbench {
namespace {

class NamedOp final : public DescribedOp {
 public:
  NamedOp(std::string_view name, std::string_view kernel, ChosenBy by = ChosenBy::library)
      : DescribedOp(name) {
    set_implementation(kernel, by);
  }
  void enqueue(Stream& /*stream*/, std::span<const BufferView> /*views*/) override {}
};

TEST(KernelsOf, CountsOperationsByKernelInTheOrderOfFirstUse) {
  test::FakeDevice device(0);
  const auto stream = device.make_stream(StreamKind::compute, 0, 1);
  NamedOp first("convolution_forward", "engine 1");
  NamedOp second("convolution_forward", "engine 2");
  NamedOp again("convolution_forward", "engine 1");
  NamedOp other("gemm", "engine 1");
  NamedOp nameless("fill", "");
  Plan plan;
  const LaneId lane = plan.add_lane("lane", *stream);
  plan.add({.name = "one", .lanes = {lane}}, {OpCall{&second, {}}, OpCall{&first, {}}});
  plan.add({.name = "two", .lanes = {lane}}, {CopyCall{}, OpCall{&again, {}}, OpCall{&other, {}},
                                              OpCall{&nameless, {}}, OpCall{&first, {}}});
  const std::vector<report::Kernel> want{{"convolution_forward", "engine 2", 1},
                                         {"convolution_forward", "engine 1", 3},
                                         {"gemm", "engine 1", 1}};
  EXPECT_EQ(kernels_of(plan), want);
}

TEST(KernelsOf, DistinguishesMeasuredChoicesFromUntunedOnes) {
  test::FakeDevice device(0);
  const auto stream = device.make_stream(StreamKind::compute, 0, 1);
  NamedOp measured("gemm", "engine 1", ChosenBy::measuring);
  NamedOp left("gemm", "engine 1", ChosenBy::heuristics);
  NamedOp own("fill", "kernel");
  Plan plan;
  const LaneId lane = plan.add_lane("lane", *stream);
  plan.add({.name = "all", .lanes = {lane}},
           {OpCall{&measured, {}}, OpCall{&left, {}}, OpCall{&own, {}}, OpCall{&measured, {}}});
  const std::vector<report::Kernel> want{{"gemm", "engine 1", 2, "measuring"},
                                         {"gemm", "engine 1", 1, "heuristics"},
                                         {"fill", "kernel", 1, ""}};
  EXPECT_EQ(kernels_of(plan), want);
}

TEST(TuningNote, CountsWhatIsLeftToTheHeuristics) {
  const report::Kernel measured{"gemm", "engine 1", 50, "measuring"};
  const report::Kernel left{"gemm", "engine 2", 3, "heuristics"};
  const report::Kernel own{"fill", "kernel", 1, ""};
  EXPECT_EQ(tuning_note({measured, own}), std::nullopt);
  EXPECT_EQ(tuning_note({own}), std::nullopt);
  const auto note = tuning_note({measured, left, own});
  ASSERT_TRUE(note.has_value());
  EXPECT_EQ(note->first, "autotune");
  EXPECT_TRUE(note->second.starts_with("3 of 53 kernels left to the library's heuristics"));
}

}  // namespace
}  // namespace parbench
