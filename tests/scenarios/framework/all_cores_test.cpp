// Strategy all-cores of every scenario that has it: its cases, references and devices.
#include "scenarios/framework/all_cores.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "kernels/base/error.h"
#include "scenarios/framework/requests.h"
#include "tests/scenarios/fake_device.h"
#include "tests/scenarios/plan_checks.h"

namespace parbench::test {
namespace {

std::vector<std::unique_ptr<Scenario>> scenarios_with_all_cores() {
  std::vector<std::unique_ptr<Scenario>> list = built_in_scenarios();
  std::erase_if(list, [](const auto& scenario) {
    const auto& strategies = scenario->strategies();
    return std::ranges::find(strategies, all_cores, &Strategy::name) == strategies.end();
  });
  return list;
}

TEST(AllCores, IsAStrategyWhereWorkIsDividedOverDevices) {
  std::vector<std::string_view> names;
  for (const auto& scenario : scenarios_with_all_cores()) names.push_back(scenario->name());
  EXPECT_THAT(names, testing::UnorderedElementsAre("matmul", "pipeline", "data-parallel",
                                                   "tensor-parallel", "hybrid", "graph"));
}

TEST(AllCores, DoesTheWorkOfTheBaselineAndIsComparedWithIt) {
  for (const auto& scenario : scenarios_with_all_cores()) {
    SCOPED_TRACE(scenario->name());
    const CaseSpec whole = spec_of(*scenario, std::string(all_cores), {}, 2);
    const CaseSpec baseline = spec_of(*scenario, std::string(scenario->baseline()), {}, 2);
    EXPECT_EQ(whole.parameters.integer("devices"), 2);
    EXPECT_TRUE(scenario->comparable(whole));
    EXPECT_TRUE(scenario->is_baseline_of(baseline, whole));
    EXPECT_EQ(scenario->undivided(whole), baseline);
    EXPECT_EQ(reference_of(*scenario, whole), baseline);
  }
}

TEST(AllCores, NeedsDevicesWhoseCoresCanBeAdded) {
  for (const auto& scenario : scenarios_with_all_cores()) {
    SCOPED_TRACE(scenario->name());
    Scenario::Request request;
    request.spec = spec_of(*scenario, std::string(all_cores), {}, 2);
    request.device_count = 2;
    EXPECT_EQ(requested_case(*scenario, request), std::nullopt) << "the user has not asked for it";
    request.given = {"strategy"};
    const auto reason = [&] {
      try {
        static_cast<void>(requested_case(*scenario, request));
      } catch (const UsageError& error) {
        return std::string(error.what());
      }
      return std::string("none");
    };
    EXPECT_THAT(reason(),
                testing::AllOf(testing::HasSubstr("devices that have cores of their own"),
                               testing::EndsWith("; give --devices such as cpu:0,cpu:1")));
    request.devices_over_ranks = true;
    EXPECT_THAT(reason(), testing::EndsWith("; start it without mpirun or srun"));
    request.devices_over_ranks = false;
    request.device_count = 1;
    request.has_all_cores = true;
    EXPECT_THAT(reason(), testing::HasSubstr("needs at least two devices"));
  }
}

TEST(AllCores, HasADeviceAndMemoryOfItsOwn) {
  const auto scenarios = scenarios_with_all_cores();
  const auto matmul = std::ranges::find(scenarios, "matmul", &Scenario::name);
  ASSERT_NE(matmul, scenarios.end());
  Context context = fake_context(2);
  const CaseSpec spec = spec_of(**matmul, std::string(all_cores), {{"n", 7}, {"count", 3}}, 2);
  const auto subject = ready_case(**matmul, spec, context);
  ASSERT_EQ(context.whole()->device_count(), 1);
  EXPECT_EQ(&context_of(spec, context), context.whole());
  for (const Stream* stream : subject->plan().streams()) {
    EXPECT_EQ(&stream->device(), &context.whole()->device(0));
  }
  EXPECT_GT(context.whole()->case_bytes(0), 0U);
  EXPECT_EQ(context.case_bytes(0) + context.case_bytes(1), 0U);
  Context without = fake_context(1);
  EXPECT_THROW(static_cast<void>(prepare_case(**matmul, spec, without)), Unsupported);
}

}  // namespace
}  // namespace parbench::test
