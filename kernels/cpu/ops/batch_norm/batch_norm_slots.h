// Indices of the arguments of BatchNormForward, in the order of ops.h.
#pragma once

#include <cstddef>

namespace parbench::cpu::forward_slot {

enum ForwardSlot : std::size_t {
  source,
  scale,
  shift,
  running_mean,
  running_variance,
  destination,
  mean,
  variance,
  mask,
  addend
};

}  // namespace parbench::cpu::forward_slot
