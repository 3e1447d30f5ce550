// The folder in which best rates of devices are kept from one run to the next.
#pragma once

#include <filesystem>
#include <optional>
#include <utility>
#include <vector>

#include "reports/model/fingerprint.h"
#include "reports/model/peaks.h"

namespace parbench::report {

/// Peaks by machine and device: those of two cores of a processor are others than those of one.
class PeakCache {
 public:
  /// The folder need not be there.
  explicit PeakCache(std::filesystem::path folder) : folder_(std::move(folder)) {}

  /// `peaks` in the folder that PARBENCH_CACHE names; else in `parbench` of XDG_CACHE_HOME, if that
  /// is an absolute path, or of ~/.cache. Nothing where none of them is set.
  [[nodiscard]] static std::optional<PeakCache> of_environment();

  [[nodiscard]] const std::filesystem::path& folder() const { return folder_; }
  [[nodiscard]] std::filesystem::path file_of(const Fingerprint& device) const;

  /// Nothing where there is no file. Throws UsageError, with the file's name, for one that cannot
  /// be read, is damaged or belongs to another machine.
  [[nodiscard]] std::vector<Peak> find(const Fingerprint& device) const;

  /// Makes the folder, unless it is there, so that `keep` will succeed. Throws UsageError.
  void check_writable(const Fingerprint& device) const;

  /// In place of what was known of the device, whole or not at all. Throws Error.
  void keep(const Fingerprint& device, const std::vector<Peak>& peaks) const;

 private:
  std::filesystem::path folder_;
};

}  // namespace parbench::report
