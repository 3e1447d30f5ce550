// Assignment of visible hardware to ranks.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace parbench {

/// A rank's part of its backend's hardware.
struct UnitShare {
  int number = 0;  // number of the device on this rank
  int index = 0;   // index of this rank among those with the same device
  int count = 1;   // number of ranks with the same device
  friend bool operator==(const UnitShare&, const UnitShare&) = default;
};

/// Returns the unit of a rank; nothing if the rank sees no unit. `visible`: the visible units of
/// each rank (Backend::units). The n-th rank with the same visible units gets the n-th unit, modulo
/// their number. n is the local rank if all ranks of a machine see all GPUs, and 0 if the launcher
/// gives each rank its own GPU (CUDA_VISIBLE_DEVICES).
[[nodiscard]] std::optional<UnitShare> unit_share(
    const std::vector<std::vector<std::string>>& visible, int rank);

}  // namespace parbench
