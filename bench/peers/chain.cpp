// Compares the executor, on a plan with one lane, with a loop over the same operations, and with
// itself without recording.
#include <fmt/format.h>

#include <chrono>
#include <functional>

#include "bench/execution/executor.h"
#include "bench/peers/comparisons.h"
#include "bench/peers/workload.h"

namespace parbench::peers {
namespace {

Plan chain_of(const Workload& work, int tasks) {
  Plan plan;
  const LaneId lane = plan.add_lane("chain", work.stream());
  for (int i = 0; i < tasks; ++i) {
    Task task{.name = fmt::format("convolution {}", i), .lanes = {lane}};
    if (i > 0) task.after = {i - 1};
    plan.add(std::move(task), {OpCall{&work.op(i), work.views(i)}});
  }
  return plan;
}

double run_loop(const Workload& work, int tasks) {
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < tasks; ++i) work.op(i).enqueue(work.stream(), work.views(i));
  work.stream().synchronize();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

double repeat(int executions, const std::function<double()>& execute) {
  double seconds = 0;
  for (int i = 0; i < executions; ++i) seconds += execute();
  return seconds;
}

/// Returns the seconds of one execution of the chain, in one of the two compared ways.
using Execution = std::function<double(Executor&, const Workload&)>;

Json compare(const ConvolutionForward& desc, int tasks, const Effort& effort, const Execution& ours,
             const Execution& other) {
  const auto devices = open_whole_machine();
  const Workload work(*devices.front(), desc);
  const Plan plan = chain_of(work, tasks);
  Executor executor(plan);
  const auto repeated = [&](const Execution& execution) {
    return [&](int executions) {
      return repeat(executions, [&] { return execution(executor, work); });
    };
  };

  Json result = to_json(sample_pairs(effort, repeated(ours), repeated(other)));
  result["tasks"] = tasks;
  result["batch"] = desc.shape.batch;
  result["threads"] = work.stream().threads();
  return result;
}

}  // namespace

Json compare_chain(const ConvolutionForward& desc, int tasks, const Effort& effort) {
  return compare(
      desc, tasks, effort,
      [](Executor& executor, const Workload&) { return executor.run().wall_seconds; },
      [tasks](Executor&, const Workload& work) { return run_loop(work, tasks); });
}

Json compare_recording(const ConvolutionForward& desc, int tasks, const Effort& effort) {
  return compare(
      desc, tasks, effort,
      [](Executor& executor, const Workload&) { return executor.record(1, 0).seconds.front(); },
      [](Executor& executor, const Workload&) { return executor.run().seconds; });
}

}  // namespace parbench::peers
