// Frames have a header of fixed size; ranks of one run have the same byte order.
#include "bench/ranks/control/frames.h"

#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

namespace parbench {
namespace {

struct Header {
  FrameKind kind = FrameKind::heartbeat;
  std::uint64_t number = 0;
  std::uint64_t bytes = 0;
};

}  // namespace

bool write_frame(int socket, const Frame& frame) {
  const Header header{.kind = frame.kind, .number = frame.number, .bytes = frame.payload.size()};
  std::string bytes(reinterpret_cast<const char*>(&header), sizeof(header));
  bytes += frame.payload;
  std::size_t sent = 0;
  while (sent < bytes.size()) {
    const ssize_t count = ::send(socket, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    sent += static_cast<std::size_t>(count);
  }
  return true;
}

bool FrameReader::read(int socket) {
  bytes_.erase(0, std::exchange(used_, 0));
  std::array<char, 65536> part{};
  for (;;) {
    const ssize_t count = ::recv(socket, part.data(), part.size(), MSG_DONTWAIT);
    if (count > 0) {
      bytes_.append(part.data(), static_cast<std::size_t>(count));
    } else if (count == 0 || errno != EINTR) {
      return count < 0 && errno == EAGAIN;
    }
  }
}

std::optional<Frame> FrameReader::next() {
  Header header;
  if (bytes_.size() - used_ < sizeof(header)) return std::nullopt;
  std::memcpy(&header, bytes_.data() + used_, sizeof(header));
  if (bytes_.size() - used_ - sizeof(header) < header.bytes) return std::nullopt;
  Frame frame{.kind = header.kind, .number = header.number};
  frame.payload = bytes_.substr(used_ + sizeof(header), header.bytes);
  used_ += sizeof(header) + header.bytes;
  return frame;
}

}  // namespace parbench
