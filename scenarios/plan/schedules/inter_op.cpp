// Topological levels, list scheduling, and dynamic programming over levels.
#include "scenarios/plan/schedules/inter_op.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <optional>

#include "scenarios/plan/schedules/levels.h"

namespace parbench {
namespace {

std::size_t at(int index) { return static_cast<std::size_t>(index); }

/// Consecutive operations [first, last). If `is_serial`, each of them precedes or follows every
/// other operation of the problem; otherwise none of them does.
struct Block {
  int first = 0;
  int last = 0;
  bool is_serial = false;
};

/// Returns, for each operation, the number of other operations that precede or follow it.
std::vector<int> related_counts(const InterOpProblem& problem) {
  const int count = problem.count();
  std::vector<std::vector<bool>> precedes(at(count), std::vector<bool>(at(count), false));
  std::vector<int> related(at(count), 0);
  for (int op = 0; op < count; ++op) {
    std::vector<bool>& before = precedes[at(op)];
    for (const int direct : problem.after[at(op)]) {
      before[at(direct)] = true;
      for (int i = 0; i < direct; ++i) {
        if (precedes[at(direct)][at(i)]) before[at(i)] = true;
      }
    }
    for (int i = 0; i < op; ++i) {
      if (!before[at(i)]) continue;
      ++related[at(i)];
      ++related[at(op)];
    }
  }
  return related;
}

std::vector<Block> blocks_of(const InterOpProblem& problem) {
  std::vector<Block> blocks;
  const std::vector<int> related = related_counts(problem);
  for (int op = 0; op < problem.count(); ++op) {
    const bool is_serial = related[at(op)] == problem.count() - 1;
    if (blocks.empty() || blocks.back().is_serial != is_serial) {
      blocks.push_back({.first = op, .last = op, .is_serial = is_serial});
    }
    ++blocks.back().last;
  }
  return blocks;
}

void append_serial(const Block& block, InterOpSchedule& schedule) {
  for (int op = block.first; op < block.last; ++op) schedule.push_back({{.op = op}});
}

InterOpLevel merged_level(const InterOpProblem& problem, int merge) {
  InterOpLevel level;
  for (const int op : problem.merges[at(merge)].ops) {
    level.push_back({.op = op, .stream = whole_device, .merge = merge});
  }
  return level;
}

/// Returns the index of the merge of each operation, or `not_merged`. Larger merges are selected
/// first; a merge that overlaps a selected one is skipped.
std::vector<int> largest_merges(const InterOpProblem& problem) {
  std::vector<int> order(problem.merges.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, std::greater<>(),
                           [&](int merge) { return problem.merges[at(merge)].ops.size(); });
  std::vector<int> merge_of(problem.after.size(), not_merged);
  for (const int merge : order) {
    const std::vector<int>& ops = problem.merges[at(merge)].ops;
    const auto is_free = [&](int op) { return merge_of[at(op)] == not_merged; };
    if (!std::ranges::all_of(ops, is_free)) continue;
    for (const int op : ops) merge_of[at(op)] = merge;
  }
  return merge_of;
}

// --- list scheduling ---

/// Returns, for each operation, the seconds (`shared`) of the longest path that begins with it.
std::vector<double> longest_paths(const InterOpProblem& problem) {
  std::vector<double> paths(problem.shared);
  for (int op = problem.count() - 1; op >= 0; --op) {
    for (const int before : problem.after[at(op)]) {
      paths[at(before)] = std::max(paths[at(before)], problem.shared[at(before)] + paths[at(op)]);
    }
  }
  return paths;
}

/// List scheduler of one block of operations.
class ListScheduler {
 public:
  ListScheduler(const InterOpProblem& problem, const std::vector<double>& paths)
      : problem_(problem),
        paths_(paths),
        ends_(problem.after.size(), 0.0),
        free_(at(problem.streams), 0.0) {}

  InterOpLevel run(const Block& block) {
    std::vector<int> waiting;
    for (int op = block.first; op < block.last; ++op) waiting.push_back(op);
    // The order respects dependencies: the path from an operation is not shorter than the path from
    // its reader, and the sort is stable.
    std::ranges::stable_sort(waiting, [&](int a, int b) { return paths_[at(a)] > paths_[at(b)]; });
    InterOpLevel level;
    for (const int op : waiting) level.push_back({.op = op, .stream = assign_stream(op, block)});
    return level;
  }

 private:
  int assign_stream(int op, const Block& block) {
    double ready = 0;
    for (const int before : problem_.after[at(op)]) {
      if (before >= block.first) ready = std::max(ready, ends_[at(before)]);
    }
    const auto begin_on = [&](double free) { return std::max(free, ready); };
    const auto earliest = std::ranges::min_element(free_, {}, begin_on);
    *earliest = begin_on(*earliest) + problem_.shared[at(op)];
    ends_[at(op)] = *earliest;
    return static_cast<int>(earliest - free_.begin());
  }

  const InterOpProblem& problem_;
  const std::vector<double>& paths_;
  std::vector<double> ends_;  // seconds at which an operation ends; by operation
  std::vector<double> free_;  // seconds at which a stream's operations so far have ended; by stream
};

InterOpLevel listed(const InterOpProblem& problem, const Block& block,
                    const std::vector<double>& paths) {
  return ListScheduler(problem, paths).run(block);
}

/// Returns the seconds of an operation. The first operation of a merge takes the time of the whole
/// merge, the others take 0.
double seconds_of_placed(const InterOpProblem& problem, const PlacedOp& placed) {
  if (placed.merge != not_merged) {
    const InterOpMerge& merge = problem.merges[at(placed.merge)];
    return placed.op == merge.ops.front() ? merge.seconds : 0;
  }
  return (placed.stream == whole_device ? problem.alone : problem.shared)[at(placed.op)];
}

// --- dynamic programming over levels ---

using OpSet64 = std::uint64_t;  // bit i: the i-th operation of a block

/// Where a level runs: on the whole device or on several streams; `nothing`: there is no such
/// level.
enum class Ran { nothing, whole, streams };

Ran kind_of(const InterOpLevel& level) {
  return level.front().stream == whole_device ? Ran::whole : Ran::streams;
}

/// Returns the seconds for joining streams between two levels.
double join_seconds(const InterOpProblem& problem, Ran before, Ran next) {
  if (before == Ran::nothing || next == Ran::nothing) return 0;
  return before == Ran::whole && next == Ran::whole ? 0 : problem.join;
}

/// Finds the fastest levels for a block between operations that run on the whole device.
class LevelSolver {
 public:
  LevelSolver(const InterOpProblem& problem, const Block& block, const ScheduleSearch& search)
      : problem_(problem),
        search_(search),
        first_(block.first),
        count_(block.last - block.first),
        before_all_(block.first == 0 ? Ran::nothing : Ran::whole),
        after_all_(block.last == problem.count() ? Ran::nothing : Ran::whole) {
    for (int i = 0; i < count_; ++i) {
      OpSet64 before = 0;
      for (const int op : problem.after[at(first_ + i)]) {
        if (op >= first_) before |= bit(op - first_);
      }
      before_.push_back(before);
    }
    for (int merge = 0; merge < static_cast<int>(problem.merges.size()); ++merge) {
      const std::vector<int>& ops = problem.merges[at(merge)].ops;
      if (ops.front() < block.first || ops.back() >= block.last) continue;
      merges_.push_back({.index = merge});
      for (const int op : ops) merges_.back().ops |= bit(op - first_);
    }
  }

  /// Returns nothing if the search exceeds ScheduleSearch::max_states.
  std::optional<InterOpSchedule> solve() {
    const State begin{0, before_all_};
    if (!seconds_from(begin)) return std::nullopt;
    InterOpSchedule schedule;
    for (State state = begin; state.done != all();) {
      const Choice& best = best_.at(state);
      schedule.push_back(best.level);
      state = best.next;
    }
    return schedule;
  }

 private:
  struct State {
    OpSet64 done = 0;
    Ran before = Ran::nothing;
    friend auto operator<=>(const State&, const State&) = default;
  };
  struct Choice {
    double seconds = 0;  // from the state to the end of the block, including the join after it
    State next;
    InterOpLevel level;
  };
  using Chains = std::vector<std::vector<int>>;
  struct Merge {
    int index = 0;  // index in InterOpProblem::merges
    OpSet64 ops = 0;
  };

  static OpSet64 bit(int index) { return OpSet64{1} << static_cast<unsigned>(index); }
  [[nodiscard]] OpSet64 all() const { return count_ == 64 ? ~OpSet64{0} : bit(count_) - 1; }
  [[nodiscard]] bool is_ready(int index, OpSet64 done) const {
    return (done & bit(index)) == 0 && (before_[at(index)] & ~done) == 0;
  }
  [[nodiscard]] bool is_ready(const Merge& merge, OpSet64 done) const {
    for (const int op : problem_.merges[at(merge.index)].ops) {
      if (!is_ready(op - first_, done)) return false;
    }
    return true;
  }
  [[nodiscard]] double shared(int index) const { return problem_.shared[at(first_ + index)]; }

  /// Returns the seconds from a state to the end of the block; nothing if the limit of states is
  /// exceeded.
  std::optional<double> seconds_from(const State& state) {
    if (state.done == all()) return join_seconds(problem_, state.before, after_all_);
    if (const auto found = best_.find(state); found != best_.end()) return found->second.seconds;
    if (best_.size() >= search_.max_states) return std::nullopt;
    Choice best{.seconds = std::numeric_limits<double>::infinity(), .next = state, .level = {}};
    best_[state] = best;  // add it now, so that it counts toward the limit of states
    for (int index = 0; index < count_; ++index) {
      if (!is_ready(index, state.done)) continue;
      const InterOpLevel single{{.op = first_ + index}};
      const double seconds = problem_.alone[at(first_ + index)];
      if (!consider(single, state, state.done | bit(index), seconds, best)) return std::nullopt;
    }
    for (const Merge& merge : merges_) {
      if (!is_ready(merge, state.done)) continue;
      const double seconds = problem_.merges[at(merge.index)].seconds;
      const InterOpLevel level = merged_level(problem_, merge.index);
      if (!consider(level, state, state.done | merge.ops, seconds, best)) return std::nullopt;
    }
    Chains chains;
    if (!consider_chains(0, state, state.done, 0.0, chains, best)) return std::nullopt;
    best_[state] = best;
    return best.seconds;
  }

  /// Replaces `best`, the best choice so far in `state`, if running `level` next is faster. `done`:
  /// operations that are complete after the level; `seconds`: time of the level. Returns false if
  /// the limit of states is exceeded, as the two functions below do.
  bool consider(const InterOpLevel& level, const State& state, OpSet64 done, double seconds,
                Choice& best) {
    const State next{done, kind_of(level)};
    const std::optional<double> rest = seconds_from(next);
    if (!rest) return false;
    const double all = join_seconds(problem_, state.before, next.before) + seconds + *rest;
    if (all < best.seconds) best = {all, next, level};
    return true;
  }

  /// Considers, as the next level in `state`, the level of `chains` and levels that add chains on
  /// other streams. The first operation of an added chain has at least the index `from`, so that no
  /// set of chains is considered twice. `taken`: completed operations and those in `chains`;
  /// `longest`: seconds of the longest chain.
  bool consider_chains(int from, const State& state, OpSet64 taken, double longest, Chains& chains,
                       Choice& best) {
    if (chains.size() >= 2 && !consider(level_of(chains), state, taken, longest, best)) {
      return false;
    }
    if (static_cast<int>(chains.size()) == problem_.streams) return true;
    for (int index = from; index < count_; ++index) {
      if (!is_ready(index, state.done) || (taken & bit(index)) != 0) continue;
      chains.push_back({index});
      const bool finished =
          extend_chain(index, state, taken | bit(index), shared(index), longest, chains, best);
      chains.pop_back();
      if (!finished) return false;
    }
    return true;
  }

  /// Considers levels with the last chain as it is, and levels in which further operations are
  /// appended to the last chain. `start`: first operation of the last chain; `seconds`: time of the
  /// last chain; `longest`: time of the longest other chain.
  bool extend_chain(int start, const State& state, OpSet64 taken, double seconds, double longest,
                    Chains& chains, Choice& best) {
    if (!consider_chains(start + 1, state, taken, std::max(longest, seconds), chains, best)) {
      return false;
    }
    if (static_cast<int>(chains.back().size()) == search_.max_chain) return true;
    OpSet64 visible = state.done;  // operations that this chain may read
    for (const int index : chains.back()) visible |= bit(index);
    const int last = chains.back().back();
    for (int index = last + 1; index < count_; ++index) {
      const bool follows = (before_[at(index)] & bit(last)) != 0;
      if (!follows || !is_ready(index, visible) || (taken & bit(index)) != 0) continue;
      chains.back().push_back(index);
      const bool finished = extend_chain(start, state, taken | bit(index), seconds + shared(index),
                                         longest, chains, best);
      chains.back().pop_back();
      if (!finished) return false;
    }
    return true;
  }

  [[nodiscard]] InterOpLevel level_of(const Chains& chains) const {
    InterOpLevel level;
    for (std::size_t stream = 0; stream < chains.size(); ++stream) {
      for (const int index : chains[stream]) {
        level.push_back({.op = first_ + index, .stream = static_cast<int>(stream)});
      }
    }
    std::ranges::sort(level, {}, &PlacedOp::op);
    return level;
  }

  const InterOpProblem& problem_;
  const ScheduleSearch& search_;
  int first_;
  int count_;
  Ran before_all_;
  Ran after_all_;
  std::vector<OpSet64> before_;
  std::vector<Merge> merges_;  // merges within the block
  std::map<State, Choice> best_;
};

}  // namespace

InterOpSchedule sequential_schedule(const InterOpProblem& problem) {
  InterOpSchedule schedule;
  append_serial({.first = 0, .last = problem.count(), .is_serial = true}, schedule);
  return schedule;
}

InterOpSchedule merged_schedule(const InterOpProblem& problem) {
  const std::vector<int> merge_of = largest_merges(problem);
  InterOpSchedule schedule;
  for (int op = 0; op < problem.count(); ++op) {
    const int merge = merge_of[at(op)];
    if (merge == not_merged) {
      schedule.push_back({{.op = op}});
    } else if (problem.merges[at(merge)].ops.front() == op) {
      schedule.push_back(merged_level(problem, merge));
    }
  }
  return schedule;
}

InterOpSchedule topological_schedule(const InterOpProblem& problem) {
  const std::vector<int> levels = topological_levels(problem.after);
  InterOpSchedule schedule;
  for (int op = 0; op < problem.count(); ++op) {
    const std::size_t level = at(levels[at(op)]);
    if (level >= schedule.size()) schedule.resize(level + 1);
    schedule[level].push_back({.op = op});
  }
  for (InterOpLevel& level : schedule) {
    if (level.size() == 1) continue;
    for (std::size_t i = 0; i < level.size(); ++i) {
      level[i].stream = static_cast<int>(i) % problem.streams;
    }
  }
  return schedule;
}

InterOpSchedule list_schedule(const InterOpProblem& problem) {
  const std::vector<double> paths = longest_paths(problem);
  InterOpSchedule schedule;
  for (const Block& block : blocks_of(problem)) {
    if (block.is_serial) {
      append_serial(block, schedule);
    } else {
      schedule.push_back(listed(problem, block, paths));
    }
  }
  return schedule;
}

InterOpSchedule fastest_schedule(const InterOpProblem& problem, const ScheduleSearch& search) {
  constexpr int max_operations = 64;
  const std::vector<double> paths = longest_paths(problem);
  InterOpSchedule schedule;
  for (const Block& block : blocks_of(problem)) {
    if (block.is_serial) {
      append_serial(block, schedule);
      continue;
    }
    std::optional<InterOpSchedule> levels;
    if (block.last - block.first <= max_operations) {
      levels = LevelSolver(problem, block, search).solve();
    }
    if (!levels) levels = {listed(problem, block, paths)};
    schedule.insert(schedule.end(), levels->begin(), levels->end());
  }
  return schedule;
}

double estimated_seconds(const InterOpProblem& problem, const InterOpSchedule& schedule) {
  std::vector<double> ends(problem.after.size(), 0.0);
  double level_begin = 0;
  Ran ran = Ran::nothing;
  for (const InterOpLevel& level : schedule) {
    level_begin += join_seconds(problem, ran, kind_of(level));
    ran = kind_of(level);
    std::map<int, double> free;
    double level_end = level_begin;
    for (const PlacedOp& placed : level) {
      double begin = std::max(level_begin, free[placed.stream]);
      for (const int before : problem.after[at(placed.op)]) {
        begin = std::max(begin, ends[at(before)]);
      }
      const double end = begin + seconds_of_placed(problem, placed);
      ends[at(placed.op)] = end;
      free[placed.stream] = end;
      level_end = std::max(level_end, end);
    }
    level_begin = level_end;
  }
  return level_begin;
}

}  // namespace parbench
