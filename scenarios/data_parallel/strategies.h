// The names of the strategies of scenario data-parallel.
#pragma once

#include <string_view>

namespace parbench {

inline constexpr std::string_view single_device = "single";
inline constexpr std::string_view one_all_reduce = "all-reduce";
inline constexpr std::string_view bucketed_all_reduce = "all-reduce-buckets";
inline constexpr std::string_view tower = "tower";
inline constexpr std::string_view replicate = "replicate";

}  // namespace parbench
