// Finds and formats peaks.
#include "reports/model/peaks.h"

#include <fmt/format.h>

#include <algorithm>

#include "kernels/base/units/units.h"

namespace parbench::report {

std::string gemm_peak(std::string_view number_format) {
  return fmt::format("gemm {}", number_format);
}

const Peak* find_peak(const std::vector<Peak>& peaks, std::string_view what) {
  const auto found = std::ranges::find(peaks, what, &Peak::what);
  return found == peaks.end() ? nullptr : &*found;
}

std::string rate_text(const Peak& peak) {
  return format_rate(peak.value, std::string_view(peak.unit).substr(0, peak.unit.find('/')));
}

}  // namespace parbench::report
