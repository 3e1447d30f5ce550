// Direct access of one GPU to the memory of another.
#pragma once

#include <map>
#include <set>
#include <vector>

namespace parbench::cuda {

/// Enables it between all of these GPUs that can, in the contexts that whole devices use. Copies
/// between two such GPUs then go straight from one to the other, and through the host's memory
/// otherwise. Returns for each GPU those whose memory it reaches.
std::map<int, std::set<int>> enable_peers(const std::set<int>& ordinals);

}  // namespace parbench::cuda
