// Exchanges the numbers of processes between ranks.
#include "bench/ranks/rank_processes.h"

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <string>
#include <system_error>

#include "bench/ranks/control/connections.h"
#include "bench/ranks/control/frames.h"
#include "reports/model/machine_info.h"

namespace parbench {
namespace {

/// Where numbers of processes are those of this one.
std::string place_of_process() {
  std::error_code ignored;
  return host_name() + " " + std::filesystem::read_symlink("/proc/self/ns/pid", ignored).string();
}

std::string process_payload(const std::vector<int>& cores) {
  std::string payload;
  append_text(payload, place_of_process());
  append_number(payload, static_cast<std::uint64_t>(getpid()));
  append_number(payload, static_cast<std::uint64_t>(getppid()));
  append_number(payload, cores.size());
  for (const int core : cores) append_number(payload, static_cast<std::uint64_t>(core));
  return payload;
}

/// The share of the cores in a payload that are among these; all of none.
double common_share(PayloadReader& reader, const std::vector<int>& cores) {
  const std::uint64_t count = reader.number();
  std::uint64_t common = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto core = static_cast<int>(reader.number());
    if (std::ranges::find(cores, core) != cores.end()) ++common;
  }
  return count == 0 ? 1 : static_cast<double>(common) / static_cast<double>(count);
}

void add_process(std::vector<OwnProcess>& processes, const OwnProcess& one) {
  const bool is_other = one.pid > 1 && one.pid != getpid();
  if (is_other && std::ranges::find(processes, one.pid, &OwnProcess::pid) == processes.end()) {
    processes.push_back(one);
  }
}

}  // namespace

std::vector<OwnProcess> rank_processes(RankTeam& team) {
  const std::vector<int> cores = report::cores_allowed();
  std::vector<OwnProcess> processes;
  for (const std::string& payload : team.meet(process_payload(cores))) {
    PayloadReader reader(payload);
    if (reader.text() != place_of_process()) continue;
    const auto pid = static_cast<pid_t>(reader.number());
    const auto parent = static_cast<pid_t>(reader.number());
    add_process(processes, {.pid = pid, .share = common_share(reader, cores)});
    add_process(processes, {.pid = parent});
  }
  return processes;
}

}  // namespace parbench
