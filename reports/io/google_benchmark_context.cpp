// Reads machine, time and labels of a run.
#include "reports/io/google_benchmark_context.h"

#include <algorithm>
#include <array>

#include "kernels/base/units/units.h"
#include "reports/text/text.h"
#include "reports/text/utc.h"

namespace parbench::report {
namespace {

std::vector<CpuCache> caches_of(const Fields& context) {
  std::vector<CpuCache> caches;
  if (!context.has("caches") || !context.json()["caches"].is_array()) return caches;
  for (const Json& item : context.json()["caches"]) {
    if (!item.is_object()) continue;
    const Fields cache(item, "context.caches");
    caches.push_back({cache.text("type"), cache.count("level", 0), cache.count("size", 0),
                      cache.count("num_sharing", 0)});
  }
  return caches;
}

/// Returns "CPU with caches of 32 KiB L1, 1 MiB L2, 32 MiB L3".
std::string cpu_of(const std::vector<CpuCache>& caches) {
  const std::string sizes = joined(caches, ", ", [](const CpuCache& cache) {
    if (cache.type == "Instruction") return std::string();
    return fmt::format("{} L{}", format_bytes(static_cast<double>(cache.bytes)), cache.level);
  });
  return sizes.empty() ? std::string(unknown_cpu) : "CPU with caches of " + sizes;
}

std::optional<std::string> known_text(const Fields& context, const char* key) {
  std::string text = context.text(key);
  return text.empty() ? std::nullopt : std::optional(std::move(text));
}

/// Returns the circumstances as texts; the file has texts or booleans.
NamedTexts circumstances_of(const Fields& context) {
  NamedTexts circumstances;
  for (const char* const key : {"library_build_type", "cpu_scaling_enabled", "aslr_enabled"}) {
    if (!context.has(key)) continue;
    const Json& value = context.json()[key];
    if (value.is_boolean()) circumstances.emplace_back(key, value.get<bool>() ? "true" : "false");
    if (value.is_string()) circumstances.emplace_back(key, value.get<std::string>());
  }
  return circumstances;
}

Machine machine_of(const Fields& context) {
  Machine machine;
  machine.host = context.text("host_name");
  machine.cores_online = context.count("num_cpus", 0);
  machine.caches = caches_of(context);
  machine.cpu_model = cpu_of(machine.caches);
  if (const int mhz = context.count("mhz_per_cpu", 0); mhz > 0) machine.cpu_mhz = mhz;
  machine.circumstances = circumstances_of(context);
  machine.commit = known_text(context, "commit");
  machine.commit_subject = known_text(context, "commit_subject");
  machine.commit_author = known_text(context, "commit_author");
  return machine;
}

/// Returns the texts that --benchmark_context added, except the commit.
NamedTexts labels_of(const Fields& context) {
  constexpr std::array<std::string_view, 8> known{
      "date",   "host_name",      "executable",   "library_version", "library_build_type",
      "commit", "commit_subject", "commit_author"};
  NamedTexts labels;
  for (const auto& [key, value] : context.json().items()) {
    const bool is_label = std::ranges::find(known, key) == known.end();
    if (is_label && value.is_string()) labels.emplace_back(key, value.get<std::string>());
  }
  return labels;
}

/// Returns the start time; empty if it is missing or unreadable.
std::string start_of(const Fields& context, std::vector<FileNote>& file_notes) {
  const std::string date = context.text("date");
  if (date.empty()) return {};
  try {
    return utc_of_date(date);
  } catch (const UsageError& error) {
    add_file_note(file_notes, "the time of the run is unknown",
                  fmt::format("date {}", error.what()));
    return {};
  }
}

}  // namespace

std::string program_name(const std::string& executable) {
  const std::string name = executable.substr(executable.find_last_of("/\\") + 1);
  return name.empty() ? "benchmarks" : name;
}

Report report_without_cases(const Fields& context) {
  Report report;
  std::string version = context.text("library_version");
  if (version.starts_with('v')) version.erase(0, 1);
  report.measured_by = version.empty() ? "Google Benchmark" : "Google Benchmark " + version;
  report.version = version.empty() ? "unknown" : version;
  report.started_utc = start_of(context, report.file_notes);
  report.command_line = {context.text("executable")};
  report.machine = machine_of(context);
  report.labels = labels_of(context);
  return report;
}

}  // namespace parbench::report
