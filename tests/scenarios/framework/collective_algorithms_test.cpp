// Messages of collectives: what every member ends with, in how many rounds, and how much is sent.
#include "scenarios/framework/collectives/algorithms.h"

#include <gtest/gtest.h>

#include <bit>
#include <numeric>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include "scenarios/framework/collectives/messages.h"

namespace parbench::test {
namespace {

using Numbers = std::vector<std::int64_t>;

/// Different at each member and element.
std::int64_t number(int member, std::int64_t element) {
  return std::int64_t{1000} * (member + 1) + element;
}

/// The arrays of all members while messages are carried out one after the other.
class Arrays {
 public:
  Arrays(Collective collective, const Numbers& blocks) {
    const std::int64_t total = std::accumulate(blocks.begin(), blocks.end(), std::int64_t{0});
    for (int r = 0; r < static_cast<int>(blocks.size()); ++r) {
      Numbers& input = inputs_.emplace_back();
      for (std::int64_t i = 0; i < total; ++i) input.push_back(number(r, i));
      data_.push_back(has_input(collective)
                          ? Numbers(received_elements(collective, blocks, r), missing)
                          : input);
    }
  }

  void carry_out(const Messages& messages) {
    for (const Message& message : messages) {
      const Numbers& source =
          message.from_input ? inputs_.at(message.from) : data_.at(message.from);
      const std::int64_t first = message.from_input ? message.source_first : message.first;
      for (std::int64_t i = 0; i < message.count; ++i) {
        std::int64_t& to = data_.at(message.to).at(message.first + i);
        to = source.at(first + i) + (message.adds ? to : 0);
      }
    }
  }

  [[nodiscard]] const Numbers& operator[](int member) const { return data_.at(member); }

 private:
  static constexpr std::int64_t missing = -1;
  std::vector<Numbers> inputs_;
  std::vector<Numbers> data_;
};

/// What is wrong at a member; empty: nothing.
std::string wrong_at(int member, Collective collective, const Numbers& blocks, const Numbers& got) {
  const int p = static_cast<int>(blocks.size());
  const Numbers first = first_elements(blocks);
  const auto sum = [&](std::int64_t i) {
    std::int64_t all = 0;
    for (int r = 0; r < p; ++r) all += number(r, i);
    return all;
  };
  const auto differs = [&](std::int64_t index, std::int64_t want) {
    return got.at(index) == want
               ? std::string()
               : "element " + std::to_string(index) + " is " + std::to_string(got.at(index)) +
                     " instead of " + std::to_string(want);
  };
  for (int block = 0; block < p; ++block) {
    for (std::int64_t i = 0; i < blocks.at(block); ++i) {
      const std::int64_t e = first.at(block) + i;
      std::string wrong;
      switch (collective) {
        case Collective::all_reduce:
          wrong = differs(e, sum(e));
          break;
        case Collective::all_gather:
          wrong = differs(e, number(block, e));
          break;
        case Collective::reduce_scatter:
          if (block == member) wrong = differs(e, sum(e));
          break;
        case Collective::broadcast:
          wrong = differs(e, number(0, e));
          break;
        case Collective::reduce:
          if (member == 0) wrong = differs(e, sum(e));
          break;
        case Collective::all_to_all:
          if (block == member) {
            for (int from = 0; from < p && wrong.empty(); ++from) {
              wrong = differs(from * blocks.at(member) + i, number(from, e));
            }
          }
          break;
        case Collective::send_recv:
          wrong = differs(e, number((member + p - 1) % p, e));
          break;
      }
      if (!wrong.empty()) return wrong;
    }
  }
  return {};
}

using MembersAndCount = std::tuple<int, std::int64_t>;

class CollectiveAlgorithms : public testing::TestWithParam<MembersAndCount> {};

TEST_P(CollectiveAlgorithms, GiveEveryMemberItsResult) {
  const auto [p, count] = GetParam();
  const Numbers blocks = split_evenly(count, p);
  for (const Collective collective : all_collectives) {
    for (const Algorithm algorithm : all_algorithms) {
      if (!has_algorithm(collective, algorithm)) continue;
      const auto rounds = rounds_of(collective, algorithm, blocks);
      for (const std::int64_t chunk : {0, 1, 3}) {
        Arrays arrays(collective, blocks);
        arrays.carry_out(pipelined(rounds, chunk));
        for (int r = 0; r < p; ++r) {
          EXPECT_EQ(wrong_at(r, collective, blocks, arrays[r]), "")
              << name_of(collective) << ", " << name_of(algorithm) << ", chunks of " << chunk
              << ", member " << r;
        }
      }
    }
  }
}

/// Elements that each member sends, and that each receives.
std::pair<Numbers, Numbers> traffic(const std::vector<Messages>& rounds, int p) {
  Numbers sent(p);
  Numbers received(p);
  for (const Messages& round : rounds) {
    for (const Message& message : round) {
      sent.at(message.from) += message.count;
      received.at(message.to) += message.count;
    }
  }
  return {sent, received};
}

INSTANTIATE_TEST_SUITE_P(MembersAndCounts, CollectiveAlgorithms,
                         testing::Combine(testing::Range(1, 17),
                                          testing::Values(std::int64_t{1}, std::int64_t{16},
                                                          std::int64_t{37})));

class MembersOfCollective : public testing::TestWithParam<int> {};

TEST_P(MembersOfCollective, RingsSendTheLeastAndNeighboursOnly) {
  const int p = GetParam();
  const Numbers blocks(p, 5);
  for (const auto& [collective, times] :
       {std::pair{Collective::all_reduce, 2}, std::pair{Collective::all_gather, 1},
        std::pair{Collective::reduce_scatter, 1}}) {
    const auto rounds = rounds_of(collective, Algorithm::ring, blocks);
    EXPECT_EQ(rounds.size(), static_cast<std::size_t>(times * (p - 1)));
    const auto [sent, received] = traffic(rounds, p);
    EXPECT_EQ(sent, Numbers(p, std::int64_t{5} * times * (p - 1))) << name_of(collective);
    EXPECT_EQ(received, sent);
    for (const Messages& round : rounds) {
      EXPECT_EQ(round.size(), static_cast<std::size_t>(p));
      for (const Message& message : round) EXPECT_EQ(message.to, (message.from + 1) % p);
    }
  }
}

TEST_P(MembersOfCollective, TreesTakeAsManyRoundsAsDoublingNeeds) {
  const int p = GetParam();
  const std::size_t doublings = std::bit_width(static_cast<unsigned>(p - 1));
  const Numbers blocks(p, 2);
  for (const Collective collective : {Collective::broadcast, Collective::reduce,
                                      Collective::all_gather, Collective::reduce_scatter}) {
    EXPECT_EQ(rounds_of(collective, Algorithm::tree, blocks).size(), doublings)
        << name_of(collective);
  }
  const auto all_reduce = rounds_of(Collective::all_reduce, Algorithm::tree, blocks);
  EXPECT_EQ(all_reduce.size(), 2 * doublings);
  for (const Messages& round : all_reduce) {
    Numbers messages(p);  // that each member takes part in
    for (const Message& message : round) {
      EXPECT_LE(++messages.at(message.from), 1);
      EXPECT_LE(++messages.at(message.to), 1);
    }
  }
}

TEST_P(MembersOfCollective, ThePairwiseExchangeSendsOneMessageARound) {
  const int p = GetParam();
  const auto rounds = rounds_of(Collective::all_to_all, Algorithm::ring, Numbers(p, 3));
  ASSERT_EQ(rounds.size(), static_cast<std::size_t>(p));
  for (const Messages& round : rounds) {
    const auto [sent, received] = traffic({round}, p);
    EXPECT_EQ(sent, Numbers(p, 3));
    EXPECT_EQ(received, Numbers(p, 3));
  }
}

INSTANTIATE_TEST_SUITE_P(Members, MembersOfCollective, testing::Range(2, 17));

TEST(PipelinedMessages, BeginTheNextRoundWhileLaterChunksAreOnTheirWay) {
  const auto rounds = rounds_of(Collective::broadcast, Algorithm::ring, Numbers{4, 3, 3});
  std::vector<std::string> order;
  for (const Message& message : pipelined(rounds, 3)) {
    EXPECT_EQ(message.chunks, 4);
    order.push_back(std::to_string(message.from) + ":" + std::to_string(message.first) + "+" +
                    std::to_string(message.count));
  }
  EXPECT_EQ(order, (std::vector<std::string>{"0:0+3", "0:3+3", "0:6+3", "1:0+3", "0:9+1", "1:3+3",
                                             "1:6+3", "1:9+1"}));
}

TEST(CollectiveAlgorithmsOf, RefuseWhatIsNotThere) {
  EXPECT_THROW((void)rounds_of(Collective::broadcast, Algorithm::ring, {}), std::invalid_argument);
  EXPECT_THROW((void)rounds_of(Collective::send_recv, Algorithm::tree, {1, 1}),
               std::invalid_argument);
}

}  // namespace
}  // namespace parbench::test
