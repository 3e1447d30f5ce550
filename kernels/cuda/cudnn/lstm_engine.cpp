// Descriptors of cuDNN's recurrent networks (its API since version 8), and its three passes.
//
// The algorithm is the standard one. Blocks of persistent kernels wait for each other, so all of
// them must run at the same time, which cannot be guaranteed if several streams share a GPU. Null
// pointers stand for zeros: the states before the first position, and their gradients after the
// last. The pointer to lengths on the device is null too, because cuDNN takes the lengths from the
// descriptors since version 8.9.1.
#include "kernels/cuda/cudnn/lstm_engine.h"

#include <cstdint>
#include <vector>

#include "kernels/cuda/device/device.h"
#include "kernels/cuda/runtime/error.h"
#include "kernels/cuda/runtime/stream.h"

namespace parbench::cuda {
namespace {

constexpr int gate_count = 4;

cudnnDataType_t data_type(DType dtype) {
  return dtype == DType::bf16 ? CUDNN_DATA_BFLOAT16 : CUDNN_DATA_FLOAT;
}

cudnnMathType_t math_type(DType dtype, MathMode math) {
  if (dtype == DType::bf16) return CUDNN_TENSOR_OP_MATH;
  return math == MathMode::tf32 ? CUDNN_DEFAULT_MATH : CUDNN_FMA_MATH;
}

}  // namespace

LstmEngine::Sequences LstmEngine::sequences(const LstmShape& shape, std::int64_t width,
                                            cudnnDataType_t type) {
  cudnnRNNDataDescriptor_t made = nullptr;
  PARBENCH_CUDA(cudnnCreateRNNDataDescriptor(&made));
  Sequences descriptor(made);
  const std::vector<int> lengths(static_cast<std::size_t>(shape.batch),
                                 static_cast<int>(shape.sequence));
  PARBENCH_CUDA(cudnnSetRNNDataDescriptor(
      made, type, CUDNN_RNN_DATA_LAYOUT_BATCH_MAJOR_UNPACKED, static_cast<int>(shape.sequence),
      static_cast<int>(shape.batch), static_cast<int>(width), lengths.data(), nullptr));
  return descriptor;
}

LstmEngine::States LstmEngine::make_states() {
  cudnnTensorDescriptor_t made = nullptr;
  PARBENCH_CUDA(cudnnCreateTensorDescriptor(&made));
  return States(made);
}

void LstmEngine::set_layer(cudnnHandle_t handle, const LstmShape& shape, DType dtype,
                           MathMode math) {
  cudnnDropoutDescriptor_t dropout = nullptr;
  PARBENCH_CUDA(cudnnCreateDropoutDescriptor(&dropout));
  dropout_.reset(dropout);
  PARBENCH_CUDA(cudnnSetDropoutDescriptor(dropout, handle, 0.0F, nullptr, 0, 0));
  cudnnRNNDescriptor_t layer = nullptr;
  PARBENCH_CUDA(cudnnCreateRNNDescriptor(&layer));
  layer_.reset(layer);
  PARBENCH_CUDA(cudnnSetRNNDescriptor_v8(
      layer, CUDNN_RNN_ALGO_STANDARD, CUDNN_LSTM, CUDNN_RNN_SINGLE_INP_BIAS, CUDNN_UNIDIRECTIONAL,
      CUDNN_LINEAR_INPUT, data_type(dtype), CUDNN_DATA_FLOAT, math_type(dtype, math),
      static_cast<std::int32_t>(shape.in_features), static_cast<std::int32_t>(shape.hidden),
      static_cast<std::int32_t>(shape.hidden), 1, dropout, CUDNN_RNN_PADDED_IO_ENABLED));
}

LstmEngine::LstmEngine(CudaDevice& device, const LstmShape& shape, DType dtype, MathMode math)
    : source_(sequences(shape, shape.in_features, data_type(dtype))),
      destination_(sequences(shape, shape.hidden, data_type(dtype))),
      state_(make_states()) {
  cudnnHandle_t handle = device.cudnn();
  set_layer(handle, shape, dtype, math);
  const std::array<int, 3> extents{1, static_cast<int>(shape.batch),
                                   static_cast<int>(shape.hidden)};
  const std::array<int, 3> strides{extents[1] * extents[2], extents[2], 1};
  PARBENCH_CUDA(cudnnSetTensorNdDescriptor(state_.get(), data_type(dtype),
                                           static_cast<int>(extents.size()), extents.data(),
                                           strides.data()));
  PARBENCH_CUDA(cudnnGetRNNWeightSpaceSize(handle, layer_.get(), &weight_bytes_));
  PARBENCH_CUDA(cudnnGetRNNTempSpaceSizes(handle, layer_.get(), CUDNN_FWD_MODE_TRAINING,
                                          source_.get(), &workspace_bytes_, &saved_bytes_));
}

const LstmGateOffsets& LstmEngine::offsets(CudaStream& stream, std::byte* weights) {
  if (has_offsets_) return offsets_;
  const States matrix = make_states();
  const States vector = make_states();
  const auto ask = [&](int gate, std::size_t& at_matrix, std::size_t* at_vector) {
    void* matrix_address = nullptr;
    void* vector_address = nullptr;
    PARBENCH_CUDA(cudnnGetRNNWeightParams(stream.cudnn(), layer_.get(), 0, weight_bytes_, weights,
                                          gate, matrix.get(), &matrix_address, vector.get(),
                                          &vector_address));
    const auto offset = [&](void* address) {
      return static_cast<std::size_t>(static_cast<std::byte*>(address) - weights);
    };
    at_matrix = offset(matrix_address);
    if (at_vector != nullptr) *at_vector = offset(vector_address);
  };
  for (int gate = 0; gate < gate_count; ++gate) {
    const auto i = static_cast<std::size_t>(gate);
    ask(gate, offsets_.weights.at(i), &offsets_.bias.at(i));
    ask(gate_count + gate, offsets_.recurrent_weights.at(i), nullptr);
  }
  has_offsets_ = true;
  return offsets_;
}

void LstmEngine::forward(CudaStream& stream, const std::byte* source, std::byte* destination,
                         const LstmMemory& memory) const {
  PARBENCH_CUDA(cudnnRNNForward(stream.cudnn(), layer_.get(), CUDNN_FWD_MODE_TRAINING, nullptr,
                                source_.get(), source, destination_.get(), destination,
                                state_.get(), nullptr, nullptr, state_.get(), nullptr, nullptr,
                                weight_bytes_, memory.weights, workspace_bytes_, memory.workspace,
                                saved_bytes_, memory.saved));
}

void LstmEngine::backward_data(CudaStream& stream, const std::byte* destination,
                               const std::byte* diff_destination, std::byte* diff_source,
                               const LstmMemory& memory) const {
  PARBENCH_CUDA(cudnnRNNBackwardData_v8(
      stream.cudnn(), layer_.get(), nullptr, destination_.get(), destination, diff_destination,
      source_.get(), diff_source, state_.get(), nullptr, nullptr, nullptr, state_.get(), nullptr,
      nullptr, nullptr, weight_bytes_, memory.weights, workspace_bytes_, memory.workspace,
      saved_bytes_, memory.saved));
}

void LstmEngine::backward_weights(CudaStream& stream, const std::byte* source,
                                  const std::byte* destination, const LstmMemory& memory) const {
  PARBENCH_CUDA(cudnnRNNBackwardWeights_v8(
      stream.cudnn(), layer_.get(), CUDNN_WGRAD_MODE_ADD, nullptr, source_.get(), source,
      state_.get(), nullptr, destination_.get(), destination, weight_bytes_, memory.weights,
      workspace_bytes_, memory.workspace, saved_bytes_, memory.saved));
}

}  // namespace parbench::cuda
