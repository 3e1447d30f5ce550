// Measures cuDNN's batch normalisation against the kernels of this project.
//
// cuDNN is offered for whole GPUs only, because nothing says how many multiprocessors its kernels
// need at the same time, and not for forward passes with a ReLU, which kernels of this project
// compute in the same pass (docs/decisions/cuda.md). The tensors between both passes are the same
// for either, so each pass is chosen alone.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/base/element.h"
#include "kernels/cuda/cudnn/batch_norm_engine.h"
#include "kernels/cuda/device/device.h"
#include "kernels/cuda/ops/layers/batch_norm.h"
#include "kernels/cuda/runtime/error.h"
#include "kernels/cuda/tuning/autotuner.h"

namespace parbench::cuda {
namespace {

constexpr std::string_view cudnn_name = "cuDNN batch normalisation";

/// Base of the operations by cuDNN. Has scratch memory for 1/sqrt(variance + epsilon), which cuDNN
/// saves and reads in place of the variance.
template <class Desc>
class CudnnNormOp : public NormOp {
 public:
  CudnnNormOp(CudaDevice& device, const Desc& desc)
      : NormOp(device, desc, mask_size(desc.shape)),
        desc_(desc),
        engine_(desc.shape, desc.dtype),
        inverse_(add_scratch(static_cast<std::size_t>(channels()) * sizeof(float))) {}

 protected:
  [[nodiscard]] std::int64_t channels() const { return desc_.shape[1]; }

  Desc desc_;
  BatchNormEngine engine_;
  std::size_t inverse_;
};

class CudnnForwardOp final : public CudnnNormOp<BatchNormForward> {
 public:
  using CudnnNormOp::CudnnNormOp;
  void run(CudaStream& stream, Addresses arguments, std::byte* scratch) override {
    std::byte* inverse = scratch + inverse_;
    engine_.forward(stream,
                    {.source = arguments[0],
                     .scale = arguments[1],
                     .shift = arguments[2],
                     .running_mean = arguments[3],
                     .running_variance = arguments[4],
                     .destination = arguments[5],
                     .mean = arguments[6],
                     .inverse_deviation = inverse},
                    desc_.epsilon, desc_.momentum);
    variances_of(floats(arguments[7]), floats(inverse), channels(), desc_.epsilon, stream.handle());
  }
};

/// Has scratch memory for the gradient of the normalisation's output: that before the ReLU, or a
/// copy, because cuDNN does not promise that the result may overwrite it.
class CudnnBackwardOp final : public CudnnNormOp<BatchNormBackward> {
 public:
  CudnnBackwardOp(CudaDevice& device, const BatchNormBackward& desc)
      : CudnnNormOp(device, desc), copy_(add_scratch(tensor("diff_destination").bytes)) {}

  void run(CudaStream& stream, Addresses arguments, std::byte* scratch) override {
    const auto gradients = arguments.last(3);
    std::byte* inverse = scratch + inverse_;
    inverse_deviations(floats(inverse), floats(arguments[3]), channels(), desc_.epsilon,
                       stream.handle());
    engine_.backward(stream,
                     {.source = arguments[0],
                      .diff_destination = gradient(stream, arguments, scratch + copy_),
                      .mean = arguments[2],
                      .inverse_deviation = inverse,
                      .scale = arguments[4],
                      .diff_source = gradients[0],
                      .diff_scale = gradients[1],
                      .diff_shift = gradients[2]},
                     desc_.epsilon, desc_.accumulate);
  }

 private:
  /// Returns the address of the gradient at the output of the normalisation.
  [[nodiscard]] const std::byte* gradient(const CudaStream& stream, Addresses arguments,
                                          std::byte* copy) const {
    std::byte* given = arguments[1];
    const bool in_place = given == arguments[arguments.size() - 3];
    if (!desc_.relu && !in_place) return given;
    if (!desc_.relu) {
      PARBENCH_CUDA(cudaMemcpyAsync(copy, given, tensor("diff_destination").bytes,
                                    cudaMemcpyDefault, stream.handle()));
      return copy;
    }
    with_element(desc_.dtype, [&]<class Element>(Element /*unused*/) {
      add_relu_backward({.rows = element_count(desc_.shape) / channels(), .channels = channels()},
                        AddReluGradient<Element>{.mask = elements<std::uint8_t>(arguments[6]),
                                                 .a = elements<Element>(given),
                                                 .b = nullptr,
                                                 .diff_source = elements<Element>(copy)},
                        stream.handle());
    });
    return copy;
  }

  std::size_t copy_;
};

/// Returns the tensors of an operation for the tuner, with random bits as masks.
std::vector<TensorDesc> random_tensors(const NormOp& op) {
  std::vector<TensorDesc> tensors;
  for (const Argument& argument : op.arguments()) {
    const auto words = static_cast<std::int64_t>(argument.tensor.bytes + 3) / 4;
    tensors.push_back(is_opaque(argument.tensor.layout) ? canonical({words}) : argument.tensor);
  }
  return tensors;
}

TuningCandidate norm_candidate(NormOp& op) {
  const auto run = [&op](CudaStream& stream, Addresses tensors, std::byte* scratch) {
    std::vector<std::byte*> arguments(tensors.begin(), tensors.end());
    // Most training steps overwrite the gradient.
    if (op.has("diff_source")) arguments[arguments.size() - 3] = arguments[1];
    op.run(stream, arguments, scratch);
  };
  return {op.scratch_bytes(), run};
}

/// `variant`: what distinguishes operations of equal name, shape and type.
template <class Library, class Desc>
Planned faster_of(CudaDevice& device, const Desc& desc, std::unique_ptr<NormOp> kernels,
                  std::string_view variant) {
  Autotuner* tuner = device.is_part() ? nullptr : device.autotuner();
  if (tuner == nullptr) return kernels;
  std::unique_ptr<Library> library;
  const auto make = [&](std::size_t index) -> std::optional<TuningCandidate> {
    if (index == 0) return norm_candidate(*kernels);
    library = std::make_unique<Library>(device, desc);
    return norm_candidate(*library);
  };
  const std::string key = fmt::format("{} {} {}{}", kernels->name(), fmt::join(desc.shape, "x"),
                                      to_string(desc.dtype), variant);
  const auto fastest = tuner->choose(key, random_tensors(*kernels), 2, make);
  const ChosenBy by = fastest ? ChosenBy::measuring : ChosenBy::heuristics;
  if (fastest == 1U) {
    if (!library) library = std::make_unique<Library>(device, desc);
    library->set_implementation(cudnn_name, by);
    return library;
  }
  const std::string name = kernels->implementation();
  kernels->set_implementation(name, by);
  return kernels;
}

}  // namespace

Planned faster_norm(CudaDevice& device, const BatchNormForward& desc,
                    std::unique_ptr<NormOp> kernels) {
  if (desc.relu) return kernels;
  return faster_of<CudnnForwardOp>(device, desc, std::move(kernels), "");
}

Planned faster_norm(CudaDevice& device, const BatchNormBackward& desc,
                    std::unique_ptr<NormOp> kernels) {
  const std::string variant =
      fmt::format("{}{}", desc.relu ? " relu" : "", desc.accumulate ? " added" : "");
  return faster_of<CudnnBackwardOp>(device, desc, std::move(kernels), variant);
}

}  // namespace parbench::cuda
