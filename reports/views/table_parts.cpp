// Builds parts of tables that do not depend on their layout.
#include "reports/views/table_parts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <csignal>

#include "kernels/base/units/units.h"
#include "reports/text/exit_text.h"
#include "reports/text/text.h"

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

std::string low_mark(const std::optional<Interval>& interval) {
  return std::string(is_low(interval) ? low_confidence_mark : "");
}

TableCell estimate_cell(const std::string& text, double value,
                        const std::optional<Interval>& interval) {
  const std::size_t blank = std::min(text.find(' '), text.size());
  return {.text = text.substr(0, blank),
          .range = text.substr(std::min(blank + 1, text.size())),
          .range_mark = low_mark(interval),
          .number = value};
}

TableCell ratio_cell(const Ratio& ratio) {
  const auto& interval = ratio.interval;
  TableCell cell = estimate_cell(interval ? format_ratio(ratio.value, interval->low, interval->high)
                                          : format_ratio(ratio.value),
                                 ratio.value, interval);
  if (!interval) cell.mark = single_round_mark;
  return cell;
}

std::vector<std::string> memory_devices(const Report& report, const Cases& cases) {
  std::vector<std::string> names;
  const auto combines = [&](const std::string& name) {
    return std::ranges::any_of(report.devices, [&](const Device& device) {
      return device.name == name && !device.combines.empty();
    });
  };
  for (const CaseResult* c : cases) {
    for (const auto& [device, bytes] : c->memory) {
      if (!combines(device) && std::ranges::find(names, device) == names.end())
        names.push_back(device);
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
  if (has_equal_plan(c)) return "same plan";
  return is_left_out_of_time(c) ? left_out_of_time : "not run";
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

namespace {

/// Returns items such as "oneDNN 3.9.0"; without a GPU driver, "cuda: no NVIDIA driver" instead of
/// the GPU libraries.
std::vector<std::string> library_items(const NamedTexts& libraries) {
  constexpr std::array of_gpus{"CUDA", "CUDA of the driver", "CUDA connections", "cuDNN", "cuBLAS",
                               "NCCL"};
  const bool has_no_driver =
      std::ranges::find(libraries, NamedTexts::value_type{"CUDA of the driver", "no driver"}) !=
      libraries.end();
  std::vector<std::string> items;
  for (const auto& [name, version] : libraries) {
    const bool is_left_out = has_no_driver && std::ranges::find(of_gpus, name) != of_gpus.end();
    if (!is_left_out) items.push_back(fmt::format("{} {}", name, version));
  }
  if (has_no_driver) items.emplace_back("cuda: no NVIDIA driver");
  return items;
}

}  // namespace

std::vector<std::string> machine_items(const Report& report) {
  const Machine& machine = report.machine;
  std::vector<std::string> items{program_of(report), machine.cpu_model};
  const std::string cores =
      machine.cores_online > 0 ? format_count(machine.cores_online, "core") : "";
  items.push_back(machine.cores_allowed.empty()
                      ? cores
                      : fmt::format("{} of {}", machine.cores_allowed.size(), cores));
  if (machine.cpu_quota) {
    items.push_back(fmt::format("CPU quota of {} cores", format_number(*machine.cpu_quota, 3)));
  }
  if (machine.memory_bytes > 0) {
    items.push_back(format_bytes(static_cast<double>(machine.memory_bytes)));
  }
  items.push_back(machine.operating_system);
  std::ranges::move(library_items(machine.libraries), std::back_inserter(items));
  for (const auto& [name, value] : machine.environment) {
    if (name.ends_with("MAX_CPU_ISA")) items.push_back(fmt::format("{}={}", name, value));
  }
  if (machine.commit) {
    items.push_back(fmt::format("commit {}{}", short_commit(*machine.commit),
                                machine.dirty.value_or(false) ? " with changes" : ""));
  }
  std::ranges::move(label_items(report.labels), std::back_inserter(items));
  std::erase_if(items, [](const std::string& item) { return item.empty(); });
  return items;
}

std::vector<std::string> process_errors(const Report& report) {
  // Exit codes of runs that did not crash: success, failure, interruption by the user.
  constexpr std::array in_order{0, 1, signal_exit_code + SIGINT, signal_exit_code + SIGTERM};
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
    const bool not_run = c.status == CaseStatus::not_run && !is_left_out(c);
    return not_run || c.stopped_because == "unfinished";
  }));
}

bool ended_early(const Report& report) {
  if (report.complete) return false;
  const auto is_measured = [](const CaseResult& c) {
    return c.status == CaseStatus::measured || is_left_out(c);
  };
  if (unfinished_cases(report) > 0) return true;
  return process_errors(report).empty() && std::ranges::all_of(report.cases, is_measured);
}

namespace {

/// Returns "59% in samples and warm-up", …; leaves out small parts. Reports of earlier versions
/// have only the first two parts.
std::vector<std::string> time_shares(const Report& report) {
  constexpr double smallest_share = 0.005;
  std::vector<std::string> texts;
  double rest = report.duration_seconds;
  const auto add = [&](double seconds, std::string_view words) {
    rest -= seconds;
    const double share = seconds / report.duration_seconds;
    if (share < smallest_share) return;
    texts.push_back(fmt::format("{} {}", format_percent(share, 0), words));
  };
  add(report.sampling_seconds, "in samples and warm-up");
  add(report.task_cost_seconds, "measuring tasks alone");
  add(report.preparation_seconds, "preparation");
  add(report.verification_seconds, "verification");
  add(report.profiling_seconds, "profiling");
  if (report.preparation_seconds > 0) add(rest, "other");
  return texts;
}

}  // namespace

std::string counts_text(const Report& report) {
  std::map<CaseStatus, int> counts;
  for (const CaseResult& c : report.cases) ++counts[c.status];
  const auto out_of_time = std::ranges::count_if(report.cases, is_left_out_of_time);
  const auto equal = std::ranges::count_if(report.cases, has_equal_plan);
  counts[CaseStatus::not_run] -= static_cast<int>(out_of_time + equal);
  std::string text = report.complete ? "" : "Incomplete: ";
  text += fmt::format("{} of {} measured", counts[CaseStatus::measured],
                      format_count(report.cases.size(), "case"));
  if (!report.processes.empty()) text += " in " + format_count(report.processes.size(), "process");
  const auto add = [&](CaseStatus status, std::string_view word) {
    if (counts[status] > 0) text += fmt::format(", {} {}", counts[status], word);
  };
  add(CaseStatus::failed, "failed");
  add(CaseStatus::skipped, "skipped");
  add(CaseStatus::not_run, "not run");
  if (equal > 0) text += fmt::format(", {} with the plan of another", equal);
  if (out_of_time > 0) text += fmt::format(", {} not measured: out of time", out_of_time);
  if (!(report.duration_seconds > 0)) return text;
  return text + fmt::format(" · {}: {}", format_wait(report.duration_seconds),
                            fmt::join(time_shares(report), ", "));
}

}  // namespace parbench::report
