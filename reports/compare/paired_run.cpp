// Texts about the pairs of a comparison.
#include "reports/compare/paired_run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "kernels/base/units/units.h"

namespace parbench::compare {
namespace {

/// Estimates the duration of all planned pairs from the mean duration of the pairs so far.
std::string time_of_all(const PairedRun& run) {
  const auto pairs = static_cast<double>(run.looks.back());
  const double seconds = run.seconds / static_cast<double>(run.pairs.size());
  return format_wait(std::ceil(pairs * seconds));
}

std::string reason_of(const PairedRun& run) {
  switch (run.end) {
    case PairsEnd::settled:
      return "every verdict is settled";
    case PairsEnd::looks_taken:
      return "all planned pairs ran; undecided cases stay so";
    case PairsEnd::time_spent:
      if (run.looks.empty() || run.pairs.empty()) return "the time is spent (--max-time)";
      return fmt::format(
          "the time is spent; more pairs may settle what is undecided, of which all {} that are "
          "planned take about {} (--max-time)",
          run.looks.back(), time_of_all(run));
    case PairsEnd::nothing_comparable:
      return "no case can be compared, so more pairs would not help";
    case PairsEnd::interrupted:
      return "interrupted, so what is undecided is not settled and needs more pairs";
    case PairsEnd::failed:
      return "a command failed, so what is undecided is not settled and needs more pairs";
  }
  return {};
}

/// Returns the order of the runs within each of the first 8 pairs: "AB BA …".
std::string orders_text(const std::vector<Pair>& pairs) {
  constexpr std::size_t max_shown = 8;
  std::vector<std::string_view> orders;
  for (std::size_t i = 0; i < std::min(pairs.size(), max_shown); ++i) {
    orders.emplace_back(pairs[i].now_first ? "BA" : "AB");
  }
  return fmt::format("{}{}", fmt::join(orders, " "), pairs.size() > max_shown ? " …" : "");
}

}  // namespace

std::string_view to_string(PairsEnd end) {
  constexpr std::array<std::string_view, 6> names{
      "settled", "looks taken", "time spent", "nothing comparable", "interrupted", "failed"};
  return names.at(static_cast<std::size_t>(end));
}

std::string pairs_text(const PairedRun& run) {
  return fmt::format("{} in {}, in the order {} (A is BASE, B is NEW; seed {}): {}.",
                     format_count(run.pairs.size(), "pair"), format_wait(run.seconds),
                     orders_text(run.pairs), run.seed, reason_of(run));
}

}  // namespace parbench::compare
