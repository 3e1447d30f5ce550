// Slots of micro-batches: as few as published, and never two micro-batches at once in one of them.
#include "scenarios/plan/schedules/liveness.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace parbench {
namespace {

using ::testing::ElementsAre;

class EveryScheduleInMemory : public ::testing::TestWithParam<std::tuple<std::string, int, int>> {
 protected:
  [[nodiscard]] int stages() const { return std::get<1>(GetParam()); }
  [[nodiscard]] int micro_batches() const { return std::get<2>(GetParam()); }
  [[nodiscard]] Schedule schedule() const {
    return schedule_named(std::get<0>(GetParam()), stages(), micro_batches());
  }
};

TEST_P(EveryScheduleInMemory, HasAsManySlotsAsMicroBatchesInFlight) {
  const int m = micro_batches();
  const bool is_gpipe = std::get<0>(GetParam()) == "gpipe";
  const auto at_most = [&](int in_flight) { return is_gpipe ? m : std::min(m, in_flight); };
  for (int stage = 0; stage < stages(); ++stage) {
    SCOPED_TRACE(stage);
    const StageSlots slots = stage_slots(schedule(), stage);
    const int later_stages = stages() - stage;  // this stage and later ones
    EXPECT_EQ(slot_count(slots.activations), at_most(later_stages));
    if (stage > 0) {
      // One more is on its way while this stage computes: its sender runs ahead of it.
      EXPECT_EQ(slot_count(slots.inputs), at_most(later_stages + 1));
      EXPECT_EQ(slot_count(slots.input_gradients), at_most(later_stages + 1));
      EXPECT_EQ(slot_count(slots.packed_inputs), at_most(later_stages + 1));
    }
    if (stage + 1 < stages()) {
      EXPECT_EQ(slot_count(slots.output_gradients), at_most(later_stages));
      EXPECT_EQ(slot_count(slots.packed_outputs), at_most(later_stages));
    }
    if (stage > 0 && stage + 1 < stages()) {
      EXPECT_EQ(slot_count(slots.passed_gradients), at_most(later_stages + 1));
    }
  }
}

struct Span {
  double begin = 0;
  double end = 0;
};

/// An execution of a schedule with passes and copies of random lengths.
class Execution {
 public:
  Execution(const Schedule& schedule, unsigned seed) : numbers_(seed) {
    const int last = static_cast<int>(schedule.size()) - 1;
    std::vector<double> free(schedule.size(), 0);
    for (const auto& [pass, stage, micro_batch] : in_dependency_order(schedule)) {
      const bool is_forward = pass == Pass::forward;
      double& now = free[static_cast<std::size_t>(stage)];
      if (stage != (is_forward ? 0 : last)) {
        const int sender = stage + (is_forward ? -1 : 1);
        now = std::max(now, copy(pass, sender, micro_batch).end);
      }
      const Span ran{now, now + length()};
      passes_[{pass, stage, micro_batch}] = ran;
      copies_[{pass, stage, micro_batch}] = {ran.end, ran.end + length()};
      now = ran.end;
    }
  }

  [[nodiscard]] const Span& pass(Pass pass, int stage, int micro_batch) const {
    return passes_.at({pass, stage, micro_batch});
  }
  /// Of what a pass of a stage produces.
  [[nodiscard]] const Span& copy(Pass pass, int stage, int micro_batch) const {
    return copies_.at({pass, stage, micro_batch});
  }

 private:
  /// Mostly short, at times very long.
  double length() { return std::exp(std::uniform_real_distribution(0.0, 5.0)(numbers_)); }

  std::mt19937 numbers_;
  std::map<std::tuple<Pass, int, int>, Span> passes_;
  std::map<std::tuple<Pass, int, int>, Span> copies_;
};

/// Expects that no two micro-batches with one slot are held at the same time.
template <class Held>
void expect_one_at_a_time(const std::string& kind, const Slots& slots, const Held& held) {
  for (int i = 0; i < static_cast<int>(slots.size()); ++i) {
    for (int k = 0; k < i; ++k) {
      if (slot_of(slots, i) != slot_of(slots, k)) continue;
      const Span one = held(i);
      const Span other = held(k);
      EXPECT_TRUE(one.end <= other.begin || other.end <= one.begin) << kind << " " << i << " " << k;
    }
  }
}

TEST_P(EveryScheduleInMemory, SharesNoSlotHoweverLongPassesAndCopiesTake) {
  using enum Pass;
  for (unsigned seed = 0; seed < 20; ++seed) {
    const Execution run(schedule(), seed);
    for (int s = 0; s < stages(); ++s) {
      const StageSlots slots = stage_slots(schedule(), s);
      const auto begin = [&](Pass pass, int i) { return run.pass(pass, s, i).begin; };
      const auto end = [&](Pass pass, int i) { return run.pass(pass, s, i).end; };
      const auto sent = [&](Pass pass, int i) { return run.copy(pass, s, i).end; };
      const auto arriving = [&](Pass pass, int from, int i) {
        return run.copy(pass, from, i).begin;
      };
      expect_one_at_a_time("activations", slots.activations, [&](int i) {
        return Span{begin(forward, i), end(backward, i)};
      });
      expect_one_at_a_time("inputs", slots.inputs, [&](int i) {
        return Span{arriving(forward, s - 1, i), end(backward, i)};
      });
      expect_one_at_a_time("packed inputs", slots.packed_inputs, [&](int i) {
        return Span{arriving(forward, s - 1, i), end(forward, i)};
      });
      expect_one_at_a_time("gradients to send", slots.input_gradients, [&](int i) {
        return Span{begin(backward, i), sent(backward, i)};
      });
      expect_one_at_a_time("packed outputs", slots.packed_outputs, [&](int i) {
        return Span{begin(forward, i), sent(forward, i)};
      });
      expect_one_at_a_time("gradients received", slots.output_gradients, [&](int i) {
        return Span{arriving(backward, s + 1, i), end(backward, i)};
      });
      expect_one_at_a_time("gradients passed on", slots.passed_gradients, [&](int i) {
        return Span{arriving(backward, s + 1, i), sent(backward, i)};
      });
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Schedules, EveryScheduleInMemory,
                         ::testing::Combine(::testing::Values("gpipe", "1f1b"),
                                            ::testing::Values(1, 2, 4, 7),
                                            ::testing::Values(1, 2, 5, 16)));

TEST(Liveness, OneMicroBatchAtATimeNeedsOneSlotOfEachKind) {
  for (int stage = 0; stage < 3; ++stage) {
    const StageSlots slots = stage_slots(one_at_a_time(3, 5), stage);
    for (const Slots* kind : {&slots.activations, &slots.inputs, &slots.input_gradients,
                              &slots.output_gradients, &slots.passed_gradients}) {
      EXPECT_EQ(slot_count(*kind), 1) << "stage " << stage;
    }
  }
}

TEST(Liveness, MicroBatchesThatReturnOutOfOrderKeepTheirMemory) {
  using enum Pass;
  const std::vector<Action> actions{{forward, 0, 0},  {forward, 0, 1}, {backward, 0, 1},
                                    {forward, 0, 2},  {forward, 0, 3}, {backward, 0, 0},
                                    {backward, 0, 3}, {backward, 0, 2}};
  const StageSlots slots = stage_slots({actions}, 0);
  EXPECT_THAT(slots.activations, ElementsAre(0, 1, 1, 2)) << "by turns, 2 would overwrite 0";
}

TEST(Liveness, AStageHasOnlyTheBoundariesToItsNeighbours) {
  const StageSlots first = stage_slots(gpipe(2, 3), 0);
  EXPECT_THAT(first.inputs, ElementsAre());
  EXPECT_THAT(first.output_gradients, ElementsAre(2, 1, 0)) << "the last returns first";
  const StageSlots last = stage_slots(gpipe(2, 3), 1);
  EXPECT_THAT(last.output_gradients, ElementsAre());
  EXPECT_THAT(last.inputs, ElementsAre(0, 1, 2));
}

}  // namespace
}  // namespace parbench
