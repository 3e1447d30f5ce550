// Best rates of devices, by name.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "reports/model/report.h"

namespace parbench::report {

/// Names of peaks in files. A product of matrices is named with its number format:
/// "gemm bf16". FLOP/s; a multiply-add counts two.
[[nodiscard]] std::string gemm_peak(std::string_view number_format);
/// Bandwidth of a device's memory for all its cores. B/s, read and written bytes together.
inline constexpr std::string_view memory_peak = "memory";
/// The same for its copy lane.
inline constexpr std::string_view copy_peak = "copy";
/// From pinned memory of the host to a device that has memory of its own, and back, by its copy
/// lane. B/s; a byte that crosses counts once.
inline constexpr std::string_view to_device_peak = "h2d";
inline constexpr std::string_view to_host_peak = "d2h";

/// Returns null if it is not among them.
[[nodiscard]] const Peak* find_peak(const std::vector<Peak>& peaks, std::string_view what);

/// "141 GFLOP/s".
[[nodiscard]] std::string rate_text(const Peak& peak);

/// A file of the folder: the peaks of all devices of one kind.
struct KnownPeaks {
  std::string machine;     // in words
  std::string machine_id;  // the id of the fingerprint that has this device alone
  std::vector<Peak> peaks;
};

}  // namespace parbench::report
