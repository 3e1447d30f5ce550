// Implementations of the gradient of a convolution's weights, which is f32 whatever the type of the
// activations.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "kernels/core/op.h"
#include "kernels/cuda/cudnn/convolution_graph.h"

namespace parbench::cuda {

class CudaDevice;
class CudaStream;

/// Device addresses of one execution. The scratch memory has scratch_bytes() bytes.
struct WeightGradientAddresses {
  std::byte* source = nullptr;
  std::byte* diff_destination = nullptr;
  std::byte* diff_weights = nullptr;
  std::byte* scratch = nullptr;
};

class WeightGradient {
 public:
  /// `by`: who chose its kernel.
  explicit WeightGradient(ChosenBy by) : chosen_by_(by) {}
  virtual ~WeightGradient() = default;
  WeightGradient(const WeightGradient&) = delete;
  WeightGradient& operator=(const WeightGradient&) = delete;
  WeightGradient(WeightGradient&&) = delete;
  WeightGradient& operator=(WeightGradient&&) = delete;

  [[nodiscard]] virtual std::size_t scratch_bytes() const = 0;
  /// Returns the name for reports, such as "cuDNN eng36_k2=7_…" or "cuBLASLt algorithm …".
  [[nodiscard]] virtual std::string name() const = 0;
  [[nodiscard]] ChosenBy chosen_by() const { return chosen_by_; }
  void set_chosen_by(ChosenBy by) { chosen_by_ = by; }

  /// Enqueues the computation; allocates nothing.
  virtual void run(CudaStream& stream, const WeightGradientAddresses& at) = 0;

 private:
  ChosenBy chosen_by_;
};

/// Default limit for the bytes of patches at a time: they fit the L2 cache of an A100 (40 MB).
constexpr std::size_t max_patch_bytes = std::size_t{32} << 20U;

/// Returns an implementation by matrix products of the output's gradient and the patches of the
/// source that each output pixel reads, for inputs and arithmetic of the graph. With one tap,
/// stride 1 and no padding, the patches are the source itself; others are copied to scratch memory,
/// some images at a time. Sums are f32, and equal inputs have bitwise equal results. Returns null
/// if cuBLASLt has no algorithm. `max_bytes`: maximum bytes of patches at a time.
[[nodiscard]] std::unique_ptr<WeightGradient> make_gradient_product(
    CudaDevice& device, const ConvolutionGraph& graph, bool accumulate,
    std::size_t max_bytes = max_patch_bytes);

/// Returns the faster of `engine` and the matrix product (make_gradient_product), as measured by
/// the device's tuner. Returns `engine` if the device has no tuner, if patches would have to be
/// copied (see source_is_patches) although the engine's result is f32, or if cuBLASLt has no
/// product. `graph`: that of the engine, which must be lasting (ConvolutionEngine::is_lasting).
[[nodiscard]] std::unique_ptr<WeightGradient> faster_gradient(
    CudaDevice& device, const ConvolutionGraph& graph, bool accumulate,
    std::unique_ptr<WeightGradient> engine);

/// Number of consecutive images whose patches are in scratch memory at once, and the distance
/// between rows of patches in elements.
struct PatchPlan {
  std::int64_t images = 0;
  std::int64_t row_length = 0;
  friend bool operator==(const PatchPlan&, const PatchPlan&) = default;
};

/// Divides the batch into parts, equal if possible, each with at most `max_bytes` bytes of patches
/// unless one image has more; a single part if the patches are the source itself. Rows of copied
/// patches begin at multiples of 16 bytes.
[[nodiscard]] PatchPlan plan_patches(const ConvolutionShape& shape, DType dtype,
                                     std::size_t max_bytes = max_patch_bytes);

/// Returns whether the patches are the source itself: with one tap, stride 1 and no padding.
[[nodiscard]] bool source_is_patches(const ConvolutionShape& shape);

/// Returns whether pixels, and the groups in them, are aligned for vector loads if the tensors are.
[[nodiscard]] bool has_aligned_pixels(const ConvolutionGraph& graph);

}  // namespace parbench::cuda
