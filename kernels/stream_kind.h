// What a stream is for. A copy stream has a lane of its own, beside the compute streams.
#pragma once

namespace parbench {

enum class StreamKind { compute, copy };

}  // namespace parbench
