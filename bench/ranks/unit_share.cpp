#include "bench/ranks/unit_share.h"

#include <algorithm>
#include <cstddef>

namespace parbench {
namespace {

using Units = std::vector<std::string>;

int number_of(const std::vector<Units>& visible, std::size_t rank) {
  const Units& own = visible[rank];
  const auto before =
      std::count(visible.begin(), visible.begin() + static_cast<std::ptrdiff_t>(rank), own);
  return static_cast<int>(before % std::ssize(own));
}

}  // namespace

std::optional<UnitShare> unit_share(const std::vector<Units>& visible, int rank) {
  const auto own = static_cast<std::size_t>(rank);
  if (visible.at(own).empty()) return std::nullopt;
  UnitShare share{.number = number_of(visible, own), .index = 0, .count = 0};
  const std::string& unit = visible[own][static_cast<std::size_t>(share.number)];
  for (std::size_t other = 0; other < visible.size(); ++other) {
    if (visible[other].empty()) continue;
    if (visible[other][static_cast<std::size_t>(number_of(visible, other))] != unit) continue;
    if (other < own) ++share.index;
    ++share.count;
  }
  return share;
}

}  // namespace parbench
