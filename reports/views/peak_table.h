// What `parbench peaks` prints of a device.
#pragma once

#include <string>
#include <vector>

#include "reports/model/fingerprint.h"
#include "reports/model/report.h"
#include "reports/text/table.h"
#include "reports/views/table.h"

namespace parbench::report {

/// Formats the rate with half the width of its interval.
[[nodiscard]] TableCell peak_cell(const Peak& peak);

/// The machine and the device, then a row for each peak: its rate, its interval, and when it was
/// measured. As harmless for a terminal as `to_table`.
[[nodiscard]] std::string to_table(const Fingerprint& device, const std::vector<Peak>& peaks,
                                   const TextStyle& style = {});

/// How the rates are to be read: once, below all tables.
[[nodiscard]] std::string peaks_footnote(const TextStyle& style = {});

}  // namespace parbench::report
