// One thread computes one element of an activation; one block computes one element of the weights'
// gradient.
#include "kernels/cuda/device_code/convolutions/direct_convolution.h"
#include "kernels/cuda/device_code/vector.cuh"
#include "kernels/cuda/runtime/launch.h"

namespace parbench::cuda {
namespace {

/// Sizes for the index arithmetic of kernels.
struct Sizes {
  std::int64_t batch, in, height, width, out, out_height, out_width, kernel, stride, padding,
      dilation;
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
        dilation(s.dilation),
        group_in(s.in_channels / s.groups),
        group_out(s.out_channels / s.groups) {}
};

/// Coordinates of an element of an activation.
struct Coordinates {
  std::int64_t n, y, x, channel;
};

__device__ Coordinates coordinates_of(std::int64_t index, std::int64_t height, std::int64_t width,
                                      std::int64_t channels) {
  Coordinates at;
  at.channel = index % channels;
  index /= channels;
  at.x = index % width;
  index /= width;
  at.y = index % height;
  at.n = index / height;
  return at;
}

template <class Element>
__global__ void forward_kernel(Element* destination, const Element* source, const Element* weights,
                               Sizes s) {
  const std::int64_t count = s.batch * s.out_height * s.out_width * s.out;
  for (std::int64_t i = grid_thread(); i < count; i += grid_threads()) {
    const Coordinates at = coordinates_of(i, s.out_height, s.out_width, s.out);
    const std::int64_t group = at.channel / s.group_out;
    float sum = 0;
    for (std::int64_t ky = 0; ky < s.kernel; ++ky) {
      const std::int64_t y = at.y * s.stride - s.padding + ky * s.dilation;
      if (y < 0 || y >= s.height) continue;
      for (std::int64_t kx = 0; kx < s.kernel; ++kx) {
        const std::int64_t x = at.x * s.stride - s.padding + kx * s.dilation;
        if (x < 0 || x >= s.width) continue;
        const Element* pixel =
            source + ((at.n * s.height + y) * s.width + x) * s.in + group * s.group_in;
        const Element* tap = weights + ((at.channel * s.kernel + ky) * s.kernel + kx) * s.group_in;
        for (std::int64_t c = 0; c < s.group_in; ++c) sum += widened(pixel[c]) * widened(tap[c]);
      }
    }
    destination[i] = narrowed<Element>(sum);
  }
}

/// Returns the output row or column that reads input position `at` through tap `k` of the kernel;
/// −1 if there is none.
__device__ std::int64_t reader(std::int64_t at, std::int64_t k, std::int64_t extent,
                               const Sizes& s) {
  const std::int64_t shifted = at + s.padding - k * s.dilation;
  if (shifted < 0 || shifted % s.stride != 0 || shifted / s.stride >= extent) return -1;
  return shifted / s.stride;
}

template <class Element>
__global__ void backward_data_kernel(Element* diff_source, const Element* diff_destination,
                                     const Element* weights, Sizes s) {
  const std::int64_t count = s.batch * s.height * s.width * s.in;
  for (std::int64_t i = grid_thread(); i < count; i += grid_threads()) {
    const Coordinates at = coordinates_of(i, s.height, s.width, s.in);
    const std::int64_t first_out = at.channel / s.group_in * s.group_out;
    float sum = 0;
    for (std::int64_t ky = 0; ky < s.kernel; ++ky) {
      const std::int64_t y = reader(at.y, ky, s.out_height, s);
      if (y < 0) continue;
      for (std::int64_t kx = 0; kx < s.kernel; ++kx) {
        const std::int64_t x = reader(at.x, kx, s.out_width, s);
        if (x < 0) continue;
        const Element* pixel =
            diff_destination + ((at.n * s.out_height + y) * s.out_width + x) * s.out + first_out;
        const Element* tap = weights + ((first_out * s.kernel + ky) * s.kernel + kx) * s.group_in +
                             at.channel % s.group_in;
        for (std::int64_t o = 0; o < s.group_out; ++o) {
          sum += widened(pixel[o]) * widened(tap[o * s.kernel * s.kernel * s.group_in]);
        }
      }
    }
    diff_source[i] = narrowed<Element>(sum);
  }
}

/// Returns, in every thread, the sum over the threads of the block, whose number must be a power of
/// two. The order of additions depends only on this number.
__device__ float block_sum(float value) {
  __shared__ float shared[block_threads];
  shared[threadIdx.x] = value;
  __syncthreads();
  for (unsigned int half = blockDim.x / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) shared[threadIdx.x] += shared[threadIdx.x + half];
    __syncthreads();
  }
  const float sum = shared[0];
  __syncthreads();  // the next sum overwrites `shared`
  return sum;
}

/// Returns the number of threads of a block that sums over `pixels` pixels, a power of two. With
/// few pixels, more threads would only add zeros.
unsigned int summing_threads(std::int64_t pixels) {
  constexpr std::int64_t pixels_of_thread = 4;
  unsigned int threads = 32;
  while (threads < block_threads && threads * pixels_of_thread < pixels) threads *= 2;
  return threads;
}

template <class Element>
__global__ void backward_weights_kernel(float* diff_weights, const Element* source,
                                        const Element* diff_destination, Sizes s) {
  const std::int64_t count = s.out * s.kernel * s.kernel * s.group_in;
  const std::int64_t pixels = s.batch * s.out_height * s.out_width;
  for (std::int64_t i = blockIdx.x; i < count; i += gridDim.x) {
    const Coordinates tap =
        coordinates_of(i, s.kernel, s.kernel, s.group_in);  // n is the output channel
    const std::int64_t channel = tap.n / s.group_out * s.group_in + tap.channel;
    float sum = 0;
    for (std::int64_t p = threadIdx.x; p < pixels; p += blockDim.x) {
      const Coordinates at = coordinates_of(p, s.out_height, s.out_width, 1);
      const std::int64_t y = at.y * s.stride - s.padding + tap.y * s.dilation;
      const std::int64_t x = at.x * s.stride - s.padding + tap.x * s.dilation;
      if (y < 0 || y >= s.height || x < 0 || x >= s.width) continue;
      sum += widened(diff_destination[p * s.out + tap.n]) *
             widened(source[((at.n * s.height + y) * s.width + x) * s.in + channel]);
    }
    sum = block_sum(sum);
    if (threadIdx.x == 0) diff_weights[i] = sum;
  }
}

template <class Element>
void run(ConvolutionPass pass, const ConvolutionShape& shape, std::span<std::byte* const> tensors,
         cudaStream_t stream) {
  const auto* first = reinterpret_cast<const Element*>(tensors[0]);
  const auto* second = reinterpret_cast<const Element*>(tensors[1]);
  auto* result = reinterpret_cast<Element*>(tensors[2]);
  const Sizes sizes(shape);
  switch (pass) {
    case ConvolutionPass::forward: {
      const unsigned int blocks = blocks_for(element_count(shape.destination()));
      PARBENCH_LAUNCH(blocks, block_threads, stream, forward_kernel<Element>, result, first, second,
                      sizes);
      break;
    }
    case ConvolutionPass::backward_data: {
      const unsigned int blocks = blocks_for(element_count(shape.source()));
      PARBENCH_LAUNCH(blocks, block_threads, stream, backward_data_kernel<Element>, result, first,
                      second, sizes);
      break;
    }
    case ConvolutionPass::backward_weights: {
      const unsigned int blocks = blocks_for(element_count(shape.weights()) * block_threads);
      const std::int64_t pixels = shape.batch * shape.out_height() * shape.out_width();
      PARBENCH_LAUNCH(blocks, summing_threads(pixels), stream, backward_weights_kernel<Element>,
                      reinterpret_cast<float*>(tensors[2]), first, second, sizes);
      break;
    }
  }
}

}  // namespace

void convolve_directly(ConvolutionPass pass, const ConvolutionShape& shape, DType dtype,
                       std::span<std::byte* const> tensors, cudaStream_t stream) {
  with_element(dtype, [&](auto element) { run<decltype(element)>(pass, shape, tensors, stream); });
}

}  // namespace parbench::cuda
