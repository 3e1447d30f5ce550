// Schedules of a network's operations on one device: which operations run at the same time, on
// which streams. Pure functions of dependencies and costs.
#pragma once

#include <cstddef>
#include <vector>

namespace parbench {

/// Operations with the same input that may run as one, on the whole device.
struct InterOpMerge {
  std::vector<int> ops;  // ascending, at least two
  double seconds = 1.0;
};

/// Operations in an order in which each reads only earlier ones, and their costs.
struct InterOpProblem {
  std::vector<std::vector<int>> after;  // by operation: the operations whose results it reads
  /// Seconds of each operation: `alone` on the whole device; `shared` on one of `streams` streams
  /// while the others are equally busy.
  std::vector<double> alone;
  std::vector<double> shared;
  int streams = 2;
  std::vector<InterOpMerge> merges = {};
  /// Seconds that streams take to wait for each other between two levels; not needed between two
  /// levels on the whole device.
  double join = 0;

  [[nodiscard]] int count() const { return static_cast<int>(after.size()); }
};

inline constexpr int whole_device = -1;
inline constexpr int not_merged = -1;

/// An operation and its stream: 0 to `streams` − 1, which share the device, or `whole_device`.
struct PlacedOp {
  int op = 0;
  int stream = whole_device;
  /// Index of the merge that contains it. The operations of a merge are consecutive in the level
  /// and run together in place of the first.
  int merge = not_merged;
  friend bool operator==(const PlacedOp&, const PlacedOp&) = default;
};

/// Operations in the order of submission. All operations of a level wait for all operations of the
/// previous level, so that an operation with the whole device never runs beside another one.
using InterOpLevel = std::vector<PlacedOp>;
using InterOpSchedule = std::vector<InterOpLevel>;

/// Returns all operations one after the other on the whole device.
[[nodiscard]] InterOpSchedule sequential_schedule(const InterOpProblem& problem);

/// Like `sequential_schedule`, but operations are merged: a merge runs in place of its first
/// operation. If merges overlap, the largest is selected.
[[nodiscard]] InterOpSchedule merged_schedule(const InterOpProblem& problem);

/// Returns one level for each topological level (`topological_levels`). The operations of a level
/// are assigned to the streams in turn; a single operation gets the whole device.
[[nodiscard]] InterOpSchedule topological_schedule(const InterOpProblem& problem);

/// Returns a schedule in which operations that precede or follow every other one get the whole
/// device. The operations between these are list-scheduled: the operation with the longest path to
/// the end first, on the stream where it ends earliest (Topcuoglu et al. 2002: HEFT, for equal
/// streams).
[[nodiscard]] InterOpSchedule list_schedule(const InterOpProblem& problem);

/// Limits of the search of `fastest_schedule` in one block of a network.
struct ScheduleSearch {
  int max_chain = 3;  // operations per stream and level
  /// Maximum number of states. A state is a set of completed operations and the kind of the last
  /// level (whole device, streams).
  std::size_t max_states = 40000;
};

/// Finds the fastest sequence of levels by dynamic programming over the sets of completed
/// operations (Ding et al. 2021: IOS, which calls levels stages). A level is one operation on the
/// whole device, one merge, or chains of operations on two or more streams. A level of chains takes
/// as long as its longest chain. Blocks between operations that precede or follow every other one
/// are solved separately. A block with more than 64 operations, or more states than the search
/// allows, is list-scheduled.
[[nodiscard]] InterOpSchedule fastest_schedule(const InterOpProblem& problem,
                                               const ScheduleSearch& search = {});

/// Returns the seconds of a schedule by the problem's costs. Levels run one after the other with
/// joins between them, and the streams of a level at the same time. An operation begins after the
/// operations that it reads.
[[nodiscard]] double estimated_seconds(const InterOpProblem& problem,
                                       const InterOpSchedule& schedule);

}  // namespace parbench
