// What it takes a rank to plan for many: hybrid training on a thousand ranks.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "bench/execution/plan_runner.h"
#include "bench/ranks/rank_runner.h"
#include "kernels/core/ranks/remote_device.h"
#include "kernels/machine/machine.h"
#include "scenarios/framework/built_in.h"
#include "scenarios/framework/context.h"
#include "scenarios/framework/requests.h"
#include "tests/bench/ranks/imagined_ranks.h"

namespace parbench::test {

std::vector<std::unique_ptr<Device>> imagined_devices(int ranks) {
  const Machine machine;
  std::vector<std::unique_ptr<Device>> devices =
      machine.open("cpu:0", {.name_prefix = "host/0/", .core_share = {.index = 0, .count = 2}});
  Device& own = *devices.front();
  for (int rank = 1; rank < ranks; ++rank) {
    DeviceInfo info = own.info();
    info.name = "host/" + std::to_string(rank) + "/cpu:0";
    info.rank = rank;
    devices.push_back(std::make_unique<RemoteDevice>(info, own, true));
  }
  return devices;
}

namespace {

constexpr int many = 1024;

double cpu_seconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

/// The most that this process has had in memory so far.
double peak_mebibytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

/// What it has there now.
double resident_mebibytes() {
  std::ifstream file("/proc/self/statm");
  double pages = 0;
  file >> pages >> pages;
  return pages * static_cast<double>(sysconf(_SC_PAGESIZE)) / (1024 * 1024);
}

/// A step of a small transformer on so many ranks, planned as by the first of them: the case, the
/// hash by which ranks compare their plans, and what executes this rank's part.
struct PlannedHybrid {
  PlannedHybrid(const std::string& layout, int devices)
      : ranks(devices),
        context(imagined_devices(devices), {.measures = false, .ranks = &ranks}),
        scenario(make_hybrid()) {
    Scenario::Request request;
    request.spec.scenario = scenario->name();
    request.spec.strategy = "divided";
    request.spec.parameters.set("model", std::string("gpt-tiny"));
    request.spec.parameters.set("layout", layout);
    request.spec.parameters.set("batch", std::int64_t{2} * devices);
    request.given = {"layout", "batch"};
    request.device_count = devices;
    request.devices_over_ranks = true;
    const double begin = cpu_seconds();
    context.begin_case();
    planned = scenario->prepare(*requested_case(*scenario, request), context);
    hash = hash_of(graph());
    runner = make_plan_runner(planned->plan(), SubmitMode::one_thread);
    seconds = cpu_seconds() - begin;
  }

  [[nodiscard]] const PlanGraph& graph() const { return planned->plan().graph(); }

  ImaginedRanks ranks;
  Context context;
  std::unique_ptr<Scenario> scenario;
  std::unique_ptr<Case> planned;
  std::unique_ptr<PlanRunner> runner;
  std::uint64_t hash = 0;
  double seconds = 0;  // of this process
};

class RankPlanning : public testing::TestWithParam<const char*> {};

TEST_P(RankPlanning, TakesLittleForAThousandRanks) {
  static_cast<void>(Machine().open("cpu:0"));  // what libraries of backends take is theirs
  const double before = resident_mebibytes();
  const PlannedHybrid hybrid(GetParam(), many);
  EXPECT_EQ(hybrid.graph().devices().size(), std::size_t{many});
  EXPECT_LE(hybrid.seconds, 2.0) << "of the processor";
  EXPECT_LE(peak_mebibytes() - before, 200);
  RecordProperty("tasks", std::to_string(hybrid.graph().tasks.size()));
  RecordProperty("seconds", std::to_string(hybrid.seconds));
  RecordProperty("mebibytes", std::to_string(peak_mebibytes() - before));
}

INSTANTIATE_TEST_SUITE_P(Layouts, RankPlanning,
                         testing::Values("dp1024", "dp256xpp2xtp2", "dp64xpp4xtp4"),
                         [](const auto& layout) { return std::string(layout.param); });

TEST(RankPlans, KeepNoCallsOfOtherRanks) {
  const PlannedHybrid hybrid("dp4xpp2xtp2", 16);
  const Plan& plan = hybrid.planned->plan();
  std::size_t of_others = 0;
  for (std::size_t i = 0; i < plan.calls().size(); ++i) {
    const Task& task = hybrid.graph().tasks[i];
    const bool is_own = std::ranges::any_of(
        task.lanes, [&](LaneId lane) { return plan.rank_of(lane) == hybrid.ranks.rank(); });
    if (is_own) continue;
    EXPECT_TRUE(plan.calls()[i].empty()) << task.name;
    if (task.work.bytes > 0) ++of_others;
  }
  EXPECT_GT(of_others, hybrid.graph().tasks.size() / 2) << "their work is known";
}

/// The sums of replicas and of the ranks of a stage are one task each, whatever their number.
TEST(RankPlans, GrowWithTheRanksOnly) {
  const std::size_t few = PlannedHybrid("dp4xpp2xtp2", 16).graph().tasks.size();
  const std::size_t more = PlannedHybrid("dp16xpp2xtp2", 64).graph().tasks.size();
  EXPECT_LE(more, 4 * few);
}

}  // namespace
}  // namespace parbench::test
