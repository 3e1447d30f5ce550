// Which hardware each rank takes of what several ranks see.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace parbench {

/// A rank's part in its backend's hardware.
struct UnitShare {
  int number = 0;  // of the device, as this rank counts
  int index = 0;   // among the ranks that have the same hardware
  int count = 1;   // of these ranks
  friend bool operator==(const UnitShare&, const UnitShare&) = default;
};

/// `visible`: by rank, what it sees (Backend::units). The n-th of the ranks that see the same takes
/// the n-th unit of it, and begins again with the first where there are more ranks than units: on a
/// machine whose ranks all see all GPUs, n is the local rank; where a launcher lets each rank see a
/// GPU of its own (CUDA_VISIBLE_DEVICES), n is 0. Nothing for a rank that sees none.
[[nodiscard]] std::optional<UnitShare> unit_share(
    const std::vector<std::vector<std::string>>& visible, int rank);

}  // namespace parbench
