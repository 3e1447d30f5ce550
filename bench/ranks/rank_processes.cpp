// Exchange of process numbers between ranks.
#include "bench/ranks/rank_processes.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <system_error>

#include "bench/ranks/control/connections.h"
#include "reports/model/machine_info.h"

namespace parbench {
namespace {

/// Returns the host and the PID namespace of this process, within which process ids are unique.
std::string pid_namespace() {
  std::error_code ignored;
  return host_name() + " " + std::filesystem::read_symlink("/proc/self/ns/pid", ignored).string();
}

/// Identity of a rank's process, as sent to the other ranks.
struct RankProcess {
  std::string pid_namespace;
  pid_t pid = 0;
  pid_t parent = 0;
  std::vector<int> cores;

  void fields(Archive& archive) { archive(pid_namespace, pid, parent, cores); }
};

/// Returns the fraction of a rank's cores that are among `cores`; 1 if the rank has none.
double common_share(const std::vector<int>& of_rank, const std::vector<int>& cores) {
  if (of_rank.empty()) return 1;
  const auto common = std::ranges::count_if(
      of_rank, [&](int core) { return std::ranges::find(cores, core) != cores.end(); });
  return static_cast<double>(common) / static_cast<double>(of_rank.size());
}

void add_process(std::vector<OwnProcess>& processes, const OwnProcess& one) {
  const bool is_other = one.pid > 1 && one.pid != getpid();
  if (is_other && std::ranges::find(processes, one.pid, &OwnProcess::pid) == processes.end()) {
    processes.push_back(one);
  }
}

}  // namespace

std::vector<OwnProcess> rank_processes(RankTeam& team) {
  const RankProcess own{pid_namespace(), getpid(), getppid(), report::cores_allowed()};
  std::vector<OwnProcess> processes;
  for (const RankProcess& rank : team.meet(own)) {
    if (rank.pid_namespace != own.pid_namespace) continue;
    add_process(processes, {.pid = rank.pid, .share = common_share(rank.cores, own.cores)});
    add_process(processes, {.pid = rank.parent});
  }
  return processes;
}

}  // namespace parbench
