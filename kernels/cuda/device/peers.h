// Direct access of one GPU to the memory of another.
#pragma once

#include <map>
#include <set>
#include <vector>

namespace parbench::cuda {

/// Enables access between all pairs of these GPUs that support it, in the contexts of whole
/// devices. Copies between such GPUs are then direct; other copies go through host memory. Returns
/// for each GPU those whose memory it can access.
std::map<int, std::set<int>> enable_peers(const std::set<int>& ordinals);

}  // namespace parbench::cuda
