// Purpose of a stream. A copy stream executes a lane of copies at the same time as the compute
// streams.
#pragma once

#include <array>
#include <string_view>

namespace parbench {

enum class StreamKind { compute, copy };
inline constexpr std::array<StreamKind, 2> stream_kinds{StreamKind::compute, StreamKind::copy};
[[nodiscard]] constexpr std::string_view name_of(StreamKind kind) {
  return kind == StreamKind::copy ? "copy" : "compute";
}

}  // namespace parbench
