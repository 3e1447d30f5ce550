// An executor of this rank's lanes between meetings of all ranks.
#include "bench/ranks/rank_runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <functional>
#include <string>
#include <utility>

#include "bench/execution/executor.h"
#include "bench/execution/interrupt.h"
#include "bench/ranks/timeline_parts.h"
#include "kernels/base/error.h"
#include "kernels/base/hash.h"
#include "reports/statistics/statistics.h"

namespace parbench {
namespace {

/// Time limit for measuring one task, in addition to executions of the plan. Tasks are repeated
/// until a clock can time them, which takes some milliseconds.
constexpr double max_task_seconds = 0.1;

/// Adds the waits of the ranks to a timing. `by_rank`: the values that `run` collects from each
/// rank; the third is its seconds in messages, the fourth its seconds at the common start, which
/// are shortest on the last rank to arrive.
void add_waits(Timing& timing, const std::vector<std::vector<double>>& by_rank) {
  if (by_rank.empty()) return;
  std::vector<double> before;
  for (const std::vector<double>& one : by_rank) {
    timing.rank_waits.push_back(one[2]);
    before.push_back(one[3]);
  }
  const auto [least, most] = std::ranges::minmax(before);
  timing.start_skew = most - least;
}

class RankRunner final : public PlanRunner {
 public:
  RankRunner(RankTeam& team, const Plan& plan, SubmitMode mode)
      : team_(team),
        own_(std::make_unique<Executor>(plan, mode)),
        tasks_(plan.graph().tasks.size()) {
    require_same(plan.graph());
  }

  void prepare_graph() override {
    team_.meet();
    team_.exchange([this] { (void)own_->run_without_graph(); });
    own_->capture_graph();  // without messages; a failure concerns only this case
  }

  Timing run() override {
    // The meeting after an execution also serves as the meeting before the next one.
    if (latest_ != team_.meetings()) team_.meet();
    Timing timing;
    static_cast<void>(team_.link().take_times());
    limit_waits();
    team_.exchange([&] { timing = own_->run(); });
    const RankLink::Times waited = team_.link().take_times();
    std::vector<std::vector<double>> by_rank;
    const std::vector<double> largest =
        team_.largest({timing.seconds, timing.wall_seconds, waited.waits, waited.barrier}, by_rank);
    latest_ = team_.meetings();
    longest_ = std::max(longest_, largest[1]);
    Timing joint{.seconds = largest[0], .wall_seconds = largest[1]};
    add_waits(joint, by_rank);
    return joint;
  }

  std::vector<double> measure_tasks(const std::function<bool()>& interrupted) override {
    if (interrupted()) throw Interrupted();
    team_.meet();
    std::vector<double> costs;
    limit_waits(max_task_seconds * static_cast<double>(tasks_));
    team_.exchange([&] { costs = own_->measure_tasks([] { return false; }); });
    return team_.largest(std::move(costs));
  }

  /// All ranks try, because one that fails while others wait for its messages would end the run.
  void check_recording() const override {
    team_.together([this] {
      limit_waits();
      own_->try_recording();
    });
  }

  Recording record(int executions, double typical_seconds) override {
    Recording all;
    std::vector<Recording> recordings;
    for (int i = 0; i < std::max(1, executions); ++i) {
      check_recording();
      if (executions > 1) static_cast<void>(run());
      Recording one;
      limit_waits();
      std::exception_ptr incomplete;
      team_.exchange([&] {
        try {
          one = own_->record(1, typical_seconds);
        } catch (const RecordsMissing&) {
          incomplete = std::current_exception();
        }
      });
      team_.together([&] {
        limit_waits();
        if (incomplete) std::rethrow_exception(incomplete);
      });
      limit_waits();
      all.seconds.push_back(team_.largest(one.seconds).front());
      all.seconds_per_call = one.seconds_per_call;
      recordings.push_back(std::move(one));
    }
    all.kept = nearest_index(all.seconds, typical_seconds);
    all.timeline = joined(team_, recordings[all.kept]);
    return all;
  }

 private:
  void require_same(const PlanGraph& graph) {
    const std::vector<std::uint64_t> hashes = team_.meet(hash_of(graph));
    for (std::size_t rank = 1; rank < hashes.size(); ++rank) {
      if (hashes[rank] == hashes.front()) continue;
      throw Error(fmt::format(
          "{} and {} have different plans: a scenario must build the same plan on all ranks",
          team_.name_of(static_cast<int>(rank)), team_.name_of(0)));
    }
  }

  /// Limits the waits between ranks once the duration of an execution is known.
  void limit_waits(double extra = 0) const {
    if (longest_ > 0) team_.expect_within(execution_limit(longest_) + extra);
  }

  RankTeam& team_;
  std::unique_ptr<Executor> own_;
  std::size_t tasks_;         // number of tasks
  std::uint64_t latest_ = 0;  // number of the meeting after the latest execution
  double longest_ = 0;        // seconds of the longest execution so far
};

/// Throws Unsupported if a device is not a CPU. A graph of CPU devices is a list of work for the
/// threads of their streams, and may contain messages. Messages of other devices run on a host
/// thread; they start when they are enqueued, not when a graph is replayed.
void require_capture_of_messages(const Plan& plan) {
  for (const Stream* stream : plan.streams()) {
    const DeviceInfo& device = stream->device().info();
    if (device.host_memory) continue;
    throw Unsupported(fmt::format(
        "{}: messages between ranks cannot be captured into its graphs; run without --graph",
        device.name));
  }
}

}  // namespace

std::unique_ptr<PlanRunner> make_rank_runner(RankTeam& team, const Plan& plan, SubmitMode mode) {
  if (mode == SubmitMode::graph) require_capture_of_messages(plan);
  return std::make_unique<RankRunner>(team, plan, mode);
}

double execution_limit(double longest) { return std::max(60.0, 100 * longest); }

std::uint64_t hash_of(const PlanGraph& graph) {
  std::string bytes;
  for (const Lane& lane : graph.lanes) bytes += packed(std::pair(lane.name, lane.device));
  for (const Task& task : graph.tasks) {
    bytes += packed(std::pair(task.name, task.kind));
    bytes += packed(std::pair(task.lanes, task.after));
    bytes += packed(std::pair(task.work.flops, task.work.bytes));
  }
  return fnv1a(bytes);
}

}  // namespace parbench
