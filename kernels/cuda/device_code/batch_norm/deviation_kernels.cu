// Converts between the variance of a batch and the value that cuDNN saves.
#include "kernels/cuda/device_code/batch_norm/batch_norm_kernels.h"
#include "kernels/cuda/device_code/map.cuh"

namespace parbench::cuda {
namespace {

struct InverseDeviation {
  float epsilon;
  __device__ float operator()(float variance) const {
    return static_cast<float>(1 /
                              sqrt(static_cast<double>(variance) + static_cast<double>(epsilon)));
  }
};

// A rounded input may give a variance below zero.
struct VarianceOf {
  float epsilon;
  __device__ float operator()(float inverse) const {
    const auto wide = static_cast<double>(inverse);
    const double variance = 1 / (wide * wide) - static_cast<double>(epsilon);
    return variance < 0 ? 0.0F : static_cast<float>(variance);
  }
};

}  // namespace

void inverse_deviations(float* out, const float* variance, std::int64_t channels, float epsilon,
                        cudaStream_t stream) {
  map(stream, channels, InverseDeviation{epsilon}, out, variance);
}

void variances_of(float* out, const float* inverse, std::int64_t channels, float epsilon,
                  cudaStream_t stream) {
  map(stream, channels, VarianceOf{epsilon}, out, inverse);
}

}  // namespace parbench::cuda
