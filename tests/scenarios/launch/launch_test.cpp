// Cases, references and plans of scenario launch.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scenarios/framework/built_in.h"
#include "tests/scenarios/resolving.h"
#include "tests/support/cpu_devices.h"

namespace parbench::test {
namespace {

using testing::HasSubstr;

struct LaunchTest : Resolving {
  LaunchTest() : Resolving(make_launch()) {}

  [[nodiscard]] Scenario::Request request(const std::string& strategy) const {
    return request_of(strategy, {{"model", "toy"}}, {"strategy"}, 1);
  }
  [[nodiscard]] SubmitMode submit_mode(const std::string& strategy) const {
    Context context(cpu_devices(1), {});
    context.begin_case();
    return scenario->prepare(*requested_case(*scenario, request(strategy)), context)
        ->plan()
        .graph()
        .submit;
  }
};

TEST_F(LaunchTest, StrategiesDifferOnlyInTheLaunch) {
  EXPECT_EQ(submit_mode("calls"), SubmitMode::one_thread);
  EXPECT_EQ(submit_mode("graph"), SubmitMode::graph);
  EXPECT_EQ(name_of(request("graph")), "launch/graph/model:toy/batch:20");
  EXPECT_EQ(reference_of(request("graph")), "launch/calls/model:toy/batch:20");
  EXPECT_EQ(reference_of(request("calls")), "none");
}

TEST_F(LaunchTest, RefusesAGraphOfAGraph) {
  Scenario::Request captured = request("graph");
  captured.spec.graph = true;
  EXPECT_THAT(refusal(captured), HasSubstr("defines how work is launched; leave out --graph"));
  captured.spec.strategy = "calls";
  EXPECT_EQ(name_of(captured), "launch/calls/model:toy/batch:20/graph:true");
}

/// Normalisations of a batch do not need a reference of the same micro-batches: there are none.
TEST_F(LaunchTest, ComparesNormalisationsOfABatchToo) {
  EXPECT_EQ(reference_of(request_of("graph", {{"model", "resnet18"}}, {}, 1)),
            name_of(request_of("calls", {{"model", "resnet18"}}, {}, 1)));
}

}  // namespace
}  // namespace parbench::test
