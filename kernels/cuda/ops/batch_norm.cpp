// Batch normalisation in training, alone or with an addition and a ReLU, and its backward pass, by
// kernels of this project, or by cuDNN where `--autotune` measures it to be faster.
//
// cuDNN is offered for whole GPUs only, because nothing says how many multiprocessors its kernels
// need at the same time, and not for forward passes with a ReLU, which kernels of this project
// compute in the same pass (docs/decisions/cuda.md). The tensors between both passes are the same
// for either, so each pass is chosen alone.
#include <fmt/format.h>

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/base/element.h"
#include "kernels/cuda/cudnn/batch_norm_engine.h"
#include "kernels/cuda/device/device.h"
#include "kernels/cuda/device_code/batch_norm/batch_norm_kernels.h"
#include "kernels/cuda/ops/plans.h"
#include "kernels/cuda/runtime/error.h"
#include "kernels/cuda/runtime/stream.h"
#include "kernels/cuda/tuning/autotuner.h"

namespace parbench::cuda {
namespace {

std::size_t mask_size(const Shape& shape) {
  return static_cast<std::size_t>(mask_bytes(element_count(shape)));
}

/// An operation on scratch memory at any address, so that the tuner can run it on memory of its
/// own.
class NormOp : public CudaOp {
 public:
  using CudaOp::CudaOp;
  void execute(CudaStream& stream, Addresses arguments) final {
    run(stream, arguments, stream.scratch());
  }
  virtual void run(CudaStream& stream, Addresses arguments, std::byte* scratch) = 0;
};

/// Base of the operations by kernels of this project: the division of the activation, and scratch
/// memory.
class NormKernelsOp : public NormOp {
 protected:
  template <class Desc>
  NormKernelsOp(CudaDevice& device, const Desc& desc) : NormKernelsOp(device, desc, desc.shape) {}

  [[nodiscard]] const NormShape& norm() const { return norm_; }
  [[nodiscard]] NormScratch parts_of(std::byte* scratch, const CudaStream& stream) const {
    return {.partials = floats(scratch + partials_),
            .totals = reinterpret_cast<double*>(scratch + totals_),
            .coefficients = floats(scratch + coefficients_),
            .counters = stream.counters()};
  }

 private:
  NormKernelsOp(CudaDevice& device, const OpDesc& desc, const Shape& shape)
      : NormOp(device, desc, mask_size(shape)),
        norm_(norm_shape(shape[0] * shape[2] * shape[3], shape[1], device.multiprocessors())),
        partials_(add_scratch(norm_.partial_count() * sizeof(float))),
        totals_(add_scratch(norm_.total_count() * sizeof(double))),
        coefficients_(add_scratch(3 * static_cast<std::size_t>(shape[1]) * sizeof(float))) {
    set_implementation(fmt::format("CUDA kernels, {} slices of rows", norm_.slices));
  }

  NormShape norm_;
  std::size_t partials_;
  std::size_t totals_;
  std::size_t coefficients_;
};

template <class Element>
Element* elements(std::byte* address) {
  return reinterpret_cast<Element*>(address);
}

class BatchNormForwardOp final : public NormKernelsOp {
 public:
  BatchNormForwardOp(CudaDevice& device, const BatchNormForward& desc)
      : NormKernelsOp(device, desc), desc_(desc) {}
  void run(CudaStream& stream, Addresses arguments, std::byte* scratch) override;

 private:
  template <class Element>
  void launch(const CudaStream& stream, Addresses arguments, std::byte* scratch) const;

  BatchNormForward desc_;
};

template <class Element>
void BatchNormForwardOp::launch(const CudaStream& stream, Addresses arguments,
                                std::byte* scratch) const {
  const NormForward<Element> at{.source = elements<Element>(arguments[0]),
                                .scale = floats(arguments[1]),
                                .shift = floats(arguments[2]),
                                .running_mean = floats(arguments[3]),
                                .running_variance = floats(arguments[4]),
                                .destination = elements<Element>(arguments[5]),
                                .mean = floats(arguments[6]),
                                .variance = floats(arguments[7]),
                                .mask = desc_.relu ? elements<std::uint8_t>(arguments[8]) : nullptr,
                                .addend = desc_.add ? elements<Element>(arguments[9]) : nullptr};
  batch_norm_forward(norm(), at, desc_.epsilon, desc_.momentum, parts_of(scratch, stream),
                     stream.handle());
}

void BatchNormForwardOp::run(CudaStream& stream, Addresses arguments, std::byte* scratch) {
  with_element(desc_.dtype, [&]<class Element>(Element /*unused*/) {
    launch<Element>(stream, arguments, scratch);
  });
}

class BatchNormBackwardOp final : public NormKernelsOp {
 public:
  BatchNormBackwardOp(CudaDevice& device, const BatchNormBackward& desc)
      : NormKernelsOp(device, desc), desc_(desc) {}
  void run(CudaStream& stream, Addresses arguments, std::byte* scratch) override;

 private:
  template <class Element>
  void launch(const CudaStream& stream, Addresses arguments, std::byte* scratch) const;

  BatchNormBackward desc_;
};

template <class Element>
void BatchNormBackwardOp::launch(const CudaStream& stream, Addresses arguments,
                                 std::byte* scratch) const {
  const auto gradients = arguments.last(3);
  const NormBackward<Element> at{
      .source = elements<Element>(arguments[0]),
      .diff_destination = elements<Element>(arguments[1]),
      .mean = floats(arguments[2]),
      .variance = floats(arguments[3]),
      .scale = floats(arguments[4]),
      .mask = desc_.relu ? elements<std::uint8_t>(arguments[6]) : nullptr,
      .diff_source = elements<Element>(gradients[0]),
      .diff_scale = floats(gradients[1]),
      .diff_shift = floats(gradients[2])};
  batch_norm_backward(norm(), at, desc_.epsilon, desc_.accumulate, parts_of(scratch, stream),
                      stream.handle());
}

void BatchNormBackwardOp::run(CudaStream& stream, Addresses arguments, std::byte* scratch) {
  with_element(desc_.dtype, [&]<class Element>(Element /*unused*/) {
    launch<Element>(stream, arguments, scratch);
  });
}

constexpr std::string_view cudnn_name = "cuDNN batch normalisation";

/// Base of the operations by cuDNN: scratch memory for the value that cuDNN saves, from which the
/// variance is computed, or the reverse.
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

/// Has a copy of the gradient at the destination: behind the ReLU, or because cuDNN does not say
/// that it can be overwritten.
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

/// Returns the operation by kernels of this project, or by cuDNN if the device's tuner measures it
/// to be faster. `variant`: what distinguishes operations of equal name, shape and type.
template <class Kernels, class Library, class Desc>
Planned plan_norm(CudaDevice& device, const Desc& desc, const std::string& variant) {
  auto kernels = std::make_unique<Kernels>(device, desc);
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
  kernels->set_implementation(std::string(kernels->implementation()), by);
  return kernels;
}

}  // namespace

Planned plan(CudaDevice& device, const BatchNormForward& desc) {
  if (desc.relu) return std::make_unique<BatchNormForwardOp>(device, desc);
  return plan_norm<BatchNormForwardOp, CudnnForwardOp>(device, desc, "");
}

Planned plan(CudaDevice& device, const BatchNormBackward& desc) {
  return plan_norm<BatchNormBackwardOp, CudnnBackwardOp>(
      device, desc, fmt::format("{}{}", desc.relu ? " relu" : "", desc.accumulate ? " added" : ""));
}

Planned plan(CudaDevice& device, const AddReluBackward& desc) {
  const Shape& shape = desc.shape;
  const NormShape matrix{.rows = shape[0] * shape[2] * shape[3], .channels = shape[1]};
  const KernelNeeds needs{.opaque_bytes = mask_size(shape)};
  return kernel_op(device, desc, needs, [desc, matrix](CudaStream& stream, Addresses arguments) {
    with_element(desc.dtype, [&]<class Element>(Element /*unused*/) {
      const AddReluGradient<Element> at{
          .mask = elements<std::uint8_t>(arguments[0]),
          .a = elements<Element>(arguments[1]),
          .b = desc.two_gradients ? elements<Element>(arguments[2]) : nullptr,
          .diff_source = elements<Element>(arguments.back())};
      add_relu_backward(matrix, at, stream.handle());
    });
  });
}

}  // namespace parbench::cuda
