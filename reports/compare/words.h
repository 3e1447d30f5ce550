// The texts of a comparison, for every medium.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "reports/compare/comparison.h"

namespace parbench::compare {

/// "1 of 12 cases regressed: pipeline/split:5 6.2% slower (+4.8 to +7.7%). 1 improved, 8 the same,
/// 2 undecided." Where no regression is found and most cases are not decided, or fewer than the
/// rule requires, it is "Undecided: 9 of 12 cases. 3 the same." A failure in the newer report comes
/// first, then whether one side was throttled and the other was not.
[[nodiscard]] std::string sentence(const Comparison& comparison);

/// "6.2% slower", "3.0% faster", "no change"; of large changes their factor, because percent of
/// times and of speeds differ: "2.02× as fast", "2.50× as long".
[[nodiscard]] std::string change_text(const Change& change);
/// "+4.8 to +7.7%"; "unknown" where it contains 0 and reaches beyond +1000%.
[[nodiscard]] std::string interval_text(const Change& change);

/// "1.864 s"; a dash where it was not measured.
[[nodiscard]] std::string seconds_text(const std::optional<Measured>& measured);

/// What the first column of a table says of a row: its verdict, or "failed", "not measured", "not
/// comparable", "only in BASE", "only in NEW".
[[nodiscard]] std::string state_text(const Row& row);

/// What throttled a row's sides, as a warning; empty without any.
[[nodiscard]] std::string throttling_text(const Row& row);

/// Where the stages of a row's sides begin, where that differs: "cut at layer2.0 in BASE, at
/// layer3.0 in NEW"; else empty.
[[nodiscard]] std::string cuts_text(const Row& row);

/// "after.json · parbench 0.1.0 · commit 89abcde012 with changes · 5 processes · 2026-11-21 19:57
/// UTC"; of pairs, "5 runs". `side` is one of the comparison's.
[[nodiscard]] std::string side_text(const Comparison& comparison, const Side& side);

/// "f32 · batch 40 · on AMD EPYC, 2 cores, 24 GiB · 2 × cpu (1 core)", and where the sides differ.
[[nodiscard]] std::string facts_text(const ScenarioFacts& scenario);

/// Sentences below the verdicts: the comparison's own notes, how its pairs came about, what the
/// times are, threshold and significance, and what the intervals hold.
[[nodiscard]] std::vector<std::string> all_notes(const Comparison& comparison);

}  // namespace parbench::compare
