// Reads /proc, /sys, os-release, uname and the affinity mask.
#include "reports/model/machine_info.h"

#include <sched.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#ifndef PARBENCH_BUILD_TYPE
#define PARBENCH_BUILD_TYPE ""
#endif

namespace parbench::report {
namespace {

namespace fs = std::filesystem;

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blanks = " \t\r\n\"";
  const std::size_t first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

/// Returns the values of all lines "key<separator>value" of a file, in order.
std::vector<std::string> values_of(const fs::path& file, std::string_view key, char separator) {
  std::vector<std::string> values;
  std::ifstream stream(file);
  for (std::string line; std::getline(stream, line);) {
    const std::size_t end = line.find(separator);
    if (end == std::string::npos || trimmed(std::string_view(line).substr(0, end)) != key) continue;
    values.emplace_back(trimmed(std::string_view(line).substr(end + 1)));
  }
  return values;
}

std::string value_of(const fs::path& file, std::string_view key, char separator) {
  const std::vector<std::string> values = values_of(file, key, separator);
  return values.empty() ? std::string() : values.front();
}

std::optional<double> number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end == text.data()) return std::nullopt;
  return value;
}

/// Returns the mean clock of the cores in /proc/cpuinfo; nothing if the file lists no clock.
std::optional<double> cpu_mhz(const fs::path& root) {
  double sum = 0;
  int count = 0;
  for (const std::string& text : values_of(root / "proc/cpuinfo", "cpu MHz", ':')) {
    if (const auto mhz = number(text); mhz && *mhz > 0) {
      sum += *mhz;
      ++count;
    }
  }
  if (count == 0) return std::nullopt;
  return sum / count;
}

std::optional<std::string> governor(const fs::path& root) {
  std::ifstream stream(root / "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
  std::string name;
  if (!std::getline(stream, name) || trimmed(name).empty()) return std::nullopt;
  return std::string(trimmed(name));
}

/// Parses "MemTotal: 16384 kB", in which kB means 1024 bytes.
std::size_t memory_bytes(const fs::path& root) {
  const auto kibibytes = number(value_of(root / "proc/meminfo", "MemTotal", ':'));
  return kibibytes ? static_cast<std::size_t>(*kibibytes) * 1024 : 0;
}

std::vector<double> load_average() {
  std::array<double, 3> loads{};
  const int known = ::getloadavg(loads.data(), static_cast<int>(loads.size()));
  return {loads.begin(), loads.begin() + std::max(0, known)};
}

std::string compiler() {
#if defined(__clang__)
  return "Clang " __clang_version__;
#elif defined(__GNUC__)
  return "GCC " __VERSION__;
#else
  return "unknown";
#endif
}

std::optional<std::string> environment(const char* name) {
  const char* value = std::getenv(name);
  if (!value || !*value) return std::nullopt;
  return value;
}

/// Returns the environment variables that affect kernel libraries, sorted by name.
NamedTexts library_settings() {
  constexpr std::array<std::string_view, 10> prefixes = {
      "CUBLAS_", "CUDA_", "CUDNN_", "DNNL_",   "GOMP_",
      "KMP_",    "NCCL_", "OMP_",   "ONEDNN_", "PARBENCH_CPU_LAYOUT"};
  NamedTexts settings;
  for (char* const* entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::size_t end = text.find('=');
    if (end == std::string_view::npos ||
        std::ranges::none_of(prefixes, [&](auto prefix) { return text.starts_with(prefix); })) {
      continue;
    }
    settings.emplace_back(text.substr(0, end), text.substr(end + 1));
  }
  std::ranges::sort(settings);
  return settings;
}

void add_commit(Machine& machine) {
  machine.commit = environment("PARBENCH_COMMIT");
  const auto dirty = environment("PARBENCH_DIRTY");
  if (!machine.commit) return;
  if (dirty) machine.dirty = *dirty != "0";
  machine.commit_subject = environment("PARBENCH_COMMIT_SUBJECT");
  machine.commit_author = environment("PARBENCH_COMMIT_AUTHOR");
}

}  // namespace

// sched_getaffinity fails with EINVAL if the kernel's mask is wider than the given one.
std::vector<int> cores_allowed() {
  constexpr int widest = 1 << 20;
  for (int bits = CPU_SETSIZE; bits <= widest; bits *= 2) {
    const std::unique_ptr<cpu_set_t, void (*)(cpu_set_t*)> set(
        CPU_ALLOC(bits), [](cpu_set_t* allocated) { CPU_FREE(allocated); });
    if (!set) return {};
    const std::size_t bytes = CPU_ALLOC_SIZE(bits);
    if (::sched_getaffinity(0, bytes, set.get()) != 0) continue;
    std::vector<int> cores;
    for (int core = 0; core < bits; ++core) {
      if (CPU_ISSET_S(static_cast<std::size_t>(core), bytes, set.get())) cores.push_back(core);
    }
    return cores;
  }
  return {};
}

Machine machine_info(NamedTexts libraries, const fs::path& root) {
  utsname names{};
  ::uname(&names);
  Machine machine;
  machine.host = names.nodename;
  machine.cpu_model = value_of(root / "proc/cpuinfo", "model name", ':');
  if (machine.cpu_model.empty()) machine.cpu_model = names.machine;
  machine.cores_online = static_cast<int>(std::max(1L, ::sysconf(_SC_NPROCESSORS_ONLN)));
  machine.cores_allowed = cores_allowed();
  machine.memory_bytes = memory_bytes(root);
  machine.cpu_mhz = cpu_mhz(root);
  machine.governor = governor(root);
  machine.load_average = load_average();
  machine.operating_system = value_of(root / "etc/os-release", "PRETTY_NAME", '=');
  if (machine.operating_system.empty()) machine.operating_system = names.sysname;
  machine.kernel = names.release;
  machine.compiler = compiler();
  machine.build_type = PARBENCH_BUILD_TYPE;
  machine.libraries = std::move(libraries);
  machine.environment = library_settings();
  add_commit(machine);
  return machine;
}

}  // namespace parbench::report
