// The gradients of a convolution's weights and bias, both f32 whatever the activations' type.
#include <array>
#include <optional>
#include <utility>

#include "kernels/checks.h"
#include "kernels/cuda/channel_kernels.h"
#include "kernels/cuda/convolution_engine.h"
#include "kernels/cuda/device.h"
#include "kernels/cuda/layout.h"
#include "kernels/cuda/plans.h"
#include "kernels/cuda/stream.h"

namespace parbench::cuda {
namespace {

std::int64_t count_of(const TensorDesc& tensor) { return element_count(tensor.shape); }

std::size_t f32_bytes(std::int64_t count) {
  return static_cast<std::size_t>(count) * sizeof(float);
}

float* floats(std::byte* address) { return reinterpret_cast<float*>(address); }

/// cudnn-frontend's graphs overwrite their result, so with `accumulate` the gradient is computed
/// into scratch memory and added from there.
class ConvolutionWeightsOp final : public CudaOp {
 public:
  ConvolutionWeightsOp(CudaDevice& device, std::string_view name,
                       const ConvolutionBackwardWeights& desc, ConvolutionEngine engine);

  void execute(CudaStream& stream, std::span<std::byte* const> arguments) override;

 private:
  void describe(const ConvolutionBackwardWeights& desc);
  void plan_scratch();

  /// The address of an activation as the engine takes it: itself, or an f32 copy in scratch memory.
  [[nodiscard]] std::byte* read(const CudaStream& stream, std::byte* activation, std::int64_t count,
                                std::size_t copy) const;

  ConvolutionEngine engine_;
  Pixels pixels_;  // of the destination
  std::int64_t source_count_ = 0;
  std::int64_t destination_count_ = 0;
  std::int64_t weights_count_ = 0;
  bool bias_;
  bool accumulate_;
  bool widened_;  // the engine takes f32, the activations are bf16

  // Where each begins in scratch memory.
  std::size_t workspace_ = 0;
  std::size_t source_copy_ = 0;
  std::size_t destination_copy_ = 0;
  std::size_t gradient_ = 0;
  std::size_t sums_ = 0;
};

ConvolutionWeightsOp::ConvolutionWeightsOp(CudaDevice& device, std::string_view name,
                                           const ConvolutionBackwardWeights& desc,
                                           ConvolutionEngine engine)
    : CudaOp(device, name),
      engine_(std::move(engine)),
      pixels_{desc.shape.batch * desc.shape.out_height() * desc.shape.out_width(),
              desc.shape.out_channels, desc.dtype},
      bias_(desc.bias),
      accumulate_(desc.accumulate),
      widened_(engine_.graph().dtype != desc.dtype) {
  describe(desc);
  plan_scratch();
}

void ConvolutionWeightsOp::describe(const ConvolutionBackwardWeights& desc) {
  const TensorDesc source = channels_last(desc.shape.source(), desc.dtype);
  const TensorDesc destination = channels_last(desc.shape.destination(), desc.dtype);
  const TensorDesc weights = channels_last(desc.shape.weights(), DType::f32);
  source_count_ = count_of(source);
  destination_count_ = count_of(destination);
  weights_count_ = count_of(weights);

  const Access gradient = accumulate_ ? Access::read_write : Access::write;
  add_argument("source", Access::read, source);
  add_argument("diff_destination", Access::read, destination);
  add_argument("diff_weights", gradient, weights);
  if (bias_) add_argument("diff_bias", gradient, canonical({desc.shape.out_channels}));
  set_implementation(engine_.name() + (widened_ ? " on inputs widened to f32" : "") +
                         (bias_ ? " + CUDA kernel (bias)" : ""),
                     engine_.chosen_by());
}

void ConvolutionWeightsOp::plan_scratch() {
  workspace_ = add_scratch(engine_.workspace_bytes());
  if (widened_) {
    source_copy_ = add_scratch(f32_bytes(source_count_));
    destination_copy_ = add_scratch(f32_bytes(destination_count_));
  }
  if (accumulate_) gradient_ = add_scratch(f32_bytes(weights_count_));
  if (bias_) sums_ = add_scratch(sum_scratch_bytes(pixels_));
}

std::byte* ConvolutionWeightsOp::read(const CudaStream& stream, std::byte* activation,
                                      std::int64_t count, std::size_t copy) const {
  if (!widened_) return activation;
  std::byte* wide = stream.scratch() + copy;
  widen(floats(wide), activation, count, stream.handle());
  return wide;
}

void ConvolutionWeightsOp::execute(CudaStream& stream, std::span<std::byte* const> arguments) {
  std::byte* scratch = stream.scratch();
  std::byte* source = read(stream, arguments[0], source_count_, source_copy_);
  std::byte* destination = read(stream, arguments[1], destination_count_, destination_copy_);
  std::byte* gradient = accumulate_ ? scratch + gradient_ : arguments[2];
  engine_.run(stream, std::array{source, destination, gradient}, scratch + workspace_);
  if (accumulate_) {
    add_to(floats(arguments[2]), floats(gradient), weights_count_, stream.handle());
  }
  if (bias_) {
    sum_pixels(floats(arguments[3]), arguments[1], pixels_, accumulate_, scratch + sums_,
               stream.handle());
  }
}

/// An engine that reads the activations' type and writes f32, as the gradient has to be. Where
/// there is none for bf16 the inputs are widened first: TF32 holds every bf16 exactly, and sums are
/// f32 as before. A gradient rounded to bf16 would not do: it has lost what the sum in f32 was for.
ConvolutionEngine choose_engine(CudaDevice& device, const ConvolutionBackwardWeights& desc) {
  ConvolutionGraph graph{.pass = ConvolutionPass::backward_weights,
                         .shape = desc.shape,
                         .dtype = desc.dtype,
                         .arithmetic = arithmetic_of({desc.dtype, desc.math})};
  if (auto engine = ConvolutionEngine::find(device, graph)) return *std::move(engine);
  if (desc.dtype == DType::bf16) {
    ConvolutionGraph widened = graph;
    widened.dtype = DType::f32;
    if (auto engine = ConvolutionEngine::find(device, widened)) return *std::move(engine);
  }
  return ConvolutionEngine::direct(graph);
}

}  // namespace

Planned plan(CudaDevice& device, const ConvolutionBackwardWeights& desc) {
  const auto name = name_of(desc);
  check(name, desc.shape);
  device.check_arithmetic(name, {desc.dtype, desc.math});
  return std::make_unique<ConvolutionWeightsOp>(device, name, desc, choose_engine(device, desc));
}

}  // namespace parbench::cuda
