// Schedules of the operations of a network on one device: which run at the same time, on which
// stream. Pure functions of dependencies and costs.
#pragma once

#include <cstddef>
#include <vector>

namespace parbench {

/// Operations that read the same and may run as one, on the whole device.
struct InterOpMerge {
  std::vector<int> ops;  // ascending, at least two
  double seconds = 1.0;  // of all of them as one
};

/// Operations in an order in which each reads earlier ones only.
struct InterOpProblem {
  std::vector<std::vector<int>> after;  // by operation: those that it reads
  /// Seconds of an operation that has the whole device, and of one that has one of `streams`
  /// streams while the others are as busy.
  std::vector<double> alone;
  std::vector<double> shared;
  int streams = 2;
  std::vector<InterOpMerge> merges = {};
  /// Seconds from the end of a stage to the beginning of the next one, unless both have the whole
  /// device: their streams have to wait for each other.
  double join = 0;

  [[nodiscard]] int count() const { return static_cast<int>(after.size()); }
};

inline constexpr int whole_device = -1;
inline constexpr int not_merged = -1;

/// An operation and the stream that runs it: 0 to `streams` − 1, which share the device, or
/// `whole_device`.
struct PlacedOp {
  int op = 0;
  int stream = whole_device;
  /// Of the problem's merges, the one that it is part of: all parts follow each other in the stage,
  /// and run when the first does.
  int merge = not_merged;
  friend bool operator==(const PlacedOp&, const PlacedOp&) = default;
};

/// Operations in the order in which they are submitted. Those of a stage wait for all of the stage
/// before, so that a stream that has the whole device never runs beside one that shares it.
using InterOpStage = std::vector<PlacedOp>;
using InterOpSchedule = std::vector<InterOpStage>;

/// One after the other on the whole device.
[[nodiscard]] InterOpSchedule sequential_schedule(const InterOpProblem& problem);

/// The same with merged operations in the place of the first of them: the largest merges first,
/// each operation in one of them.
[[nodiscard]] InterOpSchedule merged_schedule(const InterOpProblem& problem);

/// A stage for each topological level (the longest path from the beginning): its operations go to
/// the streams in turn, a single one to the whole device.
[[nodiscard]] InterOpSchedule level_schedule(const InterOpProblem& problem);

/// Operations that every other one precedes or follows have the whole device. The others are
/// list-scheduled between them: the one with the longest path to the end first, on the stream where
/// it ends earliest (Topcuoglu et al. 2002: HEFT, on equal streams).
[[nodiscard]] InterOpSchedule list_schedule(const InterOpProblem& problem);

/// What bounds the search of `stage_schedule` in one block of a network.
struct StageSearch {
  int max_chain = 3;  // operations of a stream in a stage
  /// Sets of completed operations, each at most twice: behind the whole device, behind streams.
  std::size_t max_states = 40000;
};

/// The fastest sequence of stages by dynamic programming over the sets of completed operations
/// (Ding et al. 2021: IOS): a stage is one operation on the whole device, one merge, or a chain of
/// operations for each of two or more streams, and takes as long as its longest chain and the join
/// before it.
/// Blocks between operations that every other one precedes or follows are solved by themselves; one
/// with more than 64 operations, or more states than the search allows, is list-scheduled.
/// `problem.shared` holds what operations cost while all streams are busy.
[[nodiscard]] InterOpSchedule stage_schedule(const InterOpProblem& problem,
                                             const StageSearch& search = {});

/// Seconds that a schedule takes by the problem's costs: stages one after the other, with joins
/// between them, in each of them streams side by side, operations behind those that they read.
[[nodiscard]] double estimated_seconds(const InterOpProblem& problem,
                                       const InterOpSchedule& schedule);

}  // namespace parbench
