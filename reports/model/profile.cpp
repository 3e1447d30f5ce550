// Formats the deviation of a profile.
#include "reports/model/profile.h"

#include <fmt/format.h>

#include <cmath>

#include "kernels/base/units/units.h"

namespace parbench::report {

std::string deviation_text(const Profile& profile) {
  if (!profile.deviation) return {};
  return fmt::format("took {} {} than the median sample",
                     format_percent(std::abs(*profile.deviation), 0),
                     *profile.deviation > 0 ? "longer" : "less time");
}

}  // namespace parbench::report
