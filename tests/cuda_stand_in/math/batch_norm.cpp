// cuDNN's batch normalisation by plain loops: CUDNN_BATCHNORM_SPATIAL with channels last.
#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <thread>
#include <vector>

#include "kernels/base/bfloat16.h"
#include "tests/cuda_stand_in/math/dnn.h"
#include "tests/cuda_stand_in/stand_in.h"

using namespace parbench::stand_in;  // NOLINT(google-build-using-namespace): the vendor's functions

namespace {

std::atomic<std::chrono::milliseconds> time_to_add{};

/// An activation as a matrix, rows × channels.
struct Matrix {
  explicit Matrix(const cudnnTensorStruct& tensor)
      : type(tensor.type),
        channels(static_cast<std::size_t>(tensor.extents[1])),
        rows(static_cast<std::size_t>(tensor.extents[0]) *
             static_cast<std::size_t>(tensor.extents[2]) *
             static_cast<std::size_t>(tensor.extents[3])) {}

  [[nodiscard]] std::size_t bytes() const {
    return rows * channels * (type == CUDNN_DATA_FLOAT ? sizeof(float) : sizeof(std::uint16_t));
  }
  [[nodiscard]] double get(const void* tensor, std::size_t row, std::size_t channel) const {
    const std::size_t i = row * channels + channel;
    return type == CUDNN_DATA_FLOAT
               ? static_cast<const float*>(tensor)[i]
               : parbench::from_bf16(static_cast<const std::uint16_t*>(tensor)[i]);
  }
  void set(void* tensor, std::size_t row, std::size_t channel, double value) const {
    const std::size_t i = row * channels + channel;
    const auto rounded = static_cast<float>(value);
    if (type == CUDNN_DATA_FLOAT) {
      static_cast<float*>(tensor)[i] = rounded;
    } else {
      static_cast<std::uint16_t*>(tensor)[i] = parbench::to_bf16(rounded);
    }
  }

  cudnnDataType_t type;
  std::size_t channels;
  std::size_t rows;
};

/// Arguments of both passes.
struct Pass {
  const char* name;
  cudnnHandle_t handle;
  cudnnBatchNormMode_t mode;
  std::vector<cudnnTensorDescriptor_t> activations;
  cudnnTensorDescriptor_t channels;
  double epsilon;
};

float factor(const void* value) { return *static_cast<const float*>(value); }

/// Returns the error of cuDNN for what it does not support.
cudnnStatus_t check(const Pass& pass) {
  const Call call(pass.name);
  call.check(pass.handle);
  call.check(pass.channels);
  if (pass.handle->device != current_context()->device) {
    refuse(pass.name, "the handle's device is not current");
  }
  const cudnnTensorStruct& first = *pass.activations.front();
  for (const cudnnTensorDescriptor_t tensor : pass.activations) {
    call.check(tensor);
    if (tensor->extents != first.extents || tensor->type != first.type) {
      return CUDNN_STATUS_BAD_PARAM;
    }
  }
  const bool fits = pass.channels->type == CUDNN_DATA_FLOAT &&
                    pass.channels->extents == std::array{1, first.extents[1], 1, 1} &&
                    pass.epsilon >= CUDNN_BN_MIN_EPSILON;
  if (!fits) return CUDNN_STATUS_BAD_PARAM;
  return pass.mode == CUDNN_BATCHNORM_SPATIAL ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_NOT_SUPPORTED;
}

void check_memory(const Pass& pass, const Matrix& matrix,
                  std::initializer_list<const void*> activations,
                  std::initializer_list<const void*> channels) {
  for (const void* address : activations) {
    check_device_memory(pass.name, pass.handle->device, address, matrix.bytes());
  }
  for (const void* address : channels) {
    check_device_memory(pass.name, pass.handle->device, address, matrix.channels * sizeof(float));
  }
}

/// Ends the process if an output begins at an input, which cuDNN does not document.
void check_apart(const char* name, const void* output, std::initializer_list<const void*> inputs) {
  for (const void* input : inputs) {
    if (input == output) refuse(name, "an activation is overwritten in place");
  }
}

template <class Work>
cudnnStatus_t enqueue(const Pass& pass, const Work& work) {
  const std::chrono::milliseconds time = time_to_add;
  const cudaError_t status = launch(
      pass.handle->stream,
      [=] {
        std::this_thread::sleep_for(time);
        work();
      },
      pass.name);
  return status == cudaSuccess ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_EXECUTION_FAILED;
}

void move(void* running, std::size_t channel, double value, double momentum) {
  float& each = static_cast<float*>(running)[channel];
  each = static_cast<float>(each * (1 - momentum) + value * momentum);
}

}  // namespace

void parbench::stand_in::slow_batch_norm(std::chrono::milliseconds time) { time_to_add = time; }

cudnnStatus_t cudnnSetTensor4dDescriptor(cudnnTensorDescriptor_t tensor, cudnnTensorFormat_t format,
                                         cudnnDataType_t type, int n, int c, int h, int w) {
  const Call call(__func__);
  call.check(tensor);
  if (n < 1 || c < 1 || h < 1 || w < 1) return CUDNN_STATUS_BAD_PARAM;
  if (format != CUDNN_TENSOR_NHWC) return CUDNN_STATUS_NOT_SUPPORTED;
  if (type != CUDNN_DATA_FLOAT && type != CUDNN_DATA_BFLOAT16) return CUDNN_STATUS_NOT_SUPPORTED;
  tensor->type = type;
  tensor->extents = {n, c, h, w};
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBatchNormalizationForwardTraining(
    cudnnHandle_t handle, cudnnBatchNormMode_t mode, const void* alpha, const void* beta,
    cudnnTensorDescriptor_t x_tensor, const void* x, cudnnTensorDescriptor_t y_tensor, void* y,
    cudnnTensorDescriptor_t channel_tensor, const void* scale, const void* shift, double momentum,
    void* running_mean, void* running_variance, double epsilon, void* mean, void* inverse) {
  const Pass pass{__func__, handle, mode, {x_tensor, y_tensor}, channel_tensor, epsilon};
  if (const cudnnStatus_t status = check(pass); status != CUDNN_STATUS_SUCCESS) return status;
  if (factor(alpha) != 1 || factor(beta) != 0) return CUDNN_STATUS_NOT_SUPPORTED;
  const Matrix matrix(*x_tensor);
  check_memory(pass, matrix, {x, y}, {scale, shift, running_mean, running_variance, mean, inverse});
  check_apart(__func__, y, {x});
  return enqueue(pass, [=] {
    const auto rows = static_cast<double>(matrix.rows);
    for (std::size_t c = 0; c < matrix.channels; ++c) {
      double sum = 0;
      for (std::size_t row = 0; row < matrix.rows; ++row) sum += matrix.get(x, row, c);
      const double average = sum / rows;
      double squares = 0;
      for (std::size_t row = 0; row < matrix.rows; ++row) {
        squares += std::pow(matrix.get(x, row, c) - average, 2);
      }
      const double deviation = 1 / std::sqrt(squares / rows + epsilon);
      for (std::size_t row = 0; row < matrix.rows; ++row) {
        matrix.set(
            y, row, c,
            (matrix.get(x, row, c) - average) * deviation * static_cast<const float*>(scale)[c] +
                static_cast<const float*>(shift)[c]);
      }
      move(running_mean, c, average, momentum);
      move(running_variance, c, squares / (rows - 1), momentum);
      static_cast<float*>(mean)[c] = static_cast<float>(average);
      static_cast<float*>(inverse)[c] = static_cast<float>(deviation);
    }
  });
}

cudnnStatus_t cudnnBatchNormalizationBackward(
    cudnnHandle_t handle, cudnnBatchNormMode_t mode, const void* alpha, const void* beta,
    const void* channel_alpha, const void* channel_beta, cudnnTensorDescriptor_t x_tensor,
    const void* x, cudnnTensorDescriptor_t dy_tensor, const void* dy,
    cudnnTensorDescriptor_t dx_tensor, void* dx, cudnnTensorDescriptor_t channel_tensor,
    const void* scale, void* diff_scale, void* diff_shift, double epsilon, const void* mean,
    const void* inverse) {
  const Pass pass{__func__,       handle, mode, {x_tensor, dy_tensor, dx_tensor},
                  channel_tensor, epsilon};
  if (const cudnnStatus_t status = check(pass); status != CUDNN_STATUS_SUCCESS) return status;
  const float earlier = factor(channel_beta);
  if (factor(alpha) != 1 || factor(beta) != 0 || factor(channel_alpha) != 1) {
    return CUDNN_STATUS_NOT_SUPPORTED;
  }
  const Matrix matrix(*x_tensor);
  check_memory(pass, matrix, {x, dy, dx}, {scale, diff_scale, diff_shift, mean, inverse});
  check_apart(__func__, dx, {x, dy});
  return enqueue(pass, [=] {
    const auto rows = static_cast<double>(matrix.rows);
    for (std::size_t c = 0; c < matrix.channels; ++c) {
      const double deviation = static_cast<const float*>(inverse)[c];
      const double average = static_cast<const float*>(mean)[c];
      const auto normalised = [&](std::size_t row) {
        return (matrix.get(x, row, c) - average) * deviation;
      };
      double sum = 0;
      double product = 0;
      for (std::size_t row = 0; row < matrix.rows; ++row) {
        sum += matrix.get(dy, row, c);
        product += matrix.get(dy, row, c) * normalised(row);
      }
      for (std::size_t row = 0; row < matrix.rows; ++row) {
        const double centred = matrix.get(dy, row, c) - (sum + normalised(row) * product) / rows;
        matrix.set(dx, row, c, centred * deviation * static_cast<const float*>(scale)[c]);
      }
      const auto write = [&](void* gradient, double value) {
        float& each = static_cast<float*>(gradient)[c];
        // With a factor of 0, the earlier value is not read.
        each = static_cast<float>(value) + (earlier == 0 ? 0.0F : earlier * each);
      };
      write(diff_scale, product);
      write(diff_shift, sum);
    }
  });
}
