// Activation functions, each as a function of one element; ReLU is in flat_kernels.h.
#include "kernels/cuda/device_code/layers/activation_kernels.h"

#include "kernels/cuda/device_code/flat_kernels.h"
#include "kernels/cuda/device_code/map.cuh"

namespace parbench::cuda {
namespace {

constexpr float sqrt_two_over_pi = 0.797884561F;
constexpr float cubic = 0.044715F;  // coefficient of the approximation of GELU

__device__ float normal_distribution(float x) {
  constexpr float sqrt_half = 0.707106781F;
  return 0.5F * (1.0F + erff(x * sqrt_half));
}

__device__ float normal_density(float x) {
  constexpr float inverse_sqrt_two_pi = 0.398942280F;
  return inverse_sqrt_two_pi * expf(-0.5F * x * x);
}

struct Gelu {
  __device__ float operator()(float x) const { return x * normal_distribution(x); }
};

struct GeluGradient {
  __device__ float operator()(float x, float gradient) const {
    return gradient * (normal_distribution(x) + x * normal_density(x));
  }
};

/// tanh(sqrt(2/π)·(x + 0.044715·x³)).
__device__ float tanh_of_gelu(float x) {
  return tanhf(sqrt_two_over_pi * x * (1.0F + cubic * x * x));
}

struct GeluTanh {
  __device__ float operator()(float x) const { return 0.5F * x * (1.0F + tanh_of_gelu(x)); }
};

struct GeluTanhGradient {
  __device__ float operator()(float x, float gradient) const {
    const float value = tanh_of_gelu(x);
    const float slope = sqrt_two_over_pi * (1.0F + 3 * cubic * x * x);
    return gradient * 0.5F * (1.0F + value + x * (1.0F - value * value) * slope);
  }
};

struct Sigmoid {
  __device__ float operator()(float x) const { return 1.0F / (1.0F + expf(-x)); }
};

struct SigmoidGradient {
  __device__ float operator()(float y, float gradient) const { return gradient * y * (1.0F - y); }
};

struct Tanh {
  __device__ float operator()(float x) const { return tanhf(x); }
};

struct TanhGradient {
  __device__ float operator()(float y, float gradient) const { return gradient * (1.0F - y * y); }
};

/// A NaN stays a NaN.
struct Clip {
  float low;
  float high;
  __device__ float operator()(float x) const { return x < low ? low : (x > high ? high : x); }
};

struct ClipGradient {
  float low;
  float high;
  __device__ float operator()(float x, float gradient) const {
    return x > low && x < high ? gradient : 0.0F;
  }
};

}  // namespace

void activate(void* out, const void* in, const Activation& activation, DType dtype,
              std::int64_t count, cudaStream_t stream) {
  switch (activation.kind) {
    case ActivationKind::relu:
      return relu(out, in, dtype, count, stream);
    case ActivationKind::gelu:
      return map_typed(dtype, stream, count, Gelu{}, out, in);
    case ActivationKind::gelu_tanh:
      return map_typed(dtype, stream, count, GeluTanh{}, out, in);
    case ActivationKind::sigmoid:
      return map_typed(dtype, stream, count, Sigmoid{}, out, in);
    case ActivationKind::tanh:
      return map_typed(dtype, stream, count, Tanh{}, out, in);
    case ActivationKind::clip:
      return map_typed(dtype, stream, count, Clip{activation.low, activation.high}, out, in);
  }
}

void activation_gradient(void* out, const void* known, const void* gradient,
                         const Activation& activation, DType dtype, std::int64_t count,
                         cudaStream_t stream) {
  switch (activation.kind) {
    case ActivationKind::relu:
      return gate(out, known, gradient, dtype, count, stream);
    case ActivationKind::gelu:
      return map_typed(dtype, stream, count, GeluGradient{}, out, known, gradient);
    case ActivationKind::gelu_tanh:
      return map_typed(dtype, stream, count, GeluTanhGradient{}, out, known, gradient);
    case ActivationKind::sigmoid:
      return map_typed(dtype, stream, count, SigmoidGradient{}, out, known, gradient);
    case ActivationKind::tanh:
      return map_typed(dtype, stream, count, TanhGradient{}, out, known, gradient);
    case ActivationKind::clip:
      return map_typed(dtype, stream, count, ClipGradient{activation.low, activation.high}, out,
                       known, gradient);
  }
}

}  // namespace parbench::cuda
