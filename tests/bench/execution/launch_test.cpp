// How the plan of a case is launched, and what cannot be launched so.
#include "bench/execution/submit_mode.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "kernels/base/error.h"
#include "tests/scenarios/fake_device.h"

namespace parbench {
namespace {

class LaunchOf : public testing::Test {
 protected:
  void add_lane(test::FakeDevice& device) {
    streams_.push_back(device.make_stream(StreamKind::compute, 0, 1));
    plan_.add_lane("lane", *streams_.back());
  }

  void expect_unsupported(const char* message) const {
    try {
      (void)submit_mode_of(spec_, plan_);
      FAIL() << "it was taken";
    } catch (const Unsupported& error) {
      EXPECT_STREQ(error.what(), message);
    }
  }

  test::FakeDevice one_{0};
  test::FakeDevice stranger_{1, 2, {}, "strange"};
  CaseSpec spec_;
  Plan plan_;

 private:
  std::vector<std::unique_ptr<Stream>> streams_;
};

TEST_F(LaunchOf, ACaseIsWhatItsStrategySaysUnlessTheRunAsksForAGraph) {
  add_lane(one_);
  for (const SubmitMode mode : submit_modes) {
    plan_.submit_as(mode);
    EXPECT_EQ(submit_mode_of(spec_, plan_), mode);
  }
  spec_.graph = true;
  plan_.submit_as(SubmitMode::one_thread);
  EXPECT_EQ(submit_mode_of(spec_, plan_), SubmitMode::graph);
}

TEST_F(LaunchOf, LaunchingThreadsHaveNoGraph) {
  add_lane(one_);
  spec_.graph = true;
  plan_.submit_as(SubmitMode::thread_per_lane);
  expect_unsupported(
      "a strategy with one launching thread per lane cannot run as a graph, which one thread "
      "launches; run it without --graph");
}

TEST_F(LaunchOf, LaunchingThreadsNeedDevicesThatTakeSeveral) {
  add_lane(one_);
  plan_.submit_as(SubmitMode::thread_per_lane);
  EXPECT_EQ(submit_mode_of(spec_, plan_), SubmitMode::thread_per_lane);
  stranger_.single_threaded = true;
  add_lane(stranger_);
  expect_unsupported(
      "strange:1 can be used by one host thread at a time, but the strategy has one per lane; run "
      "it on whole devices");
  plan_.submit_as(SubmitMode::one_thread);
  EXPECT_EQ(submit_mode_of(spec_, plan_), SubmitMode::one_thread);
}

TEST_F(LaunchOf, SeveralBackendsHaveNoGraph) {
  add_lane(one_);
  add_lane(stranger_);
  EXPECT_EQ(submit_mode_of(spec_, plan_), SubmitMode::one_thread);
  plan_.submit_as(SubmitMode::graph);  // the strategy's own wish
  expect_unsupported(
      "a graph holds work of one backend, but this plan runs on fake:0 and strange:1; leave out "
      "--graph");
  plan_.submit_as(SubmitMode::one_thread);
  spec_.graph = true;  // the run's
  expect_unsupported(
      "a graph holds work of one backend, but this plan runs on fake:0 and strange:1; leave out "
      "--graph");
}

}  // namespace
}  // namespace parbench
