// Words for a profile.
#include "reports/profile.h"

#include <fmt/format.h>

#include <cmath>

#include "reports/text/units.h"

namespace parbench::report {

std::string deviation_text(const Profile& profile) {
  if (!profile.deviation) return {};
  return fmt::format("the execution that was looked at took {} {} than the median of the samples",
                     format_percent(std::abs(*profile.deviation), 0),
                     *profile.deviation > 0 ? "longer" : "shorter");
}

}  // namespace parbench::report
