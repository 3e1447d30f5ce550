// Memory that operations read and write: owning buffers and views into them.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <utility>

namespace parbench {

/// Kind of a buffer's memory. On CPU devices all three are host memory; `pinned` is page-locked if
/// the limits of the process allow it and touched in advance, `pageable` is left untouched until
/// its first use.
enum class MemoryKind { device, pinned, pageable };

/// Move-only owner of memory. Only assigning to the buffer and Device::grow change its address.
class Buffer {
 public:
  using Release = std::function<void(std::byte*)>;

  Buffer() = default;
  Buffer(std::byte* data, std::size_t bytes, MemoryKind kind, Release release)
      : Buffer(data, bytes, kind, std::move(release), bytes) {}
  /// `capacity`: bytes of address space from `data` on, into which the buffer may be extended.
  Buffer(std::byte* data, std::size_t bytes, MemoryKind kind, Release release, std::size_t capacity)
      : memory_(data, std::move(release)), bytes_(bytes), capacity_(capacity), kind_(kind) {}

  [[nodiscard]] std::byte* data() const { return memory_.get(); }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  [[nodiscard]] std::size_t capacity() const { return capacity_; }
  [[nodiscard]] MemoryKind kind() const { return kind_; }

  /// Enlarges the buffer within its capacity. Only for the device that allocates its memory.
  void extend(std::size_t bytes) { bytes_ = bytes; }

 private:
  std::unique_ptr<std::byte, Release> memory_{nullptr, [](std::byte*) {}};
  std::size_t bytes_ = 0;
  std::size_t capacity_ = 0;
  MemoryKind kind_ = MemoryKind::device;
};

/// A range of a buffer. It refers to the Buffer object, not to its address, so that an owner such
/// as an arena may replace the memory between runs. The address is resolved when a call is
/// enqueued.
struct BufferView {
  const Buffer* buffer = nullptr;
  std::size_t offset = 0;
  std::size_t bytes = 0;

  BufferView() = default;
  BufferView(const Buffer& whole)
      : buffer(&whole),
        bytes(whole.bytes()) {
  }  // NOLINT(google-explicit-constructor): a buffer converts to a view of its whole memory
  BufferView(const Buffer& owner, std::size_t first, std::size_t count)
      : buffer(&owner), offset(first), bytes(count) {}

  /// Returns whether the range lies within the current memory of the buffer.
  [[nodiscard]] bool is_backed() const {
    return buffer != nullptr && offset <= buffer->bytes() && bytes <= buffer->bytes() - offset;
  }
  [[nodiscard]] std::byte* data() const { return buffer ? buffer->data() + offset : nullptr; }
  [[nodiscard]] BufferView part(std::size_t first, std::size_t count) const {
    BufferView view = *this;
    view.offset += first;
    view.bytes = count;
    return view;
  }
};

}  // namespace parbench
