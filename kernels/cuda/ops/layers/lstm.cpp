// A long short-term memory on cuDNN. cuDNN has its own layout of parameters: passes that read
// parameters copy them to memory in this layout first, and the backward pass of the weights copies
// their gradients from it.
#include "kernels/ops/lstm.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

#include "kernels/cuda/cudnn/lstm_engine.h"
#include "kernels/cuda/device/device.h"
#include "kernels/cuda/device_code/fill_kernels.h"
#include "kernels/cuda/device_code/flat_kernels.h"
#include "kernels/cuda/device_code/reorder_kernels.h"
#include "kernels/cuda/ops/plans.h"
#include "kernels/cuda/runtime/cuda_op.h"
#include "kernels/cuda/runtime/stream.h"

namespace parbench::cuda {
namespace {

constexpr std::string_view lstm_implementation = "cuDNN LSTM, standard algorithm";

/// Base of the three operations: the engine, its memory, and copies between this memory and
/// parameters.
class LstmOp : public CudaOp {
 protected:
  template <class Desc>
  LstmOp(CudaDevice& device, const Desc& desc)
      : LstmOp(device, desc, desc.shape, desc.dtype,
               std::make_unique<LstmEngine>(device, desc.shape, desc.dtype, desc.math)) {}

  [[nodiscard]] LstmEngine& engine() const { return *engine_; }
  [[nodiscard]] DType dtype() const { return dtype_; }
  [[nodiscard]] LstmMemory memory(const CudaStream& stream, std::byte* saved) const {
    return {.weights = stream.scratch() + weights_,
            .workspace = stream.scratch() + workspace_,
            .saved = saved};
  }
  /// Return the number of elements of one gate's part of each parameter.
  [[nodiscard]] std::int64_t weight_count() const { return shape_.hidden * shape_.in_features; }
  [[nodiscard]] std::int64_t recurrent_count() const { return shape_.hidden * shape_.hidden; }
  [[nodiscard]] std::int64_t bias_count() const { return shape_.hidden; }

  /// Copies parameters to cuDNN's memory; without a bias, the memory of the bias stays undefined.
  void copy_parameters(CudaStream& stream, const std::byte* weights,
                       const std::byte* recurrent_weights, const std::byte* bias) const {
    std::byte* to = stream.scratch() + weights_;
    const LstmGateOffsets& at = engine_->offsets(stream, to);
    const auto copy = [&](const std::array<std::size_t, 4>& offsets, const std::byte* from,
                          DType type, std::int64_t count) {
      const std::size_t gate_bytes = static_cast<std::size_t>(count) * size_of(type);
      for (std::size_t gate = 0; gate < offsets.size(); ++gate) {
        convert({to + offsets.at(gate), dtype_}, {from + gate * gate_bytes, type}, count,
                stream.handle());
      }
    };
    copy(at.weights, weights, dtype_, weight_count());
    copy(at.recurrent_weights, recurrent_weights, dtype_, recurrent_count());
    if (bias != nullptr) copy(at.bias, bias, DType::f32, bias_count());
  }

 private:
  LstmOp(CudaDevice& device, const OpDesc& desc, const LstmShape& shape, DType dtype,
         std::unique_ptr<LstmEngine> engine)
      : CudaOp(device, desc, engine->saved_bytes()),
        shape_(shape),
        dtype_(dtype),
        engine_(std::move(engine)),
        weights_(add_scratch(engine_->weight_bytes())),
        workspace_(add_scratch(engine_->workspace_bytes())) {
    set_implementation(lstm_implementation);
  }

  LstmShape shape_;
  DType dtype_;
  std::unique_ptr<LstmEngine> engine_;
  // Offsets in scratch memory.
  std::size_t weights_;
  std::size_t workspace_;
};

class LstmForwardOp final : public LstmOp {
 public:
  LstmForwardOp(CudaDevice& device, const LstmForward& desc) : LstmOp(device, desc) {}

  void execute(CudaStream& stream, std::span<std::byte* const> arguments) override {
    copy_parameters(stream, arguments[1], arguments[2], arguments[3]);
    engine().forward(stream, arguments[0], arguments[4], memory(stream, arguments[5]));
  }
};

class LstmBackwardDataOp final : public LstmOp {
 public:
  LstmBackwardDataOp(CudaDevice& device, const LstmBackwardData& desc) : LstmOp(device, desc) {}

  void execute(CudaStream& stream, std::span<std::byte* const> arguments) override {
    copy_parameters(stream, arguments[2], arguments[3], nullptr);
    engine().backward_data(stream, arguments[0], arguments[1], arguments[5],
                           memory(stream, arguments[4]));
  }
};

class LstmBackwardWeightsOp final : public LstmOp {
 public:
  LstmBackwardWeightsOp(CudaDevice& device, const LstmBackwardWeights& desc)
      : LstmOp(device, desc),
        accumulate_(desc.accumulate),
        widened_(desc.accumulate && desc.dtype == DType::bf16
                     ? add_scratch(canonical({std::max(weight_count(), recurrent_count())}).bytes)
                     : 0) {}

  void execute(CudaStream& stream, std::span<std::byte* const> arguments) override {
    const LstmMemory own = memory(stream, arguments[2]);
    fill_constant(own.weights, DType::bf16,
                  static_cast<std::int64_t>(engine().weight_bytes() / size_of(DType::bf16)), 0,
                  stream.handle());
    engine().backward_weights(stream, arguments[0], arguments[1], own);
    const LstmGateOffsets& at = engine().offsets(stream, own.weights);
    const auto take = [&](const std::array<std::size_t, 4>& offsets, std::byte* to,
                          std::int64_t count) {
      for (std::size_t gate = 0; gate < offsets.size(); ++gate) {
        take_gradient(stream, floats(to) + static_cast<std::int64_t>(gate) * count,
                      own.weights + offsets.at(gate), count);
      }
    };
    take(at.weights, arguments[3], weight_count());
    take(at.recurrent_weights, arguments[4], recurrent_count());
    take(at.bias, arguments[5], bias_count());
  }

 private:
  /// Converts a gradient to f32 and writes it to `to`, or adds it there if gradients accumulate. In
  /// the latter case a bf16 gradient is first converted into scratch memory.
  void take_gradient(CudaStream& stream, float* to, std::byte* from, std::int64_t count) const {
    if (!accumulate_) {
      convert({to, DType::f32}, {from, dtype()}, count, stream.handle());
      return;
    }
    const float* gradient = floats(from);
    if (dtype() == DType::bf16) {
      float* widened = floats(stream.scratch() + widened_);
      convert({widened, DType::f32}, {from, dtype()}, count, stream.handle());
      gradient = widened;
    }
    accumulate(to, gradient, count, stream.handle());
  }

  bool accumulate_;
  std::size_t widened_;  // offset in scratch memory
};

}  // namespace

Planned plan(CudaDevice& device, const LstmForward& desc) {
  return std::make_unique<LstmForwardOp>(device, desc);
}

Planned plan(CudaDevice& device, const LstmBackwardData& desc) {
  return std::make_unique<LstmBackwardDataOp>(device, desc);
}

Planned plan(CudaDevice& device, const LstmBackwardWeights& desc) {
  return std::make_unique<LstmBackwardWeightsOp>(device, desc);
}

}  // namespace parbench::cuda
