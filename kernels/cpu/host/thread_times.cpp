// Reads stat and schedstat below /proc/self/task; proc(5) documents their fields.
#include "kernels/cpu/host/thread_times.h"

#include <fmt/format.h>
#include <omp.h>
#include <unistd.h>

#include <fstream>
#include <sstream>
#include <string>

namespace parbench::cpu {
namespace {

constexpr double nanosecond = 1e-9;

/// Adds the times for which one thread ran on a core and waited for a core. Returns false if the
/// file is missing or has another content.
bool add_schedule(const std::filesystem::path& folder, ThreadTimes& times) {
  std::ifstream file(folder / "schedstat");
  double on_core = 0;
  double waiting = 0;
  if (!(file >> on_core >> waiting)) return false;
  times.core_seconds += on_core * nanosecond;
  times.core_wait_seconds += waiting * nanosecond;
  return true;
}

bool add_faults_and_kernel(const std::filesystem::path& folder, ThreadTimes& times) {
  std::ifstream file(folder / "stat");
  std::string line;
  if (!std::getline(file, line)) return false;
  // After the name, which is in parentheses and may contain any character: state, parent, group,
  // session, terminal, group of the terminal, flags, minor faults, minor faults of children, major
  // faults, major faults of children, user time, kernel time.
  const std::size_t name_end = line.rfind(')');
  if (name_end == std::string::npos) return false;
  std::istringstream fields(line.substr(name_end + 1));
  std::string skipped;
  for (int i = 0; i < 7; ++i) fields >> skipped;
  std::int64_t faults = 0;
  fields >> faults;
  for (int i = 0; i < 4; ++i) fields >> skipped;
  double ticks = 0;
  if (!(fields >> ticks)) return false;
  static const auto ticks_per_second = static_cast<double>(sysconf(_SC_CLK_TCK));
  times.page_faults += faults;
  times.kernel_seconds += ticks / ticks_per_second;
  return true;
}

}  // namespace

std::optional<ThreadTimes> thread_times(const std::vector<pid_t>& threads,
                                        const std::filesystem::path& root) {
  ThreadTimes times;
  for (const pid_t thread : threads) {
    const auto folder = root / fmt::format("proc/self/task/{}", thread);
    if (!add_schedule(folder, times) || !add_faults_and_kernel(folder, times)) return std::nullopt;
    ++times.threads;
  }
  return times;
}

std::vector<pid_t> team_ids(int threads) {
  std::vector<pid_t> ids(static_cast<std::size_t>(threads), gettid());
  if (threads == 1) return ids;
#pragma omp parallel num_threads(threads)
  ids[static_cast<std::size_t>(omp_get_thread_num())] = gettid();
  return ids;
}

}  // namespace parbench::cpu
