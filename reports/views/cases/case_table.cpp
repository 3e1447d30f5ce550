// Builds columns, rows, captions and footnotes from the cases of a scenario.
#include "reports/views/cases/case_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <functional>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "kernels/base/units/units.h"
#include "kernels/base/units/wide_intervals.h"
#include "reports/findings/roles.h"
#include "reports/model/disturbances.h"
#include "reports/model/notes.h"
#include "reports/views/cases/case_cells.h"
#include "reports/views/cases/contradictions.h"
#include "scenarios/plan/role.h"
#include "scenarios/plan/schedules/partition.h"

namespace parbench::report {
namespace {

/// A reason why sampling ended early, with its mark and footnote.
struct Ending {
  std::string_view reason;
  std::string_view mark;
  std::string_view note;
};

constexpr std::array endings{
    Ending{"max-time", "*", "sampling ended at the time limit of one case (--max-time)"},
    Ending{"total-time", "‡", "sampling ended at the time limit of the whole run"},
    Ending{"unfinished", "†", "sampling was not finished when the run or its process ended"},
    Ending{"device lost", "‖", "sampling ended when a device was lost in another case"},
};

// Priorities of columns in a table that is too wide; documented in docs/guide/results.md.
constexpr Narrow throughput_rank{1};
constexpr Narrow samples_rank{2};
constexpr Narrow metrics_rank{Narrow::important_rank};
constexpr Narrow bound_rank{Narrow::important_rank + 1};
constexpr Narrow interval_rank{Narrow::important_rank + 2};  // interval of the median
constexpr Narrow memory_rank{Narrow::important_rank + 3};    // peak memory, if there are bandwidths
constexpr Narrow rate_rank{Narrow::important_rank + 4};      // throughput, if it is a bandwidth
constexpr Narrow answer_rank{Narrow::needed_rank};           // metrics in `answering_metrics`
constexpr Narrow heading{.is_heading = true};

/// Metrics that answer the question of their scenario.
constexpr std::array<std::string_view, 2> answering_metrics{"achieved overlap", "bus bandwidth"};

bool answers(std::string_view metric) {
  return std::ranges::find(answering_metrics, metric) != answering_metrics.end();
}

constexpr std::string_view no_bound_mark = "¶";
constexpr std::string_view bound_not_measured_mark = "∅";

// ------------------------------------------------------------------------------------------ cells

bool contains_mark(const ContradictionMarks& marks, std::string_view mark) {
  return std::ranges::any_of(marks, [&](const auto& one) { return one.second == mark; });
}

const Ending* ending_of(const CaseResult& c) {
  const auto* const found = std::ranges::find(endings, c.stopped_because, &Ending::reason);
  return found == endings.end() ? nullptr : found;
}

/// Returns the number of samples; for several processes, the number of processes and the number of
/// samples in each: "5×6", "5×4–6".
std::string samples_text(const CaseResult& c) {
  std::map<int, std::size_t> counts;
  for (const Sample& sample : c.samples) ++counts[sample.process];
  if (counts.size() <= 1) return fmt::format("{}", c.samples.size());
  const auto by_count = [](const auto& a, const auto& b) { return a.second < b.second; };
  const auto [min, max] = std::minmax_element(counts.begin(), counts.end(), by_count);
  const std::string each = fmt::format("{}×{}", counts.size(), min->second);
  return min->second == max->second ? each : fmt::format("{}–{}", each, max->second);
}

/// Returns "n", or "samples" if a parameter has the name n.
std::string samples_title(const Cases& cases) {
  const bool is_taken = std::ranges::any_of(
      cases, [](const CaseResult* c) { return find_value(c->parameters, "n") != nullptr; });
  return is_taken ? "samples" : "n";
}

/// Returns the median with the mark of how sampling ended.
TableCell time_cell(const CaseResult& c) {
  TableCell cell = median_cell(c);
  const Ending* ending = has_number(c) ? ending_of(c) : nullptr;
  if (ending != nullptr) cell.mark.insert(0, ending->mark);
  return cell;
}

/// Returns whether a case has no bound although another case of the table has one.
bool lacks_bound(const CaseResult& c, const Cases& cases) {
  return !c.bound &&
         std::ranges::any_of(cases, [](const CaseResult* one) { return one->bound.has_value(); });
}

TableCell efficiency_cell(const CaseResult& c) {
  if (is_bound_disproved(c)) return {std::string(no_bound_mark)};
  if (!c.bound || !(c.efficiency > 0)) return {};
  return {.text = format_percent(c.efficiency, 0), .number = c.efficiency};
}

TableCell verification_cell(const CaseResult& c) {
  if (!c.verification) return {};
  const double error = c.verification->largest_error;
  return {.text = error == 0 ? "✓" : fmt::format("✓ {}", format_percent(error)),
          .number = c.verification->largest_error};
}

std::optional<double> parameter_number(const CaseResult& c, const std::string& name) {
  for (const NamedValues* values : {&c.parameters, &c.hidden_parameters}) {
    const Value* found = find_value(*values, name);
    if (found == nullptr) continue;
    if (const auto* whole = std::get_if<std::int64_t>(found)) return static_cast<double>(*whole);
    if (const auto* real = std::get_if<double>(found)) return *real;
  }
  return std::nullopt;
}

// -------------------------------------------------------------------------------------- footnotes

bool any_measured(const Cases& cases, const std::function<bool(const CaseResult&)>& condition) {
  return std::ranges::any_of(cases,
                             [&](const CaseResult* c) { return has_number(*c) && condition(*c); });
}

/// The intervals that a table shows.
enum class Intervals { of_medians, all };

/// Returns the confidences that are lower than wanted, without repetition in ascending order: of
/// cases sampled by several processes if `of_processes`, else of the other cases.
std::vector<std::string> low_confidences(const Cases& cases, Intervals shown, bool of_processes) {
  std::set<double> found;
  const auto collect = [&](const std::optional<Interval>& interval) {
    if (is_low(interval)) found.insert(interval->confidence);
  };
  for (const CaseResult* c : cases) {
    if (!has_number(*c) || has_several_processes(*c) != of_processes) continue;
    collect(c->statistics->median_interval);
    if (shown == Intervals::of_medians) continue;
    if (c->speedup) collect(c->speedup->interval);
    for (const Metric& metric : c->metrics) collect(metric.interval);
  }
  std::vector<std::string> texts;
  std::ranges::transform(found, std::back_inserter(texts), format_confidence);
  return texts;
}

/// Returns the remarks on metrics, each once and at most three.
std::string remarks_text(const Cases& cases) {
  constexpr std::size_t max_remarks = 3;
  std::vector<std::string_view> remarks;
  std::set<std::string_view> known;
  for (const CaseResult* c : cases) {
    for (const Metric& metric : c->metrics) {
      if (!metric.remark.empty() && known.insert(metric.remark).second) {
        remarks.push_back(metric.remark);
      }
    }
  }
  const std::size_t more = remarks.size() - std::min(remarks.size(), max_remarks);
  remarks.resize(remarks.size() - more);
  const std::string text = fmt::format("{}", fmt::join(remarks, "; "));
  return more == 0 ? text : fmt::format("{}; and {} more", text, more);
}

std::vector<Footnote> low_confidence_notes(const Cases& cases, Intervals shown) {
  std::vector<Footnote> notes;
  for (const bool of_processes : {false, true}) {
    const auto confidences = low_confidences(cases, shown, of_processes);
    if (confidences.empty()) continue;
    notes.emplace_back(
        low_confidence_mark,
        fmt::format("fewer than 6 {}: this interval holds the median with {} only",
                    of_processes ? "processes" : "samples", fmt::join(confidences, " or ")));
  }
  return notes;
}

std::vector<Footnote> throttling_notes(const Cases& cases) {
  std::vector<std::string> throttles;
  double quota_lost = 0;
  for (const CaseResult* c : cases) {
    if (!has_number(*c)) continue;
    add_throttles(throttles, *c);
    quota_lost = std::max(quota_lost, c->quota_lost);
  }
  std::vector<std::string> texts;
  if (!throttles.empty()) {
    texts.push_back(fmt::format("more than {} of its samples were taken on a throttled device: {}",
                                format_percent(max_throttled_share, 0),
                                fmt::join(throttles, ", ")));
  }
  if (quota_lost >= min_quota_lost) texts.push_back("throttled by a " + quota_text(quota_lost));
  if (texts.empty()) return {};
  return {{std::string(throttled_mark), fmt::format("{}", fmt::join(texts, "; "))}};
}

std::vector<Footnote> footnotes(const Cases& cases, const ContradictionMarks& contradictions) {
  std::vector<Footnote> notes;
  for (const Ending& ending : endings) {
    if (any_measured(cases, [&](const CaseResult& c) { return ending_of(c) == &ending; })) {
      notes.emplace_back(ending.mark, ending.note);
    }
  }
  std::ranges::move(low_confidence_notes(cases, Intervals::all), std::back_inserter(notes));
  if (any_measured(cases, has_several_processes)) {
    notes.emplace_back(samples_title(cases) + ':', "processes × samples in each");
    notes.emplace_back("", "Medians, intervals and ratios are those of the processes' medians.");
  }
  if (any_measured(cases, is_bound_disproved)) {
    notes.emplace_back(
        no_bound_mark,
        "no bound: the tasks took longer alone than the whole case, or than many of its "
        "samples: their measurement was disturbed");
  }
  if (any_measured(cases, [&](const CaseResult& c) { return lacks_bound(c, cases); })) {
    notes.emplace_back(bound_not_measured_mark,
                       "no bound: the time limit was reached before its tasks were measured alone, "
                       "or other work disturbed every such measurement");
  }
  if (any_measured(cases, [](const CaseResult& c) { return c.speedup && !c.speedup->interval; })) {
    notes.emplace_back(single_round_mark,
                       "from the only round in which both were sampled: there is no interval");
  }
  if (contains_mark(contradictions, other_rounds_mark)) {
    notes.emplace_back(other_rounds_mark,
                       "from the rounds in which both were sampled; the medians also have samples "
                       "of other rounds, in which the machine was slower or faster");
  }
  if (contains_mark(contradictions, scattered_mark)) {
    notes.emplace_back(
        scattered_mark,
        "the median of the ratios in each round; it is not the ratio of the medians, "
        "as where the samples of one of the two have several modes or scatter");
  }
  if (std::string remarks = remarks_text(cases); !remarks.empty()) {
    notes.emplace_back(metric_remark_mark, std::move(remarks));
  }
  std::ranges::move(throttling_notes(cases), std::back_inserter(notes));
  return notes;
}

// ---------------------------------------------------------------------------------------- columns

std::vector<std::string> metric_names(const Cases& cases) {
  std::vector<std::string> names;
  for (const CaseResult* c : cases) {
    for (const Metric& metric : c->metrics) {
      if (std::ranges::find(names, metric.name) == names.end()) names.push_back(metric.name);
    }
  }
  return names;
}

class Builder {
 public:
  explicit Builder(const ScenarioCases& group)
      : group_(group),
        cases_(group.cases),
        baselines_(group.cases),
        roles_(*group.report, group.scenario),
        contradictions_(contradiction_marks(group.cases)),
        devices_(memory_devices(*group.report, group.cases)) {}

  Table build() {
    add_rows();
    add_parameters();
    table_.status_column = table_.columns.size();
    add_numbers();
    for (TableCell& cell : table_.columns[table_.status_column].cells) {
      if (cell.tone == Tone::reason) cell.span = table_.columns.size() - table_.status_column;
    }
    table_.footnotes = footnotes(cases_, contradictions_);
    table_.joins_headings = true;
    return std::move(table_);
  }

 private:
  void add_rows() {
    const std::set<std::string> recommended = recommended_cases(*group_.report, group_.scenario);
    for (const CaseResult* c : cases_) {
      if (has_number(*c)) {
        table_.rows.push_back({recommended.contains(c->name) ? Emphasis::bold : Emphasis::none});
      } else {
        table_.rows.push_back({Emphasis::dim, status_reason(*c)});
      }
    }
  }

  void add_parameters() {
    add_column(table_,
               {.title = "strategy", .align = Align::left, .verbatim = true, .narrow = heading},
               cases_, [](const CaseResult* c) { return c->strategy; });
    const std::vector<ParameterColumn> parameters =
        parameter_columns(cases_, has_cuts_of_its_own() ? cut_note : std::string_view());
    std::vector<std::string> devices = devices_;
    const DeviceCores cores = cores_of(devices_of(*group_.report, group_.scenario));
    if (cores.are_shared() && !devices.empty()) {
      devices.back() += fmt::format(", which share {}", format_count(cores.different, "core"));
    }
    table_.captions = caption_lines(parameters, devices);
    std::ranges::move(cut_lines(cases_, parameters), std::back_inserter(table_.captions));
    for (const ParameterColumn& parameter : parameters) {
      if (!distinguishes(parameter)) continue;
      TableColumn column{
          .title = parameter.name,
          .verbatim = true,
          .verbatim_title = true,
          .only_on_pages = parameter.name == cut_note,  // layout and partition identify the row
          .narrow = heading};
      for (std::size_t row = 0; row < cases_.size(); ++row) {
        column.cells.push_back({.text = parameter.values[row].value_or(std::string(not_applicable)),
                                .number = parameter_number(*cases_[row], parameter.name)});
      }
      table_.columns.push_back(std::move(column));
    }
  }

  /// Returns whether the parameters of any case do not determine where its stages begin.
  [[nodiscard]] bool has_cuts_of_its_own() const {
    return std::ranges::any_of(cases_, [&](const CaseResult* c) {
      const std::string cut = cut_of(*c);
      const Value* partition = roles_.value(*c, Role::partition);
      return !cut.empty() && (partition == nullptr || *partition != Value(cut));
    });
  }

  void add_numbers() {
    add_column(table_,
               {.title = "median",
                .range_title = "± 95% CI",
                .range_align = Align::right,
                .range_rank = interval_rank.rank},
               cases_, [](const CaseResult* c) { return time_cell(*c); });
    add({.title = samples_title(cases_), .narrow = samples_rank}, [](const CaseResult& c) {
      return TableCell{.text = samples_text(c), .number = static_cast<double>(c.samples.size())};
    });
    const bool bandwidths = has_bandwidths(cases_);
    add({.title = "throughput",
         .unit_in_title = true,
         .narrow = bandwidths ? rate_rank : throughput_rank},
        [&](const CaseResult& c) { return throughput_cell(c, bandwidths); });
    add_speedup();
    for (const std::string& name : metric_names(cases_)) add_metric(name);
    add({.title = "of", .subtitle = "bound", .narrow = bound_rank}, [this](const CaseResult& c) {
      return lacks_bound(c, cases_) ? TableCell{std::string(bound_not_measured_mark)}
                                    : efficiency_cell(c);
    });
    add({.title = "peak", .subtitle = "memory", .narrow = bandwidths ? memory_rank : Narrow()},
        [this](const CaseResult& c) { return memory_cell(c, devices_); });
    add({.title = "verified", .only_on_pages = true}, verification_cell);
  }

  /// Adds the speedups. If the baselines have different strategies, each row names that of its
  /// baseline.
  void add_speedup() {
    const std::set<std::string>& strategies = baselines_.strategies();
    add({.title = "speedup",
         .range_title = strategies.size() == 1 ? "over " + *strategies.begin() : "over"},
        [&](const CaseResult& c) -> TableCell {
          if (baselines_.contains(c)) return {.text = "baseline", .number = 1};
          if (!c.speedup) return {};
          TableCell cell = ratio_cell(*c.speedup);
          const auto mark = contradictions_.find(&c);
          if (mark != contradictions_.end()) cell.mark += mark->second;
          if (strategies.size() > 1) {
            cell.range +=
                std::exchange(cell.range_mark, "") + ' ' + baselines_.strategy_of(*c.speedup);
          }
          return cell;
        });
  }

  /// Adds a metric. The last word of the name becomes the title of the intervals if there are any,
  /// or the subtitle of a rate.
  void add_metric(const std::string& name) {
    const bool intervals = any_measured(
        cases_, [&](const CaseResult& c) { return !metric_cell(c, name).range.empty(); });
    const bool is_rate =
        name.find(' ') != std::string::npos && any_measured(cases_, [&](const CaseResult& c) {
          const auto metric = std::ranges::find(c.metrics, name, &Metric::name);
          return metric != c.metrics.end() && !metric->unit.empty();
        });
    const std::size_t blank = std::min(name.rfind(' '), name.size());
    const std::string last = name.substr(std::min(blank + 1, name.size()));
    add({.title = intervals || is_rate ? name.substr(0, blank) : name,
         .verbatim_title = true,
         .range_title = intervals ? last : "",
         .subtitle = is_rate ? last : "",
         .unit_in_title = is_rate,
         .narrow = answers(name) ? answer_rank : metrics_rank},
        [&](const CaseResult& c) { return metric_cell(c, name); });
  }

  /// Adds a column whose cells are empty for cases without a number; adds none if all cells are
  /// empty.
  void add(TableColumn column, const std::function<TableCell(const CaseResult&)>& cell) {
    bool empty = true;
    for (const CaseResult* c : cases_) {
      column.cells.push_back(has_number(*c) ? cell(*c) : TableCell{});
      empty = empty && column.cells.back().text.empty();
    }
    if (!empty) table_.columns.push_back(std::move(column));
  }

  const ScenarioCases& group_;
  const Cases& cases_;
  Baselines baselines_;
  Roles roles_;
  ContradictionMarks contradictions_;
  std::vector<std::string> devices_;
  Table table_;
};

}  // namespace

TableCell median_cell(const CaseResult& c) {
  if (!has_number(c)) return {.text = std::string(status_word(c)), .tone = Tone::reason};
  const Statistics& s = *c.statistics;
  TableCell cell{.text = format_duration(s.median), .number = s.median};
  if (is_throttled(c) || is_over_quota(c)) cell.mark = throttled_mark;
  if (s.median_interval && s.median > 0) {
    const double half_width = (s.median_interval->high - s.median_interval->low) / 2;
    cell.range = half_width_text(half_width / s.median);
    cell.range_mark = low_mark(s.median_interval);
  }
  return cell;
}

std::vector<Footnote> median_footnotes(const Cases& cases) {
  std::vector<Footnote> notes = low_confidence_notes(cases, Intervals::of_medians);
  std::ranges::move(throttling_notes(cases), std::back_inserter(notes));
  return notes;
}

Table case_table(const ScenarioCases& group) { return Builder(group).build(); }

}  // namespace parbench::report
