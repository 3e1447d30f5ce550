// One thread sums one element of an activation; a block sums one of the weights' gradient.
#include "kernels/cuda/direct_convolution.h"
#include "kernels/cuda/launch.h"

namespace parbench::cuda {
namespace {

/// The sizes that kernels index with.
struct Sizes {
  std::int64_t batch, in, height, width, out, out_height, out_width, kernel, stride, padding;
  std::int64_t group_in, group_out;

  explicit Sizes(const ConvolutionShape& s)
      : batch(s.batch),
        in(s.in_channels),
        height(s.height),
        width(s.width),
        out(s.out_channels),
        out_height(s.out_height()),
        out_width(s.out_width()),
        kernel(s.kernel),
        stride(s.stride),
        padding(s.padding),
        group_in(s.in_channels / s.groups),
        group_out(s.out_channels / s.groups) {}
};

/// An element of an activation.
struct Place {
  std::int64_t n, y, x, channel;
};

__device__ Place place_of(std::int64_t index, std::int64_t height, std::int64_t width,
                          std::int64_t channels) {
  Place place;
  place.channel = index % channels;
  index /= channels;
  place.x = index % width;
  index /= width;
  place.y = index % height;
  place.n = index / height;
  return place;
}

__device__ std::int64_t first_index() {
  return std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
}
__device__ std::int64_t index_step() { return std::int64_t{gridDim.x} * blockDim.x; }

__global__ void forward_kernel(float* destination, const float* source, const float* weights,
                               Sizes s) {
  const std::int64_t count = s.batch * s.out_height * s.out_width * s.out;
  for (std::int64_t i = first_index(); i < count; i += index_step()) {
    const Place at = place_of(i, s.out_height, s.out_width, s.out);
    const std::int64_t group = at.channel / s.group_out;
    float sum = 0;
    for (std::int64_t ky = 0; ky < s.kernel; ++ky) {
      const std::int64_t y = at.y * s.stride - s.padding + ky;
      if (y < 0 || y >= s.height) continue;
      for (std::int64_t kx = 0; kx < s.kernel; ++kx) {
        const std::int64_t x = at.x * s.stride - s.padding + kx;
        if (x < 0 || x >= s.width) continue;
        const float* pixel =
            source + ((at.n * s.height + y) * s.width + x) * s.in + group * s.group_in;
        const float* tap = weights + ((at.channel * s.kernel + ky) * s.kernel + kx) * s.group_in;
        for (std::int64_t c = 0; c < s.group_in; ++c) sum += pixel[c] * tap[c];
      }
    }
    destination[i] = sum;
  }
}

/// Which output row or column reads the input's `at` through tap `k` of the kernel; −1: none.
__device__ std::int64_t reader(std::int64_t at, std::int64_t k, std::int64_t extent,
                               const Sizes& s) {
  const std::int64_t shifted = at + s.padding - k;
  if (shifted < 0 || shifted % s.stride != 0 || shifted / s.stride >= extent) return -1;
  return shifted / s.stride;
}

__global__ void backward_data_kernel(float* diff_source, const float* diff_destination,
                                     const float* weights, Sizes s) {
  const std::int64_t count = s.batch * s.height * s.width * s.in;
  for (std::int64_t i = first_index(); i < count; i += index_step()) {
    const Place at = place_of(i, s.height, s.width, s.in);
    const std::int64_t first_out = at.channel / s.group_in * s.group_out;
    float sum = 0;
    for (std::int64_t ky = 0; ky < s.kernel; ++ky) {
      const std::int64_t y = reader(at.y, ky, s.out_height, s);
      if (y < 0) continue;
      for (std::int64_t kx = 0; kx < s.kernel; ++kx) {
        const std::int64_t x = reader(at.x, kx, s.out_width, s);
        if (x < 0) continue;
        const float* pixel =
            diff_destination + ((at.n * s.out_height + y) * s.out_width + x) * s.out + first_out;
        const float* tap = weights + ((first_out * s.kernel + ky) * s.kernel + kx) * s.group_in +
                           at.channel % s.group_in;
        for (std::int64_t o = 0; o < s.group_out; ++o) {
          sum += pixel[o] * tap[o * s.kernel * s.kernel * s.group_in];
        }
      }
    }
    diff_source[i] = sum;
  }
}

/// Adds up the block's values, always in the same order; the first thread gets the sum.
__device__ float block_sum(float value) {
  __shared__ float shared[block_threads];
  shared[threadIdx.x] = value;
  __syncthreads();
  for (unsigned int half = block_threads / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) shared[threadIdx.x] += shared[threadIdx.x + half];
    __syncthreads();
  }
  const float sum = shared[0];
  __syncthreads();  // before the next sum begins
  return sum;
}

__global__ void backward_weights_kernel(float* diff_weights, const float* source,
                                        const float* diff_destination, Sizes s) {
  const std::int64_t count = s.out * s.kernel * s.kernel * s.group_in;
  const std::int64_t pixels = s.batch * s.out_height * s.out_width;
  for (std::int64_t i = blockIdx.x; i < count; i += gridDim.x) {
    const Place tap = place_of(i, s.kernel, s.kernel, s.group_in);  // n is the output channel
    const std::int64_t channel = tap.n / s.group_out * s.group_in + tap.channel;
    float sum = 0;
    for (std::int64_t p = threadIdx.x; p < pixels; p += blockDim.x) {
      const Place at = place_of(p, s.out_height, s.out_width, 1);
      const std::int64_t y = at.y * s.stride - s.padding + tap.y;
      const std::int64_t x = at.x * s.stride - s.padding + tap.x;
      if (y < 0 || y >= s.height || x < 0 || x >= s.width) continue;
      sum += diff_destination[p * s.out + tap.n] *
             source[((at.n * s.height + y) * s.width + x) * s.in + channel];
    }
    sum = block_sum(sum);
    if (threadIdx.x == 0) diff_weights[i] = sum;
  }
}

}  // namespace

void convolve(float* destination, const float* source, const float* weights,
              const ConvolutionShape& shape, cudaStream_t stream) {
  const unsigned int blocks = blocks_for(element_count(shape.destination()));
  forward_kernel<<<blocks, block_threads, 0, stream>>>(destination, source, weights, Sizes(shape));
  PARBENCH_CUDA_LAUNCHED();
}

void convolve_backward_data(float* diff_source, const float* diff_destination, const float* weights,
                            const ConvolutionShape& shape, cudaStream_t stream) {
  const unsigned int blocks = blocks_for(element_count(shape.source()));
  backward_data_kernel<<<blocks, block_threads, 0, stream>>>(diff_source, diff_destination, weights,
                                                             Sizes(shape));
  PARBENCH_CUDA_LAUNCHED();
}

void convolve_backward_weights(float* diff_weights, const float* source,
                               const float* diff_destination, const ConvolutionShape& shape,
                               cudaStream_t stream) {
  const unsigned int blocks = blocks_for(element_count(shape.weights()) * block_threads);
  backward_weights_kernel<<<blocks, block_threads, 0, stream>>>(diff_weights, source,
                                                                diff_destination, Sizes(shape));
  PARBENCH_CUDA_LAUNCHED();
}

}  // namespace parbench::cuda
