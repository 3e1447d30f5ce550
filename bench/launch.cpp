// What cannot be launched as it was asked for.
#include "bench/launch.h"

#include <fmt/format.h>

#include "kernels/error.h"

namespace parbench {
namespace {

void check_one_backend(const Plan& plan) {
  const DeviceInfo& first = plan.lanes().front().stream->device().info();
  for (const Lane& lane : plan.lanes()) {
    const DeviceInfo& other = lane.stream->device().info();
    if (other.backend == first.backend) continue;
    throw Unsupported(
        fmt::format("a graph holds work of one backend; this plan runs on {} and {}, leave out "
                    "--graph",
                    first.name, other.name));
  }
}

}  // namespace

Launch launch_of(const CaseSpec& spec, const Plan& plan) {
  if (spec.graph && plan.launch == Launch::thread_per_lane) {
    throw Unsupported(
        "a graph is launched by one thread, so a strategy with a launching thread a lane has none; "
        "run it without --graph");
  }
  const Launch launch = spec.graph ? Launch::graph : plan.launch;
  if (launch == Launch::graph) check_one_backend(plan);
  return launch;
}

}  // namespace parbench
