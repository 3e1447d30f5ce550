// Formats the peaks of a device for `parbench peaks`.
#pragma once

#include <string>
#include <vector>

#include "reports/model/fingerprint.h"
#include "reports/model/report.h"
#include "reports/text/table.h"
#include "reports/views/table.h"

namespace parbench::report {

/// Formats the rate with the half-width of its interval.
[[nodiscard]] TableCell peak_cell(const Peak& peak);

/// Returns the machine and the device, and a row for each peak with rate, interval and date of
/// measurement. As safe for a terminal as `to_table`.
[[nodiscard]] std::string to_table(const Fingerprint& device, const std::vector<Peak>& peaks,
                                   const TextStyle& style = {});

/// Returns an explanation of the rates, to be shown once, below all tables.
[[nodiscard]] std::string peaks_footnote(const TextStyle& style = {});

}  // namespace parbench::report
