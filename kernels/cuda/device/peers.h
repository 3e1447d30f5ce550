// Direct access of one GPU to the memory of another.
#pragma once

#include <map>
#include <set>
#include <vector>

namespace parbench::cuda {

/// Enables access between all pairs of these GPUs that support it, in their primary contexts.
/// Copies between such GPUs are then direct; other copies go through host memory. Returns, for each
/// GPU that has access to any, the GPUs whose memory it can access.
std::map<int, std::set<int>> enable_peers(const std::set<int>& ordinals);

}  // namespace parbench::cuda
