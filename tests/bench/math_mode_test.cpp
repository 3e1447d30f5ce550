// TF32 reaches every product of every case, and only where it was asked for.
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "bench/sweep.h"
#include "tests/scenarios/fake_device.h"

namespace parbench {
namespace {

/// Nothing for operations that do not sum products.
std::optional<MathMode> math_of(const OpDesc& desc) {
  return std::visit(
      [](const auto& one) -> std::optional<MathMode> {
        if constexpr (requires { one.math; }) return one.math;
        return std::nullopt;
      },
      desc);
}

/// Modes of the products that a case plans, on two devices that measure nothing.
std::vector<MathMode> modes_of(const Scenario& scenario, const CaseSpec& spec) {
  Context context = test::fake_context(2, {.measures = false});
  context.begin_case();
  const auto prepared = scenario.prepare(spec, context);
  std::vector<MathMode> modes;
  for (int device = 0; device < context.device_count(); ++device) {
    for (const OpDesc& desc : test::fake(context, device).prepared) {
      if (const auto math = math_of(desc)) modes.push_back(*math);
    }
  }
  return modes;
}

class MathModeOfCases : public testing::TestWithParam<std::string> {};

TEST_P(MathModeOfCases, IsTheOneOfDtype) {
  const Scenario& scenario = **std::ranges::find(all_scenarios(), GetParam(), &Scenario::name);
  for (const char* dtype : {"f32", "tf32"}) {
    Options options;
    options.scenarios = {GetParam()};
    options.format = *number_format_named(dtype);
    std::size_t products = 0;
    for (const CaseSpec& spec : expand(options, scenario, 2)) {
      EXPECT_EQ(spec.name().ends_with("/dtype:tf32"), options.format.math == MathMode::tf32);
      for (const MathMode math : modes_of(scenario, spec)) {
        ++products;
        ASSERT_EQ(math, options.format.math) << spec.name();
      }
    }
    EXPECT_GT(products, 0U) << "no case of this scenario was looked at";
  }
}

INSTANTIATE_TEST_SUITE_P(Scenarios, MathModeOfCases,
                         testing::Values("pipeline", "matmul", "branch", "overlap"),
                         [](const auto& instance) { return instance.param; });

}  // namespace
}  // namespace parbench
