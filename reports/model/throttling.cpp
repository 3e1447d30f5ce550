// Warnings about throttled cases.
#include "reports/model/throttling.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace parbench::report {

bool is_throttled(const CaseResult& c) { return c.throttling && c.throttling->flagged; }

void add_throttles(std::vector<std::string>& known, const CaseResult& c) {
  if (!is_throttled(c)) return;
  for (const ThrottleReason& reason : c.throttling->reasons) {
    std::string text = fmt::format("{} on {}", reason.reason, reason.device);
    if (std::find(known.begin(), known.end(), text) == known.end()) {
      known.push_back(std::move(text));
    }
  }
}

}  // namespace parbench::report
