// Names and texts of devices' best rates.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "reports/model/report.h"

namespace parbench::report {

/// Returns the name of a matrix product's peak in files, with its number format: "gemm bf16". The
/// peak is in FLOP/s; a multiply-add counts as two.
[[nodiscard]] std::string gemm_peak(std::string_view number_format);
/// Memory bandwidth for all cores of a device, in B/s, read and written bytes together.
inline constexpr std::string_view memory_peak = "memory";
/// Memory bandwidth for the copy lane of a device, in B/s, read and written bytes together.
inline constexpr std::string_view copy_peak = "copy";
/// Bandwidths of the copy lane from pinned host memory to a device with its own memory, and back,
/// in B/s. Each transferred byte counts once.
inline constexpr std::string_view to_device_peak = "h2d";
inline constexpr std::string_view to_host_peak = "d2h";

/// Returns the peak with that name; null if it is not in the list.
[[nodiscard]] const Peak* find_peak(const std::vector<Peak>& peaks, std::string_view what);

/// Returns "141 GFLOP/s".
[[nodiscard]] std::string rate_text(const Peak& peak);

/// The contents of a file of the peak cache: the peaks of a kind of device on a kind of machine.
struct KnownPeaks {
  std::string machine;     // description of the fingerprint, for messages
  std::string machine_id;  // id of the fingerprint with this device alone
  std::vector<Peak> peaks;
};

}  // namespace parbench::report
