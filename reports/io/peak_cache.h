// The cache of devices' best rates.
#pragma once

#include <filesystem>
#include <optional>
#include <utility>
#include <vector>

#include "reports/model/fingerprint.h"
#include "reports/model/peaks.h"

namespace parbench::report {

/// Stores peaks by machine and device: two cores of a processor have other peaks than one.
class PeakCache {
 public:
  /// The folder need not exist.
  explicit PeakCache(std::filesystem::path folder) : folder_(std::move(folder)) {}

  /// Returns the cache in `peaks` of the folder PARBENCH_CACHE; else in `parbench/peaks` of
  /// XDG_CACHE_HOME, if that is an absolute path, or of ~/.cache. Nothing if no variable is set.
  [[nodiscard]] static std::optional<PeakCache> of_environment();

  [[nodiscard]] const std::filesystem::path& folder() const { return folder_; }
  [[nodiscard]] std::filesystem::path file_of(const Fingerprint& device) const;

  /// Returns the peaks; empty without a file. Throws UsageError, with the file's name, if it is
  /// unreadable, damaged or of another machine.
  [[nodiscard]] std::vector<Peak> find(const Fingerprint& device) const;

  /// Creates the folder if needed. Throws UsageError if `keep` could not write to it.
  void check_writable(const Fingerprint& device) const;

  /// Replaces the peaks of the device atomically. Throws Error if that fails.
  void keep(const Fingerprint& device, const std::vector<Peak>& peaks) const;

 private:
  std::filesystem::path folder_;
};

}  // namespace parbench::report
