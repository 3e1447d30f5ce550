// What a session's report takes from plans.
#include "bench/results.h"

#include <gtest/gtest.h>

#include <span>
#include <string_view>
#include <vector>

#include "kernels/described_op.h"
#include "tests/scenarios/fake_device.h"

namespace parbench {
namespace {

class NamedOp final : public DescribedOp {
 public:
  NamedOp(std::string_view name, std::string_view kernel) : DescribedOp(name) {
    set_implementation(kernel);
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
  plan.add({.name = "one", .lane = lane, .calls = {OpCall{&second, {}}, OpCall{&first, {}}}});
  plan.add({.name = "two",
            .lane = lane,
            .calls = {CopyCall{}, OpCall{&again, {}}, OpCall{&other, {}}, OpCall{&nameless, {}},
                      OpCall{&first, {}}}});
  const std::vector<report::Kernel> want{{"convolution_forward", "engine 2", 1},
                                         {"convolution_forward", "engine 1", 3},
                                         {"gemm", "engine 1", 1}};
  EXPECT_EQ(kernels_of(plan), want);
}

}  // namespace
}  // namespace parbench
