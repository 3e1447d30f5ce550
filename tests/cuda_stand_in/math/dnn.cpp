// cuDNN's handles, and its recurrent layers by plain loops.
#include "tests/cuda_stand_in/math/dnn.h"

#include <cstdio>

#include "tests/cuda_emulation/plain_lstm.h"
#include "tests/cuda_stand_in/stand_in.h"

using namespace parbench::stand_in;  // NOLINT(google-build-using-namespace): the vendor's functions
using parbench::DType;
using parbench::emulation::PlainLstm;

struct cudnnDropoutStruct : Object {
  cudnnDropoutStruct() : Object("cuDNN dropout") {}
};

struct cudnnRNNDataStruct : Object {
  cudnnRNNDataStruct() : Object("cuDNN sequences") {}
  cudnnDataType_t type = CUDNN_DATA_FLOAT;
  int length = 0;
  int batch = 0;
  int width = 0;
};

struct cudnnRNNStruct : Object {
  cudnnRNNStruct() : Object("cuDNN recurrent layer") {}
  cudnnDataType_t type = CUDNN_DATA_FLOAT;
  int inputs = 0;
  int hidden = 0;

  [[nodiscard]] DType dtype() const { return type == CUDNN_DATA_FLOAT ? DType::f32 : DType::bf16; }
  [[nodiscard]] PlainLstm loops(int batch, int length) const {
    return {{.batch = batch, .sequence = length, .in_features = inputs, .hidden = hidden}, dtype()};
  }
};

namespace {

constexpr std::size_t workspace = 256;

template <class Kind>
cudnnStatus_t create(const char* name, Kind** made) {
  const Call call(name);
  *made = make<Kind>();
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t destroy(const char* name, Object* object) {
  const Call call(name, {object});
  object->alive = false;
  return CUDNN_STATUS_SUCCESS;
}

/// Sequences of a pass: what describes them, and those that it reads or writes.
struct Sequences {
  cudnnRNNDataDescriptor_t layout;
  const void* values;
};

/// A pass: what its call is given.
struct LayerPass {
  const char* name;
  cudnnHandle_t handle;
  cudnnRNNDescriptor_t layer;
  Sequences source;
  Sequences destination;
  std::size_t weight_bytes;
  const void* weights;
  void* workspace;
  std::size_t saved_bytes;
  void* saved;
};

std::size_t bytes_of(const cudnnRNNDataStruct& sequences) {
  const std::size_t element = sequences.type == CUDNN_DATA_FLOAT ? 4 : 2;
  return element * static_cast<std::size_t>(sequences.length) *
         static_cast<std::size_t>(sequences.batch) * static_cast<std::size_t>(sequences.width);
}

std::byte* bytes(const void* address) {
  return const_cast<std::byte*>(static_cast<const std::byte*>(address));
}

/// Checks what the pass is given, and enqueues `run` with the loops and their memory.
template <class Run>
cudnnStatus_t enqueue(const LayerPass& pass, Run run) {
  const auto& [source, x] = pass.source;
  const auto& [destination, y] = pass.destination;
  { const Call call(pass.name, {pass.handle, pass.layer, source, destination}); }
  const cudnnRNNStruct& layer = *pass.layer;
  const PlainLstm loops = layer.loops(source->batch, source->length);
  const bool consistent = source->batch == destination->batch &&
                          source->length == destination->length && source->type == layer.type &&
                          source->width == layer.inputs && destination->width == layer.hidden;
  if (!consistent || pass.weight_bytes != loops.weight_bytes() ||
      pass.saved_bytes < loops.saved_bytes()) {
    return CUDNN_STATUS_BAD_PARAM;
  }
  for (const auto& [address, size] : {std::pair(x, bytes_of(*source)),
                                      {y, bytes_of(*destination)},
                                      {pass.weights, pass.weight_bytes},
                                      {pass.saved, pass.saved_bytes},
                                      {pass.workspace, workspace}}) {
    check_device_memory(pass.name, pass.handle->device, address, size);
  }
  const PlainLstm::Memory memory{bytes(pass.weights), bytes(pass.saved)};
  const cudaError_t status = launch(
      pass.handle->stream, [=] { run(loops, memory); }, pass.name);
  return status == cudaSuccess ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_EXECUTION_FAILED;
}

}  // namespace

std::size_t cudnnGetVersion() { return CUDNN_VERSION; }

const char* cudnnGetErrorString(cudnnStatus_t status) {
  return status == CUDNN_STATUS_SUCCESS ? "CUDNN_STATUS_SUCCESS" : "cuDNN failed";
}

void cudnnGetLastErrorString(char* text, std::size_t size) {
  std::snprintf(text, size, "stand-in");
}

cudnnStatus_t cudnnCreate(cudnnHandle_t* handle) {
  const Call call(__func__);
  if (call.lost() != cudaSuccess) return CUDNN_STATUS_NOT_INITIALIZED;
  *handle = make<cudnnContext>(current_context()->device);
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnDestroy(cudnnHandle_t handle) { return destroy(__func__, handle); }

cudnnStatus_t cudnnSetStream(cudnnHandle_t handle, cudaStream_t stream) {
  const Call call(__func__, {handle, stream});
  if (handle->device != stream->context->device) refuse(__func__, "the stream of another device");
  handle->stream = stream;
  return CUDNN_STATUS_SUCCESS;
}

// cuDNN's backend is behind the engine seam (convolutions.cpp); its plans have no descriptors here.
cudnnStatus_t cudnnBackendDestroyDescriptor(cudnnBackendDescriptor_t /*descriptor*/) {
  return CUDNN_STATUS_NOT_SUPPORTED;
}

#define PARBENCH_DESCRIPTOR(Kind)                                                \
  cudnnStatus_t cudnnCreate##Kind##Descriptor(cudnn##Kind##Descriptor_t* made) { \
    return create(__func__, made);                                               \
  }                                                                              \
  cudnnStatus_t cudnnDestroy##Kind##Descriptor(cudnn##Kind##Descriptor_t one) {  \
    return destroy(__func__, one);                                               \
  }
PARBENCH_DESCRIPTOR(Tensor)
PARBENCH_DESCRIPTOR(Dropout)
PARBENCH_DESCRIPTOR(RNNData)
PARBENCH_DESCRIPTOR(RNN)
#undef PARBENCH_DESCRIPTOR

cudnnStatus_t cudnnSetTensorNdDescriptor(cudnnTensorDescriptor_t tensor, cudnnDataType_t /*type*/,
                                         int dimensions, const int extents[], const int strides[]) {
  const Call call(__func__, {tensor});
  const bool valid = dimensions == 3 && extents[0] > 0 && strides[2] == 1;
  return valid ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_BAD_PARAM;
}

cudnnStatus_t cudnnSetDropoutDescriptor(cudnnDropoutDescriptor_t dropout, cudnnHandle_t handle,
                                        float rate, void* /*states*/, std::size_t /*bytes*/,
                                        unsigned long long /*seed*/) {
  const Call call(__func__, {dropout, handle});
  return rate == 0 ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_NOT_SUPPORTED;
}

cudnnStatus_t cudnnSetRNNDataDescriptor(cudnnRNNDataDescriptor_t sequences, cudnnDataType_t type,
                                        cudnnRNNDataLayout_t layout, int length, int batch,
                                        int width, const int lengths[], void* /*padding*/) {
  const Call call(__func__, {sequences});
  if (layout != CUDNN_RNN_DATA_LAYOUT_BATCH_MAJOR_UNPACKED) return CUDNN_STATUS_NOT_SUPPORTED;
  for (int i = 0; i < batch; ++i) {
    if (lengths[i] != length) return CUDNN_STATUS_NOT_SUPPORTED;
  }
  sequences->type = type;
  sequences->length = length;
  sequences->batch = batch;
  sequences->width = width;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnSetRNNDescriptor_v8(cudnnRNNDescriptor_t layer, cudnnRNNAlgo_t algorithm,
                                       cudnnRNNMode_t mode, cudnnRNNBiasMode_t bias,
                                       cudnnDirectionMode_t direction, cudnnRNNInputMode_t input,
                                       cudnnDataType_t type, cudnnDataType_t precision,
                                       cudnnMathType_t /*math*/, std::int32_t inputs,
                                       std::int32_t hidden, std::int32_t projected,
                                       std::int32_t layers, cudnnDropoutDescriptor_t dropout,
                                       std::uint32_t flags) {
  const Call call(__func__, {layer, dropout});
  const bool known = algorithm == CUDNN_RNN_ALGO_STANDARD && mode == CUDNN_LSTM &&
                     bias == CUDNN_RNN_SINGLE_INP_BIAS && direction == CUDNN_UNIDIRECTIONAL &&
                     input == CUDNN_LINEAR_INPUT && precision == CUDNN_DATA_FLOAT &&
                     projected == hidden && layers == 1 && flags == CUDNN_RNN_PADDED_IO_ENABLED;
  if (!known) return CUDNN_STATUS_NOT_SUPPORTED;
  layer->type = type;
  layer->inputs = inputs;
  layer->hidden = hidden;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnGetRNNWeightSpaceSize(cudnnHandle_t handle, cudnnRNNDescriptor_t layer,
                                         std::size_t* size) {
  const Call call(__func__, {handle, layer});
  *size = layer->loops(1, 1).weight_bytes();
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnGetRNNTempSpaceSizes(cudnnHandle_t handle, cudnnRNNDescriptor_t layer,
                                        cudnnForwardMode_t mode, cudnnRNNDataDescriptor_t source,
                                        std::size_t* workspace_size, std::size_t* saved_size) {
  const Call call(__func__, {handle, layer, source});
  if (mode != CUDNN_FWD_MODE_TRAINING) return CUDNN_STATUS_NOT_SUPPORTED;
  *workspace_size = workspace;
  *saved_size = layer->loops(source->batch, source->length).saved_bytes();
  return CUDNN_STATUS_SUCCESS;
}

/// The gates' matrices for the input come first, then those for the state, whose bias is none.
cudnnStatus_t cudnnGetRNNWeightParams(cudnnHandle_t handle, cudnnRNNDescriptor_t layer,
                                      std::int32_t pseudo_layer, std::size_t size,
                                      const void* weights, std::int32_t number,
                                      cudnnTensorDescriptor_t matrix, void** matrix_address,
                                      cudnnTensorDescriptor_t vector, void** vector_address) {
  const Call call(__func__, {handle, layer, matrix, vector});
  const PlainLstm loops = layer->loops(1, 1);
  if (pseudo_layer != 0 || size != loops.weight_bytes() || number < 0 || number >= 8) {
    return CUDNN_STATUS_BAD_PARAM;
  }
  const auto gate = static_cast<std::size_t>(number % 4);
  const bool is_input = number < 4;
  const auto& offsets = loops.offsets();
  *matrix_address =
      bytes(weights) + (is_input ? offsets.weights : offsets.recurrent_weights).at(gate);
  *vector_address = is_input ? bytes(weights) + offsets.bias.at(gate) : nullptr;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnRNNForward(cudnnHandle_t handle, cudnnRNNDescriptor_t layer,
                              cudnnForwardMode_t /*mode*/, const std::int32_t /*lengths*/[],
                              cudnnRNNDataDescriptor_t x_sequences, const void* x,
                              cudnnRNNDataDescriptor_t y_sequences, void* y,
                              cudnnTensorDescriptor_t /*h*/, const void* /*hx*/, void* /*hy*/,
                              cudnnTensorDescriptor_t /*c*/, const void* /*cx*/, void* /*cy*/,
                              std::size_t weight_bytes, const void* weights,
                              std::size_t /*workspace_bytes*/, void* workspace_address,
                              std::size_t saved_bytes, void* saved) {
  return enqueue(
      {__func__,
       handle,
       layer,
       {x_sequences, x},
       {y_sequences, y},
       weight_bytes,
       weights,
       workspace_address,
       saved_bytes,
       saved},
      [=](const auto& loops, const auto& memory) { loops.forward(bytes(x), bytes(y), memory); });
}

cudnnStatus_t cudnnRNNBackwardData_v8(
    cudnnHandle_t handle, cudnnRNNDescriptor_t layer, const std::int32_t /*lengths*/[],
    cudnnRNNDataDescriptor_t y_sequences, const void* y, const void* dy,
    cudnnRNNDataDescriptor_t x_sequences, void* dx, cudnnTensorDescriptor_t /*h*/,
    const void* /*hx*/, const void* /*dhy*/, void* /*dhx*/, cudnnTensorDescriptor_t /*c*/,
    const void* /*cx*/, const void* /*dcy*/, void* /*dcx*/, std::size_t weight_bytes,
    const void* weights, std::size_t /*workspace_bytes*/, void* workspace_address,
    std::size_t saved_bytes, void* saved) {
  return enqueue({__func__,
                  handle,
                  layer,
                  {x_sequences, dx},
                  {y_sequences, dy},
                  weight_bytes,
                  weights,
                  workspace_address,
                  saved_bytes,
                  saved},
                 [=](const auto& loops, const auto& memory) {
                   loops.backward_data(bytes(y), bytes(dy), bytes(dx), memory);
                 });
}

cudnnStatus_t cudnnRNNBackwardWeights_v8(cudnnHandle_t handle, cudnnRNNDescriptor_t layer,
                                         cudnnWgradMode_t mode, const std::int32_t /*lengths*/[],
                                         cudnnRNNDataDescriptor_t x_sequences, const void* x,
                                         cudnnTensorDescriptor_t /*h*/, const void* /*hx*/,
                                         cudnnRNNDataDescriptor_t y_sequences, const void* y,
                                         std::size_t weight_bytes, void* weights,
                                         std::size_t /*workspace_bytes*/, void* workspace_address,
                                         std::size_t saved_bytes, void* saved) {
  if (mode != CUDNN_WGRAD_MODE_ADD) return CUDNN_STATUS_NOT_SUPPORTED;
  return enqueue({__func__,
                  handle,
                  layer,
                  {x_sequences, x},
                  {y_sequences, y},
                  weight_bytes,
                  weights,
                  workspace_address,
                  saved_bytes,
                  saved},
                 [=](const auto& loops, const auto& memory) {
                   loops.backward_weights(bytes(x), bytes(y), memory);
                 });
}
