// Which channels a thread of batch normalisation's vector way has, and whose the bits of the ReLU's
// mask are: index arithmetic alone, for host and device.
//
// A thread has a group of eight channels in a row of the matrix, and a group has a byte of the
// mask. Eight elements of bf16 are 16 bytes, one load. Eight of f32 are two, and every load of a
// warp asks for whole sectors of memory (32 bytes) only when two threads divide 16 channels: the
// first has 0 to 3 and 8 to 11, the second the others. Groups of f32 are paired like that wherever
// the number of channels is a multiple of 16, in the mask also where the scalar way reads it.
#pragma once

#include <cstdint>

#ifdef __CUDACC__
#define PARBENCH_HOST_DEVICE __host__ __device__
#else
#define PARBENCH_HOST_DEVICE
#endif

namespace parbench::cuda {

constexpr int vector_width = 8;

/// Channels in whose multiples groups of this element type divide a row.
template <class Element>
constexpr int channels_of_division = sizeof(Element) == sizeof(float) ? 16 : vector_width;

/// Whether groups are paired.
template <class Element>
PARBENCH_HOST_DEVICE constexpr bool pairs(std::int64_t channels) {
  return sizeof(Element) == sizeof(float) && channels % channels_of_division<Element> == 0;
}

/// The first element of a group. Groups are counted through all rows.
PARBENCH_HOST_DEVICE constexpr std::int64_t first_of_group(std::int64_t group, bool paired) {
  return paired ? group / 2 * 16 + group % 2 * 4 : group * vector_width;
}

/// How far behind its first the i-th element of a group lies.
PARBENCH_HOST_DEVICE constexpr int offset_in_group(int i, bool paired) {
  return paired ? i % 4 + i / 4 * 8 : i;
}

/// Where the mask has an element's bit. The byte is the element's group.
struct MaskBit {
  std::int64_t byte;
  int bit;
  friend bool operator==(const MaskBit&, const MaskBit&) = default;
};
PARBENCH_HOST_DEVICE constexpr MaskBit mask_bit(std::int64_t element, bool paired) {
  if (!paired) return {element / vector_width, static_cast<int>(element % vector_width)};
  const auto of_pair = static_cast<int>(element % 16);
  return {element / 16 * 2 + of_pair / 4 % 2, of_pair % 4 + of_pair / 8 * 4};
}

}  // namespace parbench::cuda
