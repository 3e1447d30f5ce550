// A thread copies consecutive channels of one tap of one output pixel, so that adjacent threads
// read and write adjacent elements.
#include "kernels/cuda/device_code/convolutions/im2col_kernels.h"
#include "kernels/cuda/device_code/vector.cuh"
#include "kernels/cuda/runtime/launch.h"

namespace parbench::cuda {
namespace {

/// Sizes for the kernel's index arithmetic. Channels and lengths of rows are counted in groups of
/// elements that are copied together.
template <class Index>
struct PatchSizes {
  Index count;  // number of groups to copy
  Index height, width, out_height, out_width, kernel, stride, padding, dilation;
  Index channels;  // channels of one group of the convolution
  std::int64_t pixel, row;
};

template <int size, class Index, class Element>
__global__ void __launch_bounds__(block_threads)
    patches_kernel(Group<Element, size>* rows, const Group<Element, size>* source,
                   PatchSizes<Index> s) {
  const Index taps = s.kernel * s.kernel * s.channels;
  for (auto i = static_cast<Index>(grid_thread()); i < s.count;
       i += static_cast<Index>(grid_threads())) {
    const Index row = i / taps;
    const Index column = i % taps;
    const Index tap = column / s.channels;
    const Index channel = column % s.channels;
    const Index line = row / s.out_width;  // index over the lines of all images
    const Index image = line / s.out_height;
    const Index y = line % s.out_height * s.stride - s.padding + tap / s.kernel * s.dilation;
    const Index x = row % s.out_width * s.stride - s.padding + tap % s.kernel * s.dilation;
    Group<Element, size> value{};
    if (y >= 0 && y < s.height && x >= 0 && x < s.width) {
      const std::int64_t pixel = (static_cast<std::int64_t>(image) * s.height + y) * s.width + x;
      value = source[pixel * s.pixel + channel];
    }
    rows[row * s.row + column] = value;
  }
}

template <int size, class Index, class Element>
void launch(Element* rows, const Element* source, const Patches& patches, std::int64_t count,
            cudaStream_t stream) {
  const ConvolutionShape& s = patches.shape;
  const auto index = [](std::int64_t value) { return static_cast<Index>(value); };
  const PatchSizes<Index> sizes{.count = index(count),
                                .height = index(s.height),
                                .width = index(s.width),
                                .out_height = index(s.out_height()),
                                .out_width = index(s.out_width()),
                                .kernel = index(s.kernel),
                                .stride = index(s.stride),
                                .padding = index(s.padding),
                                .dilation = index(s.dilation),
                                .channels = index(s.in_channels / s.groups / size),
                                .pixel = s.in_channels / size,
                                .row = patches.row_length / size};
  PARBENCH_LAUNCH(blocks_for(count), block_threads, stream, patches_kernel<size, Index, Element>,
                  reinterpret_cast<Group<Element, size>*>(rows),
                  reinterpret_cast<const Group<Element, size>*>(source), sizes);
}

template <int size, class Element>
void launch(Element* rows, const Element* source, const Patches& patches, cudaStream_t stream) {
  const ConvolutionShape& s = patches.shape;
  const std::int64_t count = patches.images * s.out_height() * s.out_width() * s.kernel * s.kernel *
                             (s.in_channels / s.groups / size);
  if (count < small_index_end) {
    launch<size, std::int32_t>(rows, source, patches, count, stream);
  } else {
    launch<size, std::int64_t>(rows, source, patches, count, stream);
  }
}

template <class Element>
void copy(void* rows, const void* source, const Patches& patches, cudaStream_t stream) {
  constexpr int size = group_size<Element>;
  const ConvolutionShape& shape = patches.shape;
  const std::int64_t channels = shape.in_channels / shape.groups;
  auto* to = static_cast<Element*>(rows);
  const auto* from = static_cast<const Element*>(source) + patches.group * channels;
  const bool whole = channels % size == 0 && patches.row_length % size == 0;
  if (whole && holds_groups<size>(to) && holds_groups<size>(from)) {
    launch<size>(to, from, patches, stream);
  } else {
    launch<1>(to, from, patches, stream);
  }
}

}  // namespace

void copy_patches(void* rows, const void* source, const Patches& patches, cudaStream_t stream) {
  with_element(patches.dtype,
               [&](auto element) { copy<decltype(element)>(rows, source, patches, stream); });
}

}  // namespace parbench::cuda
