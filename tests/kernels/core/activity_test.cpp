// What streams log of their work, on every backend.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "kernels/base/error.h"
#include "tests/kernels/harness.h"

namespace parbench::test {
namespace {

using std::chrono::microseconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Clock = std::chrono::steady_clock;

class Activities : public LaneTest {
 protected:
  void SetUp() override {
    LaneTest::SetUp();
    if (!has_bench()) return;
    second_ = device().make_stream(StreamKind::copy);
    fork_ = device().make_event(EventKind::ordering);
    join_ = device().make_event(EventKind::ordering);
    spin_ = bench().prepare(Spin{.duration = microseconds(200)});
    counter_ = device().allocate(sizeof(std::uint64_t), MemoryKind::device);
    near_ = device().allocate(bytes, MemoryKind::device);
    far_ = device().allocate(bytes, MemoryKind::pinned);
    enqueue_all();  // what is made at the first execution is there
    synchronize();
    try {
      stream().log_activities(&log_);
      second_->log_activities(&copies_);
    } catch (const Unsupported& reason) {  // CUPTI is a library that a GPU can be used without
      if (device().info().backend == "cpu") throw;
      GTEST_SKIP() << reason.what();
    }
  }
  void TearDown() override {
    if (!has_bench()) return;
    stream().log_activities(nullptr);
    second_->log_activities(nullptr);
  }

  void enqueue_spin(ActivityTag tag) {
    stream().set_tag(tag);
    spin_->enqueue(stream(), std::vector<BufferView>{counter_});
  }

  /// Two kernels with a copy on the other stream between them.
  void enqueue_all() {
    enqueue_spin(11);
    stream().record(*fork_);
    second_->wait(*fork_);
    second_->set_tag(12);
    second_->copy(far_, near_);
    second_->record(*join_);
    stream().wait(*join_);
    enqueue_spin(13);
  }

  void synchronize() {
    stream().synchronize();
    second_->synchronize();
  }

  static std::vector<ActivityTag> tags_of(const ActivityLog& log) {
    std::vector<ActivityTag> tags;
    for (const Activity& activity : log.activities()) tags.push_back(activity.tag);
    return tags;
  }

  /// One after the other, as `enqueue_all` orders them, between the two readings of the clock.
  void expect_order(Clock::time_point before, Clock::time_point after) const {
    ASSERT_THAT(tags_of(log_), ElementsAre(11, 13));
    ASSERT_THAT(tags_of(copies_), ElementsAre(12));
    EXPECT_EQ(log_.dropped() + copies_.dropped(), 0U);
    const std::vector<Activity> all{log_.activities()[0], copies_.activities()[0],
                                    log_.activities()[1]};
    for (const Activity& one : all) EXPECT_LE(one.begin, one.end) << one.tag;
    const std::chrono::duration<double> error(log_.clock_error + copies_.clock_error);
    EXPECT_LE(all[0].end, all[1].begin + error);
    EXPECT_LE(all[1].end, all[2].begin + error);
    EXPECT_LE(before, all[0].begin + error);
    EXPECT_LE(all[2].end, after + error);
    EXPECT_GE(all[2].end - all[2].begin, microseconds(190)) << "a spin takes no less than it says";
  }

  static constexpr std::size_t bytes = 1 << 20;

  ActivityLog log_{4};
  ActivityLog copies_{4};
  std::unique_ptr<Stream> second_;
  std::unique_ptr<Op> spin_;
  Buffer counter_;
  Buffer near_;
  Buffer far_;
  std::unique_ptr<Event> fork_;
  std::unique_ptr<Event> join_;
};

TEST_P(Activities, HaveTheTagsAndTheOrderOfTheWork) {
  const auto before = Clock::now();
  enqueue_all();
  synchronize();
  expect_order(before, Clock::now());
}

TEST_P(Activities, OfAGraphAreThoseOfEachLaunch) {
  const auto graph = stream().capture([&] { enqueue_all(); });
  stream().set_tag(99);
  for (int launch = 0; launch < 2; ++launch) {
    log_.clear();
    copies_.clear();
    const auto before = Clock::now();
    graph->launch();
    synchronize();
    expect_order(before, Clock::now());
  }
}

TEST_P(Activities, OfAGraphThatWasCapturedBeforeAreCompleteOrRefused) {
  stream().log_activities(nullptr);
  second_->log_activities(nullptr);
  const auto graph = stream().capture([&] { enqueue_all(); });
  stream().log_activities(&log_);
  second_->log_activities(&copies_);
  const auto before = Clock::now();
  try {
    graph->launch();
  } catch (const Unsupported&) {
    return;
  }
  synchronize();
  expect_order(before, Clock::now());
}

TEST_P(Activities, OfUntaggedWorkThereAreNone) {
  enqueue_spin(0);
  synchronize();
  EXPECT_THAT(tags_of(log_), IsEmpty());
}

TEST_P(Activities, EndWhenTheLogIsTakenAway) {
  enqueue_spin(1);
  synchronize();
  stream().log_activities(nullptr);
  enqueue_spin(2);
  synchronize();
  EXPECT_THAT(tags_of(log_), ElementsAre(1));
}

TEST_P(Activities, HaveAnErrorOfTheClockThatIsSmall) {
  EXPECT_GE(log_.clock_error, 0);
  EXPECT_LT(log_.clock_error, 10e-3) << "with the time of a layer, overlap could not be measured";
}

/// Copies one byte to the GPU and back by a graph.
class Echo {
 public:
  explicit Echo(Device& device)
      : stream_(device.make_stream(StreamKind::compute)),
        sent_(device.allocate(1, MemoryKind::pinned)),
        there_(device.allocate(1, MemoryKind::device)),
        returned_(device.allocate(1, MemoryKind::pinned)) {
    enqueue();  // what is made at the first execution is there
    stream_->synchronize();
    capture();
  }

  [[nodiscard]] Stream& stream() const { return *stream_; }
  void capture() {
    graph_ = stream_->capture([&] { enqueue(); });
  }
  [[nodiscard]] std::byte of(std::byte value) {
    *sent_.data() = value;
    graph_->launch();
    stream_->synchronize();
    return *returned_.data();
  }

 private:
  void enqueue() {
    stream_->set_tag(1);
    stream_->copy(there_, sent_);
    stream_->set_tag(2);
    stream_->copy(returned_, there_);
  }

  std::unique_ptr<Stream> stream_;
  Buffer sent_;
  Buffer there_;
  Buffer returned_;
  std::unique_ptr<Graph> graph_;
};

// Opening devices anew detaches the profiler, as between the scenarios of a run. Graphs from before
// go on, also those that were made while it was attached, and the next logs are as complete.
TEST(CudaActivities, GraphsOutliveTheProfilerThatSawThem) {
  const Machine machine;
  std::vector<std::vector<std::unique_ptr<Device>>> scenarios;
  std::vector<std::unique_ptr<Echo>> echoes;
  for (int scenario = 0; scenario < 3; ++scenario) {
    try {
      scenarios.push_back(machine.open("cuda:0"));
    } catch (const Error& error) {
      SKIP_WITHOUT_DEVICES("cuda:0", error.what());
    }
    for (const auto& echo : echoes) EXPECT_EQ(echo->of(std::byte{7}), std::byte{7});
    auto echo = std::make_unique<Echo>(*scenarios.back().front());
    EXPECT_EQ(echo->of(std::byte{3}), std::byte{3});
    ActivityLog log(2);
    try {
      echo->stream().log_activities(&log);
    } catch (const Unsupported& reason) {
      GTEST_SKIP() << reason.what();
    }
    echo->capture();
    EXPECT_EQ(echo->of(std::byte{5}), std::byte{5});
    std::vector<ActivityTag> tags;
    for (const Activity& activity : log.activities()) tags.push_back(activity.tag);
    EXPECT_THAT(tags, ElementsAre(1, 2)) << "in scenario " << scenario;
    echo->stream().log_activities(nullptr);
    EXPECT_EQ(echo->of(std::byte{9}), std::byte{9});
    echoes.push_back(std::move(echo));
  }
}

INSTANTIATE_TEST_SUITE_P(Lanes, Activities, testing::ValuesIn(lanes()),
                         [](const auto& lane) { return name_of(lane.param); });

}  // namespace
}  // namespace parbench::test
