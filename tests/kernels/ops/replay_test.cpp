// Capture and replay on every backend: each operation computes the same bits as without a graph,
// and streams of a device are ordered within it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "kernels/base/error.h"
#include "tests/kernels/ops/cases.h"

namespace parbench::test {
namespace {

/// Executes an operation by capturing it and launching that.
class ReplayedOp final : public Op {
 public:
  explicit ReplayedOp(Op& op) : op_(op) {
    name_ = op.name();
    arguments_ = op.arguments();
    scratch_bytes_ = op.scratch_bytes();
  }
  void enqueue(Stream& stream, std::span<const BufferView> views) override {
    graph_ = stream.capture([&] { op_.enqueue(stream, views); });
    graph_->launch();
  }

 private:
  Op& op_;
  std::unique_ptr<Graph> graph_;
};

class Replay : public LaneTest {
 protected:
  /// Host memory with this byte everywhere.
  [[nodiscard]] Buffer host(MemoryKind kind, int byte) const {
    Buffer buffer = device().allocate(bytes, kind);
    std::memset(buffer.data(), byte, bytes);
    return buffer;
  }

  static bool holds(const Buffer& buffer, int byte) {
    return std::all_of(buffer.data(), buffer.data() + bytes,
                       [&](std::byte one) { return one == static_cast<std::byte>(byte); });
  }

  static constexpr std::size_t bytes = std::size_t{1} << 20;
};

TEST_P(Replay, OfEveryOperationGivesTheSameBits) {
  for (const OperationCase& one : operation_cases()) {
    SCOPED_TRACE(one.name);
    try {
      Trial trial(bench(), one.desc, one.in_place);
      const Tensors inputs = trial.draw_inputs(1);
      const Tensors want = trial.run(inputs);  // also warms up what a capture must not make
      ReplayedOp replayed(trial.op());
      const Tensors got = trial.run_with(replayed, inputs);
      EXPECT_EQ(got, want) << trial.op().implementation();
    } catch (const Unsupported& reason) {
      EXPECT_THROW((void)bench().prepare(one.desc), Unsupported) << reason.what();
    }
  }
}

TEST_P(Replay, CopiesFromAndToEveryKindOfMemoryAgainAndAgain) {
  for (const MemoryKind kind : {MemoryKind::pinned, MemoryKind::pageable}) {
    const Buffer source = host(kind, 1);
    const Buffer middle = device().allocate(bytes, MemoryKind::device);
    const Buffer destination = host(kind, 0);
    Stream& stream = bench().stream();
    const auto graph = stream.capture([&] {
      stream.copy(middle, source);
      stream.copy(destination, middle);
    });
    for (const int byte : {1, 2, 3}) {
      std::memset(source.data(), byte, bytes);  // read at the launch, not at the capture
      graph->launch();
      stream.synchronize();
      EXPECT_TRUE(holds(destination, byte)) << byte;
    }
  }
}

TEST_P(Replay, OrdersStreamsOfADevice) {
  Stream& first = stream();
  const auto second = device().make_stream(StreamKind::copy);
  const Buffer source = host(MemoryKind::pinned, 7);
  const Buffer near = device().allocate(bytes, MemoryKind::device);
  const Buffer far = device().allocate(bytes, MemoryKind::device);
  const Buffer destination = host(MemoryKind::pinned, 0);
  const auto fork = device().make_event(EventKind::ordering);
  const auto join = device().make_event(EventKind::ordering);
  const auto graph = first.capture([&] {
    first.copy(near, source);
    first.record(*fork);
    second->wait(*fork);
    second->copy(far, near);
    second->record(*join);
    first.wait(*join);
    first.copy(destination, far);
  });
  for (const int byte : {7, 8, 9}) {
    std::memset(source.data(), byte, bytes);
    graph->launch();
    first.synchronize();
    EXPECT_TRUE(holds(destination, byte)) << byte;
  }
}

TEST_P(Replay, OfADiscardGivesPagesBackAtEveryLaunch) {
  Stream& stream = bench().stream();
  const auto op = bench().prepare(Discard{static_cast<std::int64_t>(bytes)});
  const Buffer memory = host(MemoryKind::pageable, 1);
  bench().run(*op, {memory});
  const auto graph = stream.capture([&] { op->enqueue(stream, std::vector<BufferView>{memory}); });
  for (int launch = 0; launch < 3; ++launch) {
    std::memset(memory.data(), 1, bytes);
    graph->launch();
    stream.synchronize();
    EXPECT_TRUE(holds(memory, 0)) << "anonymous pages come back as zeros";
  }
}

TEST_P(Replay, FailedCaptureLeavesTheStreamUsable) {
  Stream& stream = bench().stream();
  const Buffer source = host(MemoryKind::pinned, 5);
  const Buffer destination = host(MemoryKind::pinned, 0);
  const auto failing = [&] {
    stream.copy(destination, source);
    throw Error("a task that cannot be captured");
  };
  EXPECT_THROW((void)stream.capture(failing), Error);
  stream.synchronize();
  EXPECT_TRUE(holds(destination, 0)) << "it was only captured";
  stream.copy(destination, source);
  stream.synchronize();
  EXPECT_TRUE(holds(destination, 5));
}

TEST_P(Replay, RefusesWorkThatIsNotJoined) {
  Stream& first = stream();
  const auto second = device().make_stream(StreamKind::copy);
  const Buffer memory = host(MemoryKind::pinned, 0);
  const Buffer other = host(MemoryKind::pinned, 1);
  const auto fork = device().make_event(EventKind::ordering);
  EXPECT_ANY_THROW((void)first.capture([&] {
    first.record(*fork);
    second->wait(*fork);
    second->copy(memory, other);
  }));
  second->copy(memory, other);
  second->synchronize();
  first.synchronize();
  EXPECT_TRUE(holds(memory, 1));
}

TEST_P(Replay, ALaunchThatRunsOutlivesItsGraph) {
  Stream& stream = bench().stream();
  const auto op = bench().prepare(Spin{.duration = std::chrono::milliseconds(20)});
  const auto counter = device().allocate(sizeof(std::uint64_t), MemoryKind::device);
  const Buffer count = device().allocate(sizeof(std::uint64_t), MemoryKind::pinned);
  std::memset(count.data(), 0, count.bytes());
  stream.copy(counter, count);
  bench().run(*op, {counter});
  auto graph = stream.capture([&] { op->enqueue(stream, std::vector<BufferView>{counter}); });
  graph->launch();
  graph.reset();
  stream.copy(count, counter);
  stream.synchronize();
  std::uint64_t executions = 0;
  std::memcpy(&executions, count.data(), sizeof executions);
  EXPECT_EQ(executions, 2U);
}

TEST_P(Replay, EventsThatOnlyOrderHaveNoTime) {
  const auto timing = device().make_event();
  const auto ordering = device().make_event(EventKind::ordering);
  stream().record(*timing);
  stream().record(*ordering);
  stream().synchronize();
  EXPECT_THROW((void)ordering->seconds_since(*timing), std::logic_error);
  EXPECT_THROW((void)timing->seconds_since(*ordering), std::logic_error);
}

INSTANTIATE_TEST_SUITE_P(Lanes, Replay, testing::ValuesIn(lanes()),
                         [](const auto& lane) { return name_of(lane.param); });

}  // namespace
}  // namespace parbench::test
