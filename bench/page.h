// The command `html`: reports to a page.
#pragma once

#include "bench/options.h"

namespace parbench {

/// Reads the reports of the options and writes their page, whole or not at all; says where it is on
/// standard output. Throws UsageError for a report that cannot be read and for a path that cannot
/// be written or is a report's, Error where writing fails.
void write_page(const Options& options);

}  // namespace parbench
