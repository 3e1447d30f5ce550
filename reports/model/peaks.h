// Best rates of devices, and the folder in which they are kept from one run to the next.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reports/model/fingerprint.h"
#include "reports/model/report.h"

namespace parbench::report {

/// What a peak is of, as files have it. A product of matrices is that of its number format:
/// "gemm bf16". FLOP/s; a multiply-add counts two.
[[nodiscard]] std::string gemm_peak(std::string_view number_format);
/// Within a device's memory by all that computes. B/s, read and written bytes together.
inline constexpr std::string_view memory_peak = "memory";
/// The same by its copy lane.
inline constexpr std::string_view copy_peak = "copy";
/// From pinned memory of the host to a device that has memory of its own, and back, by its copy
/// lane. B/s; a byte that crosses counts once.
inline constexpr std::string_view to_device_peak = "h2d";
inline constexpr std::string_view to_host_peak = "d2h";

/// Nullptr where it is not among them.
[[nodiscard]] const Peak* find_peak(const std::vector<Peak>& peaks, std::string_view what);

/// "141 GFLOP/s".
[[nodiscard]] std::string rate_text(const Peak& peak);

/// A file of the folder: what is known of all devices of one kind.
struct KnownPeaks {
  std::string machine;     // in words
  std::string machine_id;  // the id of the fingerprint that has this device alone
  std::vector<Peak> peaks;
};

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
