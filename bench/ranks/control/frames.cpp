// Frames have a header of fixed size; ranks of one run have the same byte order.
#include "bench/ranks/control/frames.h"

#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "kernels/base/error.h"

namespace parbench {
namespace {

struct Header {
  std::uint32_t magic = 0x70617262;
  FrameKind kind = FrameKind::heartbeat;
  std::uint64_t number = 0;
  std::uint64_t bytes = 0;
};

/// More than any result of a case has, and less than what would exhaust the memory.
constexpr std::uint64_t max_payload = std::uint64_t{1} << 32;

}  // namespace

bool write_frame(int socket, const Frame& frame) {
  const Header header{.kind = frame.kind, .number = frame.number, .bytes = frame.payload.size()};
  std::string bytes(sizeof(header), '\0');
  std::memcpy(bytes.data(), &header, sizeof(header));
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
    } else if (count < 0 && errno == EINTR) {
      continue;
    } else {
      return count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
    }
  }
}

std::optional<Frame> FrameReader::next() {
  Header header;
  const std::uint32_t magic = header.magic;
  if (bytes_.size() - used_ < sizeof(header)) return std::nullopt;
  std::memcpy(&header, bytes_.data() + used_, sizeof(header));
  if (header.magic != magic || header.bytes > max_payload) {
    throw Error("a connection between ranks has bytes that no rank has sent");
  }
  if (bytes_.size() - used_ - sizeof(header) < header.bytes) return std::nullopt;
  Frame frame{.kind = header.kind, .number = header.number};
  frame.payload = bytes_.substr(used_ + sizeof(header), header.bytes);
  used_ += sizeof(header) + header.bytes;
  return frame;
}

void append_number(std::string& payload, std::uint64_t number) {
  std::array<char, sizeof(number)> bytes{};
  std::memcpy(bytes.data(), &number, sizeof(number));
  payload.append(bytes.data(), bytes.size());
}

void append_text(std::string& payload, const std::string& text) {
  append_number(payload, text.size());
  payload += text;
}

std::uint64_t PayloadReader::number() {
  std::uint64_t number = 0;
  if (payload_.size() - position_ < sizeof(number)) throw Error("a frame of a rank is too short");
  std::memcpy(&number, payload_.data() + position_, sizeof(number));
  position_ += sizeof(number);
  return number;
}

std::string PayloadReader::text() {
  const std::uint64_t length = number();
  if (payload_.size() - position_ < length) throw Error("a frame of a rank is too short");
  std::string text = payload_.substr(position_, length);
  position_ += length;
  return text;
}

}  // namespace parbench
