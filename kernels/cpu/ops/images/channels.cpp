// Copies of whole channels between images: slices, insertions and shuffles, in any element type.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>

#include "kernels/cpu/ops/images/planes.h"
#include "kernels/cpu/ops/parallel.h"
#include "kernels/cpu/ops/plans.h"
#include "kernels/cpu/ops/prepare.h"

namespace parbench::cpu {
namespace {

/// A copy of `count` channels: channel `source_of(i)` to channel `destination + i`. `source_of(i)`
/// is `source + i`; with several groups (ShuffleChannels), the sources alternate between the
/// groups.
struct ChannelCopy {
  Planes from;
  Planes to;
  std::size_t samples;
  std::size_t count;
  std::size_t source = 0;
  std::size_t destination = 0;
  std::size_t groups = 1;

  [[nodiscard]] bool is_channels_last() const {
    return from.is_channels_last() && to.is_channels_last();
  }
  [[nodiscard]] std::size_t source_of(std::size_t i) const {
    return source + i % groups * (count / groups) + i / groups;
  }
  /// Returns whether the copied channels are whole blocks, of the same size in both images.
  [[nodiscard]] bool keeps_blocks() const {
    return groups == 1 && from.block == to.block && source % from.block == 0 &&
           destination % to.block == 0 && count % from.block == 0;
  }
};

ChannelCopy copy_of(const SliceChannels& desc) {
  return {.from = Planes(desc.range.whole, desc.dtype),
          .to = Planes(desc.range.part(), desc.dtype),
          .samples = static_cast<std::size_t>(desc.range.whole[0]),
          .count = static_cast<std::size_t>(desc.range.count),
          .source = static_cast<std::size_t>(desc.range.first)};
}

ChannelCopy copy_of(const InsertChannels& desc) {
  return {.from = Planes(desc.range.part(), desc.dtype),
          .to = Planes(desc.range.whole, desc.dtype),
          .samples = static_cast<std::size_t>(desc.range.whole[0]),
          .count = static_cast<std::size_t>(desc.range.count),
          .destination = static_cast<std::size_t>(desc.range.first)};
}

ChannelCopy copy_of(const ShuffleChannels& desc) {
  return {.from = Planes(desc.shape, desc.dtype),
          .to = Planes(desc.shape, desc.dtype),
          .samples = static_cast<std::size_t>(desc.shape[0]),
          .count = static_cast<std::size_t>(desc.shape[1]),
          .groups = static_cast<std::size_t>(desc.groups)};
}

class ChannelCopyOp final : public CpuOp {
 public:
  template <class Desc>
  explicit ChannelCopyOp(const Desc& desc)
      : CpuOp(desc), element_bytes_(size_of(desc.dtype)), copy_(copy_of(desc)) {
    add_tensors(*this);
    set_implementation(copy_.is_channels_last() ? "loop over pixels"
                       : copy_.keeps_blocks()   ? "copies of blocks"
                                                : "loop over channels");
  }

  void execute(const Execution& execution, std::span<std::byte* const> arguments) override {
    if (!copy_.is_channels_last() && copy_.keeps_blocks()) {
      copy_blocks(execution, arguments[1], arguments[0]);
    } else if (element_bytes_ == sizeof(float)) {
      copy_elements<std::uint32_t>(execution, arguments[1], arguments[0]);
    } else {
      copy_elements<std::uint16_t>(execution, arguments[1], arguments[0]);
    }
  }

 private:
  template <class Element>
  void copy_elements(const Execution& execution, std::byte* to, const std::byte* from) const {
    auto* write = reinterpret_cast<Element*>(to);
    const auto* read = reinterpret_cast<const Element*>(from);
    if (copy_.is_channels_last()) {
      copy_pixels(execution, write, read);
    } else {
      copy_planes(execution, write, read);
    }
  }

  template <class Element>
  void copy_pixels(const Execution& execution, Element* to, const Element* from) const {
    parallel_ranges(copy_.samples * copy_.from.pixels * copy_.count, copy_.count, execution.threads,
                    [&](std::size_t begin, std::size_t end) {
                      for (std::size_t pixel = begin / copy_.count; pixel < end / copy_.count;
                           ++pixel) {
                        copy_pixel(to + pixel * copy_.to.channels + copy_.destination,
                                   from + pixel * copy_.from.channels);
                      }
                    });
  }

  /// Copies the channels of one pixel. `to`: element of the first channel that is written; `from`:
  /// element of channel 0.
  template <class Element>
  void copy_pixel(Element* to, const Element* from) const {
    const std::size_t of_group = copy_.count / copy_.groups;
    const Element* read = from + copy_.source;
    if (copy_.groups == 1) {
      std::memcpy(to, read, copy_.count * sizeof(Element));
      return;
    }
    for (std::size_t i = 0; i < of_group; ++i) {
      for (std::size_t group = 0; group < copy_.groups; ++group) {
        to[i * copy_.groups + group] = read[group * of_group + i];
      }
    }
  }

  /// Calls body(sample, channel) for every `stride`-th of the copied channels, in the stream's
  /// team.
  template <class Body>
  void for_channels(const Execution& execution, std::size_t stride, const Body& body) const {
    const std::size_t grain = stride * copy_.from.pixels;
    parallel_ranges(copy_.samples * copy_.count * copy_.from.pixels, grain, execution.threads,
                    [&](std::size_t begin, std::size_t end) {
                      for (std::size_t i = begin / grain * stride; i < end / copy_.from.pixels;
                           i += stride) {
                        body(i / copy_.count, i % copy_.count);
                      }
                    });
  }

  void copy_blocks(const Execution& execution, std::byte* to, const std::byte* from) const {
    const std::size_t block = copy_.from.block;
    const std::size_t bytes = block * copy_.from.pixels * element_bytes_;
    for_channels(execution, block, [&](std::size_t sample, std::size_t i) {
      std::memcpy(to + copy_.to.first(sample, copy_.destination + i) * element_bytes_,
                  from + copy_.from.first(sample, copy_.source + i) * element_bytes_, bytes);
    });
  }

  template <class Element>
  void copy_planes(const Execution& execution, Element* to, const Element* from) const {
    for_channels(execution, 1, [&](std::size_t sample, std::size_t i) {
      Element* write = to + copy_.to.first(sample, copy_.destination + i);
      const Element* read = from + copy_.from.first(sample, copy_.source_of(i));
      for (std::size_t pixel = 0; pixel < copy_.from.pixels; ++pixel) {
        write[pixel * copy_.to.block] = read[pixel * copy_.from.block];
      }
    });
  }

  std::size_t element_bytes_;
  ChannelCopy copy_;
};

}  // namespace

Planned plan(const SliceChannels& desc) { return std::make_unique<ChannelCopyOp>(desc); }

Planned plan(const InsertChannels& desc) { return std::make_unique<ChannelCopyOp>(desc); }

Planned plan(const ShuffleChannels& desc) { return std::make_unique<ChannelCopyOp>(desc); }

}  // namespace parbench::cpu
