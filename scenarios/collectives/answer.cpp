// Recommends an algorithm for each size, and states its bandwidth and the fit of times over sizes.
#include "scenarios/collectives/answer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "kernels/base/units/units.h"
#include "scenarios/answers/recommend.h"
#include "scenarios/answers/wording.h"
#include "scenarios/collectives/bandwidth.h"

namespace parbench {
namespace {

// the only collective with a single algorithm, apart from those of libraries
constexpr std::string_view link_collective = "send-recv";
constexpr std::string_view baseline_algorithm = "direct";

const std::string& collective_of(const CaseSpec& spec) {
  return spec.parameters.text("collective");
}

std::int64_t size_of_case(const CaseSpec& spec) { return bytes_of(spec.parameters.text("size")); }

std::string size_text(std::int64_t bytes) { return format_bytes(static_cast<double>(bytes)); }

/// Returns the standard error of a median time from the 95% interval of the bandwidth, whose
/// relative width is the same; at least 0.2% of the time, because few samples can have an
/// implausibly narrow interval. Nothing without an interval.
std::optional<double> error_of(const CaseOutcome& outcome) {
  constexpr double width_in_errors = 2 * 1.96;
  constexpr double smallest_share = 0.002;
  const Ratio* bandwidth = outcome.metric(bus_bandwidth);
  if (bandwidth == nullptr || !bandwidth->interval || bandwidth->value <= 0) return std::nullopt;
  const Interval& interval = *bandwidth->interval;
  const double share = (interval.high - interval.low) / bandwidth->value / width_in_errors;
  return outcome.median_seconds * std::max(share, smallest_share);
}

using CollectiveAndStrategy = std::pair<std::string, std::string>;

std::map<CollectiveAndStrategy, LatencyFit> fits_of(const std::vector<CaseOutcome>& outcomes) {
  std::map<CollectiveAndStrategy, std::vector<TimeOfSize>> times;
  for (const CaseOutcome& one : outcomes) {
    const auto error = error_of(one);
    if (one.spec.graph || !error) continue;
    const auto calls = static_cast<double>(calls_in(one.spec));
    times[{collective_of(one.spec), one.spec.strategy}].push_back(
        {.bytes = static_cast<double>(size_of_case(one.spec)),
         .seconds = one.median_seconds / calls,
         .error = *error / calls});
  }
  std::map<CollectiveAndStrategy, LatencyFit> fits;
  for (const auto& [key, points] : times) {
    constexpr double max_deviation = 0.25;  // above: times do not follow a line
    const auto fit = fit_latency(points);
    // Without a positive intercept, the line has no latency.
    const bool fits_times = fit && fit->latency > 0 && fit->largest_deviation <= max_deviation;
    if (fits_times) fits.emplace(key, *fit);
  }
  return fits;
}

/// Returns a number with some significant digits, or with all digits before the point.
std::string short_number(double value, int digits) {
  return value < std::pow(10, digits) - 0.5 ? fmt::format("{:.{}g}", value, digits)
                                            : fmt::format("{:.0f}", value);
}
std::string error_text(double error) { return short_number(error, 2); }
std::string value_text(double value) { return short_number(value, 3); }

/// Returns "latency 12.3 ± 0.4 µs, then 9.81 ± 0.05 GB/s; times within 12% of this".
std::string fit_text(const LatencyFit& fit) {
  constexpr double micro = 1e6;
  constexpr double giga = 1e-9;
  return fmt::format("latency {} ± {} µs, then {} ± {} GB/s; times within {} of this",
                     value_text(micro * fit.latency), error_text(micro * fit.latency_error),
                     value_text(giga * fit.bandwidth()), error_text(giga * fit.bandwidth_error()),
                     format_percent(fit.largest_deviation, 0));
}

/// Recommended algorithm for a collective at one size, and its bus bandwidth.
struct Choice {
  std::string at;  // size, and the number of calls if there are several
  std::string use;
  double bandwidth = 0;
  bool is_compared = false;   // whether it was compared with another algorithm, with a verdict
  bool is_undecided = false;  // whether other programs prevent a verdict
};

/// Choices by collective, in ascending order of sizes.
using Choices = std::map<std::string, std::vector<Choice>>;

/// Adjacent sizes with the same algorithm.
using SizeRun = std::vector<Choice>;

std::vector<SizeRun> runs_of(const std::vector<Choice>& choices) {
  std::vector<SizeRun> runs;
  for (const Choice& one : choices) {
    if (!one.is_compared) continue;
    if (runs.empty() || runs.back().front().use != one.use) runs.emplace_back();
    runs.back().push_back(one);
  }
  return runs;
}

/// Returns "direct at 256 KiB and 16.0 MiB", "ring at 7 sizes from 64.0 KiB to 4.00 MiB".
std::string run_text(const SizeRun& run) {
  constexpr std::size_t max_listed = 2;
  std::vector<std::string> sizes;
  for (const Choice& one : run) sizes.push_back(one.at);
  if (run.size() <= max_listed) {
    return fmt::format("{} at {}", run.front().use, format_list(sizes));
  }
  return fmt::format("{} at {} sizes from {} to {}", run.front().use, run.size(), sizes.front(),
                     sizes.back());
}

/// Returns "tree at 4.00 KiB, direct at 256 KiB and 16.0 MiB"; if this is too long, the number of
/// sizes for each algorithm.
std::string sizes_text(const std::vector<Choice>& choices) {
  constexpr std::size_t max_runs = 4;
  std::vector<std::string> texts;
  const std::vector<SizeRun> runs = runs_of(choices);
  if (runs.size() <= max_runs) {
    std::ranges::transform(runs, std::back_inserter(texts), run_text);
  } else {
    std::map<std::string, std::size_t> counts;
    for (const SizeRun& run : runs) counts[run.front().use] += run.size();
    for (const auto& [use, count] : counts) {
      texts.push_back(fmt::format("{} at {}", use, format_count(count, "size")));
    }
  }
  return fmt::format("{}", fmt::join(texts, ", "));
}

const Wording wording_of_algorithms{
    .label = &CaseSpec::strategy,
    .complexity =
        [](const CaseSpec& spec) {
          return std::vector{rank_in({"direct", "ring", "tree", "nccl", "mpi", "shared-memory",
                                      "doubling", "rank-ring", "hierarchical"},
                                     spec.strategy)};
        },
    .baseline = baseline_algorithm};

/// Returns "4.00 KiB" or "4.00 KiB in 10 calls".
std::string size_and_calls(const CaseSpec& spec) {
  const std::int64_t calls = calls_in(spec);
  return size_text(size_of_case(spec)) + (calls > 1 ? fmt::format(" in {} calls", calls) : "");
}

std::string setting_text(const CaseSpec& spec) {
  return fmt::format("{}, {}{}", collective_of(spec), size_and_calls(spec),
                     spec.graph ? ", as graphs" : "");
}

/// Returns the collectives for which algorithms were compared at some size, with a verdict.
std::vector<std::string> compared_collectives(const Choices& choices) {
  std::vector<std::string> compared;
  for (const auto& [collective, sizes] : choices) {
    if (!runs_of(sizes).empty()) compared.push_back(collective);
  }
  return compared;
}

/// Returns a sentence with the number of settings at which other load prevents a verdict; empty if
/// there are none.
std::string undecided_text(const std::vector<Recommendation>& found) {
  const auto count = std::ranges::count(found, Payoff::undecided, payoff_of);
  if (count == 0) return {};
  return fmt::format(
      " No verdict at {}, because other programs had up to {} of the core time: repeat on a quiet "
      "machine.",
      format_count(count, "setting"),
      format_percent(std::ranges::max(found, {}, &Recommendation::load).load, 0));
}

/// Summarises the recommendations. If algorithms were compared for exactly one collective, lists
/// the algorithm to use at each size; otherwise states where another algorithm than direct pays.
std::string choices_text(const Choices& choices, const Recommended& all) {
  if (all.recommendations.empty()) return {};
  if (const auto compared = compared_collectives(choices); compared.size() == 1) {
    const std::string& only = compared.front();
    return fmt::format("For {} use {}.{}", only, sizes_text(choices.at(only)),
                       undecided_text(all.recommendations));
  }
  const Payoff best = payoff_of(best_of(all.recommendations));
  const bool gains = best == Payoff::pays || best == Payoff::may_pay;
  return fmt::format(
      "{}{}.",
      verdict_text(all.recommendations,
                   {fmt::format("Another algorithm than {}", baseline_algorithm)}),
      gains ? " (see the table)" : best_text(all.recommendations, baseline_algorithm));
}

/// Returns "Bus bandwidth at 16.0 MiB in GB/s: broadcast 4.01, send-recv 4.10 (direct); all-reduce
/// 3.75 (ring).", for the largest size of each collective and the algorithm to use there.
/// Collectives whose bandwidth is unknown, or for which other programs prevent a verdict, are
/// omitted.
std::string bandwidths_text(const Choices& choices) {
  constexpr double giga = 1e-9;
  std::map<std::string, Choice> listed;  // by collective
  std::set<std::string> sizes;
  for (const auto& [collective, list] : choices) {
    const Choice& largest = list.back();
    if (!(largest.bandwidth > 0) || largest.is_undecided) continue;
    listed.emplace(collective, largest);
    sizes.insert(largest.at);
  }
  const bool is_one_size = sizes.size() == 1;
  std::map<std::string, std::vector<std::string>> items;  // by algorithm
  for (const auto& [collective, largest] : listed) {
    items[largest.use].push_back(fmt::format("{} {:#.3g}{}", collective, giga * largest.bandwidth,
                                             is_one_size ? "" : " at " + largest.at));
  }
  std::vector<std::string> parts;
  for (const auto& [use, list] : items) {
    parts.push_back(fmt::format("{} ({})", fmt::join(list, ", "), use));
  }
  if (parts.empty()) return {};
  return fmt::format("Bus bandwidth{} in GB/s: {}.", is_one_size ? " at " + *sizes.begin() : "",
                     fmt::join(parts, "; "));
}

/// Returns a sentence with the number of settings at which algorithms were compared, and the number
/// of settings that need more samples to show a gain. Empty if `choices_text` is enough: algorithms
/// were compared at all settings, and either for several collectives or without any verdict.
std::string coverage_text(const Choices& choices, const Recommended& all) {
  const std::size_t compared = all.recommendations.size();
  const std::size_t measured = compared + all.not_compared.size();
  const auto open = std::ranges::count_if(all.recommendations, [](const Recommendation& one) {
    return payoff_of(one) == Payoff::may_pay;
  });
  const bool has_verdict = std::ranges::any_of(all.recommendations, [](const Recommendation& one) {
    return payoff_of(one) != Payoff::undecided;
  });
  if (compared > 0 && compared == measured &&
      (!has_verdict || compared_collectives(choices).size() > 1)) {
    return {};
  }
  if (compared == 0) {
    return fmt::format(
        "Not decided which algorithm to use: {} and another one were not both measured.",
        baseline_algorithm);
  }
  return fmt::format(
      "{}{} compared{}.", compared < measured ? fmt::format("{} of ", compared) : "",
      format_count(measured, "setting"),
      open == 0 ? "" : fmt::format("; more samples are needed to show the gain at {}", open));
}

/// Returns a sentence for each algorithm that is recommended at some size, with its fit; with
/// several collectives, only for algorithms of send-recv.
std::vector<std::string> fit_sentences(const Choices& choices,
                                       const std::map<CollectiveAndStrategy, LatencyFit>& fits) {
  std::vector<std::string> sentences;
  for (const auto& [key, fit] : fits) {
    const auto& [collective, strategy] = key;
    if (choices.size() > 1 && collective != link_collective) continue;
    const auto chosen = choices.find(collective);
    const bool is_used =
        chosen == choices.end() ||
        std::ranges::find(chosen->second, strategy, &Choice::use) != chosen->second.end();
    if (!is_used) continue;
    sentences.push_back(
        fmt::format("{} by {}: {}.", with_capital(collective), strategy, fit_text(fit)));
  }
  return sentences;
}

/// Returns "Latency 56.5 to 69.7 µs." for the recommended algorithms of several collectives.
std::string latencies_text(const Choices& choices,
                           const std::map<CollectiveAndStrategy, LatencyFit>& fits) {
  if (choices.size() < 2) return {};
  constexpr double micro = 1e6;
  std::vector<double> latencies;
  for (const auto& [collective, list] : choices) {
    for (const Choice& one : list) {
      const auto fit = fits.find({collective, one.use});
      if (fit != fits.end()) latencies.push_back(micro * fit->second.latency);
    }
  }
  if (latencies.empty()) return {};
  const auto [min, max] = std::ranges::minmax(latencies);
  return fmt::format("Latency {} µs.", range_text(value_text(min), value_text(max)));
}

/// Returns the bus bandwidth of a case; 0 if unknown.
double bandwidth_of(const CaseOutcome* one) {
  const Ratio* bandwidth = one == nullptr ? nullptr : one->metric(bus_bandwidth);
  return bandwidth == nullptr ? 0 : bandwidth->value;
}

}  // namespace

std::int64_t calls_in(const CaseSpec& spec) { return spec.parameters.integer_or("calls", 1); }

Conclusion collectives_answer(const std::vector<CaseOutcome>& outcomes,
                              const PossiblyFastest& possibly_fastest) {
  const auto fits = fits_of(outcomes);
  Choices choices;
  std::set<CollectiveAndStrategy> remarked;
  Recommended all;
  std::vector<SameWork> groups = same_work(all_outcomes(outcomes), {"collective", "size", "calls"});
  std::ranges::stable_sort(groups, {}, [](const SameWork& group) {
    const CaseSpec& spec = group.cases.front()->spec;
    return std::pair(collective_of(spec), size_of_case(spec));
  });
  for (const SameWork& group : groups) {
    const CaseSpec spec = group.cases.front()->spec;
    Recommendation one = recommend(group, wording_of_algorithms, possibly_fastest);
    if (!group.setting.empty()) one.setting = setting_text(spec);
    const LabelledCase used = one.candidates.front();
    const CollectiveAndStrategy key{collective_of(spec), used.label};
    const auto fit = fits.find(key);
    if (fit != fits.end() && one.gain && remarked.insert(key).second) {
      one.remark = fit_text(fit->second);
    }
    if (!spec.graph) {
      choices[key.first].push_back(
          {.at = size_and_calls(spec),
           .use = used.label,
           .bandwidth = bandwidth_of(find_outcome(group.cases, used.name)),
           .is_compared = one.gain && payoff_of(one) != Payoff::undecided,
           .is_undecided = one.gain && payoff_of(one) == Payoff::undecided});
    }
    // Without a library, send-recv has a single algorithm and nothing to compare.
    if (one.gain || key.first != link_collective) all.add(std::move(one));
  }
  if (choices.empty() && all.recommendations.empty()) {
    return {.text = "Not decided: no collective was measured.", .is_answered = false};
  }
  std::vector<std::string> sentences{choices_text(choices, all), bandwidths_text(choices),
                                     coverage_text(choices, all), latencies_text(choices, fits)};
  std::ranges::move(fit_sentences(choices, fits), std::back_inserter(sentences));
  const bool is_answered = !all.recommendations.empty() || !fits.empty();
  return {joined_sentences(sentences), std::move(all.recommendations), is_answered};
}

}  // namespace parbench
