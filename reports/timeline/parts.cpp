// Joining calls.
#include "reports/timeline/parts.h"

#include <algorithm>
#include <map>
#include <utility>

namespace parbench::timeline {
namespace {

Span joined(const Span& a, const Span& b) {
  return {std::min(a.begin, b.begin), std::max(a.end, b.end)};
}

}  // namespace

std::vector<Part> parts_of(const Timeline& timeline) {
  std::vector<Part> parts;
  std::map<std::pair<std::size_t, std::size_t>, std::size_t> places;
  for (const Call& call : timeline.calls) {
    const auto [place, is_new] = places.try_emplace({call.task, call.lane}, parts.size());
    if (is_new) {
      parts.push_back({call.task, call.lane, call.enqueued, call.ran, call.flops, call.bytes});
    } else {
      Part& part = parts[place->second];
      part.enqueued = joined(part.enqueued, call.enqueued);
      part.ran = joined(part.ran, call.ran);
      part.flops += call.flops;
      part.bytes += call.bytes;
    }
  }
  return parts;
}

}  // namespace parbench::timeline
