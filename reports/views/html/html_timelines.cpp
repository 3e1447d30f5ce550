// Selects and packs timelines.
#include "reports/views/html/html_timelines.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "kernels/base/units/units.h"
#include "reports/io/json_list.h"
#include "reports/model/ceilings.h"
#include "reports/model/notes.h"
#include "reports/views/html/html_data.h"
#include "reports/views/html/packed_numbers.h"

namespace parbench::report {
namespace {

/// Max length of a timeline in units. A unit is the shortest of 1 ns, 10 ns, 100 ns, … for which
/// the length does not exceed this limit; it is at most a millionth of a longer timeline, which is
/// below any gap that a zoom shows.
constexpr Nanoseconds max_units = 10'000'000;

/// Phases with a colour of their own. Colours are numbered as in reports/web/src/timeline/model.ts:
/// the kinds of tasks, then these phases.
constexpr std::array<std::string_view, 3> bar_phases{"forward", "backward", "update"};
constexpr std::size_t bar_colours = task_kinds.size() + bar_phases.size();

std::size_t bar_colour(const Task& task) {
  const auto* const phase = std::ranges::find(bar_phases, task.phase);
  if (phase == bar_phases.end()) return static_cast<std::size_t>(task.kind);
  return task_kinds.size() + static_cast<std::size_t>(phase - bar_phases.begin());
}

/// Max number of cases named for one reason of a missing timeline.
constexpr std::size_t max_named = 3;

/// Returns the length of a unit in nanoseconds for a timeline of this length.
Nanoseconds unit_for(Nanoseconds length) {
  Nanoseconds unit = 1;
  while (length > max_units * unit) unit *= 10;
  return unit;
}

/// A list of distinct items, to which calls refer by index.
template <class T>
class Pool {
 public:
  std::size_t index_of(const T& thing) {
    const auto [known, is_new] = indices_.try_emplace(thing, things_.size());
    if (is_new) things_.push_back(thing);
    return known->second;
  }
  [[nodiscard]] std::size_t count() const { return things_.size(); }
  /// Returns the size of the items from an index on, as JSON with commas.
  [[nodiscard]] std::size_t bytes_from(std::size_t index) const {
    std::size_t bytes = 0;
    for (; index < things_.size(); ++index) bytes += Json(things_[index]).dump().size() + 1;
    return bytes;
  }
  void forget_from(std::size_t index) {
    for (; things_.size() > index; things_.pop_back()) indices_.erase(things_.back());
  }
  [[nodiscard]] const std::vector<T>& list() const { return things_; }

 private:
  std::vector<T> things_;
  std::map<T, std::size_t> indices_;
};

/// Data to which the calls of all timelines of a scenario refer: the cases of a sweep have most
/// names and work in common.
struct Shared {
  Pool<std::string> names;
  Pool<std::array<double, 2>> work;  // FLOPs and bytes
};

/// Packs the calls of one timeline as numbers. Times of begin and enqueueing are differences to
/// those of the previous call.
class CallPacker {
 public:
  CallPacker(const Timeline& timeline, Shared& shared, Nanoseconds unit)
      : timeline_(timeline), shared_(shared), unit_(unit) {}

  std::string pack() {
    const std::vector<TimedCall>& calls = timeline_.calls;
    for (std::size_t i = 0; i < calls.size(); ++i) first_call_.try_emplace(calls[i].task, i);
    for (std::size_t i = 0; i < calls.size(); ++i) add(calls[i], i);
    return packed_.take();
  }

 private:
  void add(const TimedCall& call, std::size_t index) {
    const Task& task = timeline_.graph.task(call.task);
    const std::int64_t begin = units(call.ran.begin);
    const std::int64_t enqueued =
        units(std::clamp(call.enqueued.end, timeline_.begin, call.ran.begin));
    packed_.add(static_cast<std::uint64_t>(call.lane) * bar_colours + bar_colour(task));
    packed_.add(task.micro_batch ? static_cast<std::uint64_t>(std::max(*task.micro_batch, 0)) + 1
                                 : 0);
    packed_.add(shared_.names.index_of(task.name));
    packed_.add(shared_.work.index_of({counted(call.work.flops), counted(call.work.bytes)}));
    packed_.add(static_cast<std::uint64_t>(begin - begin_));
    packed_.add(static_cast<std::uint64_t>(units(call.ran.end) - begin));
    packed_.add_signed(enqueued - enqueued_);
    packed_.add(index - first_call_.at(call.task));
    add_dependencies(task, index);
    begin_ = begin;
    enqueued_ = enqueued;
  }

  /// Adds the distances, in calls, to the first calls of a task's dependencies. A distance may be
  /// negative if the clocks of devices differ.
  void add_dependencies(const Task& task, std::size_t index) {
    std::vector<std::int64_t> distances;
    for (const TaskId before : task.after) {
      const auto found = first_call_.find(before);
      if (found == first_call_.end()) continue;
      distances.push_back(static_cast<std::int64_t>(index) -
                          static_cast<std::int64_t>(found->second));
    }
    packed_.add(distances.size());
    for (const std::int64_t distance : distances) packed_.add_signed(distance);
  }

  /// Replaces numbers that are not finite, which a report has as null, by 0.
  static double counted(double amount) { return std::isfinite(amount) ? amount : 0; }

  /// Returns a time in rounded units; `time` is not before the beginning of the timeline.
  [[nodiscard]] std::int64_t units(Nanoseconds time) const {
    return (time - timeline_.begin + unit_ / 2) / unit_;
  }

  const Timeline& timeline_;
  Shared& shared_;
  Nanoseconds unit_;
  std::unordered_map<TaskId, std::size_t> first_call_;
  PackedNumbers packed_;
  std::int64_t begin_ = 0;  // begin of the previous call
  std::int64_t enqueued_ = 0;
};

Json devices_of_lanes(const PlanGraph& graph) {
  const std::vector<std::string> devices = graph.devices();
  return json_list(graph.lanes, [&](const Lane& lane) {
    return std::ranges::find(devices, lane.device) - devices.begin();
  });
}

/// Returns the peaks of each device by kind of task, in FLOP/s and B/s; null if none is known.
Json peaks_of_devices(const Report& report, const CaseResult& c) {
  Json list = Json::array();
  bool known = false;
  const auto or_null = [](const std::optional<double>& value) {
    return value ? short_number(*value) : Json();
  };
  for (const std::string& device : c.profile->timeline->graph.devices()) {
    const Ceilings ceilings = ceilings_of(report, c, device);
    known = known || ceilings.known();
    Json& own = list.emplace_back(Json::array());
    for (const TaskKind kind : task_kinds) {
      own.push_back({or_null(ceilings.flops(kind)), or_null(ceilings.bytes(kind))});
    }
  }
  return known ? list : Json();
}

/// The packed timelines of one scenario.
class ScenarioTimelines {
 public:
  explicit ScenarioTimelines(const ScenarioCases& group)
      : report_(group.report), cases_(&group.cases) {
    for (std::size_t row = 0; row < cases_->size(); ++row) {
      rows_.emplace((*cases_)[row]->name, row);
    }
  }

  /// Adds the timeline of a case, or the reason why there is none or it does not fit. Returns the
  /// remaining room.
  std::size_t add(std::size_t row, std::size_t room) {
    const CaseResult& c = *(*cases_)[row];
    if (!c.profile) return without(reason_without_profile(c), row, room);
    if (!c.profile->timeline) return without(too_many_tasks(), row, room);
    const std::size_t names_before = shared_.names.count();
    const std::size_t work_before = shared_.work.count();
    Json timeline = packed(c, row);
    const std::size_t bytes = timeline.dump().size() + shared_.names.bytes_from(names_before) +
                              shared_.work.bytes_from(work_before);
    if (bytes > room) {
      shared_.names.forget_from(names_before);
      shared_.work.forget_from(work_before);
      return without("the timelines of this page have reached its size limit", row, room);
    }
    timelines_.emplace(row, std::move(timeline));
    return room - bytes;
  }

  /// `first`: the row of the case that is shown first.
  [[nodiscard]] Json data(std::optional<std::size_t> first) const {
    Json json{{"names", shared_.names.list()},
              {"work", shared_.work.list()},
              {"cases", Json::array()},
              {"without", Json::array()}};
    for (const auto& [row, timeline] : timelines_) json["cases"].push_back(timeline);
    if (first && timelines_.contains(*first)) json["first"] = *first;
    for (const auto& [reason, missing] : without_) {
      json["without"].push_back(
          {{"reason", reason}, {"count", missing.count}, {"rows", missing.rows}});
    }
    return json;
  }

 private:
  struct Missing {
    std::size_t count = 0;
    std::vector<std::size_t> rows;  // rows of the first `max_named` cases
  };

  static std::string too_many_tasks() {
    return fmt::format("its plan has more than {} tasks", max_reported_tasks);
  }

  std::size_t without(const std::string& reason, std::size_t row, std::size_t room) {
    Missing& missing = without_[reason];
    if (++missing.count <= max_named) missing.rows.push_back(row);
    return room;
  }

  Json packed(const CaseResult& c, std::size_t row) {
    const Timeline& timeline = *c.profile->timeline;
    const Nanoseconds unit = unit_for(timeline.length());
    Json json{{"row", row},
              {"unit", seconds_of(unit)},
              {"length", (timeline.length() + unit / 2) / unit}};
    if (c.speedup) {
      const auto baseline = rows_.find(c.speedup->baseline);
      if (baseline != rows_.end()) json["baseline"] = baseline->second;
    }
    json["lanes"] = json_list(timeline.graph.lanes, &Lane::name);
    json["devices"] = devices_of_lanes(timeline.graph);
    json["shares"] = profile_text(*c.profile);
    json["peaks"] = peaks_of_devices(*report_, c);
    json["spans"] = CallPacker(timeline, shared_, unit).pack();
    return json;
  }

  const Report* report_;
  const Cases* cases_;
  std::unordered_map<std::string, std::size_t> rows_;  // rows by name of the case
  Shared shared_;
  std::map<std::size_t, Json> timelines_;  // packed timelines by row
  std::map<std::string, Missing> without_;
};

/// Returns the case with the gain of the answer's first recommendation; without one, the case with
/// the largest speedup; null without speedups.
const CaseResult* named_first(const ScenarioCases& group) {
  const Answer* answer = find_answer(*group.report, group.scenario);
  const CaseResult* best = nullptr;
  for (const CaseResult* c : group.cases) {
    if (!has_number(*c)) continue;
    if (answer != nullptr && !answer->recommendations.empty()) {
      const auto& gaining = answer->recommendations.front().gaining;
      if (gaining && gaining->name == c->name) return c;
    }
    if (!c->speedup) continue;
    if (best == nullptr || c->speedup->value > best->speedup->value) best = c;
  }
  return best;
}

struct Candidate {
  std::size_t scenario = 0;
  std::size_t row = 0;
  int rank = 0;
};

/// Returns the cases with a number in the order in which their timelines are added.
std::vector<Candidate> candidates(const std::vector<ScenarioCases>& scenarios) {
  std::vector<Candidate> list;
  for (std::size_t i = 0; i < scenarios.size(); ++i) {
    const Cases& cases = scenarios[i].cases;
    const CaseResult* best = named_first(scenarios[i]);
    const Baselines baselines(cases);
    for (std::size_t row = 0; row < cases.size(); ++row) {
      const CaseResult& c = *cases[row];
      if (!has_number(c)) continue;
      const bool own = best != nullptr && best->speedup && best->speedup->baseline == c.name;
      const int rank = &c == best ? 0 : own ? 1 : baselines.contains(c) ? 2 : 3;
      list.push_back({i, row, rank});
    }
  }
  std::ranges::stable_sort(list, {}, &Candidate::rank);
  return list;
}

std::optional<std::size_t> row_named_first(const ScenarioCases& group) {
  const auto found = std::ranges::find(group.cases, named_first(group));
  if (found == group.cases.end()) return std::nullopt;
  return static_cast<std::size_t>(found - group.cases.begin());
}

/// Returns "cpu:0 busy 12.0%, idle 88.0% (34.2% between tasks)" as shares of the whole time, a line
/// for each device, and one for the bus bandwidth.
std::vector<std::string> device_shares(const TimelineMetrics& metrics) {
  std::vector<std::string> lines;
  for (const DeviceMetrics& device : metrics.devices) {
    const auto share = [&](double seconds) { return format_percent(seconds / metrics.span); };
    lines.push_back(fmt::format("{} busy {}, idle {} ({} between tasks)", device.device,
                                share(device.busy), share(device.idle), share(device.bubble)));
    if (device.communication <= 0) continue;
    lines.back() += fmt::format(", communicates {} ({} without computing)",
                                share(device.communication), share(device.exposed_communication));
  }
  if (metrics.bus_bandwidth > 0) {
    lines.push_back("bus bandwidth " + format_rate(metrics.bus_bandwidth, "B"));
  }
  return lines;
}

}  // namespace

std::size_t timeline_room(std::size_t cases) {
  constexpr std::size_t min_cases_with_min_room = 100;
  constexpr std::size_t bytes_of_a_case = 1'500;  // row and samples of a case
  return 300'000 - bytes_of_a_case * std::min(cases, min_cases_with_min_room);
}

std::vector<Json> timelines_data(const std::vector<ScenarioCases>& scenarios, std::size_t room) {
  std::vector<ScenarioTimelines> timelines;
  for (const ScenarioCases& group : scenarios) timelines.emplace_back(group);
  for (const auto& [scenario, row, rank] : candidates(scenarios)) {
    room = timelines[scenario].add(row, room);
  }
  std::vector<Json> data;
  for (std::size_t i = 0; i < scenarios.size(); ++i) {
    const Cases& cases = scenarios[i].cases;
    const bool any =
        std::ranges::any_of(cases, [](const CaseResult* c) { return c->profile.has_value(); });
    data.push_back(any ? timelines[i].data(row_named_first(scenarios[i])) : Json());
  }
  return data;
}

std::string profile_text(const Profile& profile) {
  std::string text = fmt::format("{}", fmt::join(device_shares(profile.metrics), "; "));
  if (!profile.deviation) return text;
  return fmt::format("{}; not representative: this run {}", text, deviation_text(profile));
}

}  // namespace parbench::report
