// Adds later runs to the first one.
#include "reports/io/pooled.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "kernels/base/error.h"
#include "reports/io/json.h"
#include "reports/model/fingerprint.h"
#include "reports/model/notes.h"
#include "reports/statistics/conditions.h"
#include "reports/statistics/statistics.h"
#include "scenarios/plan/schedules/partition.h"

namespace parbench::report {
namespace {

/// Returns "run2.json", or "run 2" without a name.
std::string name_of_run(const std::vector<NamedRun>& runs, std::size_t index) {
  return runs[index].name.empty() ? fmt::format("run {}", index + 1) : runs[index].name;
}

std::set<std::string> scenarios_of(const Report& report) {
  std::set<std::string> scenarios;
  for (const CaseResult& c : report.cases) scenarios.insert(c.scenario);
  return scenarios;
}

/// Returns the first difference of two runs' machines in a common scenario; empty if there is none.
std::string machine_difference(const Report& first, const std::set<std::string>& of_first,
                               const Report& later) {
  for (const std::string& scenario : scenarios_of(later)) {
    if (!of_first.contains(scenario)) continue;
    std::string found = difference(fingerprint(first, scenario), fingerprint(later, scenario));
    if (!found.empty()) return found;
  }
  return {};
}

/// Finds runs that have the start and samples of an earlier run.
class Copies {
 public:
  explicit Copies(const std::vector<NamedRun>& runs) : runs_(runs) {}

  /// Throws UsageError for a copy of a run that was checked before.
  void check(std::size_t index) {
    const Report& run = runs_[index].report;
    const auto sampled =
        std::ranges::find_if_not(run.cases, [](const CaseResult& c) { return c.samples.empty(); });
    if (sampled == run.cases.end()) return;
    std::vector<std::size_t>& candidates = indices_[fmt::format(
        "{} {} {}", run.started_utc, run.cases.size(), sampled->samples.front().seconds)];
    for (const std::size_t known : candidates) {
      if (runs_[known].report.cases != run.cases) continue;
      throw UsageError(fmt::format("{} has the samples of {} again; leave the copy out",
                                   name_of_run(runs_, index), name_of_run(runs_, known)));
    }
    candidates.push_back(index);
  }

 private:
  const std::vector<NamedRun>& runs_;
  /// Indices in `runs_` by start, number of cases and first sample, which are equal in copies.
  std::unordered_map<std::string, std::vector<std::size_t>> indices_;
};

void check_poolable(const std::vector<NamedRun>& runs, bool allow_different_machine) {
  const Report& first = runs.front().report;
  const std::set<std::string> scenarios = scenarios_of(first);
  Copies copies(runs);
  copies.check(0);
  for (std::size_t i = 1; i < runs.size(); ++i) {
    const Report& later = runs[i].report;
    const std::string name = name_of_run(runs, i);
    if (first.measured_by.empty() != later.measured_by.empty()) {
      throw UsageError(fmt::format("{} was measured by {} and {} by {}; pool runs of one program",
                                   name_of_run(runs, 0), program_of(first), name,
                                   program_of(later)));
    }
    copies.check(i);
    if (allow_different_machine) continue;
    const std::string machines = machine_difference(first, scenarios, later);
    if (machines.empty()) continue;
    throw UsageError(fmt::format(
        "{} and {} are of different machines ({}); {}", name_of_run(runs, 0), name, machines,
        runs[i].name.empty() ? "split the file into one for each machine"
                             : "pool runs of one machine, or give --allow-different-machine"));
  }
}

struct PooledCase {
  CaseResult result;
  int runs = 0;
  int troubled = 0;  // number of runs in which the case failed or was skipped
};

bool is_troubled(const CaseResult& c) {
  return c.status == CaseStatus::failed || c.status == CaseStatus::skipped;
}

/// Removes figures that apply to one run only.
CaseResult without_figures_of_run(CaseResult c) {
  c.speedup.reset();
  c.metrics.clear();
  c.bound.reset();
  c.efficiency = 0;
  c.profile.reset();
  return c;
}

/// Adds an item to a text such as "release and debug", unless the text has it.
void add_item(std::string& items, const std::string& item) {
  constexpr std::string_view separator = " and ";
  for (std::size_t begin = 0; begin <= items.size();) {
    const std::size_t end = std::min(items.find(separator, begin), items.size());
    if (items.substr(begin, end - begin) == item) return;
    begin = end + separator.size();
  }
  items += std::string(separator) + item;
}

/// Adds named texts of a later run. Different texts are listed: "release and debug".
void add_texts(NamedTexts& known, const NamedTexts& later) {
  for (const auto& [key, value] : later) {
    const auto found = std::ranges::find(known, key, &NamedTexts::value_type::first);
    if (found == known.end()) {
      known.emplace_back(key, value);
    } else {
      add_item(found->second, value);
    }
  }
}

/// Adds the case of a later run. The pooled status is the first of these that a run has: failed,
/// skipped, measured, not run.
void add_case(PooledCase& pool, CaseResult later) {
  CaseResult& known = pool.result;
  ++pool.runs;
  if (is_troubled(later)) ++pool.troubled;
  const bool is_worse =
      is_troubled(later) && known.status != CaseStatus::failed && !(known.status == later.status);
  const bool is_first_number = known.status == CaseStatus::not_run;
  if (is_worse || is_first_number) {
    std::swap(known, later);
    std::swap(known.samples, later.samples);
  }
  if (const std::string cut = cut_of(later); !cut.empty()) {
    add_texts(known.notes, {{std::string(cut_note), cut}});
  }
  std::ranges::move(later.samples, std::back_inserter(known.samples));
}

void finish(PooledCase& pool) {
  CaseResult& c = pool.result;
  if (is_troubled(c)) {
    if (pool.troubled < pool.runs) {
      c.error = fmt::format("in {} of {} runs{}{}", pool.troubled, pool.runs,
                            c.error.empty() ? "" : ": ", c.error);
    }
    c.samples.clear();
  }
  summarise_conditions(c);
  if (c.status != CaseStatus::measured || c.samples.empty()) return;
  c.statistics = summarise(Samples(c.samples));
  if (c.amount > 0) c.throughput = c.amount / c.statistics->median;
}

/// The next free numbers of processes and rounds.
struct NextNumbers {
  int process = 0;
  int round = 0;

  /// Renumbers the samples of a run to follow those of earlier runs.
  void number(Report& run) {
    NextNumbers next = *this;
    for (CaseResult& c : run.cases) {
      for (Sample& sample : c.samples) {
        sample.process += process;
        sample.round += round;
        next.process = std::max(next.process, sample.process + 1);
        next.round = std::max(next.round, sample.round + 1);
      }
    }
    *this = next;
  }
};

class Pool {
 public:
  explicit Pool(std::size_t runs) : runs_(runs) {}

  void add(NamedRun run) {
    next_.number(run.report);
    for (CaseResult& c : run.report.cases) add(without_figures_of_run(std::move(c)));
    for (FileNote& note : run.report.file_notes) {
      if (!run.name.empty()) note.first = fmt::format("{}, {}", run.name, note.first);
    }
    run.report.cases.clear();
    if (is_empty_) {
      report_ = std::move(run.report);
      is_empty_ = false;
    } else {
      add(std::move(run.report));
    }
  }

  Report finished() {
    report_.answers.clear();
    report_.findings.clear();
    report_.published.clear();
    std::map<std::string, int> names;
    for (const PooledCase& pool : cases_) ++names[pool.result.name];
    const auto distinct_name = [&](const CaseResult& c) {
      const std::string name = c.scenario + '/' + c.name;
      std::string text = name;
      for (int number = 2; names.contains(text); ++number) {
        text = fmt::format("{} ({})", name, number);
      }
      ++names[text];
      return text;
    };
    for (PooledCase& pool : cases_) {
      finish(pool);
      CaseResult& c = pool.result;
      if (static_cast<std::size_t>(pool.runs) < runs_) {
        add_file_note(report_.file_notes, "cases are not in every run",
                      fmt::format("{} is in {} of {}", c.name, pool.runs, runs_));
      }
      if (names[c.name] > 1) c.name = distinct_name(c);
      report_.cases.push_back(std::move(c));
    }
    return std::move(report_);
  }

 private:
  void add(CaseResult c) {
    const auto [known, is_new] = indices_.try_emplace({c.scenario, c.name}, cases_.size());
    if (!is_new) return add_case(cases_[known->second], std::move(c));
    PooledCase& pool = cases_.emplace_back();
    pool.runs = 1;
    pool.troubled = is_troubled(c) ? 1 : 0;
    pool.result = std::move(c);
  }

  void add(Report later) {
    report_.complete = report_.complete && later.complete;
    if (report_.started_utc.empty() ||
        (!later.started_utc.empty() && later.started_utc < report_.started_utc)) {
      report_.started_utc = later.started_utc;
    }
    add_duration(later);
    report_.sampling_seconds += later.sampling_seconds;
    report_.task_cost_seconds += later.task_cost_seconds;
    report_.preparation_seconds += later.preparation_seconds;
    report_.verification_seconds += later.verification_seconds;
    report_.profiling_seconds += later.profiling_seconds;
    std::ranges::move(later.processes, std::back_inserter(report_.processes));
    if (is_profile(later)) report_.options = std::move(later.options);
    for (FileNote& note : later.file_notes) {
      add_file_note(report_.file_notes, note.what, std::move(note.first), note.count);
    }
    add_texts(report_.machine.circumstances, later.machine.circumstances);
    if (later.machine.commit != report_.machine.commit) {
      add_file_note(report_.file_notes, "runs are of different commits",
                    fmt::format("{} and {}", report_.machine.commit.value_or("unknown"),
                                later.machine.commit.value_or("unknown")));
    }
  }

  /// Adds the duration of a run. The share that a quota withheld becomes the mean, weighted by
  /// duration.
  void add_duration(const Report& later) {
    const double lost =
        report_.quota_lost * report_.duration_seconds + later.quota_lost * later.duration_seconds;
    report_.duration_seconds += later.duration_seconds;
    if (report_.duration_seconds > 0) report_.quota_lost = lost / report_.duration_seconds;
  }

  std::size_t runs_;
  Report report_;
  bool is_empty_ = true;
  NextNumbers next_;
  std::vector<PooledCase> cases_;
  // indices in `cases_`, by scenario and name
  std::map<std::pair<std::string, std::string>, std::size_t> indices_;
};

}  // namespace

Report pooled(std::vector<NamedRun> runs, bool allow_different_machine) {
  if (runs.size() == 1) return std::move(runs.front().report);
  check_poolable(runs, allow_different_machine);
  Pool pool(runs.size());
  for (NamedRun& run : runs) pool.add(std::move(run));
  Report report = pool.finished();
  check_report(report, "cases");
  return report;
}

}  // namespace parbench::report
