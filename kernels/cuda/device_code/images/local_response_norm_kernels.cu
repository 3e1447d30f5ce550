// A thread computes one element. The channels of its window are adjacent in memory, and
// neighbouring threads read them too.
#include "kernels/cuda/device_code/images/local_response_norm_kernels.h"

#include "kernels/cuda/device_code/vector.cuh"

namespace parbench::cuda {
namespace {

/// The range of element indices in the window around element i; all are in the same pixel.
struct ChannelWindow {
  std::int64_t begin;
  std::int64_t end;

  __device__ ChannelWindow(std::int64_t i, const ResponseNorm& norm) {
    const std::int64_t channel = i % norm.channels;
    begin = i - min(channel, norm.reach);
    end = i + min(norm.channels - channel, norm.reach + 1);
  }
};

template <class Element>
__global__ void __launch_bounds__(block_threads)
    response_norm_kernel(Element* destination, float* bases, const Element* source,
                         ResponseNorm norm) {
  const std::int64_t count = norm.rows * norm.channels;
  for (std::int64_t i = grid_thread(); i < count; i += grid_threads()) {
    const ChannelWindow window(i, norm);
    float sum = 0;
    for (std::int64_t j = window.begin; j < window.end; ++j) {
      const float value = widened(source[j]);
      sum += value * value;
    }
    const float base = norm.offset + norm.scale * sum;
    bases[i] = base;
    destination[i] = narrowed<Element>(widened(source[i]) * powf(base, -norm.beta));
  }
}

template <class Element>
__global__ void __launch_bounds__(block_threads)
    response_norm_backward_kernel(Element* diff_source, const Element* diff_destination,
                                  const Element* source, const float* bases, ResponseNorm norm) {
  const std::int64_t count = norm.rows * norm.channels;
  for (std::int64_t i = grid_thread(); i < count; i += grid_threads()) {
    const ChannelWindow window(i, norm);
    float sum = 0;
    for (std::int64_t j = window.begin; j < window.end; ++j) {
      sum += widened(diff_destination[j]) * widened(source[j]) * powf(bases[j], -norm.beta - 1.0F);
    }
    const float own = widened(diff_destination[i]) * powf(bases[i], -norm.beta);
    const float others = 2.0F * norm.scale * norm.beta * widened(source[i]) * sum;
    diff_source[i] = narrowed<Element>(own - others);
  }
}

}  // namespace

void normalise_responses(void* destination, float* bases, const void* source, DType dtype,
                         const ResponseNorm& norm, cudaStream_t stream) {
  with_element(dtype, [&](auto element) {
    using Element = decltype(element);
    PARBENCH_LAUNCH(blocks_for(norm.rows * norm.channels), block_threads, stream,
                    response_norm_kernel<Element>, static_cast<Element*>(destination), bases,
                    static_cast<const Element*>(source), norm);
  });
}

void normalise_responses_backward(void* diff_source, const void* diff_destination,
                                  const void* source, const float* bases, DType dtype,
                                  const ResponseNorm& norm, cudaStream_t stream) {
  with_element(dtype, [&](auto element) {
    using Element = decltype(element);
    PARBENCH_LAUNCH(blocks_for(norm.rows * norm.channels), block_threads, stream,
                    response_norm_backward_kernel<Element>, static_cast<Element*>(diff_source),
                    static_cast<const Element*>(diff_destination),
                    static_cast<const Element*>(source), bases, norm);
  });
}

}  // namespace parbench::cuda
