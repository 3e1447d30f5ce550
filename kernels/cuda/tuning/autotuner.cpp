// Runs candidates, and handles those that fail.
#include "kernels/cuda/tuning/autotuner.h"

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "kernels/base/error.h"
#include "kernels/cuda/device/device.h"
#include "kernels/cuda/device_code/fill_kernels.h"
#include "kernels/cuda/device_code/spin_kernel.h"
#include "kernels/cuda/runtime/abandon.h"
#include "kernels/cuda/runtime/error.h"
#include "kernels/cuda/runtime/event.h"

namespace parbench::cuda {
namespace {

constexpr std::size_t repeats = 2;  // number of timed runs of a candidate after its probe

/// Delay before timed runs, long enough for the host to enqueue all runs of a candidate
/// without gaps. Otherwise short kernels would be chosen by their launch overhead.
constexpr SpinTime head_start{.nanoseconds = 1e6, .noise = 0, .seed = 0};

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Memory for the tensors of one operation and the workspace of its candidates.
class Workbench {
 public:
  Workbench(CudaDevice& device, CudaStream& stream, std::span<const TensorDesc> tensors)
      : device_(device), stream_(stream) {
    for (const TensorDesc& tensor : tensors) add(tensor);
    PARBENCH_CUDA(cudaMemsetAsync(spins_.data(), 0, spins_.bytes(), stream.handle()));
    for (std::size_t i = 0; i <= repeats; ++i) marks_.emplace_back(device, EventKind::timing);
  }

  /// Returns the seconds of one run, after another run that loads the kernel. Throws the exceptions
  /// of allocating and running.
  [[nodiscard]] double probe(TuningCandidate candidate) {
    candidate_ = std::move(candidate);
    device_.grow(workspace_, candidate_.workspace_bytes, MemoryKind::device);
    run();
    return time(1).front();
  }

  /// Returns the seconds of each further run of the candidate. Throws the exceptions of running.
  [[nodiscard]] std::vector<double> repeat() { return time(repeats); }

  /// Waits for the stream, because queued work may still use this memory.
  ~Workbench() {
    device_.try_to_make_current();
    (void)cudaStreamSynchronize(stream_.handle());
  }
  Workbench(const Workbench&) = delete;
  Workbench& operator=(const Workbench&) = delete;

 private:
  void run() { candidate_.run(stream_, addresses_, workspace_.data()); }

  [[nodiscard]] std::vector<double> time(std::size_t runs) {
    delay();
    stream_.record(marks_[0]);
    for (std::size_t i = 0; i < runs; ++i) {
      run();
      stream_.record(marks_[i + 1]);
    }
    stream_.synchronize(Stream::default_limit);
    std::vector<double> seconds;
    for (std::size_t i = 0; i < runs; ++i) {
      seconds.push_back(marks_[i + 1].seconds_since(marks_[i]));
    }
    return seconds;
  }

  void delay() {
    auto* counts = reinterpret_cast<std::uint64_t*>(spins_.data());
    spin(counts, counts + 1, head_start, stream_.handle());
  }

  void add(const TensorDesc& tensor) {
    Buffer& memory = tensors_.emplace_back(device_.allocate(tensor.bytes, MemoryKind::device));
    fill_uniform(memory.data(), tensor.dtype, element_count(tensor.shape),
                 {.seed = 0, .subsequence = tensors_.size()}, uniform_range(-1, 1),
                 stream_.handle());
    addresses_.push_back(memory.data());
  }

  CudaDevice& device_;
  CudaStream& stream_;
  std::vector<Buffer> tensors_;
  std::vector<std::byte*> addresses_;
  Buffer workspace_;
  Buffer spins_ = device_.allocate(2 * sizeof(std::uint64_t), MemoryKind::device);
  TuningCandidate candidate_;    // the candidate that was probed last
  std::deque<CudaEvent> marks_;  // recorded before and after every run
};

/// Returns the result of `work`, or an empty result if it fails: candidates that cannot be made or
/// run are skipped. A lost device or a hanging kernel is not skipped.
template <class Result>
Result if_possible(const std::function<Result()>& work) {
  try {
    return work();
  } catch (const DeviceLost&) {
    throw;
  } catch (const TimedOut&) {
    throw;
  } catch (const Error&) {
    (void)cudaGetLastError();  // clears the error, which the next launch would return
    return {};
  }
}

TuningRuns runs_on(Workbench& bench, const MakeCandidate& make) {
  return {
      .probe = [&bench, &make](std::size_t index) -> std::optional<double> {
        return if_possible<std::optional<double>>([&]() -> std::optional<double> {
          std::optional<TuningCandidate> candidate = make(index);
          if (!candidate) return std::nullopt;
          return bench.probe(*std::move(candidate));
        });
      },
      .repeat =
          [&bench] { return if_possible<std::vector<double>>([&] { return bench.repeat(); }); }};
}

}  // namespace

std::optional<std::size_t> Autotuner::choose(const std::string& operation,
                                             std::span<const TensorDesc> tensors,
                                             std::size_t candidates, const MakeCandidate& make) {
  return choices_->once(operation, candidates, [&]() -> std::optional<std::size_t> {
    if (budget_.exhausted()) return std::nullopt;
    const double begin = seconds_now();
    const auto choice = measure_all(tensors, candidates, budget_.limits(), make);
    budget_.spend(seconds_now() - begin);
    return choice;
  });
}

std::optional<std::size_t> Autotuner::measure_all(std::span<const TensorDesc> tensors,
                                                  std::size_t candidates,
                                                  const TuningLimits& limits,
                                                  const MakeCandidate& make) {
  if (candidates == 0) return std::nullopt;
  if (!stream_) stream_.emplace(device_, device_.info().name + "/autotune");
  try {
    return run_or_abandon(std::make_unique<Workbench>(device_, *stream_, tensors),
                          [&](Workbench& bench) {
                            return fastest(candidates, limits, seconds_now, runs_on(bench, make));
                          });
  } catch (const OutOfMemory&) {
    return std::nullopt;
  }
}

}  // namespace parbench::cuda
