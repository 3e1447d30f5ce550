// Formats progress lines, and decides when and how they are written.
#include "bench/output/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <ostream>
#include <utility>

#include "bench/execution/clock.h"
#include "bench/output/standard_streams.h"
#include "kernels/base/units/units.h"
#include "reports/text/text.h"

namespace parbench {
namespace {

constexpr double redraw_seconds = 0.1;
constexpr double line_seconds = 5;
constexpr int bar_columns = 20;
constexpr std::string_view dim = "\x1b[2m";
constexpr std::string_view plain = "\x1b[0m";

std::string bar(double fraction) {
  const int full = static_cast<int>(std::lround(std::clamp(fraction, 0.0, 1.0) * bar_columns));
  std::string text;
  for (int i = 0; i < bar_columns; ++i) text += i < full ? "━" : "─";
  return text + "  ";
}

bool is_continuation_byte(char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U; }

/// Drops the beginning of a name, because the cases of a sweep differ at the end.
std::string shortened(const std::string& name, std::size_t columns) {
  if (report::display_width(name) <= columns) return name;
  if (columns < 2) return "";
  std::size_t first = name.size();
  while (first > 0 && report::display_width(std::string_view(name).substr(first - 1)) < columns) {
    --first;
  }
  while (first < name.size() && is_continuation_byte(name[first])) ++first;
  return "…" + name.substr(first);
}

std::string facts(const ProgressState& state) {
  std::string text;
  if (state.samples > 0) {
    text += fmt::format("  {} sample{}", state.samples, state.samples == 1 ? "" : "s");
  }
  if (state.reached_precision && std::isfinite(*state.reached_precision)) {
    text += fmt::format("  ±{}", format_percent(*state.reached_precision));
  }
  if (state.fraction && state.cases > 0) {
    text += fmt::format("  {}/{} {}", state.cases_done, state.cases, state.cases_word);
  }
  const auto add_part = [&](std::string_view name, const RunPart& part) {
    if (part.count > 1) text += fmt::format("  {} {}/{}", name, part.index + 1, part.count);
    return part.count > 1;
  };
  const bool one_process = add_part("process", state.process);
  const bool one_scenario = add_part("scenario", state.part);
  const bool one_of_several = one_process || one_scenario;
  if (state.seconds_left && std::isfinite(*state.seconds_left)) {
    text += fmt::format("{} {} left{}", one_of_several ? ":" : " ",
                        format_wait(*state.seconds_left), state.left_is_limit ? " at most" : "");
  }
  return text;
}

std::string phase_text(const ProgressState& state) {
  if (!state.fraction) {
    return fmt::format("{} case {} of {}  ", state.phase, state.cases_done + 1, state.cases);
  }
  return fmt::format("{} {:3.0f}%  ", state.phase, 100 * std::clamp(*state.fraction, 0.0, 1.0));
}

std::string cut(std::string text, std::size_t columns) {
  while (report::display_width(text) > columns) {
    while (is_continuation_byte(text.back())) text.pop_back();
    text.pop_back();
  }
  return text;
}

class Silent : public Progress {
 public:
  void update(const ProgressState&) override {}
  void note(const std::string&) override {}
  void finish() override {}
};

/// Limits the rate of writes: `due` is true at most once per period.
class Limiter {
 public:
  Limiter(double period, std::function<double()> now) : period_(period), now_(std::move(now)) {}

  bool due() {
    const double time = now_();
    if (time - last_ < period_) return false;
    last_ = time;
    return true;
  }

 private:
  double period_;
  std::function<double()> now_;
  double last_ = -std::numeric_limits<double>::infinity();
};

class PlainLines : public Progress {
 public:
  PlainLines(std::ostream& out, ProgressOptions options)
      : out_(out), limiter_(line_seconds, std::move(options.now)) {}

  void update(const ProgressState& state) override {
    if (limiter_.due()) out_ << progress_line(state, 0) << '\n' << std::flush;
  }
  void note(const std::string& line) override { out_ << line << '\n' << std::flush; }
  void finish() override {}

 private:
  std::ostream& out_;
  Limiter limiter_;
};

class RedrawnLine : public Progress {
 public:
  RedrawnLine(std::ostream& out, ProgressOptions options)
      : out_(out),
        color_(options.color),
        columns_(std::move(options.columns)),
        limiter_(redraw_seconds, std::move(options.now)) {}
  ~RedrawnLine() override { finish(); }
  RedrawnLine(const RedrawnLine&) = delete;
  RedrawnLine& operator=(const RedrawnLine&) = delete;

  void update(const ProgressState& state) override {
    if (!limiter_.due()) return;
    // The last column stays free: some terminals wrap after writing it.
    const std::string line = progress_line(state, std::max(1, columns_() - 1));
    out_ << erase_line << (color_ ? dim : "") << line << (color_ ? plain : "") << std::flush;
    drawn_ = true;
  }

  void note(const std::string& line) override {
    finish();
    out_ << line << '\n' << std::flush;
  }

  void finish() override {
    if (drawn_) out_ << erase_line << std::flush;
    drawn_ = false;
  }

 private:
  std::ostream& out_;
  bool color_;
  std::function<int()> columns_;
  Limiter limiter_;
  bool drawn_ = false;
};

}  // namespace

std::string progress_line(const ProgressState& state, int columns) {
  const std::string begin = phase_text(state);
  const std::string right = facts(state);
  if (columns <= 0) return begin + state.case_name + right;
  const auto room = static_cast<std::size_t>(columns);
  const std::size_t fixed = report::display_width(begin) + report::display_width(right);
  const bool with_bar =
      state.fraction && room >= fixed + report::display_width(state.case_name) + bar_columns + 2;
  const std::size_t left = room > fixed ? room - fixed : 0;
  return cut(
      (with_bar ? bar(*state.fraction) : "") + begin + shortened(state.case_name, left) + right,
      room);
}

std::unique_ptr<Progress> make_progress(std::ostream& out, ProgressOptions options) {
  if (!options.now) options.now = steady_seconds;
  if (options.quiet) return std::make_unique<Silent>();
  if (options.terminal) return std::make_unique<RedrawnLine>(out, std::move(options));
  return std::make_unique<PlainLines>(out, std::move(options));
}

ProgressOptions standard_error_options(bool quiet) {
  ProgressOptions options;
  options.quiet = quiet;
  options.terminal = is_full_terminal(STDERR_FILENO);
  options.color = takes_color(STDERR_FILENO);
  options.columns = [] { return terminal_columns(STDERR_FILENO); };
  return options;
}

}  // namespace parbench
