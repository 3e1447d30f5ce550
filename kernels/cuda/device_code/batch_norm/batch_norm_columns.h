// Assignment of channels to threads in batch normalisation's vector path, and of elements to bits
// of the ReLU's mask: index arithmetic for host and device.
//
// A thread processes a group of eight channels in a row of the matrix, and each group has a byte of
// the mask. Eight bf16 elements are 16 bytes, one load. Eight f32 elements are two loads, and each
// load of a warp uses whole sectors of memory (32 bytes) only if two threads divide 16 channels:
// the first has channels 0 to 3 and 8 to 11, the second the others. Groups of f32 are paired in
// this way if the number of channels is a multiple of 16. The mask has the same order in the scalar
// path.
#pragma once

#include <cstdint>

#ifdef __CUDACC__
#define PARBENCH_HOST_DEVICE __host__ __device__
#else
#define PARBENCH_HOST_DEVICE
#endif

namespace parbench::cuda {

constexpr int vector_width = 8;

/// The number of channels must be a multiple of this for groups of this element type to divide a
/// row.
template <class Element>
constexpr int channels_of_division = sizeof(Element) == sizeof(float) ? 16 : vector_width;

/// Returns whether groups are paired.
template <class Element>
PARBENCH_HOST_DEVICE constexpr bool pairs(std::int64_t channels) {
  return sizeof(Element) == sizeof(float) && channels % channels_of_division<Element> == 0;
}

/// Returns the index of a group's first element. Groups are numbered through all rows.
PARBENCH_HOST_DEVICE constexpr std::int64_t first_of_group(std::int64_t group, bool paired) {
  return paired ? group / 2 * 16 + group % 2 * 4 : group * vector_width;
}

/// Returns the distance of the i-th element of a group from the group's first element.
PARBENCH_HOST_DEVICE constexpr int offset_in_group(int i, bool paired) {
  return paired ? i % 4 + i / 4 * 8 : i;
}

/// Position of an element's bit in the mask. `byte` is the index of the element's group.
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
