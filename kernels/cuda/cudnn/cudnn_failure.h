// Distinguishes cuDNN's lack of support from failures.
#pragma once

#include <cudnn.h>

#include <span>
#include <string>
#include <string_view>

namespace parbench::cuda {

/// Reason why cuDNN refused a graph or an engine.
struct CudnnFailure {
  enum class Kind {
    unsupported,   // no engine for this graph on this GPU: retrying does not help
    fault,         // something is missing or broken: a library, the driver, cuDNN itself
    out_of_memory  // the host or the device lacks memory
  };
  Kind kind = Kind::unsupported;
  std::string text;  // cuDNN's message, one line
};

/// Classifies a failed call. `words`: the message of cudnnGetLastErrorString or cudnn-frontend,
/// with a line "…: CUDNN_STATUS_…; Reason: …" for each engine and level that refused. A status that
/// means a fault counts in any line, because cuDNN reports a graph as unsupported even if its only
/// engine could not load a library.
[[nodiscard]] CudnnFailure classify(cudnnStatus_t status, std::string_view words);

/// Returns the text of the first status that is a fault or a lack of memory; empty if there is
/// none.
[[nodiscard]] std::string first_fault(std::span<const cudnnStatus_t> statuses);

}  // namespace parbench::cuda
