// What ranks send each other beside the data of plans: frames over a TCP connection, which sees the
// end of a process that MPI would wait for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace parbench {

enum class FrameKind : std::uint32_t {
  status,     // what a rank brings to a meeting
  failure,    // why a rank cannot come to a meeting
  fatal,      // why a rank cannot go on at all
  verdict,    // the result of a meeting: what all ranks have brought
  refusal,    // the same: the failure of one of them
  value,      // a number of rank 0
  heartbeat,  // nothing but a sign of life
  end,        // the run ends in order
  stop,       // the run ends at once
};

struct Frame {
  FrameKind kind = FrameKind::heartbeat;
  std::uint64_t number = 0;  // of the meeting
  std::string payload = {};
};

/// Writes a frame to a socket. False where the connection is gone.
[[nodiscard]] bool write_frame(int socket, const Frame& frame);

/// Assembles the frames of one connection from what arrives.
class FrameReader {
 public:
  /// Reads what a socket has, without waiting. False where the connection is gone.
  [[nodiscard]] bool read(int socket);
  /// Returns the next complete frame.
  [[nodiscard]] std::optional<Frame> next();

 private:
  std::string bytes_;
  std::size_t used_ = 0;
};

}  // namespace parbench
