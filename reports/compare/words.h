// Texts of a comparison for all output formats.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "reports/compare/comparison.h"

namespace parbench::compare {

/// Returns the overall answer: "1 of 12 cases regressed: pipeline/split:5 6.2% slower (+4.8 to
/// +7.7%). 1 improved, 8 the same, 2 undecided." If no case regressed and too few are decided
/// (fewer than half, or fewer than the rule requires): "Undecided: 9 of 12 cases. 3 the same."
/// Begins with different circumstances, the reason why pairs ended early, failures in the newer
/// report, and the cases in which one side was throttled more, if there are any.
[[nodiscard]] std::string sentence(const Comparison& comparison);

/// Returns "6.2% slower", "3.0% faster", "no change"; for large changes a factor, because
/// percentages of times and of speeds differ: "2.02× as fast", "2.50× as long".
[[nodiscard]] std::string change_text(const Change& change);
/// Returns "+4.8 to +7.7%", for a change that `change_text` shows as a factor, "6.19–8.18×";
/// "unknown" if the interval contains 0 and exceeds +1000%.
[[nodiscard]] std::string interval_text(const Change& change);

/// Returns "1.864 s", or a dash if the case was not measured.
[[nodiscard]] std::string seconds_text(const std::optional<Measured>& measured);

/// Returns the first column of a table row: the verdict, or "failed", "not measured", "not
/// comparable", "only in BASE", "only in NEW".
[[nodiscard]] std::string state_text(const Row& row);

/// Returns the causes of throttling on both sides as a warning; empty without any.
[[nodiscard]] std::string throttling_text(const Row& row);

/// Returns where the stages begin if the sides differ: "cut at layer2.0 in BASE, at layer3.0 in
/// NEW"; else empty.
[[nodiscard]] std::string cuts_text(const Row& row);

/// Returns "after.json · parbench 0.1.0 · commit 89abcde012 with changes · 5 processes · 2026-11-21
/// 19:57 UTC"; for pairs "5 runs". `side` is one of the comparison's sides.
[[nodiscard]] std::string side_text(const Comparison& comparison, const Side& side);

/// Returns "f32 · batch 40 · on AMD EPYC, 2 cores, 24 GiB · 2 × cpu (1 core)", and differences
/// between the sides.
[[nodiscard]] std::string facts_text(const ScenarioFacts& scenario);

/// Returns the sentences below the verdicts: the comparison's own notes, how its pairs were run,
/// how the times are defined, threshold and significance, and the meaning of the intervals.
[[nodiscard]] std::vector<std::string> all_notes(const Comparison& comparison);

}  // namespace parbench::compare
