// A thread that waits for the end of its object.
#include "bench/ranks/control/watchdog.h"

#include <unistd.h>

#include <cstdio>
#include <utility>

#include "bench/output/exit_code.h"
#include "bench/output/standard_streams.h"

namespace parbench {

void end_run(const std::string& why) {
  print_error(why + "; the run ends");
  std::fflush(nullptr);
  _exit(static_cast<int>(ExitCode::case_failed));
}

Watchdog::Watchdog(std::chrono::duration<double> limit, std::string why)
    : thread_([this, limit, why = std::move(why)] {
        std::unique_lock lock(mutex_);
        if (!changed_.wait_for(lock, limit, [this] { return is_over_; })) end_run(why);
      }) {}

Watchdog::~Watchdog() {
  {
    const std::lock_guard lock(mutex_);
    is_over_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

}  // namespace parbench
