// A thread that checks its limit ten times a second; starting a limit only sets a variable.
#include "bench/ranks/control/watchdog.h"

#include <unistd.h>

#include <cstdio>
#include <utility>

#include "bench/output/exit_code.h"
#include "bench/output/standard_streams.h"

namespace parbench {

void end_run(const std::string& why) {
  // The terminal may show the progress of a thread that does not end its line any more.
  if (is_full_terminal(STDERR_FILENO)) std::fputs(erase_line, stderr);
  print_error(why + "; the run ends");
  std::fflush(nullptr);
  _exit(static_cast<int>(ExitCode::case_failed));
}

Watchdog::Watchdog()
    : thread_([this] {
        std::unique_lock lock(mutex_);
        while (!over_.wait_for(lock, std::chrono::milliseconds(100), [this] { return is_over_; })) {
          if (due_ && Clock::now() > *due_) end_run(why_);
        }
      }) {}

Watchdog::~Watchdog() {
  {
    const std::lock_guard lock(mutex_);
    is_over_ = true;
  }
  over_.notify_one();
  thread_.join();
}

void Watchdog::start(std::chrono::duration<double> limit, std::string why) {
  const std::lock_guard lock(mutex_);
  due_ = Clock::now() + std::chrono::duration_cast<Clock::duration>(limit);
  why_ = std::move(why);
}

void Watchdog::stop() {
  const std::lock_guard lock(mutex_);
  due_.reset();
}

}  // namespace parbench
