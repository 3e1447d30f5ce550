// The use of CUPTI against a stand-in: how it is found or not, what is enabled and when, and how
// its records reach the logs of streams.
#include "kernels/cuda/activity/cupti.h"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "kernels/base/error.h"
#include "kernels/cuda/activity/activity_trace.h"
#include "tests/kernels/cuda/cupti_stand_in.h"
#include "tests/kernels/cuda/stand_ins.h"

namespace parbench::cuda {
namespace {

using test::CuptiScript;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::vector<ActivityTag> tags_of(const ActivityLog& log) {
  std::vector<ActivityTag> tags;
  for (const Activity& activity : log.activities()) tags.push_back(activity.tag);
  return tags;
}

class CuptiTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_NE(library_, nullptr) << dlerror();
    script() = {};
  }

  [[nodiscard]] CuptiScript& script() const {
    return *static_cast<CuptiScript*>(dlsym(library_, "cupti_script"));
  }
  void announce_node(std::uint64_t node, std::uint64_t original = 0) const {
    reinterpret_cast<test::AnnounceNode>(dlsym(library_, "cupti_announce_node"))(node, original);
  }

  [[nodiscard]] std::unique_ptr<TracedStream> traced(
      ActivityLog& log, std::function<bool()> is_idle = [] { return true; },
      std::uint32_t device = 0) const {
    const TracedStream::Description description{
        .name = "cuda:0/0", .device = device, .is_idle = std::move(is_idle)};
    return std::make_unique<TracedStream>(trace_, description, log);
  }

  /// Why no stream can be traced.
  [[nodiscard]] std::string refusal() const {
    ActivityLog log(1);
    try {
      (void)traced(log);
    } catch (const Unsupported& reason) {
      return reason.what();
    }
    return "nothing was thrown";
  }

  /// The latest id that was pushed comes with a call of this number.
  void record_call(std::uint32_t correlation) const {
    CUpti_ActivityExternalCorrelation link{};
    link.kind = CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION;
    link.externalKind = CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0;
    link.externalId = script().pushed.back();
    link.correlationId = correlation;
    script().add(link);
    CUpti_ActivityAPI call{};
    call.kind = CUPTI_ACTIVITY_KIND_RUNTIME;
    call.correlationId = correlation;
    script().add(call);
  }

  template <class Record>
  void record_work(CUpti_ActivityKind kind, std::uint32_t correlation, std::uint64_t begin,
                   std::uint64_t end, std::uint64_t node = 0, std::uint32_t device = 0) const {
    Record work{};
    work.kind = kind;
    work.correlationId = correlation;
    work.graphNodeId = node;
    work.deviceId = device;
    work.start = begin;
    work.end = end;
    script().add(work);
  }

  void record_kernel(std::uint32_t correlation, std::uint64_t begin, std::uint64_t end,
                     std::uint64_t node = 0, std::uint32_t device = 0) const {
    record_work<CUpti_ActivityKernel10>(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, correlation, begin,
                                        end, node, device);
  }

  std::shared_ptr<ActivityTrace> trace_ = std::make_shared<ActivityTrace>(
      [] { return Cupti::load({test::stand_in("cupti_stand_in")}); });
  ActivityLog log_{16};

 private:
  void* library_ = dlopen(test::stand_in("cupti_stand_in").c_str(),
                          RTLD_NOW | RTLD_LOCAL);  // it stays, as CUPTI does
};

TEST(CuptiAbsence, NamesTheFirstPlaceAndWhatWouldMendIt) {
  const auto cupti = Cupti::load({"libcupti-that-is-not-there.so.13", "/nowhere/libcupti.so.13"});
  EXPECT_THAT(cupti->absence(),
              AllOf(HasSubstr("libcupti-that-is-not-there.so.13"), HasSubstr("nvidia-cuda-cupti"),
                    HasSubstr("LD_LIBRARY_PATH")));
}

TEST(CuptiAbsence, ALibraryThatIsNotWholeIsNotUsed) {
  EXPECT_THAT(Cupti::load({test::stand_in("cupti_old_stand_in")})->absence(),
              HasSubstr("older than CUDA 13"));
}

TEST(CuptiAbsence, TheFirstThatCanBeLoadedCounts) {
  EXPECT_EQ(Cupti::load({"libcupti-that-is-not-there.so.13", test::stand_in("cupti_stand_in")})
                ->absence(),
            "");
}

TEST_F(CuptiTest, WithoutTheLibraryTheStreamSaysWhy) {
  trace_ = std::make_shared<ActivityTrace>([] { return Cupti::load({"libcupti-missing.so.13"}); });
  EXPECT_THAT(refusal(), AllOf(HasSubstr("cuda:0/0 cannot record when its calls run"),
                               HasSubstr("libcupti-missing.so.13")));
}

TEST_F(CuptiTest, TheLibraryIsAskedForWithoutATrace) {
  EXPECT_NO_THROW(trace_->check("cuda:0/0"));
  EXPECT_EQ(script().subscribers, 0);
  ActivityTrace without([] { return Cupti::load({"libcupti-missing.so.13"}); });
  EXPECT_THROW(without.check("cuda:0/0"), Unsupported);
}

TEST_F(CuptiTest, AnotherToolIsNamed) {
  script().subscribe = CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
  EXPECT_THAT(refusal(), AllOf(HasSubstr("CUPTI_ERROR_MULTIPLE"), HasSubstr("Nsight Systems")));
  EXPECT_THAT(script().kinds, IsEmpty());
}

TEST_F(CuptiTest, AKindThatCannotBeEnabledLeavesNothingBehind) {
  script().failing_kind = CUPTI_ACTIVITY_KIND_MEMSET;
  EXPECT_THAT(refusal(), AllOf(HasSubstr("cuptiActivityEnable"), HasSubstr("CUPTI_ERROR_OTHER")));
  EXPECT_THAT(script().kinds, IsEmpty());
  EXPECT_EQ(script().subscribers, 0);
  script().failing_kind = CUPTI_ACTIVITY_KIND_INVALID;
  EXPECT_NO_THROW((void)traced(log_));
}

TEST_F(CuptiTest, TracesFromTheFirstStreamToTheLast) {
  auto first = traced(log_);
  ActivityLog other(1);
  auto second = traced(other);
  EXPECT_EQ(script().subscribers, 1);
  EXPECT_FALSE(script().enabled_without_clock);
  EXPECT_THAT(script().kinds, SizeIs(7));
  EXPECT_EQ(first->session(), second->session());
  const std::uint64_t session = first->session();
  first.reset();
  EXPECT_EQ(script().subscribers, 1);
  second.reset();
  EXPECT_EQ(script().subscribers, 0);
  EXPECT_THAT(script().kinds, IsEmpty());
  EXPECT_NE(traced(log_)->session(), session);
}

TEST_F(CuptiTest, IsDetachedAfterTheLastStreamAndAttachedAgain) {
  trace_->detach();
  EXPECT_EQ(script().finalizations, 0) << "it was never attached";
  for (int round = 1; round <= 2; ++round) {
    auto stream = traced(log_);
    trace_->detach();
    EXPECT_EQ(script().finalizations, round - 1) << "a stream is traced";
    { const TracedCall call = stream->enqueue(7); }
    record_call(515);
    record_kernel(515, 1000, 3000);
    log_.clear();
    stream->settle();
    EXPECT_THAT(tags_of(log_), ElementsAre(7)) << "in round " << round;
    EXPECT_FALSE(script().enabled_without_clock);
    stream.reset();
    EXPECT_TRUE(script().attached) << "the next case may be traced as well";
    trace_->detach();
    trace_->detach();
    EXPECT_EQ(script().finalizations, round);
    EXPECT_FALSE(script().attached);
  }
  EXPECT_EQ(script().unsafe_finalizations, 0);
}

TEST_F(CuptiTest, OfAnotherToolIsNotDetached) {
  script().subscribe = CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
  (void)refusal();
  trace_->detach();
  EXPECT_EQ(script().finalizations, 0);
}

TEST_F(CuptiTest, ItsClockIsTheHosts) {
  const auto stream = traced(log_);
  const auto before = std::chrono::steady_clock::now();
  const std::chrono::steady_clock::time_point reported(std::chrono::nanoseconds(script().clock()));
  EXPECT_LE(before, reported);
  EXPECT_LE(reported, std::chrono::steady_clock::now());
}

TEST_F(CuptiTest, WorkReachesTheLogOfItsStream) {
  ActivityLog other(4);
  const auto first = traced(log_);
  const auto second = traced(other);
  {
    const TracedCall call = first->enqueue(7);
    EXPECT_EQ(script().open_ids, 1);
  }
  EXPECT_EQ(script().open_ids, 0);
  record_call(515);
  record_kernel(515, 1000, 3000);
  { const TracedCall call = second->enqueue(8); }
  record_call(516);
  record_work<CUpti_ActivityMemcpy6>(CUPTI_ACTIVITY_KIND_MEMCPY, 516, 2000, 4000);
  first->settle();
  ASSERT_THAT(tags_of(log_), ElementsAre(7));
  EXPECT_EQ(log_.activities()[0].begin.time_since_epoch(), std::chrono::nanoseconds(1000));
  EXPECT_EQ(log_.activities()[0].end.time_since_epoch(), std::chrono::nanoseconds(3000));
  EXPECT_THAT(tags_of(other), ElementsAre(8));
}

TEST_F(CuptiTest, EveryKindOfWorkIsRead) {
  const auto stream = traced(log_);
  { const TracedCall call = stream->enqueue(1); }
  record_call(1);
  record_work<CUpti_ActivityMemset4>(CUPTI_ACTIVITY_KIND_MEMSET, 1, 10, 20);
  { const TracedCall call = stream->enqueue(2); }
  record_call(2);
  record_work<CUpti_ActivityMemcpyPtoP4>(CUPTI_ACTIVITY_KIND_MEMCPY2, 2, 30, 40);
  stream->settle();
  EXPECT_THAT(tags_of(log_), ElementsAre(1, 2));
}

TEST_F(CuptiTest, UntaggedWorkIsNotAskedAbout) {
  const auto stream = traced(log_);
  { const TracedCall call = stream->enqueue(0); }
  EXPECT_THAT(script().pushed, IsEmpty());
}

TEST_F(CuptiTest, LogsAreCompleteWhenAllStreamsAreIdle) {
  bool idle = false;
  ActivityLog other(4);
  const auto first = traced(log_);
  const auto second = traced(other, [&] { return idle; });
  { const TracedCall call = first->enqueue(7); }
  record_call(1);
  record_kernel(1, 10, 20);
  first->settle();
  EXPECT_THAT(tags_of(log_), IsEmpty()) << "its records may be in a buffer with unfinished ones";
  idle = true;
  second->settle();
  EXPECT_THAT(tags_of(log_), ElementsAre(7));
}

TEST_F(CuptiTest, NodesOfAGraphAreKnownByTheCallThatWasCaptured) {
  const auto stream = traced(log_);
  {
    const TracedCall call = stream->enqueue(5);
    announce_node(100);
  }
  announce_node(101);       // between calls: without an owner
  announce_node(200, 100);  // instantiated
  announce_node(201, 101);
  record_kernel(9, 10, 20, 200);
  record_kernel(9, 30, 40, 201);
  stream->settle();
  EXPECT_THAT(tags_of(log_), ElementsAre(5));
}

TEST_F(CuptiTest, NodesOfAnEarlierSessionAreForgotten) {
  {
    const auto stream = traced(log_);
    const TracedCall call = stream->enqueue(5);
    announce_node(100);
  }
  const auto stream = traced(log_);
  record_kernel(9, 10, 20, 100);
  stream->settle();
  EXPECT_THAT(tags_of(log_), IsEmpty());
}

TEST_F(CuptiTest, ACollectiveIsOfTheMembersOnTheDevicesThatItRanOn) {
  ActivityLog other(4);
  const auto first = traced(log_);
  const auto second = traced(
      other, [] { return true; }, 1);
  for (const auto* member : {&first, &second}) (*member)->join_collective(3);
  {
    const TracedCall call = first->enqueue_collective(3);
    announce_node(100);
  }
  record_call(1);
  record_kernel(1, 10, 20, 0, 1);
  first->settle();
  EXPECT_THAT(tags_of(log_), IsEmpty());
  EXPECT_THAT(tags_of(other), ElementsAre(3));
  record_kernel(2, 30, 40, 100, 0);  // by a graph
  first->settle();
  EXPECT_THAT(tags_of(log_), ElementsAre(3));
}

TEST_F(CuptiTest, RecordsThatAreMissingAreCounted) {
  const auto stream = traced(log_);
  { const TracedCall call = stream->enqueue(5); }
  record_call(1);
  record_kernel(1, 0, 0);
  script().dropped = 3;
  stream->settle();
  EXPECT_EQ(log_.dropped(), 4U);
}

TEST_F(CuptiTest, AFailedFlushIsReported) {
  const auto stream = traced(log_);
  script().flush = CUPTI_ERROR_UNKNOWN;
  EXPECT_THROW(stream->settle(), Error);
}

TEST_F(CuptiTest, ARedirectedStreamFillsAnotherLog) {
  const auto stream = traced(log_);
  ActivityLog other(4);
  { const TracedCall call = stream->enqueue(5); }
  record_call(1);
  record_kernel(1, 10, 20);
  stream->redirect(other);
  stream->settle();
  EXPECT_THAT(tags_of(log_), IsEmpty());
  EXPECT_THAT(tags_of(other), ElementsAre(5));
}

}  // namespace
}  // namespace parbench::cuda
