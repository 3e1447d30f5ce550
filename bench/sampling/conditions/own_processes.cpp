// Reads the tree of processes, and their CPU clocks.
#include "bench/sampling/conditions/own_processes.h"

#include <unistd.h>

#include <ctime>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

namespace parbench {
namespace {

std::filesystem::path program_of(pid_t process) {
  std::error_code ignored;
  return std::filesystem::read_symlink("/proc/" + std::to_string(process) + "/exe", ignored);
}

/// Returns the parent of a process; 0 if unknown.
pid_t parent_of(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/status");
  std::string field;
  pid_t parent = 0;
  while (file >> field) {
    if (field == "PPid:" && file >> parent) return parent;
  }
  return 0;
}

}  // namespace

std::vector<OwnProcess> starting_processes() {
  std::vector<OwnProcess> processes;
  const pid_t self = getpid();
  const std::filesystem::path program = program_of(self);
  for (pid_t process = parent_of(self); process > 1; process = parent_of(process)) {
    if (!program.empty() && program_of(process) == program) processes.push_back({.pid = process});
  }
  return processes;
}

std::optional<double> cpu_seconds_of(pid_t process) {
  clockid_t clock{};
  timespec time{};
  if (clock_getcpuclockid(process, &clock) != 0 || clock_gettime(clock, &time) != 0) {
    return std::nullopt;
  }
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

}  // namespace parbench
