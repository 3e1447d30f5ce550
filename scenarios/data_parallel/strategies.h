// The names of the strategies of scenario data-parallel.
#pragma once

#include <array>
#include <string_view>

namespace parbench {

inline constexpr std::string_view one_all_reduce = "all-reduce";
inline constexpr std::string_view bucketed_all_reduce = "all-reduce-buckets";
inline constexpr std::string_view tower = "tower";
inline constexpr std::string_view replicate = "replicate";
inline constexpr std::string_view parameter_server = "parameter-server";
inline constexpr std::string_view star_of_copies = "star";
inline constexpr std::string_view sharded = "sharded";

/// Parameters that distinguish cases of one strategy on the same devices.
inline constexpr std::array<std::string_view, 4> tuning_parameters{"zero", "prefetch", "bucket",
                                                                   "accumulate"};

}  // namespace parbench
