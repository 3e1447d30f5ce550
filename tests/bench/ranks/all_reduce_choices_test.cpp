// Which all-reduce ranks choose: by what each way takes on the slowest of them.
#include "scenarios/framework/ranks/all_reduce_choices.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "kernels/base/error.h"
#include "kernels/machine/machine.h"
#include "scenarios/framework/ranks/messages.h"

namespace parbench::test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(FastestOf, CountsTheBestRoundOfEachWay) {
  const std::array ways{RankAllReduce::library, RankAllReduce::ring};
  EXPECT_EQ(fastest_of(ways, std::array{2.0, 3.0, 9.0, 1.0}), RankAllReduce::ring);
  EXPECT_EQ(fastest_of(ways, std::array{2.0, 3.0, 1.0, 9.0}), RankAllReduce::library);
}

TEST(FastestOf, PrefersTheFirstOfWaysThatTakeAboutAsLong) {
  const std::array ways{RankAllReduce::library, RankAllReduce::doubling, RankAllReduce::ring};
  EXPECT_EQ(fastest_of(ways, std::array{1.04, 1.02, 1.0}), RankAllReduce::library);
  EXPECT_EQ(fastest_of(ways, std::array{1.06, 1.04, 1.0}), RankAllReduce::doubling);
}

/// Takes part in all-reduces at once and counts them.
class CountingLink final : public RankLink {
 public:
  explicit CountingLink(std::set<RankAllReduce> ways) : ways_(std::move(ways)) {}

  [[nodiscard]] const std::string& name() const override { return name_; }
  [[nodiscard]] int rank() const override { return 0; }
  [[nodiscard]] int size() const override { return 4; }
  void check_with(std::function<void()> /*check*/) override {}
  void send_message(int, int, const std::byte*, std::size_t) override {}
  void receive_message(int, int, std::byte*, std::size_t) override {}
  void wait_for_all() override {}
  void run(Collective, std::byte*, std::size_t, const std::byte*) override {}
  /// Ranks 0 and 1 are on one machine, 2 and 3 on another one.
  [[nodiscard]] bool offers(RankAllReduce by, const RankSet& set, std::size_t) const override {
    if (by == RankAllReduce::hierarchical && set.ranks.size() < 4) return false;
    return ways_.contains(by);
  }
  void prepare(const RankSet& set) override { prepared_.push_back(set.ranks); }
  void add_up(RankAllReduce by, const RankSet&, std::byte*, std::size_t bytes) override {
    calls_[by].insert(bytes);
  }

  [[nodiscard]] const std::vector<std::vector<int>>& prepared() const { return prepared_; }

  /// The sizes that each way was measured with since the last call.
  [[nodiscard]] std::map<RankAllReduce, std::set<std::size_t>> take() {
    return std::exchange(calls_, {});
  }

 private:
  std::set<RankAllReduce> ways_;
  std::vector<std::vector<int>> prepared_;
  std::map<RankAllReduce, std::set<std::size_t>> calls_;
  std::string name_ = "counting";
};

/// One of four ranks, of which another one takes long: so many seconds for each way, in the order
/// in which they are offered.
class SlowTeam final : public RankGroup {
 public:
  explicit SlowTeam(const std::map<RankAllReduce, double>& seconds) : link_(ways_of(seconds)) {
    for (const auto& [way, one] : seconds) seconds_.push_back(one);
  }

  [[nodiscard]] int rank() const override { return 0; }
  [[nodiscard]] int size() const override { return link_.size(); }
  [[nodiscard]] CountingLink& link() override { return link_; }
  void check() const override {}
  void share(int, void*, std::size_t) override {}
  [[nodiscard]] std::vector<double> largest(std::vector<double> values) override {
    if (std::exchange(fails_, false)) throw Error("another rank has no memory");
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] = std::max(values[i], seconds_[i % seconds_.size()]);
    }
    return values;
  }
  void exchange(const std::function<void()>& work) override { work(); }

  /// Another rank fails before it comes to the next meeting.
  void fail_once() { fails_ = true; }

 private:
  static std::set<RankAllReduce> ways_of(const std::map<RankAllReduce, double>& seconds) {
    std::set<RankAllReduce> ways;
    for (const auto& [way, one] : seconds) ways.insert(way);
    return ways;
  }

  bool fails_ = false;
  std::vector<double> seconds_;
  CountingLink link_;
};

struct Choices : testing::Test {
  /// No all-reduce of this process takes as long as a second.
  SlowTeam team_{{{RankAllReduce::library, 300.0},
                  {RankAllReduce::doubling, 100.0},
                  {RankAllReduce::ring, 200.0}}};
  std::unique_ptr<Device> device_ = std::move(Machine().open("cpu:0").front());
  std::unique_ptr<Stream> stream_ = device_->make_stream(StreamKind::compute);
};

TEST_F(Choices, AreThoseOfTheSlowestRank) {
  AllReduceChoices choices(team_, true);
  EXPECT_EQ(choices.choose(RankSet::all(4), 1000, stream_.get()), RankAllReduce::doubling);
  const auto measured = team_.link().take();
  ASSERT_EQ(measured.size(), 3U);
  for (const auto& [way, sizes] : measured) {
    EXPECT_THAT(sizes, ElementsAre(1024U)) << name_of(way);
  }
}

TEST_F(Choices, AreMeasuredOnceForSizesAndSetsThatAreAlike) {
  AllReduceChoices choices(team_, true);
  const auto measured = [&](const std::vector<int>& ranks, std::size_t bytes) {
    (void)choices.choose({.ranks = ranks, .tag = 1}, bytes, stream_.get());
    return !team_.link().take().empty();
  };
  EXPECT_TRUE(measured({0, 2}, 520));
  EXPECT_FALSE(measured({0, 2}, 1024));
  EXPECT_TRUE(measured({0, 2}, 1028));
  EXPECT_FALSE(measured({1, 3}, 1000)) << "as far apart";
  EXPECT_TRUE(measured({0, 1}, 1000));
  EXPECT_TRUE(measured({0, 2}, std::size_t{16} << 20));
  EXPECT_FALSE(measured({0, 2}, std::size_t{1} << 30)) << "no larger array is measured";
}

/// A set of which other ranks are as far apart may be on one machine.
TEST(ChoicesOfMachines, AreMeasuredForOtherPossibleWays) {
  SlowTeam team({{RankAllReduce::library, 3.0}, {RankAllReduce::hierarchical, 1.0}});
  AllReduceChoices choices(team, true);
  const auto device = std::move(Machine().open("cpu:0").front());
  const auto stream = device->make_stream(StreamKind::compute);
  const RankSet all = RankSet::all(4);
  EXPECT_EQ(choices.choose(all, 1000, stream.get()), RankAllReduce::hierarchical);
  EXPECT_EQ(choices.choose({.ranks = {0, 1}, .tag = 1}, 1000, stream.get()),
            RankAllReduce::library);
}

TEST_F(Choices, AreMeasuredAfterAFailure) {
  AllReduceChoices choices(team_, true);
  team_.fail_once();
  EXPECT_THROW((void)choices.choose(RankSet::all(4), 1000, stream_.get()), Error);
  EXPECT_EQ(choices.choose(RankSet::all(4), 1000, stream_.get()), RankAllReduce::doubling);
}

TEST_F(Choices, OfOtherRanksAreAgreedWithoutMessages) {
  AllReduceChoices choices(team_, true);
  EXPECT_EQ(choices.choose({.ranks = {1, 2}, .tag = 1}, 64, nullptr), RankAllReduce::doubling);
  EXPECT_THAT(team_.link().take(), IsEmpty());
}

TEST_F(Choices, AreTheLibrarysWhereNothingMayBeMeasured) {
  AllReduceChoices choices(team_, false);
  EXPECT_EQ(choices.choose(RankSet::all(4), 1000, stream_.get()), RankAllReduce::library);
  EXPECT_THAT(team_.link().take(), IsEmpty());
}

TEST_F(Choices, OfASingleWayAreNotMeasured) {
  SlowTeam one({{RankAllReduce::library, 1.0}});
  AllReduceChoices choices(one, true);
  EXPECT_EQ(choices.choose(RankSet::all(4), 1000, stream_.get()), RankAllReduce::library);
  EXPECT_THAT(one.link().take(), IsEmpty());
}

struct PreparedSets : Choices {
  void prepare_pairs(AllReduceChoices& choices) {
    const std::array streams{stream_.get(), stream_.get()};
    for (const std::vector<int>& ranks : {std::vector{0, 1}, std::vector{2, 3}}) {
      RankCommunicator pair(choices, {.ranks = ranks, .tag = 1 + ranks.front()});
      pair.prepare(Collective::all_reduce, streams, 64);
      pair.prepare(Collective::all_reduce, streams, 1000);
    }
  }
};

TEST_F(PreparedSets, AreThoseOfEachCommunicatorAlsoWhereAChoiceIsKnown) {
  AllReduceChoices choices(team_, true);
  prepare_pairs(choices);
  EXPECT_THAT(team_.link().prepared(), ElementsAre(ElementsAre(0, 1), ElementsAre(2, 3)));
}

TEST_F(PreparedSets, AreNoneWhereNothingMayBeMeasured) {
  AllReduceChoices choices(team_, false);
  prepare_pairs(choices);
  EXPECT_THAT(team_.link().prepared(), IsEmpty());
}

}  // namespace
}  // namespace parbench::test
