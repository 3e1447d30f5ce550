// Progress of a run: a line redrawn on a terminal, plain lines elsewhere, or nothing.
#pragma once

#include <cstddef>
#include <functional>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace parbench {

/// Position among the scenarios of a run, or among its processes.
struct RunPart {
  std::size_t index = 0;
  std::size_t count = 1;
};

struct ProgressState {
  std::string phase;      // "preparing", "sampling", "recording"
  std::string case_name;  // the current case
  std::size_t cases_done = 0;
  std::size_t cases = 0;
  std::size_t samples = 0;                  // samples of the current case
  std::optional<double> reached_precision;  // a fraction, of the current case
  /// Progress of the whole run, 0 to 1, never decreasing. Empty: unknown; the number of the case is
  /// shown instead.
  std::optional<double> fraction = {};
  std::optional<double> seconds_left = {};  // for this scenario in this process
  RunPart part = {};
  RunPart process = {};
  bool left_is_limit = false;             // the remaining time is a limit, not an estimate
  std::string_view cases_word = "cases";  // unit of `cases`
};

class Progress {
 public:
  virtual ~Progress() = default;
  virtual void update(const ProgressState& state) = 0;
  /// Writes a line that stays, such as a failed case.
  virtual void note(const std::string& line) = 0;
  /// Restores the terminal. `update` may be called again afterwards.
  virtual void finish() = 0;
};

struct ProgressOptions {
  bool quiet = false;
  bool terminal = false;  // redraw one line
  bool color = false;
  std::function<int()> columns = [] { return 80; };  // called at every redraw
  std::function<double()> now;                       // seconds, monotonic
};

/// Makes a Progress. On a terminal it redraws at most ten times per second; elsewhere it writes a
/// line at most every five seconds. `quiet` shows nothing, not even notes.
[[nodiscard]] std::unique_ptr<Progress> make_progress(std::ostream& out, ProgressOptions options);

/// Returns options for standard error: redraws on a terminal unless TERM is unset or "dumb", with
/// color unless NO_COLOR is set.
[[nodiscard]] ProgressOptions standard_error_options(bool quiet);

/// Returns the progress as a line of at most `columns` columns (0: no limit and no bar). If space
/// is short, the bar is dropped first, then the beginning of the case's name.
[[nodiscard]] std::string progress_line(const ProgressState& state, int columns);

}  // namespace parbench
