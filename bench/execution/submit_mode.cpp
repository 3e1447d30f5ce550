#include "bench/execution/submit_mode.h"

#include <fmt/format.h>

#include "kernels/base/error.h"
#include "kernels/core/device.h"

namespace parbench {
namespace {

void check_one_backend(const Plan& plan) {
  const DeviceInfo& first = plan.streams().front()->device().info();
  for (const Stream* stream : plan.streams()) {
    const DeviceInfo& other = stream->device().info();
    if (other.backend == first.backend) continue;
    throw Unsupported(
        fmt::format("a graph holds work of one backend; this plan runs on {} and {}, leave out "
                    "--graph",
                    first.name, other.name));
  }
}

/// Throws Unsupported for devices that only one host thread may use at a time. The thread that runs
/// the plan records its begin and end, so that even a single lane cannot have its own thread.
void check_launching_threads(const Plan& plan) {
  for (const Stream* stream : plan.streams()) {
    const Device& device = stream->device();
    if (!device.one_launching_thread()) continue;
    throw Unsupported(fmt::format(
        "a launching thread for every lane: {} can be used by one host thread at a time; run the "
        "strategy on whole devices",
        device.info().name));
  }
}

}  // namespace

SubmitMode submit_mode_of(const CaseSpec& spec, const Plan& plan) {
  if (spec.graph && plan.graph().submit == SubmitMode::thread_per_lane) {
    throw Unsupported(
        "a graph is launched by one thread, so a strategy with a launching thread a lane has none; "
        "run it without --graph");
  }
  const SubmitMode mode = spec.graph ? SubmitMode::graph : plan.graph().submit;
  if (mode == SubmitMode::graph) check_one_backend(plan);
  if (mode == SubmitMode::thread_per_lane) check_launching_threads(plan);
  return mode;
}

}  // namespace parbench
