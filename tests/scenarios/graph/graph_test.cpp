// Scenario graph on a fake device: its plans, what they compute, what it refuses, and its answer.
#include "scenarios/framework/requests.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "kernels/base/error.h"
#include "scenarios/framework/built_in.h"
#include "scenarios/framework/scenario.h"
#include "tests/scenarios/answers/rivals.h"
#include "tests/scenarios/fake_device.h"
#include "tests/scenarios/plan_checks.h"
#include "tests/support/onnx_file.h"
#include "tests/support/temporary_folder.h"

namespace parbench::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

const std::vector<std::string> strategies{"sequential", "per-device", "by-dependency"};

/// A convolution and the ReLU after it, of images of 4 channels.
std::string convolved(const std::string& name, const std::string& input) {
  return onnx_zeros(name + "_w", "4, 4, 3, 3") + onnx_zeros(name + "_b", "4") + name +
         "_c = Conv <kernel_shape = [3, 3], pads = [1, 1, 1, 1]> (" + input + ", " + name + "_w, " +
         name + "_b) " + name + " = Relu (" + name + "_c) ";
}

/// Three branches that read the samples, and a fourth that reads two of them.
std::string branching_network() {
  std::string text;
  for (const std::string branch : {"a", "b", "c"}) {
    text += convolved(branch + "1", "x") + convolved(branch + "2", branch + "1") +
            convolved(branch + "3", branch + "2");
  }
  return text + "d = Add (a1, b1) " + convolved("d1", "d") + convolved("d2", "d1") +
         "e = Add (a3, b3) f = Add (e, c3) y = Add (f, d2) ";
}

class GraphScenarioTest : public testing::Test {
 protected:
  GraphScenarioTest() {
    write_onnx(folder_ / "branches.onnx", "float[N, 4, 5, 5] x", branching_network());
  }

  /// The smallest graph of each kind that has all that the kind can have.
  [[nodiscard]] std::vector<Parameter> sizes_of(const std::string& dag) const {
    if (dag == "network") return {{"dag", dag}, {"model", model_file()}, {"batch", 2}};
    return {{"dag", dag}, {"features", 4}, {"batch", 5}, {"nodes", 28}, {"draw", 3}};
  }
  [[nodiscard]] std::string model_file() const { return (folder_ / "branches.onnx").string(); }

  [[nodiscard]] CaseSpec spec(const std::string& strategy, const std::string& dag,
                              int devices) const {
    return spec_of(*scenario, strategy, sizes_of(dag), devices);
  }

  [[nodiscard]] std::string refusal(const std::vector<Parameter>& values, int devices) const {
    try {
      static_cast<void>(spec_of(*scenario, "by-dependency", values, devices));
    } catch (const UsageError& error) {
      return error.what();
    }
    return "accepted";
  }

  std::unique_ptr<Scenario> scenario = make_graph();

 private:
  TemporaryFolder folder_;
};

class GraphPlans : public GraphScenarioTest,
                   public testing::WithParamInterface<std::tuple<std::string, int, bool>> {
 protected:
  GraphPlans() {
    for (int i = 0; i < devices(); ++i) {
      if (std::get<2>(GetParam())) fake(context, i).set_host_memory();
    }
  }
  [[nodiscard]] static const std::string& dag() { return std::get<0>(GetParam()); }
  [[nodiscard]] static int devices() { return std::get<1>(GetParam()); }

  Context context = fake_context(devices());
};

INSTANTIATE_TEST_SUITE_P(Graphs, GraphPlans,
                         testing::Combine(testing::Values("mlp", "diamonds", "layered", "network"),
                                          testing::Values(2, 3), testing::Bool()),
                         [](const auto& one) {
                           return std::get<0>(one.param) + std::to_string(std::get<1>(one.param)) +
                                  (std::get<2>(one.param) ? "_shared" : "_own");
                         });

TEST_P(GraphPlans, AreRightAndFreeOfRaces) {
  for (const std::string& strategy : strategies) {
    SCOPED_TRACE(strategy);
    const auto subject = ready_case(*scenario, spec(strategy, dag(), devices()), context);
    EXPECT_THAT(races(subject->plan()), IsEmpty());
    EXPECT_TRUE(subject->check()) << "what has not run passes for right";
    run_in_order(subject->plan());
    EXPECT_EQ(subject->check(), std::nullopt);
    EXPECT_THAT(all_outputs(*subject), Not(IsEmpty()));
  }
}

TEST_P(GraphPlans, HaveTheResultsOfProgramOrderBitForBit) {
  const auto run = [&](const std::string& strategy) {
    const auto subject = ready_case(*scenario, spec(strategy, dag(), devices()), context);
    EXPECT_EQ(subject->tolerance().relative, 0);
    EXPECT_EQ(subject->tolerance().absolute, 0);
    run_in_order(subject->plan());
    return all_outputs(*subject);
  };
  const std::vector<float> want = run("sequential");
  EXPECT_EQ(run("per-device"), want);
  EXPECT_EQ(run("by-dependency"), want);
}

TEST_P(GraphPlans, EveryTaskCounts) {
  const auto subject = ready_case(*scenario, spec("by-dependency", dag(), devices()), context);
  for (std::size_t skipped = 0; skipped < subject->plan().graph().tasks.size(); ++skipped) {
    subject->forget();
    subject->reset();
    run_in_order(without_calls_of(subject->plan(), skipped));
    EXPECT_TRUE(subject->check()) << subject->plan().graph().tasks[skipped].name
                                  << " is not missed";
  }
}

/// Copies of a plan by dependency wait for what they copy alone, which names the sender.
TEST_P(GraphPlans, PerDeviceACopyWaitsForAllThatTheSenderWasGiven) {
  const auto dependent = ready_case(*scenario, spec("by-dependency", dag(), devices()), context);
  const auto subject = ready_case(*scenario, spec("per-device", dag(), devices()), context);
  const PlanGraph& graph = subject->plan().graph();
  const auto device_of = [&](TaskId task) {
    return graph.lane(graph.task(task).lanes.front()).device;
  };
  for (const Task& copy : dependent->plan().graph().tasks) {
    if (copy.kind != TaskKind::copy || copy.after.empty()) continue;
    ASSERT_EQ(copy.after.size(), 1U);
    const std::string& made = dependent->plan().graph().task(copy.after[0]).name;
    const std::string sender = device_of(task_named(subject->plan(), made));
    const TaskId receives = task_named(subject->plan(), copy.name);
    for (TaskId before = 0; before < receives; ++before) {
      if (device_of(before) != sender) continue;
      EXPECT_TRUE(is_ordered(subject->plan(), before, receives))
          << copy.name << " does not wait for " << graph.task(before).name;
    }
  }
}

TEST_P(GraphPlans, ProgramOrderWaitsForEachTask) {
  const auto subject = ready_case(*scenario, spec("sequential", dag(), devices()), context);
  const auto count = static_cast<TaskId>(subject->plan().graph().tasks.size());
  for (TaskId task = 1; task < count; ++task) {
    const std::vector<TaskId>& after = subject->plan().graph().task(task).after;
    EXPECT_THAT(after, testing::Contains(task - 1));
  }
}

TEST_P(GraphPlans, DependencyWaitsForWhatIsReadAlone) {
  const auto waits_of = [&](const std::string& strategy) {
    const auto subject = ready_case(*scenario, spec(strategy, dag(), devices()), context);
    std::size_t waits = 0;
    for (const Task& task : subject->plan().graph().tasks) waits += task.after.size();
    return waits;
  };
  if (dag() == "mlp") {
    EXPECT_LE(waits_of("by-dependency"), waits_of("per-device"));
  } else {
    EXPECT_LT(waits_of("by-dependency"), waits_of("per-device"));
  }
  EXPECT_LT(waits_of("by-dependency"), waits_of("sequential"));
}

TEST_F(GraphScenarioTest, ResultsCrossDevicesOnce) {
  Context context = fake_context(3);
  const auto subject = ready_case(*scenario, spec("by-dependency", "mlp", 3), context);
  std::vector<std::string> copies;
  for (const Task& task : subject->plan().graph().tasks) {
    if (task.kind == TaskKind::copy) copies.push_back(task.name);
  }
  std::ranges::sort(copies);
  EXPECT_TRUE(std::ranges::adjacent_find(copies) == copies.end());
  EXPECT_EQ(copies.size(), 12U)
      << "two weights, samples and targets to each of two devices, two gradients back from each";
}

TEST_F(GraphScenarioTest, NotesNameThePlacementAndTheCriticalPath) {
  Context context = fake_context(3);
  const auto subject = ready_case(*scenario, spec("by-dependency", "mlp", 3), context);
  const auto notes = subject->notes();
  ASSERT_EQ(notes.size(), 2U);
  EXPECT_EQ(notes[0].second,
            "6 nodes on fake:0, 8 nodes on fake:1, 8 nodes on fake:2, 12 copies "
            "between devices");
  EXPECT_THAT(notes[1].second, AllOf(HasSubstr("% of the expected time of all tasks: "),
                                     HasSubstr(" → new weights 1")));
}

TEST_F(GraphScenarioTest, LayersOfANetworkAreOnAllDevices) {
  Context context = fake_context(3);
  const auto subject = ready_case(*scenario, spec("by-dependency", "network", 3), context);
  EXPECT_THAT(
      subject->notes()[0].second,
      AllOf(HasSubstr(" on fake:0, "), HasSubstr(" on fake:1, "), HasSubstr(" on fake:2, ")));
  std::size_t layers = 0;
  for (const Task& task : subject->plan().graph().tasks) {
    if (task.kind == TaskKind::compute) ++layers;
  }
  EXPECT_EQ(layers, 15U) << "eleven convolutions with their ReLUs, four sums";
}

TEST_F(GraphScenarioTest, SamplesOfANetworkAreCopiedOnceToADevice) {
  Context context = fake_context(3);
  const auto subject = ready_case(*scenario, spec("sequential", "network", 3), context);
  std::vector<std::string> copies;
  for (const Task& task : subject->plan().graph().tasks) {
    if (task.name.starts_with("samples")) copies.push_back(task.name);
  }
  std::ranges::sort(copies);
  EXPECT_THAT(copies, testing::ElementsAre("samples to fake:1", "samples to fake:2"));
}

TEST_F(GraphScenarioTest, LongCriticalPathsAreNamedByTheirEnds) {
  Context context = fake_context(2);
  const auto subject =
      ready_case(*scenario,
                 spec_of(*scenario, "by-dependency",
                         {{"dag", "diamonds"}, {"features", 4}, {"batch", 5}, {"nodes", 140}}, 2),
                 context);
  EXPECT_THAT(subject->notes()[1].second, testing::MatchesRegex(".* → [0-9]+ more → .*"));
}

TEST_F(GraphScenarioTest, KeepsTheParametersThatAGraphHas) {
  EXPECT_EQ(spec("by-dependency", "mlp", 2).name(),
            "graph/by-dependency/dag:mlp/features:4/batch:5/devices:2");
  EXPECT_EQ(spec("sequential", "diamonds", 3).name(),
            "graph/sequential/dag:diamonds/features:4/batch:5/nodes:28/devices:3");
  EXPECT_EQ(spec("per-device", "layered", 3).name(),
            "graph/per-device/dag:layered/features:4/batch:5/nodes:28/draw:3/devices:3");
  EXPECT_EQ(spec_of(*scenario, "sequential", {{"dag", "network"}}, 2).name(),
            "graph/sequential/dag:network/batch:8/image:128/devices:2");
  EXPECT_EQ(spec_of(*scenario, "sequential",
                    {{"dag", "network"}, {"model", "mlp"}, {"batch", 3}, {"hidden", 64}}, 2)
                .name(),
            "graph/sequential/dag:network/model:mlp/batch:3/hidden:64/layers:4/devices:2");
}

TEST_F(GraphScenarioTest, AModelAloneAsksForTheGraphOfANetwork) {
  for (const std::string dag : {"mlp", "diamonds", "layered", "network"}) {
    Scenario::Request request;
    request.spec.strategy = "sequential";
    request.device_count = 2;
    request.spec.parameters.set("dag", dag);
    request.spec.parameters.set("features", 4);
    request.spec.parameters.set("nodes", 28);
    request.spec.parameters.set("draw", 1);
    request.spec.parameters.set("model", "resnet18");
    request.given = {"model"};
    EXPECT_EQ(requested_case(*scenario, request).has_value(), dag == "network") << dag;
    request.given = {"features"};
    EXPECT_EQ(requested_case(*scenario, request).has_value(), dag != "network") << dag;
  }
}

TEST_F(GraphScenarioTest, RefusesSizesOfOtherGraphs) {
  EXPECT_THAT(
      refusal({{"dag", "mlp"}, {"image", 64}}, 2),
      AllOf(HasSubstr("--image"), HasSubstr("not to --dag mlp"), HasSubstr("--dag network")));
  EXPECT_THAT(refusal({{"dag", "network"}, {"features", 64}}, 2),
              AllOf(HasSubstr("--features"), HasSubstr("--dag network")));
  EXPECT_THAT(refusal({{"dag", "network"}, {"hidden", 64}}, 2), HasSubstr("hidden"));
}

TEST_F(GraphScenarioTest, RefusesANetworkOnDevicesOfSeveralKinds) {
  for (const std::string flag : {"dag", "model"}) {
    Scenario::Request request;
    request.spec.strategy = "by-dependency";
    request.device_count = 2;
    request.devices_alike = false;
    request.spec.parameters.set("dag", "network");
    request.spec.parameters.set("model", "resnet18");
    EXPECT_EQ(requested_case(*scenario, request), std::nullopt) << "from a preset";
    request.given = {flag};
    EXPECT_THROW(static_cast<void>(requested_case(*scenario, request)), UsageError) << flag;
  }
}

TEST_F(GraphScenarioTest, RefusesABatchWithoutASampleForEachPart) {
  EXPECT_THAT(refusal({{"dag", "mlp"}, {"batch", 3}}, 5),
              AllOf(HasSubstr("--batch 3"), HasSubstr("4 parts"), HasSubstr("use at least 4")));
  EXPECT_EQ(refusal({{"dag", "diamonds"}, {"batch", 1}}, 5), "accepted");
}

TEST_F(GraphScenarioTest, NeedsTwoDevices) {
  Scenario::Request request;
  request.spec.strategy = "per-device";
  request.given = {"strategy"};
  EXPECT_THROW(static_cast<void>(requested_case(*scenario, request)), UsageError);
  request.given = {};
  EXPECT_EQ(requested_case(*scenario, request), std::nullopt);
  EXPECT_EQ(scenario->min_devices(), 2);
}

TEST_F(GraphScenarioTest, ProgramOrderRunsOnOneDevice) {
  Context context = fake_context(1);
  for (const std::string dag : {"mlp", "diamonds", "layered", "network"}) {
    SCOPED_TRACE(dag);
    const auto subject = ready_case(*scenario, spec("sequential", dag, 1), context);
    run_in_order(subject->plan());
    EXPECT_EQ(subject->check(), std::nullopt);
    EXPECT_EQ(subject->plan().graph().lanes.size(), 1U);
  }
}

TEST_F(GraphScenarioTest, ReferenceIsProgramOrder) {
  EXPECT_EQ(scenario->reference(spec("by-dependency", "mlp", 2)), spec("sequential", "mlp", 2));
  EXPECT_EQ(scenario->reference(spec("sequential", "mlp", 2)), std::nullopt);
}

TEST_F(GraphScenarioTest, AnswerHasTheGainAndWhatTheGraphAllows) {
  const CaseOutcome in_turn{
      .spec = spec("sequential", "mlp", 2), .median_seconds = 1, .speedup = {}};
  CaseOutcome dependent{
      .spec = spec("by-dependency", "mlp", 2), .median_seconds = 0.7, .speedup = {}};
  dependent.speedup = Ratio{1.43, Interval{1.4, 1.46, 0.95}, ""};
  dependent.efficiency = 0.9;
  dependent.critical_path = 0.41;
  const Conclusion made = scenario->answer({in_turn, dependent}, within(0.01));
  EXPECT_THAT(made.text, AllOf(HasSubstr("Use by-dependency: 1.43×"),
                               HasSubstr("The longest dependency chain takes 41% of the "
                                         "sequential time; no order on 2 devices less "
                                         "than 63%.")));
  EXPECT_EQ(made.recommendations.size(), 1U);
  CaseOutcome other_turn = in_turn;
  CaseOutcome other = dependent;
  other_turn.spec = spec("sequential", "diamonds", 2);
  other.spec = spec("by-dependency", "diamonds", 2);
  other.efficiency = 0.5;
  other.critical_path = 0.3;
  EXPECT_THAT(scenario->answer({in_turn, other_turn, dependent, other}, within(0.01)).text,
              AllOf(HasSubstr(" The longest dependency chain takes 30% to 41% of"),
                    HasSubstr("less than 35% to 63%.")));
  CaseOutcome by_device = dependent;
  by_device.spec = spec("per-device", "mlp", 2);
  by_device.median_seconds = 0.75;
  by_device.efficiency = 0.8;
  CaseOutcome whole = dependent;
  whole.spec.strategy = "all-cores";
  whole.efficiency = 0.5;
  EXPECT_THAT(scenario->answer({in_turn, dependent, by_device, whole}, within(0.01)).text,
              HasSubstr("no order on 2 devices less than 60%."))
      << "the smallest bound of several devices";
  other.efficiency = 0;
  EXPECT_THAT(scenario->answer({in_turn, other_turn, dependent, other}, within(0.01)).text,
              HasSubstr("At 1 of 2 settings, the longest dependency chain takes 41% of"));
  dependent.efficiency = 1.5;
  dependent.critical_path = 1.01;
  EXPECT_THAT(scenario->answer({in_turn, dependent}, within(0.01)).text,
              HasSubstr("The longest dependency chain takes 100% of the sequential time; no "
                        "order on 2 devices less than 100%."));
  dependent.efficiency = 0;
  EXPECT_THAT(scenario->answer({in_turn, dependent}, within(0.01)).text,
              Not(HasSubstr("longest chain")));
  EXPECT_FALSE(scenario->answer({in_turn}, within(0.01)).is_answered);
}

}  // namespace
}  // namespace parbench::test
