// Choosing and packing of timelines.
#include "reports/html_timelines.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "reports/packed_numbers.h"
#include "reports/units.h"

namespace parbench::report {
namespace {

/// Times are whole numbers of a power of ten of nanoseconds, so that a case lasts no more than this
/// many: a ten-millionth of it is below what any zoom shows as a gap.
constexpr double most_units = 1e7;

/// Of the cases without timeline that share a reason, so many are named.
constexpr std::size_t most_named = 3;

bool is_drawable(const TaskSpan& span, const Profile& profile) {
  return span.lane >= 0 && static_cast<std::size_t>(span.lane) < profile.lanes.size() &&
         std::isfinite(span.end) && std::isfinite(span.enqueued) && span.begin >= 0 &&
         span.end >= span.begin;
}

/// By their beginning.
std::vector<const TaskSpan*> drawable_spans(const Profile& profile) {
  std::vector<const TaskSpan*> spans;
  for (const TaskSpan& span : profile.tasks) {
    if (is_drawable(span, profile)) spans.push_back(&span);
  }
  std::ranges::stable_sort(spans, {}, [](const TaskSpan* span) { return span->begin; });
  return spans;
}

/// Seconds from the beginning to the end of all.
double length_of(const Profile& profile, const std::vector<const TaskSpan*>& spans) {
  double length = std::isfinite(profile.span) ? profile.span : 0;
  for (const TaskSpan* span : spans) length = std::max(length, span->end);
  return length;
}

double unit_for(double seconds) {
  double unit = 1e-9;
  while (seconds > most_units * unit) unit *= 10;
  return unit;
}

std::uint64_t kind_index(const std::string& kind) {
  constexpr std::array<std::string_view, 3> kinds{"compute", "copy", "communication"};
  const auto found = std::ranges::find(kinds, kind);
  return found == kinds.end() ? 0 : static_cast<std::uint64_t>(found - kinds.begin());
}

/// Names of tasks, each once: chunks and sizes of a sweep share most of them.
class Names {
 public:
  std::size_t place_of(const std::string& name) {
    const auto [known, is_new] = places_.try_emplace(name, names_.size());
    if (is_new) names_.push_back(name);
    return known->second;
  }
  [[nodiscard]] std::size_t count() const { return names_.size(); }
  /// Of those from a place on, with quotes and comma.
  [[nodiscard]] std::size_t bytes_from(std::size_t place) const {
    std::size_t bytes = 0;
    for (; place < names_.size(); ++place) bytes += names_[place].size() + 3;
    return bytes;
  }
  void forget_from(std::size_t place) {
    for (; names_.size() > place; names_.pop_back()) places_.erase(names_.back());
  }
  [[nodiscard]] const std::vector<std::string>& list() const { return names_; }

 private:
  std::vector<std::string> names_;
  std::unordered_map<std::string, std::size_t> places_;
};

/// Packs the spans of one case, each as differences to what came before it.
class SpanPacker {
 public:
  SpanPacker(Names& names, double unit) : names_(names), unit_(unit) {}

  std::string pack(const std::vector<const TaskSpan*>& spans) {
    for (std::size_t i = 0; i < spans.size(); ++i) first_span_.try_emplace(spans[i]->task, i);
    for (std::size_t i = 0; i < spans.size(); ++i) add(*spans[i], i);
    return packed_.take();
  }

 private:
  void add(const TaskSpan& span, std::size_t index) {
    const std::int64_t begin = units(span.begin);
    const std::int64_t enqueued = units(std::clamp(span.enqueued, 0.0, span.begin));
    packed_.add(static_cast<std::uint64_t>(span.lane) * 3 + kind_index(span.kind));
    packed_.add(names_.place_of(span.name));
    packed_.add(static_cast<std::uint64_t>(begin - begin_));
    packed_.add(static_cast<std::uint64_t>(units(span.end) - begin));
    packed_.add_signed(enqueued - enqueued_);
    packed_.add(index - first_span_.at(span.task));
    dependencies(span, index);
    begin_ = begin;
    enqueued_ = enqueued;
  }

  /// As distances to the first span of each task; a clock of another device may put it behind.
  void dependencies(const TaskSpan& span, std::size_t index) {
    std::vector<std::int64_t> distances;
    for (const int task : span.after) {
      const auto found = first_span_.find(task);
      if (found == first_span_.end()) continue;
      distances.push_back(static_cast<std::int64_t>(index) -
                          static_cast<std::int64_t>(found->second));
    }
    packed_.add(distances.size());
    for (const std::int64_t distance : distances) packed_.add_signed(distance);
  }

  [[nodiscard]] std::int64_t units(double seconds) const { return std::llround(seconds / unit_); }

  Names& names_;
  double unit_;
  std::unordered_map<int, std::size_t> first_span_;  // by task
  PackedNumbers packed_;
  std::int64_t begin_ = 0;  // of the span before
  std::int64_t enqueued_ = 0;
};

/// Numbers the devices of lanes by their first lane.
Json devices_of_lanes(const Profile& profile) {
  std::map<std::string, std::size_t> known;
  Json list = Json::array();
  for (const LaneProfile& lane : profile.lanes) {
    list.push_back(known.try_emplace(lane.device, known.size()).first->second);
  }
  return list;
}

Json lane_names(const Profile& profile) {
  Json list = Json::array();
  for (const LaneProfile& lane : profile.lanes) list.push_back(lane.name);
  return list;
}

/// What there is of one scenario so far.
class ScenarioTimelines {
 public:
  explicit ScenarioTimelines(const Cases& cases) : cases_(&cases) {
    for (std::size_t row = 0; row < cases.size(); ++row) rows_.emplace(cases[row]->name, row);
  }

  /// Takes the timeline of a case if there is one that fits. Returns the room that is left.
  std::size_t add(std::size_t row, std::size_t room) {
    const Case& c = *(*cases_)[row];
    if (!c.profile) return without("it was not looked at", row, room);
    if (c.profile->tasks.empty()) return without(too_many_tasks(), row, room);
    const std::size_t names_before = names_.count();
    Json timeline = packed(c, row);
    const std::size_t bytes = timeline.dump().size() + names_.bytes_from(names_before);
    if (bytes > room) {
      names_.forget_from(names_before);
      return without("this page has no room for more timelines", row, room);
    }
    timelines_.emplace(row, std::move(timeline));
    return room - bytes;
  }

  /// `first`: the row of the case that is to be shown first.
  [[nodiscard]] Json data(std::optional<std::size_t> first) const {
    Json json{{"names", names_.list()}, {"cases", Json::array()}, {"without", Json::array()}};
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
    std::vector<std::size_t> rows;  // the first of them
  };

  static std::string too_many_tasks() {
    return fmt::format("its plan has more than {} tasks", most_reported_tasks);
  }

  std::size_t without(const std::string& reason, std::size_t row, std::size_t room) {
    Missing& missing = without_[reason];
    if (++missing.count <= most_named) missing.rows.push_back(row);
    return room;
  }

  Json packed(const Case& c, std::size_t row) {
    const std::vector<const TaskSpan*> spans = drawable_spans(*c.profile);
    const double length = length_of(*c.profile, spans);
    const double unit = unit_for(length);
    Json json{{"row", row}, {"unit", unit}, {"length", std::llround(length / unit)}};
    if (c.speedup) {
      const auto baseline = rows_.find(c.speedup->baseline);
      if (baseline != rows_.end()) json["baseline"] = baseline->second;
    }
    json["lanes"] = lane_names(*c.profile);
    json["devices"] = devices_of_lanes(*c.profile);
    json["shares"] = fmt::format("{}", fmt::join(device_shares(*c.profile), "; "));
    json["spans"] = SpanPacker(names_, unit).pack(spans);
    return json;
  }

  const Cases* cases_;
  std::unordered_map<std::string, std::size_t> rows_;  // by name
  Names names_;
  std::map<std::size_t, Json> timelines_;  // by row
  std::map<std::string, Missing> without_;
};

/// The case with the largest speedup, which an answer names even where nothing pays; nullptr where
/// none has a speedup.
const Case* best_speedup(const Cases& cases) {
  const Case* best = nullptr;
  for (const Case* c : cases) {
    if (!has_number(*c) || !c->speedup) continue;
    if (best == nullptr || c->speedup->value > best->speedup->value) best = c;
  }
  return best;
}

struct Candidate {
  std::size_t scenario = 0;
  std::size_t row = 0;
  int rank = 0;
};

/// The cases that have a number, those first that an answer names.
std::vector<Candidate> candidates(const std::vector<ScenarioCases>& scenarios) {
  std::vector<Candidate> list;
  for (std::size_t i = 0; i < scenarios.size(); ++i) {
    const Cases& cases = scenarios[i].cases;
    const Case* best = best_speedup(cases);
    const Baselines baselines(cases);
    for (std::size_t row = 0; row < cases.size(); ++row) {
      const Case& c = *cases[row];
      if (!has_number(c)) continue;
      const bool own = best != nullptr && best->speedup->baseline == c.name;
      const int rank = &c == best ? 0 : own ? 1 : baselines.contains(c) ? 2 : 3;
      list.push_back({i, row, rank});
    }
  }
  std::ranges::stable_sort(list, {}, &Candidate::rank);
  return list;
}

std::optional<std::size_t> row_of_best(const Cases& cases) {
  const auto found = std::ranges::find(cases, best_speedup(cases));
  if (found == cases.end()) return std::nullopt;
  return static_cast<std::size_t>(found - cases.begin());
}

}  // namespace

std::size_t timeline_room(std::size_t cases) {
  constexpr std::size_t least_cases_with_least_room = 100;
  constexpr std::size_t bytes_of_a_case = 1'500;  // its row and its samples
  return 300'000 - bytes_of_a_case * std::min(cases, least_cases_with_least_room);
}

std::vector<std::string> device_shares(const Profile& profile) {
  std::vector<std::string> lines;
  for (const DeviceProfile& device : profile.devices) {
    const auto share = [&](double seconds) { return format_percent(seconds / profile.span); };
    lines.push_back(fmt::format("{} busy {}, idle {} (bubbles {})", device.device,
                                share(device.busy), share(device.idle), share(device.bubble)));
  }
  return lines;
}

std::vector<Json> timelines_data(const std::vector<ScenarioCases>& scenarios, std::size_t room) {
  std::vector<ScenarioTimelines> timelines;
  for (const ScenarioCases& group : scenarios) timelines.emplace_back(group.cases);
  for (const auto& [scenario, row, rank] : candidates(scenarios)) {
    room = timelines[scenario].add(row, room);
  }
  std::vector<Json> data;
  for (std::size_t i = 0; i < scenarios.size(); ++i) {
    const Cases& cases = scenarios[i].cases;
    const bool any =
        std::ranges::any_of(cases, [](const Case* c) { return c->profile.has_value(); });
    data.push_back(any ? timelines[i].data(row_of_best(cases)) : Json());
  }
  return data;
}

}  // namespace parbench::report
