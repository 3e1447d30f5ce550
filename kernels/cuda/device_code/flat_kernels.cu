// Element-wise kernels, each as a function of one element.
#include "kernels/cuda/device_code/flat_kernels.h"

#include "kernels/cuda/device_code/map.cuh"

namespace parbench::cuda {
namespace {

struct Relu {
  __device__ float operator()(float value) const { return value < 0 ? 0.0F : value; }
};

struct Gate {
  __device__ float operator()(float gate, float value) const { return gate > 0 ? value : 0.0F; }
};

struct Sum {
  __device__ float operator()(float a, float b) const { return a + b; }
};

struct Multiple {
  float factor;
  float addend;
  __device__ float operator()(float value) const { return fmaf(factor, value, addend); }
};

struct Descent {
  float rate;
  __device__ float operator()(float parameter, float gradient) const {
    return fmaf(-rate, gradient, parameter);  // fused explicitly, not at the compiler's choice
  }
};

}  // namespace

void relu(void* out, const void* in, DType dtype, std::int64_t count, cudaStream_t stream) {
  map_typed(dtype, stream, count, Relu{}, out, in);
}

void gate(void* out, const void* gate, const void* in, DType dtype, std::int64_t count,
          cudaStream_t stream) {
  map_typed(dtype, stream, count, Gate{}, out, gate, in);
}

void add(void* out, const void* a, const void* b, DType dtype, std::int64_t count,
         cudaStream_t stream) {
  map_typed(dtype, stream, count, Sum{}, out, a, b);
}

void scale(void* out, const void* in, const Line& line, DType dtype, std::int64_t count,
           cudaStream_t stream) {
  map_typed(dtype, stream, count, Multiple{line.factor, line.addend}, out, in);
}

void accumulate(float* destination, const float* source, std::int64_t count, cudaStream_t stream) {
  map(stream, count, Sum{}, destination, static_cast<const float*>(destination), source);
}

void descend(float* parameters, const float* gradients, float rate, std::int64_t count,
             cudaStream_t stream) {
  map(stream, count, Descent{rate}, parameters, static_cast<const float*>(parameters), gradients);
}

}  // namespace parbench::cuda
