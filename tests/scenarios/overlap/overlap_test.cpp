// Scenario overlap: its plans, its verification, what it refuses and what it answers.
#include "scenarios/framework/requests.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "kernels/base/error.h"
#include "scenarios/framework/built_in.h"
#include "tests/scenarios/answers/rivals.h"
#include "tests/scenarios/fake_device.h"
#include "tests/scenarios/plan_checks.h"

namespace parbench::test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::vector<Parameter> tiny(const std::string& direction, const std::string& memory = "pinned",
                            std::int64_t prefetch = 1, std::int64_t chunk = 0) {
  return {{"n", 6},           {"inner", 5},           {"count", 8},    {"direction", direction},
          {"memory", memory}, {"prefetch", prefetch}, {"chunk", chunk}};
}

struct OverlapTest : testing::Test {
  std::unique_ptr<Scenario> scenario = make_overlap();
  Context context = fake_context(1);

  CaseSpec spec(const std::string& strategy, const std::vector<Parameter>& values) {
    return spec_of(*scenario, strategy, values);
  }
  std::unique_ptr<Case> ready(const std::string& strategy, const std::vector<Parameter>& values) {
    return ready_case(*scenario, spec(strategy, values), context);
  }
};

TEST_F(OverlapTest, NamesShowTheAxesThatApply) {
  EXPECT_EQ(spec("compute", tiny("d2h")).name(),
            "overlap/compute/n:6/inner:5/count:8/direction:d2h");
  EXPECT_EQ(spec("copy", tiny("h2d")).name(),
            "overlap/copy/n:6/count:8/direction:h2d/memory:pinned/chunk:0");
  EXPECT_EQ(scenario->reference(spec("overlapped", tiny("d2h", "pageable", 2)))->name(),
            "overlap/sequential/n:6/inner:5/count:8/direction:d2h/memory:pageable/chunk:0");
}

TEST_F(OverlapTest, EveryCaseIsRightAndFreeOfRaces) {
  for (const char* direction : {"d2h", "h2d"}) {
    for (const char* memory : {"pinned", "pageable", "fresh"}) {
      if (direction[0] == 'h' && memory[0] == 'f') continue;
      for (const char* strategy : {"compute", "copy", "sequential", "overlapped"}) {
        for (const std::int64_t prefetch : {0, 1, 2, 7}) {
          for (const std::int64_t chunk : {0, 4}) {
            const auto subject = ready(strategy, tiny(direction, memory, prefetch, chunk));
            const std::string name =
                spec(strategy, tiny(direction, memory, prefetch, chunk)).name();
            EXPECT_TRUE(races(subject->plan()).empty()) << name;
            run_in_order(subject->plan());
            EXPECT_EQ(subject->check(), std::nullopt) << name;
            run_in_order(subject->plan());
            EXPECT_EQ(subject->check(), std::nullopt) << name << ", second execution";
          }
        }
      }
    }
  }
}

TEST_F(OverlapTest, OverlappedGivesWhatSequentialGives) {
  for (const char* direction : {"d2h", "h2d"}) {
    const auto sequential = ready("sequential", tiny(direction));
    run_in_order(sequential->plan());
    const std::vector<float> want = all_outputs(*sequential);
    EXPECT_EQ(want.size(), static_cast<std::size_t>(8 * 6 * (direction[0] == 'd' ? 6 : 5)));
    const auto overlapped = ready("overlapped", tiny(direction, "pageable", 2));
    run_in_order(overlapped->plan());
    EXPECT_EQ(all_outputs(*overlapped), want) << direction;
  }
}

TEST_F(OverlapTest, AMissingTaskIsFound) {
  for (const char* strategy : {"compute", "copy", "sequential", "overlapped"}) {
    for (const char* direction : {"d2h", "h2d"}) {
      const auto subject = ready(strategy, tiny(direction));
      for (std::size_t leave_out = 0; leave_out < subject->plan().graph().tasks.size();
           ++leave_out) {
        const auto again = ready(strategy, tiny(direction));
        run_in_order(without_calls_of(again->plan(), leave_out));
        EXPECT_TRUE(again->check()) << strategy << " " << direction << " without "
                                    << subject->plan().graph().tasks[leave_out].name;
      }
    }
  }
}

TEST_F(OverlapTest, PrefetchLimitsWhatIsInFlight) {
  const auto two = ready("overlapped", tiny("d2h", "pinned", 1));
  const Plan& plan = two->plan();
  EXPECT_TRUE(is_ordered(plan, task_named(plan, "copy 1"), task_named(plan, "product 3")));
  EXPECT_FALSE(is_ordered(plan, task_named(plan, "copy 2"), task_named(plan, "product 3")));

  const auto none = ready("overlapped", tiny("h2d", "pinned", 0));
  const Plan& serial = none->plan();
  EXPECT_TRUE(is_ordered(serial, task_named(serial, "product 2"), task_named(serial, "copy 3")));

  const auto ahead = ready("overlapped", tiny("h2d", "pinned", 2));
  EXPECT_FALSE(is_ordered(ahead->plan(), task_named(ahead->plan(), "product 1"),
                          task_named(ahead->plan(), "copy 3")));
  EXPECT_TRUE(is_ordered(ahead->plan(), task_named(ahead->plan(), "product 0"),
                         task_named(ahead->plan(), "copy 3")));
}

TEST_F(OverlapTest, WhatMayRunBesideACopyIsEnqueuedBeforeIt) {
  for (const std::int64_t prefetch : {1, 2, 7}) {
    const auto results = ready("overlapped", tiny("d2h", "pageable", prefetch));
    const auto inputs = ready("overlapped", tiny("h2d", "pageable", prefetch));
    const Plan& to_host = results->plan();
    const Plan& from_host = inputs->plan();
    for (int i = 0; i < 8; ++i) {
      const std::int64_t last = std::min<std::int64_t>(i + prefetch, 7);
      EXPECT_LT(task_named(to_host, fmt::format("product {}", last)),
                task_named(to_host, fmt::format("copy {}", i)));
      if (i == 7) break;
      EXPECT_LT(task_named(from_host, fmt::format("product {}", i)),
                task_named(from_host, fmt::format("copy {}", i + 1)));
    }
  }
}

TEST_F(OverlapTest, SequentialFinishesOneBeforeTheOther) {
  const auto results = ready("sequential", tiny("d2h"));
  EXPECT_TRUE(is_ordered(results->plan(), task_named(results->plan(), "product 7"),
                         task_named(results->plan(), "copy 0")));
  const auto inputs = ready("sequential", tiny("h2d"));
  EXPECT_TRUE(is_ordered(inputs->plan(), task_named(inputs->plan(), "copy 7"),
                         task_named(inputs->plan(), "product 0")));
}

TEST_F(OverlapTest, CopiesRunOnTheCopyLaneInChunks) {
  const auto subject = ready("overlapped", tiny("d2h", "pinned", 1, 4));
  const Plan& plan = subject->plan();
  const TaskId id = task_named(plan, "copy 0");
  const Task& copy = plan.graph().task(id);
  EXPECT_EQ(copy.kind, TaskKind::copy);
  EXPECT_EQ(plan.graph().lane(copy.lanes.front()).name, "fake:0/copy");
  const std::vector<Call>& calls = plan.calls(id);
  ASSERT_EQ(calls.size(), 2);  // 4 rows and 2
  EXPECT_EQ(std::get<CopyCall>(calls[0]).source.bytes, sizeof(float) * 4 * 6);
  EXPECT_EQ(std::get<CopyCall>(calls[1]).source.bytes, sizeof(float) * 2 * 6);
  EXPECT_EQ(plan.graph().tasks[task_named(plan, "product 0")].kind, TaskKind::compute);
}

TEST_F(OverlapTest, FreshMemoryIsMadeNewOnTheCopyLaneBeforeEachCopy) {
  const auto subject = ready("sequential", tiny("d2h", "fresh"));
  CallLog& log = fake(context, 0).log;
  CallLog copies;
  for (int i = 0; i < 8; ++i) {
    copies.insert(copies.end(), {"fake:0/copy: discard", "fake:0/copy: copy"});
  }
  for (int execution = 0; execution < 2; ++execution) {
    log.clear();
    run_in_order(subject->plan());
    ASSERT_EQ(log.size(), 8 + copies.size()) << "nothing beside products, discards and copies";
    EXPECT_EQ(CallLog(log.begin() + 8, log.end()), copies);
  }
}

TEST_F(OverlapTest, FreshMemoryIsBorrowedAndCounted) {
  const auto bytes_of = [&](const std::string& memory) {
    const auto subject = ready("copy", tiny("d2h", memory));
    return context.case_bytes(0);
  };
  const std::size_t pageable = bytes_of("pageable");
  const auto allocations = [&] {
    return std::ranges::count(fake(context, 0).log, "fake:0: allocate pageable");
  };
  const auto before = allocations();
  EXPECT_GE(bytes_of("fresh"), pageable);
  EXPECT_EQ(allocations(), before) << "cases share the arena";
}

TEST_F(OverlapTest, EveryOrderWorksOnTheSameDeviceMemory) {
  const auto matrices_of = [&](const std::string& strategy, const std::string& direction,
                               std::int64_t prefetch) {
    const auto subject = ready(strategy, tiny(direction, "pinned", prefetch));
    std::set<std::pair<const Buffer*, std::size_t>> addresses;
    for (std::size_t i = 0; i < subject->plan().calls().size(); ++i) {
      if (subject->plan().graph().tasks[i].kind != TaskKind::copy) continue;
      const auto& copy = std::get<CopyCall>(subject->plan().calls()[i].front());
      const BufferView& on_device = direction == "d2h" ? copy.source : copy.destination;
      addresses.emplace(on_device.buffer, on_device.offset);
    }
    return addresses;
  };
  for (const char* direction : {"d2h", "h2d"}) {
    const auto in_turn = matrices_of("sequential", direction, 0);
    EXPECT_EQ(in_turn.size(), 8);
    EXPECT_EQ(matrices_of("copy", direction, 0).size(), in_turn.size());
    for (const std::int64_t prefetch : {0, 1, 4}) {
      EXPECT_EQ(matrices_of("overlapped", direction, prefetch), in_turn) << prefetch;
    }
  }
}

TEST_F(OverlapTest, Refusals) {
  const auto refuses = [&](const std::string& strategy, const std::vector<Parameter>& values,
                           const std::string& axis, const std::string& message) {
    Scenario::Request request;
    request.spec = spec(strategy, tiny("d2h"));
    for (const Parameter& value : values) request.spec.parameters.set(value.name, value.value);
    EXPECT_EQ(requested_case(*scenario, request), std::nullopt) << message;
    request.given = {axis};
    try {
      (void)requested_case(*scenario, request);
      ADD_FAILURE() << "accepted: " << message;
    } catch (const UsageError& error) {
      EXPECT_THAT(error.what(), HasSubstr(message));
    }
  };
  refuses("copy", {{"direction", "h2d"}, {"memory", "fresh"}}, "memory",
          "--memory fresh goes with --direction d2h only");
  refuses("sequential", {{"chunk", 7}}, "chunk", "--chunk 7 is more than the 6 rows");
  refuses("overlapped", {{"prefetch", 8}}, "prefetch",
          "--prefetch 8 is not below the number of matrices, --count 8; use");
}

TEST_F(OverlapTest, TheQuickPresetVariesDepthWithPinnedMemoryOnly) {
  Scenario::Request request;
  request.spec = spec("overlapped", tiny("d2h", "pageable", 4));
  EXPECT_EQ(requested_case(*scenario, request), std::nullopt);
  request.given = {"memory"};
  EXPECT_EQ(requested_case(*scenario, request), std::nullopt);
  request.given = {"prefetch"};
  EXPECT_TRUE(requested_case(*scenario, request)) << "asked for by the user";
  request.given = {};
  request.preset = Preset::published;
  EXPECT_TRUE(requested_case(*scenario, request));
  request.preset = Preset::quick;
  request.spec = spec("overlapped", tiny("d2h", "pageable", 1));
  EXPECT_TRUE(requested_case(*scenario, request));
  request.spec = spec("overlapped", tiny("d2h", "pinned", 4));
  EXPECT_TRUE(requested_case(*scenario, request));
}

TEST_F(OverlapTest, AchievedOverlapIsOfTheShorterPart) {
  const CaseSpec overlapped = spec("overlapped", tiny("d2h", "pageable", 2, 4));
  const std::vector<Metric> metrics = scenario->metrics(overlapped);
  ASSERT_EQ(metrics.size(), 1);
  EXPECT_EQ(metrics[0].name, "achieved overlap");
  ASSERT_EQ(metrics[0].others.size(), 3);
  EXPECT_EQ(metrics[0].others[0].name(), spec("compute", tiny("d2h")).name());
  EXPECT_EQ(metrics[0].others[1].name(), spec("copy", tiny("d2h", "pageable", 0, 4)).name());
  EXPECT_EQ(metrics[0].others[2].name(), spec("sequential", tiny("d2h", "pageable", 0, 4)).name());
  const auto of = [&](double whole, double compute, double copy, double in_turn) {
    const std::vector<double> seconds{whole, compute, copy, in_turn};
    return metrics[0].value(seconds, seconds);
  };
  EXPECT_DOUBLE_EQ(of(22, 20, 8, 28), 0.75);
  EXPECT_DOUBLE_EQ(of(22, 8, 20, 28), 0.75);
  EXPECT_DOUBLE_EQ(of(20, 20, 8, 28), 1);
  EXPECT_DOUBLE_EQ(of(30, 20, 8, 28), -0.25);
  EXPECT_DOUBLE_EQ(of(22, 20, 8, 30), 1) << "what counts is what the copies cost when in turn";
  const auto remark = [&](double whole, double compute, double copy, double in_turn) {
    const std::vector<double> medians{whole, compute, copy, in_turn};
    return metrics[0].remark(of(whole, compute, copy, in_turn), medians);
  };
  EXPECT_EQ(remark(22, 20, 8, 28), "");
  EXPECT_EQ(remark(30, 20, 8, 28), "below 0%: overlapped takes longer than one after the other");
  EXPECT_EQ(remark(22, 20, 8, 35),
            "above 100%: one after the other takes longer than both parts alone");
  EXPECT_EQ(remark(19, 20, 8, 28), "above 100%: overlapped takes less than the longer part alone");
  EXPECT_EQ(remark(18, 20, 8, 29), "above 100%: overlapped takes less than the longer part alone")
      << "the larger of two causes";
  EXPECT_EQ(remark(20, 10, 10, 26),
            "not only overlap, as one after the other takes longer than both parts alone");
  EXPECT_EQ(remark(15, 10, 10, 20.9), "") << "within 5% of both parts";
  for (const char* strategy : {"compute", "copy", "sequential"}) {
    EXPECT_TRUE(scenario->metrics(spec(strategy, tiny("d2h"))).empty()) << strategy;
  }
}

struct OverlapAnswer : OverlapTest {
  CaseOutcome outcome(const std::string& strategy, double milliseconds, std::int64_t prefetch = 1) {
    CaseOutcome one;
    one.spec = spec(strategy, tiny("d2h", "pinned", prefetch));
    one.median_seconds = milliseconds * 1e-3;
    return one;
  }
  static Ratio ratio(double value, double low, double high, double confidence = 0.97) {
    return {value, Interval{low, high, confidence}};
  }
  CaseOutcome overlapped(double milliseconds, std::int64_t prefetch, const Ratio& hidden) {
    CaseOutcome one = outcome("overlapped", milliseconds, prefetch);
    one.metrics["achieved overlap"] = hidden;
    return one;
  }
};

TEST_F(OverlapAnswer, HasTheGainAndTheAchievedOverlapOfTheDepth) {
  CaseOutcome best = overlapped(22, 4, ratio(0.75, 0.731, 0.768));
  best.speedup = ratio(1.27, 1.26, 1.28);
  CaseOutcome shallow = overlapped(24, 1, ratio(0.5, 0.4, 0.6));
  shallow.speedup = ratio(1.17, 1.16, 1.27);
  const std::vector<CaseOutcome> outcomes{outcome("compute", 20), outcome("copy", 8),
                                          outcome("sequential", 28), shallow, best};
  EXPECT_EQ(
      scenario->answer(outcomes, within(0)).text,
      "Use prefetch 4: 1.27× as fast as without overlap (1.26–1.28); 75% (73–77%) of the shorter "
      "of copies and products is hidden.");
  shallow.speedup = ratio(1.24, 1.16, 1.27);
  EXPECT_EQ(
      scenario->answer({outcomes[2], shallow, best}, within(0.1)).text,
      "Use prefetch 1: 1.24× as fast as without overlap (1.16–1.27); 50% (40–60%) of the shorter "
      "of copies and products is hidden. The fastest is prefetch 4 (1.27×), tied within 3% with "
      "prefetch 1; prefetch "
      "1 is simpler.");
}

TEST_F(OverlapAnswer, RecommendsNothingThatCannotOverlap) {
  CaseOutcome without = overlapped(25, 0, ratio(0.3, 0.2, 0.4));
  without.speedup = ratio(1.12, 1.1, 1.14);
  CaseOutcome ahead = overlapped(29, 1, ratio(0.1, -0.1, 0.2));
  ahead.speedup = ratio(0.97, 0.95, 1.02);
  const std::vector<CaseOutcome> outcomes{outcome("sequential", 28), without, ahead};
  EXPECT_THAT(scenario->answer(outcomes, within(0.05)).text,
              HasSubstr("overlapping shows no gain; prefetch 1"));
  EXPECT_THAT(scenario->answer({outcomes[0], without}, within(0)).text,
              StartsWith("Not decided: "));
}

TEST_F(OverlapAnswer, SaysWhenNothingIsHidden) {
  const auto answer_of = [&](const Ratio& hidden, const Ratio& speedup) {
    CaseOutcome one = overlapped(30, 1, hidden);
    one.speedup = speedup;
    return scenario->answer({outcome("sequential", 29), one}, within(0.01)).text;
  };
  EXPECT_EQ(
      answer_of(ratio(-0.25, -0.3, -0.1), ratio(0.9, 0.88, 0.93)),
      "Use no overlap: overlapping does not pay; prefetch 1: 0.90× as fast (0.88–0.93); no overlap "
      "is shown: −25% (−30 to −10%) of the shorter of copies and products.");
  EXPECT_THAT(
      answer_of(ratio(0.05, -0.02, 0.1, 0.75), ratio(0.99, 0.97, 1.02, 0.875)),
      HasSubstr("shows no gain; prefetch 1, tied with it: 0.99× as fast (0.97–1.02 at 87.5% "
                "confidence); no overlap is shown: 5% (−2 to 10% at 75% confidence) of the "
                "shorter of copies and products."));
}

struct OverlapSettings : OverlapAnswer {
  /// The answer where --prefetch 1 has these gains with pinned and with pageable memory.
  std::string answer(const Ratio& pinned, const Ratio& pageable) {
    std::vector<CaseOutcome> outcomes;
    for (const auto& [memory, speedup] :
         {std::pair("pinned", pinned), std::pair("pageable", pageable)}) {
      for (const char* strategy : {"sequential", "overlapped"}) {
        CaseOutcome& one = outcomes.emplace_back();
        one.spec = spec(strategy, tiny("d2h", memory));
        one.median_seconds = 1;
      }
      outcomes.back().median_seconds = 1 / speedup.value;
      outcomes.back().speedup = speedup;
    }
    return scenario->answer(outcomes, within(0)).text;
  }
};

TEST_F(OverlapSettings, TheLargestGainIsOneThatPays) {
  EXPECT_EQ(answer(ratio(1.10, 1.05, 1.15), ratio(1.15, 0.95, 1.40)),
            "At memory pinned, use prefetch 1: 1.10× as fast as without overlap (1.05–1.15). "
            "Overlapping may pay at memory pageable.");
}

TEST_F(OverlapAnswer, SaysHowMuchIsHiddenAtTheSettingOfTheLargestGain) {
  std::vector<CaseOutcome> outcomes;
  for (const auto& [memory, hidden] : {std::pair("pinned", 0.75), std::pair("pageable", 0.5)}) {
    CaseOutcome& in_turn = outcomes.emplace_back(outcome("sequential", 28));
    in_turn.spec = spec("sequential", tiny("d2h", memory));
    CaseOutcome& one =
        outcomes.emplace_back(overlapped(22, 1, ratio(hidden, hidden - 0.02, hidden + 0.02)));
    one.spec = spec("overlapped", tiny("d2h", memory));
    one.speedup = ratio(1 + hidden / 3, 1.1, 1.3);
  }
  EXPECT_EQ(scenario->answer(outcomes, within(0)).text,
            "Overlapping pays at every setting that was compared; largest recommended gain that is "
            "shown: prefetch 1 at memory pinned, 1.25× as fast as without overlap (1.10–1.30). "
            "There 75% (73–77%) of the shorter of copies and products is hidden.");
}

TEST_F(OverlapSettings, ALossOrAnUnprovenRatioIsNoGain) {
  EXPECT_EQ(answer(ratio(0.97, 0.95, 0.99), ratio(0.90, 0.85, 0.95)),
            "Overlapping does not pay at any setting that was compared; use no overlap.");
  EXPECT_EQ(
      answer(ratio(0.97, 0.95, 0.99), ratio(1.02, 0.95, 1.10)),
      "Overlapping shows no gain at memory pageable and does not pay at memory pinned; use no "
      "overlap.");
}

TEST_F(OverlapAnswer, NeedsBothOrders) {
  const Conclusion made = scenario->answer({outcome("overlapped", 22)}, within(0));
  EXPECT_THAT(made.text, StartsWith("Not decided: "));
  EXPECT_FALSE(made.is_answered);
  EXPECT_THAT(scenario->answer({outcome("compute", 20), outcome("copy", 8)}, within(0)).text,
              StartsWith("Not decided: "));
}

TEST_F(OverlapTest, PartsOfTheWorkHaveNoSpeedup) {
  EXPECT_FALSE(scenario->comparable(spec("compute", tiny("d2h"))));
  EXPECT_FALSE(scenario->comparable(spec("copy", tiny("d2h"))));
  EXPECT_TRUE(scenario->comparable(spec("overlapped", tiny("d2h"))));
  EXPECT_TRUE(scenario->wants_copy_core());
}

}  // namespace
}  // namespace parbench::test
