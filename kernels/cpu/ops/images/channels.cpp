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

/// Which channels are copied: channel i of `count` from `source + i` to `destination + i`; in a
/// shuffle of several groups the sources take turns among them.
struct ChannelCopy {
  Planes from;
  Planes to;
  std::size_t samples;
  std::size_t count;
  std::size_t source = 0;
  std::size_t destination = 0;
  std::size_t groups = 1;

  [[nodiscard]] std::size_t source_of(std::size_t i) const {
    return source + i % groups * (count / groups) + i / groups;
  }
  /// Whether blocks are copied as they are.
  [[nodiscard]] bool keeps_blocks() const {
    return groups == 1 && from.block == to.block && source % from.block == 0 &&
           destination % to.block == 0 && count % from.block == 0;
  }
};

ChannelCopy copy_of(const SliceChannels& desc) {
  return {.from = Planes(desc.range.whole),
          .to = Planes(desc.range.part()),
          .samples = static_cast<std::size_t>(desc.range.whole[0]),
          .count = static_cast<std::size_t>(desc.range.count),
          .source = static_cast<std::size_t>(desc.range.first)};
}

ChannelCopy copy_of(const InsertChannels& desc) {
  return {.from = Planes(desc.range.part()),
          .to = Planes(desc.range.whole),
          .samples = static_cast<std::size_t>(desc.range.whole[0]),
          .count = static_cast<std::size_t>(desc.range.count),
          .destination = static_cast<std::size_t>(desc.range.first)};
}

ChannelCopy copy_of(const ShuffleChannels& desc) {
  return {.from = Planes(desc.shape),
          .to = Planes(desc.shape),
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
    set_implementation(copy_.keeps_blocks() ? "copies of blocks" : "loop over channels");
  }

  void execute(const Execution& execution, std::span<std::byte* const> arguments) override {
    if (copy_.keeps_blocks()) {
      copy_blocks(execution, arguments[1], arguments[0]);
    } else if (element_bytes_ == sizeof(float)) {
      copy_planes<std::uint32_t>(execution, arguments[1], arguments[0]);
    } else {
      copy_planes<std::uint16_t>(execution, arguments[1], arguments[0]);
    }
  }

 private:
  /// Calls body(sample, channel) for every `step`-th of the copied channels, in the stream's team.
  template <class Body>
  void for_channels(const Execution& execution, std::size_t step, const Body& body) const {
    const std::size_t grain = step * copy_.from.pixels;
    parallel_ranges(copy_.samples * copy_.count * copy_.from.pixels, grain, execution.threads,
                    [&](std::size_t begin, std::size_t end) {
                      for (std::size_t i = begin / grain * step; i < end / copy_.from.pixels;
                           i += step) {
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
  void copy_planes(const Execution& execution, std::byte* to, const std::byte* from) const {
    for_channels(execution, 1, [&](std::size_t sample, std::size_t i) {
      auto* write = reinterpret_cast<Element*>(to) + copy_.to.first(sample, copy_.destination + i);
      const auto* read =
          reinterpret_cast<const Element*>(from) + copy_.from.first(sample, copy_.source_of(i));
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
