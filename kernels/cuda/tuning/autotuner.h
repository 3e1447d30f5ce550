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

/// A kernel that can be tried.
struct TuningCandidate {
  std::size_t workspace_bytes = 0;
  /// Enqueues one execution on tensors in the order in which they were described.
  std::function<void(CudaStream&, std::span<std::byte* const> tensors, std::byte* workspace)> run;
};

/// Makes a candidate by its place in the library's own order; nothing for one that is not to be
/// had.
using MakeCandidate = std::function<std::optional<TuningCandidate>(std::size_t index)>;

/// One for a device. Candidates run on a stream of its own, on tensors of the operation's sizes
/// with random content, whose memory is no case's and is given back at the end of each choice.
class Autotuner {
 public:
  /// `choices`: shared with the devices that are alike.
  Autotuner(CudaDevice& device, std::shared_ptr<TuningChoices> choices)
      : device_(device), choices_(std::move(choices)) {}

  /// The fastest of the candidates; nothing when none can run, there is no memory for the tensors,
  /// or tuning has cost this device what it may: the caller then takes the library's first. Chosen
  /// once for every `operation` by the devices that share the choices; it names all that the
  /// candidates depend on beside the device: equal operations compute the same bits.
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
  std::optional<CudaStream> stream_;  // made for the first choice
  TuningBudget budget_;
  std::shared_ptr<TuningChoices> choices_;
};

}  // namespace parbench::cuda
