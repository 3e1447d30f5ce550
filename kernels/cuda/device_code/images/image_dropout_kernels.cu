// Dropout of images with channels last: a thread computes one element at a time. For the element
// with number i in canonical order, it draws block i/4 of random words and uses word i%4.
#include "kernels/cuda/device_code/layers/dropout_kernels.h"
#include "kernels/cuda/device_code/vector.cuh"

namespace parbench::cuda {
namespace {

template <class Element>
__global__ void __launch_bounds__(block_threads)
    drop_pixels_kernel(Element* out, const Element* in, ImageExtents image, DropoutRule rule) {
  const std::int64_t count = image.batch * image.pixels * image.channels;
  for (std::int64_t i = grid_thread(); i < count; i += grid_threads()) {
    const std::int64_t channel = i % image.channels;
    const std::int64_t pixel = i / image.channels % image.pixels;
    const std::int64_t sample = i / image.channels / image.pixels;
    const auto index = static_cast<std::uint64_t>(
        rule.first + (sample * image.channels + channel) * image.pixels + pixel);
    const RandomWords words = random_words(rule.random, index / 4);
    const std::uint64_t position = index % 4;
    const std::uint32_t word = position == 0   ? words.x
                               : position == 1 ? words.y
                               : position == 2 ? words.z
                                               : words.w;
    const bool stays = static_cast<float>(word >> 8U) * 0x1p-24F >= rule.probability;
    out[i] = narrowed<Element>(stays ? rule.factor * widened(in[i]) : 0.0F);
  }
}

}  // namespace

void dropout_image(void* out, const void* in, const DropoutRule& rule, DType dtype,
                   const ImageExtents& image, cudaStream_t stream) {
  with_element(dtype, [&](auto element) {
    using Element = decltype(element);
    PARBENCH_LAUNCH(blocks_for(image.batch * image.pixels * image.channels), block_threads, stream,
                    drop_pixels_kernel<Element>, static_cast<Element*>(out),
                    static_cast<const Element*>(in), image, rule);
  });
}

}  // namespace parbench::cuda
