// Pairs the cases of two reports.
#include "reports/compare/match.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "reports/compare/launches.h"
#include "reports/fingerprint.h"
#include "reports/json.h"

namespace parbench::compare {
namespace {

using report::Case;
using report::CaseStatus;
using report::Report;
using Json = report::Json;

std::string dumped(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// A number without a fraction is another value than a whole number: "1.0" and "1".
std::string text_of(const report::Value& value) {
  return std::visit([](const auto& v) { return dumped(Json(v)); }, value);
}

using Texts = std::map<std::string, std::string>;

Texts parameters_of(const Case& c) {
  Texts texts;
  for (const auto& [name, value] : c.parameters) texts[name] = text_of(value);
  return texts;
}

/// Equal for equal cases only.
std::string identity_of(const Case& c) {
  return dumped(Json{c.scenario, c.strategy, c.dtype, c.graph, parameters_of(c)});
}

std::string told(std::string_view what, std::string_view before, std::string_view now) {
  return fmt::format("{}: {} before, {} now", what, before, now);
}

std::string difference_of_parameters(const Case& base, const Case& now) {
  const Texts before = parameters_of(base);
  const Texts after = parameters_of(now);
  for (const auto& [name, value] : before) {
    const auto other = after.find(name);
    if (other == after.end()) return told("parameter " + name, value, "none");
    if (other->second != value) return told("parameter " + name, value, other->second);
  }
  for (const auto& [name, value] : after) {
    if (!before.contains(name)) return told("parameter " + name, "none", value);
  }
  return {};
}

/// Of two cases of one name and different identity.
std::string difference_of_cases(const Case& base, const Case& now) {
  if (base.scenario != now.scenario) return told("scenario", base.scenario, now.scenario);
  if (base.strategy != now.strategy) return told("strategy", base.strategy, now.strategy);
  if (base.dtype != now.dtype) return told("dtype", base.dtype, now.dtype);
  if (base.graph != now.graph) {
    return told("captured into a graph", base.graph ? "yes" : "no", now.graph ? "yes" : "no");
  }
  return difference_of_parameters(base, now);
}

std::string difference_of_runs(const Report& base, const Report& now) {
  for (const auto& [report, side] : {std::pair(&base, "BASE"), std::pair(&now, "NEW")}) {
    if (is_profile(*report)) {
      return fmt::format(
          "{} was measured for a profiler (--profile): three executions of each case", side);
    }
  }
  return {};
}

/// Why a case has no time; empty when it has one.
std::string trouble_of(const Case& c, std::string_view side) {
  const auto because = [&](std::string_view what) {
    return c.error.empty() ? fmt::format("{} in {}", what, side)
                           : fmt::format("{} in {}: {}", what, side, c.error);
  };
  switch (c.status) {
    case CaseStatus::failed:
      return because("failed");
    case CaseStatus::skipped:
      return because("skipped");
    case CaseStatus::not_run:
      return because("not run");
    case CaseStatus::measured:
      break;
  }
  const std::vector<double> times = launches_of(c).log_medians;
  if (times.empty()) return fmt::format("no samples in {}", side);
  const bool usable = std::ranges::all_of(times, [](double time) { return std::isfinite(time); });
  return usable ? std::string() : fmt::format("a launch without a usable time in {}", side);
}

class Matcher {
 public:
  Matcher(const Report& base, const Report& now, bool allow_different_machine)
      : base_(base),
        now_(now),
        allow_different_machine_(allow_different_machine),
        difference_of_runs_(difference_of_runs(base, now)) {
    for (const Case& c : now.cases) {
      by_identity_.emplace(identity_of(c), &c);
      by_name_.emplace(c.name, &c);
    }
  }

  std::vector<Match> operator()() {
    std::vector<Match> matches;
    std::set<const Case*> taken;
    for (const Case& c : base_.cases) {
      matches.push_back(match_of(c));
      taken.insert(matches.back().now);
    }
    for (const Case& c : now_.cases) {
      if (!taken.contains(&c)) matches.push_back(alone(nullptr, &c));
    }
    return matches;
  }

 private:
  Match match_of(const Case& base) {
    if (const auto same = by_identity_.find(identity_of(base)); same != by_identity_.end()) {
      return judged(base, *same->second);
    }
    const auto namesake = by_name_.find(base.name);
    if (namesake == by_name_.end()) return alone(&base, nullptr);
    return with_state(base, *namesake->second, MatchState::not_comparable,
                      difference_of_cases(base, *namesake->second));
  }

  Match judged(const Case& base, const Case& now) {
    const std::string before = trouble_of(base, "BASE");
    const std::string after = trouble_of(now, "NEW");
    const std::string& trouble = after.empty() ? before : after;
    if (!trouble.empty()) return with_state(base, now, MatchState::not_measured, trouble);
    std::string difference = difference_of_runs_;
    if (difference.empty()) difference = difference_of_machines(base.scenario);
    const MatchState state =
        difference.empty() ? MatchState::comparable : MatchState::not_comparable;
    return with_state(base, now, state, std::move(difference));
  }

  /// A failure goes before everything else.
  static Match with_state(const Case& base, const Case& now, MatchState state, std::string reason) {
    if (now.status == CaseStatus::failed) {
      return {MatchState::failed_now, &base, &now, trouble_of(now, "NEW")};
    }
    return {state, &base, &now, std::move(reason)};
  }

  static Match alone(const Case* base, const Case* now) {
    if (base != nullptr) return {MatchState::only_base, base, nullptr, {}};
    if (now->status == CaseStatus::failed) {
      return {MatchState::failed_now, nullptr, now, trouble_of(*now, "NEW")};
    }
    return {MatchState::only_now, nullptr, now, {}};
  }

  const std::string& difference_of_machines(const std::string& scenario) {
    const auto [known, is_new] = machines_.try_emplace(scenario);
    if (is_new && !allow_different_machine_) {
      known->second = difference(fingerprint(base_, scenario), fingerprint(now_, scenario));
      if (!known->second.empty()) {
        known->second =
            fmt::format("another machine (--allow-different-machine compares): {}", known->second);
      }
    }
    return known->second;
  }

  const Report& base_;
  const Report& now_;
  bool allow_different_machine_;
  std::string difference_of_runs_;
  std::map<std::string, const Case*> by_identity_;
  std::map<std::string, const Case*> by_name_;
  std::map<std::string, std::string> machines_;  // by scenario
};

}  // namespace

std::string_view to_string(MatchState state) {
  switch (state) {
    case MatchState::comparable:
      return "comparable";
    case MatchState::failed_now:
      return "failed_now";
    case MatchState::not_measured:
      return "not_measured";
    case MatchState::not_comparable:
      return "not_comparable";
    case MatchState::only_base:
      return "only_base";
    case MatchState::only_now:
      return "only_now";
  }
  return {};
}

std::vector<Match> match(const Report& base, const Report& now, bool allow_different_machine) {
  return Matcher(base, now, allow_different_machine)();
}

}  // namespace parbench::compare
