// Chooses among the libraries' kernels for an operation by running them (`--autotune`).
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

/// A kernel to try.
struct TuningCandidate {
  std::size_t workspace_bytes = 0;
  /// Enqueues one execution on tensors in the order in which they were described.
  std::function<void(CudaStream&, std::span<std::byte* const> tensors, std::byte* workspace)> run;
};

/// Makes a candidate by its index in the library's order; nothing if it is not available.
using MakeCandidate = std::function<std::optional<TuningCandidate>(std::size_t index)>;

/// The tuner of a device. Candidates run on a stream of their own, on tensors of the operation's
/// sizes with random content. This memory does not belong to a case, and is freed at the end of
/// each choice.
class Autotuner {
 public:
  /// `choices`: shared with equal devices.
  Autotuner(CudaDevice& device, std::shared_ptr<TuningChoices> choices)
      : device_(device), choices_(std::move(choices)) {}

  /// Returns the fastest of the candidates. Nothing if none can run, if there is no memory for the
  /// tensors, or if the device's budget for tuning is used up; the caller then takes the library's
  /// first candidate. Devices that share the choices choose once for every `operation`. `operation`
  /// names everything that affects the candidates except the device, so that equal operations
  /// compute the same bits.
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
