#include "kernels/core/stream.h"

#include <fmt/format.h>

#include "kernels/core/device.h"
#include "kernels/core/ranks/host_worker.h"

namespace parbench {

std::unique_ptr<Graph> Stream::capture(const std::function<void()>& /*enqueue*/) {
  throw Unsupported(
      fmt::format("{} captures no graphs; run without --graph", device().info().name));
}

void Stream::perform(HostWork& work) {
  if (HostWorker* const worker = host_worker()) return worker->perform(*this, work, tag());
  throw Unsupported(
      fmt::format("{} takes no work of the host into its streams, such as messages between ranks",
                  device().info().name));
}

void Stream::log_activities(ActivityLog* log) {
  if (log != nullptr) check_activities();
}

void Stream::check_activities() {
  throw Unsupported(fmt::format("{} does not report when its work runs", device().info().name));
}

}  // namespace parbench
