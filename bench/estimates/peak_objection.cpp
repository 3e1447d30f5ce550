#include "bench/estimates/peak_objection.h"

#include <fmt/format.h>

#include <algorithm>

#include "kernels/base/units/units.h"
#include "reports/model/disturbances.h"
#include "reports/model/peaks.h"
#include "reports/statistics/statistics.h"

namespace parbench {

bool contradicts(const report::Peak& of_fewer, const report::Peak& of_more, double precision) {
  const bool is_of_all_cores =
      of_more.what == report::memory_peak || of_more.what.starts_with(report::gemm_peak(""));
  return is_of_all_cores && of_fewer.what == of_more.what &&
         of_fewer.value > (1 + precision) * of_more.value && of_fewer.interval &&
         of_more.interval && of_fewer.interval->low > of_more.interval->high;
}

std::string objection_to(const report::Peak& peak, std::size_t cores, double precision,
                         const std::vector<PeaksOfCores>& others, double quota_lost, double taken) {
  if (quota_lost >= report::min_quota_lost) {
    return fmt::format("a CPU quota withheld {} of the CPU time", format_percent(quota_lost, 0));
  }
  if (peak.interval && relative_half_width(*peak.interval, peak.value) > precision) {
    return fmt::format("its interval is wider than ± {}", format_percent(precision, 0));
  }
  if (taken >= std::max(min_cores_taken, precision)) {
    return fmt::format("other programs took {} of the CPU time", format_percent(taken, 0));
  }
  for (const PeaksOfCores& other : others) {
    const report::Peak* known = report::find_peak(other.peaks, peak.what);
    if (known == nullptr || other.cores >= cores || !contradicts(*known, peak, precision)) continue;
    return fmt::format("{} cannot be slower than {}, which reached {}", format_count(cores, "core"),
                       format_count(other.cores, "core"), rate_text(*known));
  }
  return {};
}

}  // namespace parbench
