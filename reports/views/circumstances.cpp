// Lists the circumstances that Google Benchmark warns about.
#include "reports/views/circumstances.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <string_view>

#include "reports/model/fingerprint.h"

namespace parbench::report {
namespace {

struct Distortion {
  std::string_view key;
  std::string_view value;
  std::string_view text;
};

constexpr std::array<Distortion, 3> distortions{{
    {"library_build_type", "debug",
     "Google Benchmark's library is a debug build (library_build_type), as the program may be: its "
     "times are not those of a release. Build with -DCMAKE_BUILD_TYPE=Release."},
    {"cpu_scaling_enabled", "true",
     "the processor changes its clock (cpu_scaling_enabled), so that times vary more. Set the "
     "governor: cpupower frequency-set --governor performance."},
    {"aslr_enabled", "true",
     "memory has another layout in every run (aslr_enabled), so that runs differ more than their "
     "repetitions. Compare several runs of each side, or run under setarch --addr-no-randomize."},
}};

}  // namespace

std::vector<std::string> circumstance_warnings(const NamedCircumstances& reports) {
  std::vector<std::string> warnings;
  for (const Distortion& one : distortions) {
    std::vector<std::string> names;
    for (const auto& [name, circumstances] : reports) {
      const std::string* const value = find_value(*circumstances, one.key);
      if (value == nullptr || value->find(one.value) == value->npos) continue;
      names.push_back(*value == one.value ? name : name + " (some runs)");
    }
    if (!names.empty()) {
      warnings.push_back(fmt::format("{}: {}", fmt::join(names, " and "), one.text));
    }
  }
  return warnings;
}

std::vector<std::string> circumstance_differences(const NamedTexts& before, const NamedTexts& now) {
  std::vector<std::string> differences;
  for (const auto& [key, value] : before) {
    const std::string* const later = find_value(now, key);
    if (later != nullptr && *later != value) {
      differences.push_back(difference_text(key, value, *later));
    }
  }
  return differences;
}

std::vector<std::string> notes_on_models(const Report& report) {
  std::vector<std::string> notes;
  for (const auto& [model, note] : report.model_notes) {
    notes.push_back(fmt::format("{}: {}", model, note));
  }
  return notes;
}

std::vector<std::string> notes_on_file(const Report& report) {
  std::vector<std::string> notes =
      circumstance_warnings({{"This run", &report.machine.circumstances}});
  for (const FileNote& note : report.file_notes) notes.push_back("This file: " + to_text(note));
  return notes;
}

std::string to_text(const FileNote& note) {
  const std::string more = note.count > 1 ? fmt::format(" (and {} more)", note.count - 1) : "";
  return fmt::format("{}: {}{}.", note.what, note.first, more);
}

}  // namespace parbench::report
