// The gradients of a convolution's weights and bias, both f32 for activations of any type.
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "kernels/base/round_up.h"
#include "kernels/cuda/cudnn/convolution_engine.h"
#include "kernels/cuda/device/device.h"
#include "kernels/cuda/device_code/channel_kernels.h"
#include "kernels/cuda/ops/plans.h"
#include "kernels/cuda/ops/weight_gradient.h"
#include "kernels/cuda/runtime/cuda_op.h"
#include "kernels/cuda/runtime/stream.h"

namespace parbench::cuda {
namespace {

/// Uses one engine. cudnn-frontend's graphs overwrite their result, so with `accumulate` the
/// gradient is computed into scratch memory and added from there. A bf16 gradient is computed into
/// scratch memory and widened.
class EngineGradient final : public WeightGradient {
 public:
  /// `dtype`: type of the activations; if the engine reads f32 instead, they are widened first.
  EngineGradient(ConvolutionEngine engine, DType dtype, bool accumulate);

  [[nodiscard]] std::size_t scratch_bytes() const override { return scratch_bytes_; }
  [[nodiscard]] std::string name() const override {
    return engine_.name() + (widened_   ? " on inputs widened to f32"
                             : rounded_ ? ", rounded to bf16"
                                        : "");
  }

  void run(CudaStream& stream, const WeightGradientAddresses& at) override {
    std::byte* source = read(stream, at.source, source_count_, at.scratch + source_copy_);
    std::byte* destination =
        read(stream, at.diff_destination, destination_count_, at.scratch + destination_copy_);
    std::byte* gradient = accumulate_ ? at.scratch + gradient_ : at.diff_weights;
    std::byte* result = rounded_ ? at.scratch + result_ : gradient;
    engine_.run(stream, std::array{source, destination, result}, at.scratch);
    if (rounded_) widen(floats(gradient), result, weights_count_, stream.handle());
    if (!accumulate_) return;
    add_to(floats(at.diff_weights), floats(gradient), weights_count_, stream.handle());
  }

 private:
  /// Reserves scratch memory for `count` f32 after the memory reserved so far.
  std::size_t add_floats(std::int64_t count) {
    const std::size_t offset = round_up(scratch_bytes_, CudaOp::scratch_alignment);
    scratch_bytes_ = offset + static_cast<std::size_t>(count) * sizeof(float);
    return offset;
  }

  /// Returns the address of an activation in the type that the engine takes: the activation itself,
  /// or its f32 copy.
  [[nodiscard]] std::byte* read(const CudaStream& stream, std::byte* activation, std::int64_t count,
                                std::byte* copy) const {
    if (!widened_) return activation;
    widen(floats(copy), activation, count, stream.handle());
    return copy;
  }

  ConvolutionEngine engine_;
  bool accumulate_;
  bool widened_;
  bool rounded_;
  std::int64_t source_count_;
  std::int64_t destination_count_;
  std::int64_t weights_count_;
  std::size_t scratch_bytes_;  // bytes, of which the first are the engine's workspace
  std::size_t source_copy_ = 0;
  std::size_t destination_copy_ = 0;
  std::size_t gradient_ = 0;
  std::size_t result_ = 0;
};

EngineGradient::EngineGradient(ConvolutionEngine engine, DType dtype, bool accumulate)
    : WeightGradient(engine.chosen_by()),
      engine_(std::move(engine)),  // NOLINT(performance-move-const-arg): an engine cannot be copied
      accumulate_(accumulate),
      widened_(engine_.graph().dtype != dtype),
      rounded_(engine_.graph().gradient != DType::f32),
      source_count_(element_count(engine_.graph().shape.source())),
      destination_count_(element_count(engine_.graph().shape.destination())),
      weights_count_(element_count(engine_.graph().shape.weights())),
      scratch_bytes_(engine_.workspace_bytes()) {
  if (widened_) {
    source_copy_ = add_floats(source_count_);
    destination_copy_ = add_floats(destination_count_);
  }
  if (accumulate_) gradient_ = add_floats(weights_count_);
  if (rounded_) result_ = add_floats((weights_count_ + 1) / 2);  // two bf16 in a float
}

class ConvolutionWeightsOp final : public CudaOp {
 public:
  ConvolutionWeightsOp(CudaDevice& device, const ConvolutionBackwardWeights& desc,
                       std::unique_ptr<WeightGradient> gradient, const std::string& faults);

  void execute(CudaStream& stream, std::span<std::byte* const> arguments) override;

 private:
  std::unique_ptr<WeightGradient> gradient_;
  Pixels pixels_;  // extents of the gradient of the destination
  bool bias_;
  bool accumulate_;

  // Offsets in scratch memory.
  std::size_t scratch_;
  std::size_t sums_ = 0;
};

ConvolutionWeightsOp::ConvolutionWeightsOp(CudaDevice& device,
                                           const ConvolutionBackwardWeights& desc,
                                           std::unique_ptr<WeightGradient> gradient,
                                           const std::string& faults)
    : CudaOp(device, desc),
      gradient_(std::move(gradient)),
      pixels_{desc.shape.batch * desc.shape.out_height() * desc.shape.out_width(),
              desc.shape.out_channels, desc.dtype},
      bias_(desc.bias),
      accumulate_(desc.accumulate),
      scratch_(add_scratch(gradient_->scratch_bytes())) {
  if (bias_) sums_ = add_scratch(sum_scratch_bytes(pixels_));
  set_implementation(gradient_->name() + (bias_ ? " + CUDA kernel (bias)" : "") + faults,
                     gradient_->chosen_by());
}

void ConvolutionWeightsOp::execute(CudaStream& stream, std::span<std::byte* const> arguments) {
  gradient_->run(stream, {.source = arguments[0],
                          .diff_destination = arguments[1],
                          .diff_weights = arguments[2],
                          .scratch = stream.scratch() + scratch_});
  if (bias_) {
    sum_pixels(floats(arguments[3]), arguments[1], pixels_, accumulate_, stream.scratch() + sums_,
               stream.handle());
  }
}

/// Returns an implementation with an f32 result. The first choice is an engine of cuDNN that reads
/// the activations' type, or a product that is measured to be faster. Of bf16, cuDNN 9.19 has only
/// engines that round the gradient to bf16, which loses the accuracy of the sum in f32; they are
/// used if the device may round gradients. Without an engine, matrix products compute the
/// gradient from the same inputs. If cuBLASLt has no algorithm either, as for bf16 rows that no
/// vector load can access, bf16 inputs are widened for an engine that reads f32 (TF32 represents
/// every bf16 exactly). The last choice is the direct kernel.
std::unique_ptr<WeightGradient> make_gradient(CudaDevice& device,
                                              const ConvolutionBackwardWeights& desc,
                                              std::string& faults) {
  ConvolutionGraph graph{.pass = ConvolutionPass::backward_weights,
                         .shape = desc.shape,
                         .dtype = desc.dtype,
                         .arithmetic = arithmetic_of({desc.dtype, desc.math})};
  const auto of_engine = [&](ConvolutionEngine engine) {
    // NOLINTNEXTLINE(performance-move-const-arg): an engine cannot be copied
    return std::make_unique<EngineGradient>(std::move(engine), desc.dtype, desc.accumulate);
  };
  const bool may_round = desc.dtype == DType::bf16 && device.may_round_gradients();
  for (const DType gradient : {DType::f32, DType::bf16}) {
    if (gradient == DType::bf16 && !may_round) continue;
    graph.gradient = gradient;
    auto engine = ConvolutionEngine::find(device, graph, faults);
    if (!engine) continue;
    const bool is_lasting = engine->is_lasting();
    auto found = of_engine(*std::move(engine));
    if (!is_lasting) return found;
    return faster_gradient(device, graph, desc.accumulate, std::move(found));
  }
  graph.gradient = DType::f32;
  if (auto product = make_gradient_product(device, graph, desc.accumulate)) return product;
  if (desc.dtype == DType::bf16) {
    ConvolutionGraph widened = graph;
    widened.dtype = DType::f32;
    if (auto engine = ConvolutionEngine::find(device, widened, faults)) {
      return of_engine(*std::move(engine));
    }
  }
  return of_engine(ConvolutionEngine::direct(graph));
}

}  // namespace

Planned plan(CudaDevice& device, const ConvolutionBackwardWeights& desc) {
  std::string faults;
  auto gradient = make_gradient(device, desc, faults);
  return std::make_unique<ConvolutionWeightsOp>(device, desc, std::move(gradient), faults);
}

}  // namespace parbench::cuda
