#include "kernels/base/units/wide_intervals.h"

#include "kernels/base/units/units.h"

namespace parbench {

std::string half_width_text(double fraction) {
  return fraction > max_known_error ? std::string(unknown_text) : "± " + format_percent(fraction);
}

}  // namespace parbench
