// Finds calls that access a region.
#include "scenarios/training/completion.h"

#include <algorithm>
#include <variant>

namespace parbench {
namespace {

bool touches(const Call& call, const BufferView& region) {
  const auto& views = std::get<OpCall>(call).views;
  return std::ranges::any_of(views, [&](const BufferView& view) { return overlap(view, region); });
}

/// Returns the number of calls up to the last one that accesses the region.
std::size_t calls_until_complete(const std::vector<Call>& calls, const BufferView& region) {
  std::size_t count = calls.size();
  while (count > 0 && !touches(calls[count - 1], region)) --count;
  return count;
}

PassPosition completion(const std::vector<PassPart>& parts, const BufferView& region) {
  for (std::size_t part = parts.size(); part-- > 0;) {
    const std::size_t calls = calls_until_complete(parts[part].calls, region);
    if (calls > 0) return {.part = part, .calls = calls};
  }
  return {};
}

}  // namespace

bool overlap(const BufferView& a, const BufferView& b) {
  return a.buffer == b.buffer && a.offset < b.offset + b.bytes && b.offset < a.offset + a.bytes;
}

std::vector<PassPosition> completions(const std::vector<PassPart>& parts,
                                      const std::vector<BufferView>& regions) {
  std::vector<PassPosition> positions;
  for (const BufferView& region : regions) {
    const PassPosition position = completion(parts, region);
    positions.push_back(positions.empty() ? position : std::max(positions.back(), position));
  }
  return positions;
}

}  // namespace parbench
