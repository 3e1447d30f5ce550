// The best algorithm by size, and latency and bandwidth of each.
#include "scenarios/collectives/answer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "reports/units/units.h"
#include "scenarios/answers/recommend.h"
#include "scenarios/answers/wording.h"
#include "scenarios/collectives/bandwidth.h"

namespace parbench {
namespace {

constexpr std::string_view link_collective = "send-recv";  // has one algorithm beside a library's
constexpr std::string_view link_algorithm = "direct";

const std::string& collective_of(const CaseSpec& spec) {
  return spec.parameters.text("collective");
}

std::int64_t size_of_case(const CaseSpec& spec) { return bytes_of(spec.parameters.text("size")); }

std::string size_text(std::int64_t bytes) {
  return report::format_bytes(static_cast<double>(bytes));
}

/// The standard error of a median: of its 95% interval, which the bandwidth's has the relative
/// width of; without one, or with one that is too narrow to be true, a share of the time.
double error_of(const CaseOutcome& outcome) {
  constexpr double width_in_errors = 2 * 1.96;
  constexpr double smallest_share = 0.002;
  constexpr double unknown_share = 0.05;
  const auto found = outcome.metrics.find(bus_bandwidth);
  double share = unknown_share;
  if (found != outcome.metrics.end() && found->second.interval && found->second.value > 0) {
    const report::Interval& interval = *found->second.interval;
    share = (interval.high - interval.low) / found->second.value / width_in_errors;
  }
  return outcome.median_seconds * std::max(share, smallest_share);
}

using CollectiveAndStrategy = std::pair<std::string, std::string>;

std::map<CollectiveAndStrategy, LatencyFit> fits_of(const std::vector<CaseOutcome>& outcomes) {
  std::map<CollectiveAndStrategy, std::vector<TimeOfSize>> times;
  for (const CaseOutcome& one : outcomes) {
    if (one.spec.graph) continue;
    const auto calls = static_cast<double>(calls_in(one.spec));
    times[{collective_of(one.spec), one.spec.strategy}].push_back(
        {.bytes = static_cast<double>(size_of_case(one.spec)),
         .seconds = one.median_seconds / calls,
         .error = error_of(one) / calls});
  }
  std::map<CollectiveAndStrategy, LatencyFit> fits;
  for (const auto& [key, points] : times) {
    // A line that begins below zero has no latency.
    if (const auto fit = fit_latency(points); fit && fit->latency > 0) fits.emplace(key, *fit);
  }
  return fits;
}

/// Two digits, and all digits before the point.
std::string error_text(double error) {
  constexpr double two_digits = 100;
  return error < two_digits ? fmt::format("{:.2g}", error) : fmt::format("{:.0f}", error);
}

/// "α 12.3 ± 0.4 µs, 9.81 ± 0.05 GB/s, times within 12%".
std::string fit_text(const LatencyFit& fit) {
  constexpr double micro = 1e6;
  constexpr double giga = 1e-9;
  return fmt::format("α {:.3g} ± {} µs, {:.3g} ± {} GB/s, times within {}", micro * fit.latency,
                     error_text(micro * fit.latency_error), giga * fit.bandwidth(),
                     error_text(giga * fit.bandwidth_error()),
                     report::format_percent(fit.largest_deviation, 0));
}

/// The sizes of one collective in ascending order, each with the algorithm to use.
struct BySize {
  std::vector<std::int64_t> sizes;
  std::vector<std::string> use;
};

/// "tree up to 4.00 KiB, ring up to 1.00 MiB, direct above".
std::string ranges_text(const BySize& found) {
  std::string text;
  for (std::size_t i = 0; i < found.sizes.size(); ++i) {
    const bool last = i + 1 == found.sizes.size();
    if (!last && found.use[i + 1] == found.use[i]) continue;
    const bool only = text.empty();
    std::string where = " up to " + size_text(found.sizes[i]);
    if (last) where = " above";
    if (last && only) {
      where = fmt::format(" from {} to {}", size_text(found.sizes.front()),
                          size_text(found.sizes.back()));
    }
    if (found.sizes.size() == 1) where = " at " + size_text(found.sizes[i]);
    text += fmt::format("{}{}{}", only ? "" : ", ", found.use[i], where);
  }
  return text;
}

Wording wording_of_algorithms() {
  const auto rank = [](const CaseSpec& spec) {
    constexpr std::array<std::string_view, 8> simplest_first{
        "direct", "ring", "tree", "nccl", "mpi", "shared-memory", "doubling", "rank-ring"};
    return std::ranges::find(simplest_first, spec.strategy) - simplest_first.begin();
  };
  return {.label = [](const CaseSpec& spec) { return spec.strategy; },
          .simpler = [rank](const CaseSpec& a, const CaseSpec& b) { return rank(a) < rank(b); },
          .is_baseline = [](const CaseSpec& spec) { return spec.strategy == "direct"; }};
}

std::string setting_text(const CaseSpec& spec) {
  return fmt::format("{}, {}{}", collective_of(spec), size_text(size_of_case(spec)),
                     spec.graph ? ", as graphs" : "");
}

/// "For all-gather and broadcast use direct; for all-reduce use tree up to 4.00 KiB, ring above",
/// of the sizes that were compared
std::string choices_text(const std::map<std::string, BySize>& found) {
  std::map<std::string, std::vector<std::string>> collectives;  // by what to use
  for (const auto& [collective, by_size] : found) {
    collectives[ranges_text(by_size)].push_back(collective);
  }
  std::string text;
  for (const auto& [use, names] : collectives) {
    text += fmt::format("{} {} use {}", text.empty() ? "For" : "; for", report::format_list(names),
                        use);
  }
  return text;
}

/// At how many settings load leaves no verdict; empty without any.
std::string undecided_text(const std::vector<report::Recommendation>& found) {
  const auto count = std::ranges::count_if(found, [](const report::Recommendation& one) {
    return payoff_of(one) == report::Payoff::undecided;
  });
  if (count == 0) return {};
  return fmt::format(
      "; no verdict at {}, because other programs had up to {} of the core time: repeat on a quiet "
      "machine",
      count,
      report::format_percent(std::ranges::max(found, {}, &report::Recommendation::load).load, 0));
}

/// How many pairs of collective and size were compared, and at how many of them a gain is expected
/// and not shown.
std::string coverage_text(const Recommended& all) {
  const std::size_t compared = all.recommendations.size();
  const std::size_t measured = compared + all.not_compared.size();
  const auto open = std::ranges::count_if(
      all.recommendations,
      [](const report::Recommendation& one) { return payoff_of(one) == report::Payoff::may_pay; });
  if (compared == 0) return {};
  return fmt::format(
      "{}{} compared{}{}.", compared < measured ? fmt::format("{} of ", compared) : "",
      report::format_count(measured, "setting"),
      open == 0 ? "" : fmt::format("; more samples are needed to show the gain at {}", open),
      undecided_text(all.recommendations));
}

/// The fits of the algorithms to use, where there is one collective.
std::string fits_text(const std::map<std::string, BySize>& found,
                      const std::map<CollectiveAndStrategy, LatencyFit>& fits) {
  if (found.size() != 1) return {};
  const auto& [collective, by_size] = *found.begin();
  std::string text;
  for (const std::string& use : std::set(by_size.use.begin(), by_size.use.end())) {
    const auto fit = fits.find({collective, use});
    if (fit != fits.end()) text += fmt::format(" ({}: {})", use, fit_text(fit->second));
  }
  return text;
}

/// What all collectives say together, in the order of their names.
std::string text_of(const std::map<std::string, BySize>& found, const Recommended& all,
                    const std::map<CollectiveAndStrategy, LatencyFit>& fits) {
  std::string choices = choices_text(found);
  if (!choices.empty()) {
    choices += fmt::format("{}. {}", fits_text(found, fits), coverage_text(all));
  } else if (!undecided_text(all.recommendations).empty()) {
    choices = coverage_text(all);
  }
  std::vector<std::string> sentences{std::move(choices)};
  for (const auto& [key, fit] : fits) {
    if (key.first != link_collective) continue;
    const std::string by = key.second == link_algorithm ? "" : " by " + key.second;
    sentences.push_back(
        fmt::format("One message to a neighbour (send-recv{}): {}.", by, fit_text(fit)));
  }
  return joined_sentences(sentences);
}

}  // namespace

std::int64_t calls_in(const CaseSpec& spec) {
  const Value* calls = spec.parameters.find("calls");
  return calls == nullptr ? 1 : std::get<std::int64_t>(*calls);
}

Conclusion collectives_answer(const std::vector<CaseOutcome>& outcomes,
                              const PossiblyFastest& possibly_fastest) {
  const auto fits = fits_of(outcomes);
  const Outcomes compared = outcomes_where(
      outcomes, [](const CaseOutcome& one) { return collective_of(one.spec) != link_collective; });
  std::map<std::string, BySize> found;
  std::set<CollectiveAndStrategy> remarked;
  Recommended all;
  std::vector<SameWork> groups = same_work(compared, {"collective", "size", "calls"});
  std::ranges::stable_sort(groups, {}, [](const SameWork& group) {
    const CaseSpec& spec = group.cases.front()->spec;
    return std::pair(collective_of(spec), size_of_case(spec));
  });
  for (const SameWork& group : groups) {
    const CaseSpec spec = group.cases.front()->spec;
    report::Recommendation one = recommend(group, wording_of_algorithms(), possibly_fastest);
    if (!group.setting.empty()) one.setting = setting_text(spec);
    const std::string use = one.candidates.front().label;
    const CollectiveAndStrategy key{collective_of(spec), use};
    const auto fit = fits.find(key);
    if (fit != fits.end() && one.gain && remarked.insert(key).second) {
      one.remark = fit_text(fit->second);
    }
    if (one.gain && !spec.graph && payoff_of(one) != report::Payoff::undecided) {
      found[key.first].sizes.push_back(size_of_case(spec));
      found[key.first].use.push_back(use);
    }
    all.add(std::move(one));
  }
  std::string text = text_of(found, all, fits);
  if (text.empty()) {
    return {
        .text =
            "Neither direct and another algorithm of a collective were measured, nor three sizes "
            "of a message with one that is small enough to show its latency, so there is no "
            "answer.",
        .is_answered = false};
  }
  return {.text = std::move(text), .recommendations = std::move(all.recommendations)};
}

}  // namespace parbench
