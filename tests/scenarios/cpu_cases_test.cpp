// All strategies on the devices of this machine: real kernels, real streams, verified results.
#include <gtest/gtest.h>

#include <cmath>

#include "bench/executor.h"
#include "kernels/error.h"
#include "kernels/machine.h"
#include "scenarios/branch.h"
#include "scenarios/matmul.h"
#include "scenarios/overlap.h"
#include "scenarios/selftest.h"
#include "tests/scenarios/plan_checks.h"

namespace parbench::test {
namespace {

struct CpuCase {
  std::string name;
  std::unique_ptr<Scenario> (*make)();
  std::vector<Parameter> values;
  int devices = 1;
  DType dtype = DType::f32;
};

void PrintTo(const CpuCase& one, std::ostream* out) { *out << one.name; }

class CpuCases : public testing::TestWithParam<CpuCase> {};

std::vector<float> run_and_read(Case& subject) {
  Executor executor(subject.plan());
  executor.run();
  return all_outputs(subject);
}

void expect_close(const std::vector<float>& got, const std::vector<float>& want,
                  const Tolerance& tolerance) {
  ASSERT_EQ(got.size(), want.size());
  double squares = 0;
  for (const float value : want) squares += static_cast<double>(value) * value;
  const double scale =
      std::sqrt(squares / static_cast<double>(std::max<std::size_t>(1, want.size())));
  for (std::size_t i = 0; i < got.size(); ++i) {
    const double size = std::max(scale, static_cast<double>(std::abs(want[i])));
    ASSERT_NEAR(got[i], want[i], tolerance.absolute + tolerance.relative * size) << "at " << i;
  }
}

TEST_P(CpuCases, AreRight) {
  const CpuCase& one = GetParam();
  const Machine machine;
  Backend* cpu = machine.find("cpu");
  if (cpu == nullptr || cpu->device_limit() < one.devices) {
    GTEST_SKIP() << "needs " << one.devices << " CPU devices";
  }
  const auto scenario = one.make();
  Context context(machine.open(std::to_string(one.devices), scenario->wants_copy_core()),
                  {.seed = 3});
  for (const Strategy& strategy : scenario->strategies()) {
    SCOPED_TRACE(strategy.name);
    CaseSpec spec = spec_of(*scenario, strategy.name, one.values, one.devices);
    spec.dtype = one.dtype;
    std::unique_ptr<Case> subject;
    try {
      subject = ready_case(*scenario, spec, context);
    } catch (const Unsupported& reason) {
      ASSERT_NE(one.dtype, DType::f32) << reason.what();
      continue;
    }
    EXPECT_TRUE(subject->check()) << "what has not run passes for right";
    const std::vector<float> got = run_and_read(*subject);
    EXPECT_EQ(subject->check(), std::nullopt);
    if (const auto reference = scenario->reference(spec)) {
      const auto other = ready_case(*scenario, *reference, context);
      expect_close(got, run_and_read(*other), subject->tolerance());
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Scenarios, CpuCases,
    testing::Values(
        CpuCase{
            "branch", make_branch, {{"batch", 3}, {"channels", 16}, {"image", 9}, {"branches", 5}}},
        CpuCase{"branch_odd_channels",
                make_branch,
                {{"batch", 2}, {"channels", 5}, {"image", 7}, {"branches", 3}}},
        CpuCase{"branch_bf16",
                make_branch,
                {{"batch", 2}, {"channels", 16}, {"image", 8}, {"branches", 4}},
                1,
                DType::bf16},
        CpuCase{"matmul", make_matmul, {{"n", 67}, {"count", 5}}, 2},
        CpuCase{"matmul_bf16", make_matmul, {{"n", 64}, {"count", 3}}, 2, DType::bf16},
        CpuCase{"overlap_d2h",
                make_overlap,
                {{"n", 70}, {"inner", 9}, {"count", 9}, {"direction", "d2h"}, {"chunk", 32}}},
        CpuCase{"overlap_d2h_fresh",
                make_overlap,
                {{"n", 70}, {"inner", 9}, {"count", 9}, {"direction", "d2h"}, {"memory", "fresh"}}},
        CpuCase{
            "overlap_h2d",
            make_overlap,
            {{"n", 70}, {"inner", 9}, {"count", 9}, {"direction", "h2d"}, {"memory", "pageable"}}},
        CpuCase{"selftest", make_selftest, {{"tasks", 4}, {"duration", "10us"}}},
        CpuCase{"selftest_two_devices", make_selftest, {{"tasks", 5}, {"duration", "10us"}}, 2}),
    [](const auto& one) { return one.param.name; });

}  // namespace
}  // namespace parbench::test
