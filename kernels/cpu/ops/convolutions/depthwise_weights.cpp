// The gradient of the weights of a depthwise convolution. oneDNN has special kernels for windows up
// to 3×3 only, and treats larger windows as general convolutions.
#include <omp.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "kernels/base/element.h"
#include "kernels/base/simd.h"
#include "kernels/cpu/ops/flat_loops.h"
#include "kernels/cpu/ops/images/planes.h"
#include "kernels/cpu/ops/parallel.h"
#include "kernels/cpu/ops/plans.h"
#include "kernels/cpu/ops/prepare.h"
#include "kernels/cpu/ops/vectors.h"

namespace parbench::cpu {
namespace {

/// Sizes of an image of up to 16 channels in f32, one vector per pixel. Lanes without a channel
/// have arbitrary values.
struct Pixels {
  std::int64_t height;
  std::int64_t width;
  std::int64_t border;  // columns of zeros on both sides

  [[nodiscard]] std::int64_t row_floats() const {
    return (width + 2 * border) * static_cast<std::int64_t>(lanes);
  }
  [[nodiscard]] std::int64_t floats() const { return height * row_floats(); }
};

struct Window {
  std::int64_t kernel;
  std::int64_t stride;
  std::int64_t padding;
};

template <std::size_t taps>
[[gnu::always_inline]] inline void sum_row_of_taps(float* sums, const float* source,
                                                   const Pixels& from, const float* gradient,
                                                   const Pixels& to, const Window& window,
                                                   std::int64_t first_row) {
  Floats totals[taps] = {};  // NOLINT(modernize-avoid-c-arrays): in registers
  const auto stride = static_cast<std::size_t>(window.stride) * lanes;
  for (std::int64_t y = 0; y < to.height; ++y) {
    const std::int64_t row = first_row + y * window.stride;
    if (row < 0 || row >= from.height) continue;
    const float* pixel = source + row * from.row_floats();
    const float* end = gradient + (y + 1) * to.row_floats();
    for (const float* g = end - to.row_floats(); g != end; g += lanes, pixel += stride) {
      Floats factor;
      load(factor, g);
      for (std::size_t x = 0; x < taps; ++x) {
        Floats value;
        load(value, pixel + x * lanes);
        totals[x] += value * factor;
      }
    }
  }
  for (std::size_t x = 0; x < taps; ++x) store(sums + x * lanes, totals[x]);
}

/// Computes the sums of one row of the window's taps. `first_row`: the row of the source that these
/// taps read for the first row of the gradient.
PARBENCH_SIMD void sum_row(float* sums, const float* source, const Pixels& from,
                           const float* gradient, const Pixels& to, const Window& window,
                           std::int64_t first_row) {
  switch (window.kernel) {
    case 3:
      return sum_row_of_taps<3>(sums, source, from, gradient, to, window, first_row);
    case 5:
      return sum_row_of_taps<5>(sums, source, from, gradient, to, window, first_row);
    case 7:
      return sum_row_of_taps<7>(sums, source, from, gradient, to, window, first_row);
    default:
      return sum_row_of_taps<9>(sums, source, from, gradient, to, window, first_row);
  }
}

PARBENCH_SIMD void sum_pixels(float* sums, const float* pixels, std::int64_t count) {
  Floats total{};
  for (std::int64_t i = 0; i < count; ++i) {
    Floats values;
    load(values, pixels + i * static_cast<std::int64_t>(lanes));
    total += values;
  }
  store(sums, total);
}

/// Copies neighbouring channels of a row of pixels. Pixels of `from` are `stride` elements apart.
template <std::size_t channels, class Element>
void copy_channels(float* to, const Element* from, std::size_t stride, std::int64_t pixels) {
  for (std::int64_t i = 0; i < pixels; ++i, to += lanes, from += stride) {
    for (std::size_t c = 0; c < channels; ++c) to[c] = widened(from[c]);
  }
}

class DepthwiseWeightsOp final : public CpuOp {
 public:
  explicit DepthwiseWeightsOp(const ConvolutionBackwardWeights& desc)
      : CpuOp(desc),
        desc_(desc),
        from_{desc.shape.height, desc.shape.width, desc.shape.padding},
        to_{desc.shape.out_height(), desc.shape.out_width(), 0},
        source_(desc.shape.source(), desc.dtype),
        gradient_(desc.shape.destination(), desc.dtype),
        groups_((source_.channels + lanes - 1) / lanes) {
    add_tensors(*this);
    const auto team = static_cast<std::size_t>(omp_get_max_threads());
    pixels_ = add_scratch(team * pixel_floats() * sizeof(float));
    sums_ = add_scratch(samples() * groups_ * sum_floats() * sizeof(float));
    set_implementation("vector loop over taps");
  }

  void execute(const Execution& execution, std::span<std::byte* const> arguments) override {
    with_element(desc_.dtype, [&]<class Element>(Element /*unused*/) {
      sum_images<Element>(execution, arguments);
    });
    const float* sums = floats(execution.scratch + sums_);
    parallel_ranges(groups_ * samples() * sum_floats(), samples() * sum_floats(), execution.threads,
                    [&](std::size_t begin, std::size_t end) {
                      const std::size_t size = samples() * sum_floats();
                      for (std::size_t group = begin / size; group < end / size; ++group) {
                        add_images(sums, group, arguments);
                      }
                    });
  }

 private:
  [[nodiscard]] std::size_t samples() const { return static_cast<std::size_t>(desc_.shape.batch); }
  [[nodiscard]] std::size_t taps() const {
    return static_cast<std::size_t>(desc_.shape.kernel * desc_.shape.kernel);
  }
  /// Floats per image and group of channels: the taps, then the sum of the gradient.
  [[nodiscard]] std::size_t sum_floats() const { return (taps() + 1) * lanes; }
  /// Floats per image and group of channels: the source, then the gradient.
  [[nodiscard]] std::size_t pixel_floats() const {
    return static_cast<std::size_t>(from_.floats() + to_.floats());
  }

  /// Computes the sums of each image separately, so that results do not depend on the number of
  /// threads.
  template <class Element>
  void sum_images(const Execution& execution, std::span<std::byte* const> arguments) const {
    const auto* source = reinterpret_cast<const Element*>(arguments[0]);
    const auto* gradient = reinterpret_cast<const Element*>(arguments[1]);
    parallel_ranges(samples() * groups_ * pixel_floats(), pixel_floats(), execution.threads,
                    [&](std::size_t begin, std::size_t end) {
                      const auto self = static_cast<std::size_t>(omp_get_thread_num());
                      float* pixels = floats(execution.scratch + pixels_) + self * pixel_floats();
                      std::fill_n(pixels, pixel_floats(), 0.0F);
                      for (std::size_t i = begin / pixel_floats(); i < end / pixel_floats(); ++i) {
                        const std::size_t channel = i % groups_ * lanes;
                        float* of_gradient = pixels + from_.floats();
                        unpack(pixels, from_, source, source_, i / groups_, channel);
                        unpack(of_gradient, to_, gradient, gradient_, i / groups_, channel);
                        sum_image(floats(execution.scratch + sums_) + i * sum_floats(), pixels,
                                  of_gradient);
                      }
                    });
  }

  template <class Element>
  void unpack(float* pixels, const Pixels& image, const Element* from, const Planes& planes,
              std::size_t sample, std::size_t first) const {
    const std::size_t end = std::min(first + lanes, planes.channels);
    for (std::size_t i = 0; i < lanes && first + i < end;) {
      const std::size_t channel = first + i;
      const std::size_t run = std::min(end, (channel / planes.block + 1) * planes.block) - channel;
      const Element* row = from + planes.first(sample, channel);
      float* to = pixels + image.border * static_cast<std::int64_t>(lanes) + i;
      for (std::int64_t y = 0; y < image.height; ++y, to += image.row_floats()) {
        copy_run(to, row, run, planes.block, image.width);
        row += static_cast<std::size_t>(image.width) * planes.block;
      }
      i += run;
    }
  }

  template <class Element>
  static void copy_run(float* to, const Element* from, std::size_t run, std::size_t stride,
                       std::int64_t pixels) {
    if (run == lanes) return copy_channels<lanes>(to, from, stride, pixels);
    if (run == lanes / 2) return copy_channels<lanes / 2>(to, from, stride, pixels);
    for (std::size_t c = 0; c < run; ++c) copy_channels<1>(to + c, from + c, stride, pixels);
  }

  void sum_image(float* sums, const float* source, const float* gradient) const {
    const Window window{desc_.shape.kernel, desc_.shape.stride, desc_.shape.padding};
    for (std::int64_t y = 0; y < window.kernel; ++y) {
      sum_row(sums + static_cast<std::size_t>(y * window.kernel) * lanes, source, from_, gradient,
              to_, window, y - window.padding);
    }
    if (desc_.bias) sum_pixels(sums + taps() * lanes, gradient, to_.height * to_.width);
  }

  void add_images(const float* sums, std::size_t group,
                  std::span<std::byte* const> arguments) const {
    const std::size_t first = group * lanes;
    const std::size_t count = std::min(lanes, source_.channels - first);
    for (std::size_t tap = 0; tap < taps() + (desc_.bias ? 1 : 0); ++tap) {
      const bool is_bias = tap == taps();
      for (std::size_t lane = 0; lane < count; ++lane) {
        const std::size_t channel = first + lane;
        float& result =
            is_bias ? floats(arguments[3])[channel] : floats(arguments[2])[channel * taps() + tap];
        double total = desc_.accumulate ? result : 0.0F;
        for (std::size_t sample = 0; sample < samples(); ++sample) {
          total += sums[(sample * groups_ + group) * sum_floats() + tap * lanes + lane];
        }
        result = static_cast<float>(total);
      }
    }
  }

  ConvolutionBackwardWeights desc_;
  Pixels from_;
  Pixels to_;
  Planes source_;
  Planes gradient_;
  std::size_t groups_;  // groups of channels
  // Offsets in scratch memory.
  std::size_t pixels_ = 0;
  std::size_t sums_ = 0;
};

}  // namespace

bool has_tap_loop(const ConvolutionShape& shape) {
  constexpr std::int64_t min_kernel = 3;
  constexpr std::int64_t max_kernel = 9;
  return shape.groups == shape.in_channels && shape.groups == shape.out_channels &&
         shape.groups > 1 && shape.dilation == 1 && shape.kernel % 2 == 1 &&
         shape.kernel >= min_kernel && shape.kernel <= max_kernel;
}

Planned plan_tap_loop(const ConvolutionBackwardWeights& desc) {
  return std::make_unique<DepthwiseWeightsOp>(desc);
}

}  // namespace parbench::cpu
