// Weight gradients as products on cuBLASLt.
#include <algorithm>
#include <cstdint>
#include <utility>

#include "kernels/base/round_up.h"
#include "kernels/cuda/device_code/convolutions/im2col_kernels.h"
#include "kernels/cuda/ops/matmul.h"
#include "kernels/cuda/ops/weight_gradient.h"
#include "kernels/cuda/runtime/cuda_op.h"
#include "kernels/cuda/runtime/stream.h"

namespace parbench::cuda {
namespace {

std::int64_t pixels_of_image(const ConvolutionShape& shape) {
  return shape.out_height() * shape.out_width();
}

/// Returns the number of columns of the patches of one group: the number of elements of a filter.
std::int64_t columns_of(const ConvolutionShape& shape) {
  return shape.kernel * shape.kernel * (shape.in_channels / shape.groups);
}

std::size_t bytes_of(const PatchPlan& plan, const ConvolutionShape& shape, DType dtype) {
  return static_cast<std::size_t>(plan.images * pixels_of_image(shape) * plan.row_length) *
         size_of(dtype);
}

class GradientProduct final : public WeightGradient {
 public:
  /// `last`: product for the remaining images if the batch is not a multiple of `plan.images`; null
  /// otherwise.
  GradientProduct(const ConvolutionGraph& graph, bool accumulate, const PatchPlan& plan,
                  std::unique_ptr<Matmul> whole, std::unique_ptr<Matmul> last)
      : WeightGradient(whole->chosen_by()),
        shape_(graph.shape),
        dtype_(graph.dtype),
        accumulate_(accumulate),
        plan_(plan),
        whole_(std::move(whole)),
        last_(std::move(last)) {}

  [[nodiscard]] std::size_t scratch_bytes() const override {
    const std::size_t max_scratch =
        std::max(whole_->workspace_bytes(), last_ ? last_->workspace_bytes() : 0);
    return patch_bytes() + max_scratch;
  }

  [[nodiscard]] std::string name() const override {
    return whole_->description() + (copies() ? " on patches" : " on the source");
  }

  void run(CudaStream& stream, const WeightGradientAddresses& at) override {
    for (std::int64_t first = 0; first < shape_.batch; first += plan_.images) {
      const std::int64_t images = std::min(plan_.images, shape_.batch - first);
      for (std::int64_t group = 0; group < shape_.groups; ++group) {
        add_images(stream, at, {first, images, group});
      }
    }
  }

 private:
  /// Images from `first` on, and the group of channels, of one product.
  struct Part {
    std::int64_t first = 0;
    std::int64_t images = 0;
    std::int64_t group = 0;
  };

  [[nodiscard]] bool copies() const { return !source_is_patches(shape_); }

  [[nodiscard]] std::size_t patch_bytes() const {
    if (!copies()) return 0;
    return round_up(bytes_of(plan_, shape_, dtype_), CudaOp::scratch_alignment);
  }

  [[nodiscard]] std::size_t bytes(std::int64_t elements) const {
    return static_cast<std::size_t>(elements) * size_of(dtype_);
  }

  void add_images(CudaStream& stream, const WeightGradientAddresses& at, const Part& part) {
    const std::int64_t group_in = shape_.in_channels / shape_.groups;
    const std::int64_t group_out = shape_.out_channels / shape_.groups;
    std::byte* image =
        at.source + bytes(part.first * shape_.height * shape_.width * shape_.in_channels);
    std::byte* patches = image + bytes(part.group * group_in);
    if (copies()) {
      patches = at.scratch;
      copy_patches(patches, image, {shape_, dtype_, part.group, part.images, plan_.row_length},
                   stream.handle());
    }
    const std::int64_t first_pixel = part.first * pixels_of_image(shape_);
    const std::int64_t first_weight = part.group * group_out * columns_of(shape_);
    Matmul& matmul = part.images == plan_.images ? *whole_ : *last_;
    matmul.run(stream.handle(),
               {.a = at.diff_destination +
                     bytes(first_pixel * shape_.out_channels + part.group * group_out),
                .b = patches,
                .c = at.diff_weights + static_cast<std::size_t>(first_weight) * sizeof(float),
                .accumulate = accumulate_ || part.first > 0},
               at.scratch + patch_bytes());
  }

  ConvolutionShape shape_;
  DType dtype_;
  bool accumulate_;
  PatchPlan plan_;
  std::unique_ptr<Matmul> whole_;
  std::unique_ptr<Matmul> last_;
};

/// Returns the product of the transposed gradient of the outputs and the patches.
Product product_of(const ConvolutionGraph& graph, const PatchPlan& plan, std::int64_t images) {
  const ConvolutionShape& shape = graph.shape;
  return {.m = shape.out_channels / shape.groups,
          .n = columns_of(shape),
          .k = images * pixels_of_image(shape),
          .transpose_a = true,
          .row_a = shape.out_channels,
          .row_b = plan.row_length,
          .input = graph.dtype,
          .output = DType::f32,
          .math = product_math(graph)};
}

/// Returns the product for `images` images; null if cuBLASLt has no algorithm for it, or only one
/// that requires aligned addresses although the pixels are not aligned.
std::unique_ptr<Matmul> find_product(CudaDevice& device, const ConvolutionGraph& graph,
                                     const PatchPlan& plan, std::int64_t images) {
  auto matmul = Matmul::find(device, product_of(graph, plan, images));
  const bool fits = matmul && (matmul->takes_any_address() || has_aligned_pixels(graph));
  return fits ? std::move(matmul) : nullptr;
}

}  // namespace

bool has_aligned_pixels(const ConvolutionGraph& graph) {
  const ConvolutionShape& shape = graph.shape;
  const auto aligned = [&](std::int64_t channels) {
    return static_cast<std::size_t>(channels / shape.groups) * size_of(graph.dtype) % 16 == 0;
  };
  return aligned(shape.in_channels) && aligned(shape.out_channels);
}

bool source_is_patches(const ConvolutionShape& shape) {
  return shape.kernel == 1 && shape.stride == 1 && shape.padding == 0;
}

PatchPlan plan_patches(const ConvolutionShape& shape, DType dtype, std::size_t max_bytes) {
  if (source_is_patches(shape)) return {shape.batch, shape.in_channels};
  constexpr std::int64_t row_bytes = 16;
  const auto unit = row_bytes / static_cast<std::int64_t>(size_of(dtype));
  const std::int64_t row_length = (columns_of(shape) + unit - 1) / unit * unit;
  const std::size_t image = bytes_of({1, row_length}, shape, dtype);
  const auto fitting = std::max<std::int64_t>(1, static_cast<std::int64_t>(max_bytes / image));
  const std::int64_t parts = (shape.batch + fitting - 1) / fitting;
  return {(shape.batch + parts - 1) / parts, row_length};
}

std::unique_ptr<WeightGradient> make_gradient_product(CudaDevice& device,
                                                      const ConvolutionGraph& graph,
                                                      bool accumulate, std::size_t max_bytes) {
  const PatchPlan plan = plan_patches(graph.shape, graph.dtype, max_bytes);
  auto whole = find_product(device, graph, plan, plan.images);
  if (!whole) return nullptr;
  std::unique_ptr<Matmul> last;
  if (const std::int64_t left = graph.shape.batch % plan.images; left > 0) {
    last = find_product(device, graph, plan, left);
    if (!last) return nullptr;
  }
  return std::make_unique<GradientProduct>(graph, accumulate, plan, std::move(whole),
                                           std::move(last));
}

}  // namespace parbench::cuda
