// Chooses among the kernels for an operation by running them (`--autotune`).
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "kernels/base/tensor.h"
#include "kernels/cuda/runtime/stream.h"
#include "kernels/cuda/tuning/tuning.h"

namespace parbench::cuda {

class CudaDevice;

/// A kernel that may compute the operation.
struct TuningCandidate {
  std::size_t workspace_bytes = 0;
  /// Enqueues one execution. Tensors are in the order of their descriptions in `Autotuner::choose`.
  std::function<void(CudaStream&, std::span<std::byte* const> tensors, std::byte* workspace)> run;
};

/// Returns the candidate with an index in the library's order; nothing if it is not available.
using MakeCandidate = std::function<std::optional<TuningCandidate>(std::size_t index)>;

/// The tuner of a device. Candidates run on a stream of their own, on tensors of the operation's
/// sizes with random content. This memory is not shared with the measured cases, and is freed after
/// each choice.
class Autotuner {
 public:
  /// `choices`: shared with equal devices.
  Autotuner(CudaDevice& device, std::shared_ptr<TuningChoices> choices)
      : device_(device), choices_(std::move(choices)) {}

  /// Returns the index of the fastest candidate. Returns nothing if none can run, if there is no
  /// memory for the tensors, or if the device's budget for tuning is used up; the caller then uses
  /// the library's first candidate. `operation`: a key that contains everything that affects the
  /// candidates, except the device. Devices that share choices choose once for each key, so that
  /// equal operations compute the same bits.
  [[nodiscard]] std::optional<std::size_t> choose(const std::string& operation,
                                                  std::span<const TensorDesc> tensors,
                                                  std::size_t candidates,
                                                  const MakeCandidate& make);

 private:
  [[nodiscard]] std::optional<std::size_t> measure_all(std::span<const TensorDesc> tensors,
                                                       std::size_t candidates,
                                                       const TuningLimits& limits,
                                                       const MakeCandidate& make);

  CudaDevice& device_;
  std::optional<CudaStream> stream_;  // made at the first choice
  TuningBudget budget_;
  std::shared_ptr<TuningChoices> choices_;
};

}  // namespace parbench::cuda
