#include "bench/sampling/conditions/core_use.h"

#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <fstream>
#include <sstream>
#include <string>

namespace parbench {
namespace {

/// Returns the busy ticks of the fields after "cpu3": user, nice, system, idle, iowait, irq,
/// softirq, steal. User includes guests.
double busy_ticks(std::istringstream& fields) {
  constexpr int idle = 3;
  constexpr int waiting = 4;
  constexpr int count = 8;
  double busy = 0;
  double ticks = 0;
  for (int i = 0; i < count && fields >> ticks; ++i) {
    if (i != idle && i != waiting) busy += ticks;
  }
  return busy;
}

}  // namespace

std::optional<CoreUse> core_use(const std::vector<int>& cores, const std::filesystem::path& root,
                                const std::vector<OwnProcess>& own) {
  static const auto ticks_per_second = static_cast<double>(sysconf(_SC_CLK_TCK));
  std::ifstream file(root / "proc/stat");
  CoreUse use;
  std::vector<OwnProcess> processes = own;
  processes.push_back({.pid = getpid()});
  for (const OwnProcess& one : processes) {
    const auto seconds = cpu_seconds_of(one.pid);
    if (!seconds) return std::nullopt;
    use.own_seconds += one.share * *seconds;
  }
  std::size_t found = 0;
  std::string line;
  while (std::getline(file, line) && line.starts_with("cpu")) {
    std::istringstream fields(line.substr(3));
    int core = -1;
    // The first line, "cpu " without a number, is the sum.
    if (line.at(3) == ' ' || !(fields >> core)) continue;
    if (std::ranges::find(cores, core) == cores.end()) continue;
    use.busy_seconds += busy_ticks(fields) / ticks_per_second;
    ++found;
  }
  if (found == 0 || found != cores.size()) return std::nullopt;
  return use;
}

std::optional<double> used_by_others(const std::optional<CoreUse>& before,
                                     const std::optional<CoreUse>& after, double seconds) {
  if (!before || !after || seconds <= 0) return std::nullopt;
  const double busy = after->busy_seconds - before->busy_seconds;
  const double own = after->own_seconds - before->own_seconds;
  return (busy - own) / seconds;
}

}  // namespace parbench
