// Schedules of independent operations against their definitions, and against an exhaustive search.
#include "scenarios/plan/schedules/inter_op.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <random>
#include <vector>

namespace parbench {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::Le;

std::size_t at(int index) { return static_cast<std::size_t>(index); }

/// All operations cost the same.
InterOpProblem equal_costs(std::vector<std::vector<int>> after, double alone, double shared) {
  const std::size_t count = after.size();
  return {.after = std::move(after),
          .alone = std::vector<double>(count, alone),
          .shared = std::vector<double>(count, shared)};
}

/// A module of Inception: an input, branches of so many operations each, and a concatenation.
InterOpProblem module_of(const std::vector<int>& branches, double alone, double shared) {
  std::vector<std::vector<int>> after{{}};
  std::vector<int> ends;
  for (const int length : branches) {
    for (int i = 0; i < length; ++i) {
      after.push_back({i == 0 ? 0 : static_cast<int>(after.size()) - 1});
    }
    ends.push_back(static_cast<int>(after.size()) - 1);
  }
  after.push_back(ends);
  return equal_costs(after, alone, shared);
}

InterOpProblem random_problem(std::mt19937& random, int count) {
  InterOpProblem problem;
  std::uniform_real_distribution<double> cost(0.5, 2.0);
  for (int op = 0; op < count; ++op) {
    std::vector<int> after;
    for (int before = 0; before < op; ++before) {
      if (random() % 3 == 0) after.push_back(before);
    }
    problem.after.push_back(after);
    problem.alone.push_back(cost(random));
    problem.shared.push_back(problem.alone.back() * (0.9 + cost(random) / 2));
  }
  return problem;
}

std::vector<int> ops_of(const InterOpLevel& level) {
  std::vector<int> ops;
  for (const PlacedOp& placed : level) ops.push_back(placed.op);
  return ops;
}

/// Merges of any two operations that read the same.
void add_random_merges(std::mt19937& random, InterOpProblem& problem) {
  std::uniform_real_distribution<double> cost(0.5, 3.0);
  for (int a = 0; a < problem.count(); ++a) {
    for (int b = a + 1; b < problem.count(); ++b) {
      if (problem.after[at(a)] != problem.after[at(b)] || random() % 2 == 0) continue;
      problem.merges.push_back({.ops = {a, b}, .seconds = cost(random)});
    }
  }
}

/// Every operation once, after what it reads, and the whole device never beside its parts.
void expect_valid(const InterOpProblem& problem, const InterOpSchedule& schedule) {
  std::vector<bool> done(problem.after.size(), false);
  int count = 0;
  for (const InterOpLevel& level : schedule) {
    ASSERT_FALSE(level.empty());
    for (const auto& [op, stream, merge] : level) {
      ASSERT_FALSE(done[at(op)]) << "operation " << op << " runs twice";
      for (const int before : problem.after[at(op)]) ASSERT_TRUE(done[at(before)]) << op;
      if (merge != not_merged) {
        ASSERT_EQ(stream, whole_device);
        ASSERT_EQ(ops_of(level), problem.merges[at(merge)].ops) << "a merge is a level";
      }
      done[at(op)] = true;
      ASSERT_TRUE(stream == whole_device || (stream >= 0 && stream < problem.streams));
      ASSERT_EQ(stream == whole_device, level.front().stream == whole_device);
      ++count;
    }
  }
  EXPECT_EQ(count, problem.count());
}

/// The fastest levels by trying all of them: every set of remaining operations as a level, every
/// way to give them to streams.
class Exhaustive {
 public:
  Exhaustive(const InterOpProblem& problem, int max_chain)
      : problem_(problem), max_chain_(max_chain), sets_(1U << problem.after.size()) {
    for (auto& best : best_) best.assign(sets_, -1);
  }

  double all() { return from(0, begin); }

 private:
  enum Ran : std::size_t { begin, whole, streams };

  double from(unsigned done, Ran before) {
    if (done == sets_ - 1) return 0;
    double& best = best_[before][done];
    if (best >= 0) return best;
    double found = infinity;
    for (unsigned level = 1; level < sets_; ++level) {
      if ((level & done) != 0) continue;
      for (const Ran now : {whole, streams}) {
        const double seconds =
            now == whole ? on_whole_device(level, done) : on_streams(level, done);
        if (seconds == infinity) continue;
        const bool joins = before != begin && (before == streams || now == streams);
        found = std::min(found, (joins ? problem_.join : 0) + seconds + from(done | level, now));
      }
    }
    return best = found;
  }

  [[nodiscard]] std::vector<int> members(unsigned level) const {
    std::vector<int> ops;
    for (int op = 0; op < problem_.count(); ++op) {
      if ((level >> static_cast<unsigned>(op) & 1U) != 0) ops.push_back(op);
    }
    return ops;
  }

  [[nodiscard]] double on_whole_device(unsigned level, unsigned done) const {
    const std::vector<int> ops = members(level);
    if (!reads_only(ops[0], done)) return infinity;
    if (ops.size() == 1) return problem_.alone[at(ops[0])];
    double best = infinity;
    for (const InterOpMerge& merge : problem_.merges) {
      if (merge.ops == ops) best = std::min(best, merge.seconds);
    }
    return best;
  }

  [[nodiscard]] double on_streams(unsigned level, unsigned done) const {
    const std::vector<int> ops = members(level);
    double best = infinity;
    std::size_t ways = 1;
    for (std::size_t i = 0; i < ops.size(); ++i) ways *= at(problem_.streams);
    for (std::size_t way = 0; way < ways; ++way) {
      std::vector<std::vector<int>> chains(at(problem_.streams));
      std::size_t rest = way;
      for (const int op : ops) {
        chains[rest % at(problem_.streams)].push_back(op);
        rest /= at(problem_.streams);
      }
      best = std::min(best, seconds_of(chains, done));
    }
    return best;
  }

  [[nodiscard]] double seconds_of(const std::vector<std::vector<int>>& chains,
                                  unsigned done) const {
    double longest = 0;
    int used = 0;
    for (const std::vector<int>& chain : chains) {
      if (static_cast<int>(chain.size()) > max_chain_) return infinity;
      used += chain.empty() ? 0 : 1;
      double seconds = 0;
      unsigned visible = done;
      for (std::size_t i = 0; i < chain.size(); ++i) {
        const std::vector<int>& after = problem_.after[at(chain[i])];
        const bool follows = i == 0 || std::ranges::find(after, chain[i - 1]) != after.end();
        if (!follows || !reads_only(chain[i], visible)) return infinity;
        visible |= 1U << static_cast<unsigned>(chain[i]);
        seconds += problem_.shared[at(chain[i])];
      }
      longest = std::max(longest, seconds);
    }
    return used >= 2 ? longest : infinity;
  }

  [[nodiscard]] bool reads_only(int op, unsigned visible) const {
    return std::ranges::all_of(problem_.after[at(op)], [&](int before) {
      return (visible >> static_cast<unsigned>(before) & 1U) != 0;
    });
  }

  static constexpr double infinity = std::numeric_limits<double>::infinity();
  const InterOpProblem& problem_;
  int max_chain_;
  unsigned sets_;
  // By what ran last and the set of completed operations; below 0: not known yet.
  std::array<std::vector<double>, 3> best_;
};

TEST(InterOpSchedules, AreValidOnRandomGraphs) {
  std::mt19937 random(7);
  for (int i = 0; i < 200; ++i) {
    InterOpProblem problem = random_problem(random, 1 + i % 14);
    problem.streams = 2 + i % 3;
    if (i % 2 == 0) add_random_merges(random, problem);
    for (const auto& schedule :
         {sequential_schedule(problem), merged_schedule(problem), topological_schedule(problem),
          list_schedule(problem), fastest_schedule(problem)}) {
      expect_valid(problem, schedule);
    }
  }
}

TEST(InterOpSchedules, OfFastestLevelsAreAsFastAsAnExhaustiveSearch) {
  std::mt19937 random(11);
  constexpr int max_chain = 2;
  for (int i = 0; i < 60; ++i) {
    InterOpProblem problem = random_problem(random, 1 + i % 7);
    if (i % 2 == 0) add_random_merges(random, problem);
    problem.join = 0.1 * (i % 4);
    const InterOpSchedule schedule = fastest_schedule(problem, {.max_chain = max_chain});
    EXPECT_THAT(estimated_seconds(problem, schedule),
                DoubleNear(Exhaustive(problem, max_chain).all(), 1e-9));
  }
}

TEST(InterOpSchedules, OfFastestLevelsAreNeverSlowerThanOneStream) {
  std::mt19937 random(13);
  for (int i = 0; i < 100; ++i) {
    InterOpProblem problem = random_problem(random, 12);
    problem.join = 0.2 * (i % 3);
    EXPECT_THAT(estimated_seconds(problem, fastest_schedule(problem)),
                Le(estimated_seconds(problem, sequential_schedule(problem)) + 1e-9));
  }
}

TEST(InterOpSchedules, UseStreamsWhereThatIsFree) {
  const InterOpProblem problem = module_of({1, 2, 2, 1}, 1, 1);
  EXPECT_DOUBLE_EQ(estimated_seconds(problem, sequential_schedule(problem)), 8);
  EXPECT_DOUBLE_EQ(estimated_seconds(problem, fastest_schedule(problem)), 5);
  EXPECT_DOUBLE_EQ(estimated_seconds(problem, list_schedule(problem)), 5);
}

TEST(InterOpSchedules, OfFastestLevelsAreOneStreamWhereStreamsGainNothing) {
  const InterOpProblem problem = module_of({1, 2, 3}, 1, 2.01);
  EXPECT_EQ(fastest_schedule(problem), sequential_schedule(problem));
}

/// Three branches of one input, of which the first two, or all, may run as one.
InterOpProblem mergeable(double two, double three) {
  InterOpProblem problem = module_of({1, 1, 1}, 1, 3);
  problem.merges = {{.ops = {1, 2}, .seconds = two}, {.ops = {1, 2, 3}, .seconds = three}};
  return problem;
}

InterOpLevel merge_of(const std::vector<int>& ops, int merge) {
  InterOpLevel level;
  for (const int op : ops) level.push_back({.op = op, .stream = whole_device, .merge = merge});
  return level;
}

TEST(InterOpSchedules, OfFastestLevelsMergeWhatIsFasterAsOne) {
  const InterOpLevel begin{{.op = 0}};
  const InterOpLevel end{{.op = 4}};
  EXPECT_EQ(fastest_schedule(mergeable(1.5, 2)),
            (InterOpSchedule{begin, merge_of({1, 2, 3}, 1), end}));
  EXPECT_THAT(
      fastest_schedule(mergeable(1.5, 2.75)),
      testing::UnorderedElementsAre(begin, merge_of({1, 2}, 0), InterOpLevel{{.op = 3}}, end));
  EXPECT_EQ(fastest_schedule(mergeable(2.5, 3.5)), sequential_schedule(mergeable(2.5, 3.5)));
  EXPECT_DOUBLE_EQ(estimated_seconds(mergeable(1.5, 2), fastest_schedule(mergeable(1.5, 2))), 4);
}

TEST(InterOpSchedules, MergeTheMostWhateverTheCosts) {
  EXPECT_EQ(merged_schedule(mergeable(9, 9)),
            (InterOpSchedule{{{.op = 0}}, merge_of({1, 2, 3}, 1), {{.op = 4}}}));
  EXPECT_EQ(merged_schedule(module_of({1, 2}, 1, 1)), sequential_schedule(module_of({1, 2}, 1, 1)));
}

TEST(InterOpSchedules, OfFastestLevelsAreOneStreamWhereJoinsTakeWhatStreamsGain) {
  InterOpProblem problem = module_of({1, 2, 2, 1}, 1, 1);
  problem.join = 0.5;
  EXPECT_LT(estimated_seconds(problem, fastest_schedule(problem)), 8);
  problem.join = 2;
  EXPECT_EQ(fastest_schedule(problem), sequential_schedule(problem));
}

TEST(InterOpSchedules, HaveAJoinBeforeAndBehindStreams) {
  InterOpProblem problem = module_of({1, 1}, 1, 1);
  problem.join = 0.25;
  EXPECT_DOUBLE_EQ(estimated_seconds(problem, sequential_schedule(problem)), 4);
  EXPECT_DOUBLE_EQ(estimated_seconds(problem, topological_schedule(problem)), 3.5);
  InterOpProblem apart = equal_costs({{}, {}}, 1, 1);
  apart.join = 0.25;
  EXPECT_DOUBLE_EQ(estimated_seconds(apart, fastest_schedule(apart)), 1) << "nothing to wait for";
}

TEST(InterOpSchedules, OfChainsHaveTheWholeDevice) {
  const InterOpProblem chain = equal_costs({{}, {0}, {1}, {2}}, 1, 1);
  const InterOpSchedule sequential = sequential_schedule(chain);
  EXPECT_EQ(topological_schedule(chain), sequential);
  EXPECT_EQ(list_schedule(chain), sequential);
  EXPECT_EQ(fastest_schedule(chain), sequential);
}

TEST(InterOpSchedules, OfTopologicalLevelsFollowTheLongestPath) {
  const InterOpProblem problem = equal_costs({{}, {0}, {0}, {2}, {1, 3}}, 1, 1);
  const PlacedOp end{.op = 4};
  EXPECT_THAT(
      topological_schedule(problem),
      ElementsAre(ElementsAre(PlacedOp{.op = 0}),
                  ElementsAre(PlacedOp{.op = 1, .stream = 0}, PlacedOp{.op = 2, .stream = 1}),
                  ElementsAre(PlacedOp{.op = 3}), ElementsAre(end)));
}

TEST(InterOpSchedules, ListTheLongestPathFirst) {
  InterOpProblem problem = module_of({1, 1, 1}, 1, 1);
  problem.shared = {1, 1, 2, 3, 1};
  const InterOpLevel branches{{3, 0}, {2, 1}, {1, 1}};
  EXPECT_THAT(list_schedule(problem), ElementsAre(ElementsAre(PlacedOp{.op = 0}), branches,
                                                  ElementsAre(PlacedOp{.op = 4})));
}

TEST(InterOpSchedules, OfFastestLevelsFallBackToListsBeyondTheLimitOfStates) {
  const InterOpProblem problem = module_of({3, 3, 3, 3}, 1, 1.2);
  EXPECT_EQ(fastest_schedule(problem, {.max_states = 5}), list_schedule(problem));
}

}  // namespace
}  // namespace parbench
