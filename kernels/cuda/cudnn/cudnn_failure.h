// Distinguishes what cuDNN does not support from what it failed at.
#pragma once

#include <cudnn.h>

#include <span>
#include <string>
#include <string_view>

namespace parbench::cuda {

/// Why cuDNN refused a graph or an engine.
struct CudnnFailure {
  enum class Kind {
    unsupported,   // no engine for such a graph on such a GPU: asking again does not help
    fault,         // something is missing or broken: a library, the driver, cuDNN itself
    out_of_memory  // of the host or the device
  };
  Kind kind = Kind::unsupported;
  std::string text;  // cuDNN's message, one line
};

/// Classifies a failed call. `words`: what cudnnGetLastErrorString or cudnn-frontend says of it, a
/// line "…: CUDNN_STATUS_…; Reason: …" for each engine and level that refused. A status that means
/// a fault counts wherever it stands: a graph is reported as unsupported even where the only engine
/// for it could not load a library.
[[nodiscard]] CudnnFailure classify(cudnnStatus_t status, std::string_view words);

/// The text of the first status that is neither success nor "not supported"; empty without one.
[[nodiscard]] std::string first_fault(std::span<const cudnnStatus_t> statuses);

}  // namespace parbench::cuda
