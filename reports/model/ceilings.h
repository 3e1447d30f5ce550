// The upper limits on the rates of a device's calls.
#pragma once

#include <optional>
#include <string_view>

#include "reports/model/report.h"

namespace parbench::report {

/// The best rates of a device for calls of one kind each; nothing where the run did not know them.
struct Ceilings {
  std::optional<double> gemm;    // FLOP/s of a product in the case's number format
  std::optional<double> memory;  // B/s
  std::optional<double> copy;    // B/s

  [[nodiscard]] std::optional<double> flops(TaskKind kind) const;
  [[nodiscard]] std::optional<double> bytes(TaskKind kind) const;
  [[nodiscard]] bool known() const { return gemm || memory || copy; }
};

/// Returns those of a device of the case, by the peaks in the report.
[[nodiscard]] Ceilings ceilings_of(const Report& report, const CaseResult& c,
                                   std::string_view device);

/// Returns those that all devices of the case's profile have in common, for calls of which the
/// device is unknown.
[[nodiscard]] Ceilings common_ceilings(const Report& report, const CaseResult& c);

}  // namespace parbench::report
