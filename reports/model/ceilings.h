// The upper limits on the rates of a device's calls.
#pragma once

#include <optional>
#include <string_view>

#include "reports/model/report.h"

namespace parbench::report {

/// Peaks of a device as upper limits of the rates of its calls; nothing for an unknown peak.
struct Ceilings {
  std::optional<double> gemm;    // FLOP/s of a matrix product in the case's number format
  std::optional<double> memory;  // B/s
  std::optional<double> copy;    // B/s

  [[nodiscard]] std::optional<double> flops(TaskKind kind) const;
  [[nodiscard]] std::optional<double> bytes(TaskKind kind) const;
  [[nodiscard]] bool known() const { return gemm || memory || copy; }
};

/// Returns the ceilings of a device of the case, from the peaks in the report.
[[nodiscard]] Ceilings ceilings_of(const Report& report, const CaseResult& c,
                                   std::string_view device);

/// Returns the ceilings that all devices of the case's profile share, for calls whose device is
/// unknown.
[[nodiscard]] Ceilings common_ceilings(const Report& report, const CaseResult& c);

}  // namespace parbench::report
