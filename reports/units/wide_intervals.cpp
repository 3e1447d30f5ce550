// The text of an interval's width.
#include "reports/units/wide_intervals.h"

#include "reports/units/units.h"

namespace parbench::report {

std::string half_width_text(double fraction) {
  return fraction > max_known_error ? std::string(unknown_text) : "± " + format_percent(fraction);
}

}  // namespace parbench::report
