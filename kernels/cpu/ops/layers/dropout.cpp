// Dropout with the counter-based generator, in parallel, in any element type and layout.
#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

#include "kernels/base/bfloat16.h"
#include "kernels/base/element.h"
#include "kernels/base/random.h"
#include "kernels/base/simd.h"
#include "kernels/cpu/ops/images/planes.h"
#include "kernels/cpu/ops/parallel.h"
#include "kernels/cpu/ops/plans.h"
#include "kernels/cpu/ops/prepare.h"

namespace parbench::cpu {
namespace {

// number of elements whose random numbers are drawn at a time
constexpr std::size_t dropped_chunk = 1024;
constexpr std::size_t drawn_block = 4;    // drawing starts at a multiple of this
constexpr std::size_t max_channels = 16;  // channels whose random numbers are drawn together

// `omp simd` lets the compiler assume that the destination is the source or does not overlap with
// the source.

PARBENCH_SIMD void drop_range(float* destination, const float* source, const float* drawn,
                              float probability, float factor, std::size_t count) {
#pragma omp simd
  for (std::size_t i = 0; i < count; ++i) {
    destination[i] = drawn[i] >= probability ? factor * source[i] : 0.0F;
  }
}

PARBENCH_SIMD void drop_range(std::uint16_t* destination, const std::uint16_t* source,
                              const float* drawn, float probability, float factor,
                              std::size_t count) {
#pragma omp simd
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint16_t kept = to_bf16(factor * from_bf16(source[i]));
    destination[i] = drawn[i] >= probability ? kept : std::uint16_t{0};
  }
}

class DropoutOp final : public CpuOp {
 public:
  explicit DropoutOp(const Dropout& desc)
      : CpuOp(desc), desc_(desc), count_(static_cast<std::size_t>(element_count(desc.shape))) {
    add_tensors(*this);
    set_implementation("vector loop, philox4x32-10");
    if (arguments().front().tensor.layout.is_canonical()) return;
    const Planes planes(desc.shape, desc.dtype);
    block_ = planes.block;
    pixels_ = planes.pixels;
  }

  void execute(const Execution& execution, std::span<std::byte* const> arguments) override {
    with_element(desc_.dtype,
                 [&]<class Element>(Element /*unused*/) { run<Element>(execution, arguments); });
  }

 private:
  template <class Element>
  void run(const Execution& execution, std::span<std::byte* const> arguments) const {
    const auto* source = reinterpret_cast<const Element*>(arguments[0]);
    auto* destination = reinterpret_cast<Element*>(arguments[1]);
    if (block_ > 1) return run_blocks(execution, destination, source);
    parallel_ranges(count_, dropped_chunk, execution.threads,
                    [&](std::size_t begin, std::size_t end) {
                      for (std::size_t i = begin; i < end; i += dropped_chunk) {
                        drop(destination, source, i, std::min(dropped_chunk, end - i));
                      }
                    });
  }

  /// Draws the numbers of `count` consecutive elements in canonical order. Returns a pointer to the
  /// number of the first element.
  template <std::size_t capacity>
  const float* draw(std::array<float, capacity>& drawn, std::size_t begin,
                    std::size_t count) const {
    const std::uint64_t index = static_cast<std::uint64_t>(desc_.first) + begin;
    const std::size_t skipped = index % drawn_block;
    generate_uniform(std::span(drawn).first(skipped + count), index - skipped,
                     {desc_.seed, desc_.subsequence}, 0, 1);
    return drawn.data() + skipped;
  }

  template <class Element>
  void drop(Element* destination, const Element* source, const float* drawn,
            std::size_t count) const {
    drop_range(destination, source, drawn, desc_.probability, 1.0F / (1.0F - desc_.probability),
               count);
  }

  template <class Element>
  void drop(Element* destination, const Element* source, std::size_t begin,
            std::size_t count) const {
    std::array<float, dropped_chunk + drawn_block> drawn;
    drop(destination + begin, source + begin, draw(drawn, begin, count), count);
  }

  /// Variant of `run` for images with channels in blocks or last.
  template <class Element>
  void run_blocks(const Execution& execution, Element* destination, const Element* source) const {
    constexpr std::size_t chunk = dropped_chunk / max_channels;  // pixels per chunk
    const std::size_t chunks = (pixels_ + chunk - 1) / chunk;    // chunks per block of channels
    const std::size_t blocks = count_ / (block_ * pixels_);
    const std::size_t grain = block_ * chunk;
    parallel_ranges(blocks * chunks * grain, grain, execution.threads,
                    [&](std::size_t begin, std::size_t end) {
                      for (std::size_t i = begin / grain; i < end / grain; ++i) {
                        const std::size_t pixel = i % chunks * chunk;
                        drop_channels(destination, source, i / chunks * block_ * pixels_, pixel,
                                      std::min(chunk, pixels_ - pixel));
                      }
                    });
  }

  /// Processes `pixels` pixels, from index `pixel` on, in all channels of a block. `block`: index
  /// of the block's first element.
  template <class Element>
  void drop_channels(Element* destination, const Element* source, std::size_t block,
                     std::size_t pixel, std::size_t pixels) const {
    for (std::size_t channel = 0; channel < block_; channel += max_channels) {
      drop_pixels(destination, source,
                  {.block = block,
                   .pixel = pixel,
                   .pixels = pixels,
                   .channel = channel,
                   .channels = std::min(max_channels, block_ - channel)});
    }
  }

  /// Some pixels and channels of a block. `block`: index of the block's first element, in memory as
  /// in canonical order; `pixel`, `channel`: the first of `pixels` pixels and `channels` channels.
  struct Part {
    std::size_t block;
    std::size_t pixel;
    std::size_t pixels;
    std::size_t channel;
    std::size_t channels;
  };

  template <class Element>
  void drop_pixels(Element* destination, const Element* source, const Part& part) const {
    std::array<float, dropped_chunk> numbers;
    std::array<float, dropped_chunk / max_channels + drawn_block> drawn;
    for (std::size_t channel = 0; channel < part.channels; ++channel) {
      const std::size_t first = part.block + (part.channel + channel) * pixels_ + part.pixel;
      const float* of_channel = draw(drawn, first, part.pixels);
      for (std::size_t i = 0; i < part.pixels; ++i) {
        numbers[i * part.channels + channel] = of_channel[i];
      }
    }
    const std::size_t begin = part.block + part.pixel * block_ + part.channel;
    if (part.channels == block_) {
      drop(destination + begin, source + begin, numbers.data(), part.pixels * block_);
      return;
    }
    for (std::size_t i = 0; i < part.pixels; ++i) {
      drop(destination + begin + i * block_, source + begin + i * block_,
           numbers.data() + i * part.channels, part.channels);
    }
  }

  Dropout desc_;
  std::size_t count_;
  std::size_t block_ = 1;   // channels that are interleaved in memory
  std::size_t pixels_ = 0;  // pixels of an image, for layouts with blocks
};

}  // namespace

Planned plan(const Dropout& desc) { return std::make_unique<DropoutOp>(desc); }

}  // namespace parbench::cpu
