// Shows how far a run has come: a line redrawn on a terminal, plain lines elsewhere, or nothing.
#pragma once

#include <cstddef>
#include <functional>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace parbench {

/// Which of the scenarios of a run, or of its processes.
struct RunPart {
  std::size_t index = 0;
  std::size_t count = 1;
};

struct ProgressState {
  std::string phase;      // "preparing", "sampling", "recording"
  std::string case_name;  // what runs now
  std::size_t cases_done = 0;
  std::size_t cases = 0;
  std::size_t samples = 0;                  // of this case
  std::optional<double> reached_precision;  // of this case, as a fraction
  /// Of the whole run, 0 to 1, and never less than it was; nothing while it is unknown, where the
  /// number of the case is shown instead.
  std::optional<double> fraction = {};
  std::optional<double> seconds_left = {};  // of this scenario in this process
  RunPart part = {};
  RunPart process = {};
  bool left_is_limit = false;             // the time that is left is a limit, not an estimate
  std::string_view cases_word = "cases";  // what is done of them
};

class Progress {
 public:
  virtual ~Progress() = default;
  virtual void update(const ProgressState& state) = 0;
  /// A line that stays: a case that failed, a note.
  virtual void note(const std::string& line) = 0;
  /// Leaves the terminal as it was found. May be updated again afterwards.
  virtual void finish() = 0;
};

struct ProgressOptions {
  bool quiet = false;
  bool terminal = false;  // redraw one line
  bool color = false;
  std::function<int()> columns = [] { return 80; };  // asked at every redraw
  std::function<double()> now;                       // seconds, monotonic
};

/// Redraws at most ten times a second on a terminal; writes a line at most every five seconds
/// elsewhere. `quiet` shows nothing, notes included.
[[nodiscard]] std::unique_ptr<Progress> make_progress(std::ostream& out, ProgressOptions options);

/// Options for standard error as the environment wants it: a terminal unless TERM is "dumb", color
/// unless NO_COLOR is set.
[[nodiscard]] ProgressOptions standard_error_options(bool quiet);

/// What both kinds of output show, in at most `columns` columns (0: no limit, and no bar). Where it
/// is tight, the bar goes first, then the beginning of the case's name.
[[nodiscard]] std::string progress_line(const ProgressState& state, int columns);

}  // namespace parbench
