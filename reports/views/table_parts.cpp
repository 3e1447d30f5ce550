// Parts of tables that do not depend on how a table is laid out.
#include "reports/views/table_parts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <map>
#include <string_view>

#include "reports/text/exit_text.h"
#include "reports/units/units.h"

namespace parbench::report {
std::vector<ScenarioCases> by_scenario(const Report& report) {
  std::vector<ScenarioCases> groups;
  for (const CaseResult& c : report.cases) {
    auto group = std::ranges::find(groups, c.scenario, &ScenarioCases::scenario);
    if (group == groups.end()) group = groups.insert(groups.end(), {&report, c.scenario, {}});
    group->cases.push_back(&c);
  }
  return groups;
}

const Answer* find_answer(const Report& report, const std::string& scenario) {
  const auto found = std::ranges::find(report.answers, scenario, &Answer::scenario);
  return found == report.answers.end() ? nullptr : &*found;
}

Baselines::Baselines(const Cases& cases) {
  for (const CaseResult* c : cases) {
    if (c->speedup) strategy_of_.emplace(c->speedup->baseline, c->speedup->baseline);
  }
  for (const CaseResult* c : cases) {
    if (const auto found = strategy_of_.find(c->name); found != strategy_of_.end()) {
      found->second = c->strategy;
    }
  }
  for (const auto& [name, strategy] : strategy_of_) strategies_.insert(strategy);
}

std::vector<std::string> memory_devices(const Cases& cases) {
  std::vector<std::string> names;
  for (const CaseResult* c : cases) {
    for (const auto& [device, bytes] : c->memory) {
      if (std::ranges::find(names, device) == names.end()) names.push_back(device);
    }
  }
  return names;
}

std::set<std::string> recommended_cases(const Report& report, const std::string& scenario) {
  std::set<std::string> names;
  const Answer* answer = find_answer(report, scenario);
  if (answer == nullptr) return names;
  for (const Recommendation& one : answer->recommendations) {
    if (one.pays && !one.candidates.empty()) names.insert(one.candidates.front().name);
  }
  return names;
}

std::vector<std::vector<std::string>> caption_lines(const std::vector<ParameterColumn>& columns,
                                                    const std::vector<std::string>& devices) {
  std::vector<std::vector<std::string>> lines;
  for (auto& [items, of] : common_parameters(columns)) {
    std::vector<std::string>& line = lines.emplace_back(items);
    if (!of.empty()) line.front().insert(0, of + ": ");
    if (of.empty() && !devices.empty()) {
      line.push_back(fmt::format("on {}", fmt::join(devices, ", ")));
    }
  }
  return lines;
}

std::string_view status_word(const CaseResult& c) {
  switch (c.status) {
    case CaseStatus::measured:
      return "no statistics";
    case CaseStatus::failed:
      return "failed";
    case CaseStatus::skipped:
      return "skipped";
    case CaseStatus::not_run:
      break;
  }
  return "not run";
}

std::string status_reason(const CaseResult& c) {
  if (c.status != CaseStatus::measured || c.statistics || !c.error.empty()) return c.error;
  return "measured, but the report lacks its \"statistics\"; take the report as the run has "
         "written "
         "it";
}

std::vector<std::string> label_items(const NamedTexts& labels) {
  std::vector<std::string> items;
  for (const auto& [key, value] : labels) items.push_back(key + ' ' + value);
  return items;
}

std::vector<std::string> machine_items(const Report& report) {
  const Machine& machine = report.machine;
  std::vector<std::string> items{program_of(report), machine.cpu_model};
  items.push_back(
      machine.cores_allowed.empty()
          ? fmt::format("{} cores", machine.cores_online)
          : fmt::format("{} of {} cores", machine.cores_allowed.size(), machine.cores_online));
  if (machine.memory_bytes > 0) {
    items.push_back(format_bytes(static_cast<double>(machine.memory_bytes)));
  }
  items.push_back(machine.operating_system);
  for (const auto& [name, version] : machine.libraries) {
    items.push_back(fmt::format("{} {}", name, version));
  }
  if (machine.commit) {
    items.push_back(fmt::format("commit {}{}", machine.commit->substr(0, 10),
                                machine.dirty.value_or(false) ? " with changes" : ""));
  }
  std::ranges::move(label_items(report.labels), std::back_inserter(items));
  std::erase_if(items, [](const std::string& item) { return item.empty(); });
  return items;
}

std::vector<std::string> process_errors(const Report& report) {
  constexpr std::array in_order{0, 1, signal_exit_code + SIGINT};  // as a run ends by itself
  std::vector<std::string> errors;
  for (std::size_t i = 0; i < report.processes.size(); ++i) {
    const Process& process = report.processes[i];
    const bool ended_in_order = std::ranges::find(in_order, process.exit_code) != in_order.end();
    if (process.error.empty() && ended_in_order) continue;
    errors.push_back(
        fmt::format("Process {} {}", i + 1,
                    process.error.empty() ? exit_text(process.exit_code) : process.error));
  }
  return errors;
}

std::size_t unfinished_cases(const Report& report) {
  if (report.complete) return 0;
  return static_cast<std::size_t>(std::ranges::count_if(report.cases, [](const CaseResult& c) {
    return c.status == CaseStatus::not_run || c.stopped_because == "unfinished";
  }));
}

bool ended_early(const Report& report) {
  if (report.complete) return false;
  const auto is_measured = [](const CaseResult& c) { return c.status == CaseStatus::measured; };
  if (unfinished_cases(report) > 0) return true;
  return process_errors(report).empty() && std::ranges::all_of(report.cases, is_measured);
}

std::string counts_text(const Report& report) {
  std::map<CaseStatus, int> counts;
  for (const CaseResult& c : report.cases) ++counts[c.status];
  std::string text = report.complete ? "" : "Incomplete: ";
  text += fmt::format("{} of {} {} measured", counts[CaseStatus::measured], report.cases.size(),
                      report.cases.size() == 1 ? "case" : "cases");
  if (!report.processes.empty()) {
    text += fmt::format(" in {} process{}", report.processes.size(),
                        report.processes.size() == 1 ? "" : "es");
  }
  const auto add = [&](CaseStatus status, std::string_view word) {
    if (counts[status] > 0) text += fmt::format(", {} {}", counts[status], word);
  };
  add(CaseStatus::failed, "failed");
  add(CaseStatus::skipped, "skipped");
  add(CaseStatus::not_run, "not run");
  if (!(report.duration_seconds > 0)) return text;
  const auto share = [&](double seconds) {
    return format_percent(seconds / report.duration_seconds, 0);
  };
  text += fmt::format(" · {}: {} in samples and warm-up", format_wait(report.duration_seconds),
                      share(report.sampling_seconds));
  return text + fmt::format(", {} measuring tasks alone", share(report.task_cost_seconds));
}

}  // namespace parbench::report
