// Stores a JSON file for each kind of machine and device.
#include "reports/io/peak_cache.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>

#include "kernels/base/error.h"
#include "reports/io/file.h"
#include "reports/io/json.h"

namespace parbench::report {
namespace {

namespace fs = std::filesystem;

/// Limits of a file of peaks, far above what the peaks of a device need.
constexpr ReadLimits file_limits{.bytes = 100'000,
                                 .values = 1000,
                                 .text = 1000,
                                 .remedy = "it is not a file of peaks; remove it"};

/// Returns an environment variable; empty if it is not set.
std::string environment(const char* name) {
  const char* const text = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): set by no thread
  return text == nullptr ? "" : text;
}

void check(const KnownPeaks& known, const Fingerprint& device) {
  if (known.machine_id != id_of(device)) {
    throw UsageError(fmt::format("it is of another machine or device: {}", known.machine));
  }
  for (const Peak& peak : known.peaks) {
    if (std::isfinite(peak.value) && peak.value > 0) continue;
    throw UsageError(fmt::format("its peak '{}' is not a valid rate: {}", peak.what, peak.value));
  }
}

}  // namespace

// The XDG Base Directory Specification 0.8 requires relative paths to be ignored.
std::optional<PeakCache> PeakCache::of_environment() {
  const std::string own = environment("PARBENCH_CACHE");
  if (!own.empty()) return PeakCache(fs::path(own) / "peaks");
  const fs::path caches = environment("XDG_CACHE_HOME");
  if (caches.is_absolute()) return PeakCache(caches / "parbench" / "peaks");
  const std::string home = environment("HOME");
  if (home.empty()) return std::nullopt;
  return PeakCache(fs::path(home) / ".cache" / "parbench" / "peaks");
}

fs::path PeakCache::file_of(const Fingerprint& device) const {
  return folder_ / (id_of(device) + ".json");
}

std::vector<Peak> PeakCache::find(const Fingerprint& device) const {
  const fs::path file = file_of(device);
  std::error_code ignored;
  if (fs::status(file, ignored).type() == fs::file_type::not_found) return {};
  const Json json = read_json(file, file_limits);
  try {
    KnownPeaks known = peaks_from_json(json);
    check(known, device);
    return std::move(known.peaks);
  } catch (const UsageError& error) {
    throw UsageError(fmt::format("{}: {}", file.string(), error.what()));
  }
}

void PeakCache::check_writable(const Fingerprint& device) const {
  report::check_writable(file_of(device), folder_);
}

void PeakCache::keep(const Fingerprint& device, const std::vector<Peak>& peaks) const {
  write_file(file_of(device), to_text(to_json(KnownPeaks{to_text(device), id_of(device), peaks})));
}

}  // namespace parbench::report
