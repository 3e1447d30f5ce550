// Pairs the cases of two reports.
#include "reports/compare/match.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "reports/compare/processes.h"
#include "reports/io/json.h"
#include "reports/model/fingerprint.h"

namespace parbench::compare {
namespace {

using report::CaseResult;
using report::CaseStatus;
using report::difference_text;
using report::Report;
using Json = report::Json;

std::string dumped(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// Returns a value as text, which differs for 1.0 and 1.
std::string text_of(const report::Value& value) {
  return std::visit([](const auto& v) { return dumped(Json(v)); }, value);
}

using Texts = std::map<std::string, std::string>;

Texts parameters_of(const CaseResult& c) {
  Texts texts;
  for (const auto& [name, value] : c.parameters) texts[name] = text_of(value);
  return texts;
}

/// Returns a text that is equal for cases of the same identity only, see `match`.
std::string identity_of(const CaseResult& c) {
  return dumped(Json{c.scenario, c.strategy, c.dtype, c.graph, parameters_of(c)});
}

/// Returns a text that is equal for cases that differ at most in number format, graph and name.
std::string kinship_of(const CaseResult& c) {
  return dumped(Json{c.scenario, c.strategy, parameters_of(c)});
}

std::string difference_of_parameters(const CaseResult& base, const CaseResult& now) {
  const Texts before = parameters_of(base);
  const Texts after = parameters_of(now);
  for (const auto& [name, value] : before) {
    const auto other = after.find(name);
    if (other == after.end()) return difference_text("parameter " + name, value, "none");
    if (other->second != value) return difference_text("parameter " + name, value, other->second);
  }
  for (const auto& [name, value] : after) {
    if (!before.contains(name)) return difference_text("parameter " + name, "none", value);
  }
  return {};
}

/// Returns the first difference between two cases of different identity: "dtype: f32 before, bf16
/// now".
std::string difference_of_cases(const CaseResult& base, const CaseResult& now) {
  if (base.scenario != now.scenario)
    return difference_text("scenario", base.scenario, now.scenario);
  if (base.strategy != now.strategy)
    return difference_text("strategy", base.strategy, now.strategy);
  if (base.dtype != now.dtype) return difference_text("dtype", base.dtype, now.dtype);
  if (base.graph != now.graph) {
    return difference_text("captured into a graph", base.graph ? "yes" : "no",
                           now.graph ? "yes" : "no");
  }
  return difference_of_parameters(base, now);
}

std::string difference_of_runs(const Report& base, const Report& now) {
  for (const auto& [report, side] : {std::pair(&base, "BASE"), std::pair(&now, "NEW")}) {
    if (is_profile(*report)) {
      return fmt::format(
          "{} was measured for a profiler (--for-profiler): three executions of each case", side);
    }
  }
  return {};
}

/// Returns why a case was not measured; empty if it failed or was skipped without a recorded error.
std::string cause_of(const CaseResult& c) {
  if (!c.error.empty() || c.status != CaseStatus::not_run) return c.error;
  if (is_left_out_of_time(c)) return "the time limit of the run was reached (--max-total-time)";
  if (has_equal_plan(c)) return "another case has the same plan";
  if (c.stopped_because == "device lost") return "a device was lost in another case";
  return "the run ended before";
}

/// Returns why a case has no usable time; empty if it has one. `side`: "BASE" or "NEW".
std::string trouble_of(const CaseResult& c, std::string_view side) {
  const auto because = [&](std::string_view what) {
    const std::string cause = cause_of(c);
    return cause.empty() ? fmt::format("{} in {}", what, side)
                         : fmt::format("{} in {}: {}", what, side, cause);
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
  const std::vector<double> times = processes_of(c).log_medians;
  if (times.empty()) return fmt::format("no samples in {}", side);
  const bool usable = std::ranges::all_of(times, [](double time) { return std::isfinite(time); });
  return usable ? std::string() : fmt::format("a process without a usable time in {}", side);
}

class Matcher {
 public:
  Matcher(const Report& base, const Report& now, bool allow_different_machine)
      : base_(base),
        now_(now),
        allow_different_machine_(allow_different_machine),
        difference_of_runs_(difference_of_runs(base, now)) {
    divide_candidates();
  }

  std::vector<Match> operator()() {
    std::vector<Match> matches;
    std::set<const CaseResult*> taken;
    for (const CaseResult& c : base_.cases) {
      matches.push_back(match_of(c));
      taken.insert(matches.back().now);
    }
    for (const CaseResult& c : now_.cases) {
      if (!taken.contains(&c)) matches.push_back(with_state(nullptr, &c, MatchState::only_now));
    }
    return matches;
  }

 private:
  /// Divides the cases of NEW into those with an equal case in BASE, those with the name of a case
  /// there, and others.
  void divide_candidates() {
    std::set<std::string> identities;
    std::set<std::string> names;
    for (const CaseResult& c : base_.cases) {
      identities.insert(identity_of(c));
      names.insert(c.name);
    }
    for (const CaseResult& c : now_.cases) {
      const std::string identity = identity_of(c);
      if (identities.contains(identity)) {
        by_identity_.emplace(identity, &c);
      } else if (names.contains(c.name)) {
        by_name_.emplace(c.name, &c);
      } else {
        kin_.emplace(kinship_of(c), &c);
      }
    }
  }

  Match match_of(const CaseResult& base) {
    if (const auto same = by_identity_.find(identity_of(base)); same != by_identity_.end()) {
      return judged(base, *same->second);
    }
    const auto namesake = by_name_.find(base.name);
    if (namesake != by_name_.end()) return different(base, *namesake->second);
    const auto kin = kin_.find(kinship_of(base));
    if (kin == kin_.end()) return with_state(&base, nullptr, MatchState::only_base);
    return different(base, *kin_.extract(kin).mapped());
  }

  static Match different(const CaseResult& base, const CaseResult& now) {
    return with_state(&base, &now, MatchState::not_comparable, difference_of_cases(base, now));
  }

  Match judged(const CaseResult& base, const CaseResult& now) {
    const std::string before = trouble_of(base, "BASE");
    const std::string after = trouble_of(now, "NEW");
    const std::string& trouble = after.empty() ? before : after;
    if (!trouble.empty()) return with_state(&base, &now, MatchState::not_measured, trouble);
    std::string difference = difference_of_runs_;
    if (difference.empty()) difference = difference_of_machines(base.scenario);
    const MatchState state =
        difference.empty() ? MatchState::comparable : MatchState::not_comparable;
    return with_state(&base, &now, state, std::move(difference));
  }

  /// Builds a match; a failure of `now` overrides the given state and reason.
  static Match with_state(const CaseResult* base, const CaseResult* now, MatchState state,
                          std::string reason = {}) {
    if (now != nullptr && now->status == CaseStatus::failed) {
      return {MatchState::failed_now, base, now, trouble_of(*now, "NEW")};
    }
    return {state, base, now, std::move(reason)};
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
  std::map<std::string, const CaseResult*> by_identity_;
  std::map<std::string, const CaseResult*> by_name_;
  std::multimap<std::string, const CaseResult*> kin_;  // cases not yet paired, by `kinship_of`
  std::map<std::string, std::string> machines_;        // difference of the machines, by scenario
};

bool is_of_one_program(const Report& report) {
  const auto& cases = report.cases;
  return !cases.empty() && std::ranges::all_of(cases, [&](const CaseResult& c) {
    return c.scenario == cases.front().scenario;
  });
}

}  // namespace

std::string_view to_string(MatchState state) {
  constexpr std::array<std::string_view, 6> names{"comparable",     "failed_now", "not_measured",
                                                  "not_comparable", "only_base",  "only_now"};
  return names.at(static_cast<std::size_t>(state));
}

void unite_programs(Report& base, const Report& now) {
  const bool both_foreign = !base.measured_by.empty() && !now.measured_by.empty();
  if (!both_foreign || !is_of_one_program(base) || !is_of_one_program(now)) return;
  for (CaseResult& c : base.cases) c.scenario = now.cases.front().scenario;
}

std::vector<Match> match(const Report& base, const Report& now, bool allow_different_machine) {
  return Matcher(base, now, allow_different_machine)();
}

}  // namespace parbench::compare
