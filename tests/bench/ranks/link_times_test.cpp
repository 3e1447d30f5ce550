// Which calls of a link count as waiting.
#include "kernels/core/ranks/rank_link.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <functional>
#include <latch>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace parbench::test {
namespace {

using ::testing::ElementsAre;
using namespace std::chrono_literals;

constexpr double call_seconds = 0.002;

/// Notes its calls, each of which takes 2 ms; a message with tag 9 takes as long as `wait_inside`.
class NotingLink final : public RankLink {
 public:
  explicit NotingLink(std::vector<std::string>& calls) : calls_(calls) {}

  [[nodiscard]] const std::string& name() const override { return name_; }
  [[nodiscard]] int rank() const override { return 1; }
  [[nodiscard]] int size() const override { return 3; }
  void check_with(std::function<void()> /*check*/) override {}
  void send_message(int to, int tag, const std::byte* /*data*/, std::size_t bytes) override {
    if (tag == 9) return wait_inside();
    note("send " + std::to_string(to) + " " + std::to_string(tag) + " " + std::to_string(bytes));
  }
  void receive_message(int from, int tag, std::byte* /*data*/, std::size_t bytes) override {
    note("receive " + std::to_string(from) + " " + std::to_string(tag) + " " +
         std::to_string(bytes));
  }
  void wait_for_all() override { note("barrier"); }
  void run(Collective /*collective*/, std::byte* /*data*/, std::size_t bytes,
           const std::byte* /*input*/) override {
    note("collective " + std::to_string(bytes));
  }
  [[nodiscard]] bool offers(RankAllReduce /*by*/, const RankSet& /*set*/,
                            std::size_t /*bytes*/) const override {
    return true;
  }
  void prepare(const RankSet& /*set*/) override {}
  void add_up(RankAllReduce /*by*/, const RankSet& set, std::byte* /*data*/,
              std::size_t bytes) override {
    note("all_reduce " + std::to_string(set.tag) + " " + std::to_string(bytes));
  }

  std::function<void()> wait_inside;

 private:
  void note(std::string call) {
    calls_.push_back(std::move(call));
    std::this_thread::sleep_for(std::chrono::duration<double>(call_seconds));
  }

  std::vector<std::string>& calls_;
  std::string name_ = "noting";
};

struct LinkTimes : ::testing::Test {
  /// Expects that the calls since the last time count as waits, or as the barrier, alone.
  void expect_counted(double waits, double barrier) {
    const RankLink::Times times = link.take_times();
    EXPECT_GE(times.waits, waits);
    EXPECT_GE(times.barrier, barrier);
    EXPECT_EQ(times.waits > 0, waits > 0);
    EXPECT_EQ(times.barrier > 0, barrier > 0);
  }

  std::vector<std::string> calls;
  NotingLink noting{calls};
  RankLink& link = noting;
  std::byte data{};
};

TEST_F(LinkTimes, CountTheTimeOfEachCall) {
  link.send(2, 3, &data, 4);
  expect_counted(call_seconds, 0);
  link.receive(0, 5, &data, 6);
  expect_counted(call_seconds, 0);
  link.barrier();
  expect_counted(0, call_seconds);
  link.collective(Collective::all_reduce, &data, 7, nullptr);
  expect_counted(call_seconds, 0);
  link.all_reduce(RankAllReduce::ring, {.ranks = {0, 1}, .tag = 8}, &data, 16);
  link.send(2, 3, &data, 4);
  expect_counted(2 * call_seconds, 0);
  expect_counted(0, 0);
  EXPECT_THAT(calls, ElementsAre("send 2 3 4", "receive 0 5 6", "barrier", "collective 7",
                                 "all_reduce 8 16", "send 2 3 4"));
}

/// A second thread enters 20 ms after the first and leaves before it.
TEST_F(LinkTimes, CountFromTheFirstThreadToTheLast) {
  std::latch second(1);
  noting.wait_inside = [&] {
    std::this_thread::sleep_for(20ms);
    second.count_down();
    std::this_thread::sleep_for(20ms);
  };
  std::thread first([&] { link.send(0, 9, &data, 1); });
  second.wait();
  link.send(0, 1, &data, 1);
  first.join();
  expect_counted(0.04, 0);
}

}  // namespace
}  // namespace parbench::test
