// TCP connections between rank 0 and all other ranks, made at the start of a run.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kernels/core/ranks/rank_link.h"

namespace parbench {

/// A TCP connection with another rank. It closes when the process of that rank ends.
class Connection {
 public:
  explicit Connection(int descriptor = -1) : descriptor_(descriptor) {}
  Connection(Connection&& other) noexcept { *this = std::move(other); }
  Connection& operator=(Connection&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    read_.swap(other.read_);
    std::swap(used_, other.used_);
    return *this;
  }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection();

  [[nodiscard]] int descriptor() const { return descriptor_; }
  [[nodiscard]] bool is_open() const { return descriptor_ >= 0; }

  /// Sends a packet of any length; one thread at a time. Drops it if the connection is closed.
  void send(const std::string& packet);

  /// Reads the bytes that have arrived, without waiting. Returns whether the connection is open.
  [[nodiscard]] bool read();
  /// Returns the next packet that has been read; nothing if none is complete.
  [[nodiscard]] std::optional<std::string> next();

 private:
  int descriptor_ = -1;
  std::string read_;
  std::size_t used_ = 0;  // bytes of `read_` that have been returned
};

struct Connections {
  std::vector<std::string> hosts;         // by rank
  std::map<int, Connection> connections;  // on rank 0 to all others, on others to rank 0
};

/// Connects the ranks; all call it at once. The addresses are exchanged over `link`. Throws Error
/// if a rank cannot be reached.
[[nodiscard]] Connections connect_ranks(RankLink& link);

/// Returns the name of this machine, up to its first dot.
[[nodiscard]] std::string host_name();

}  // namespace parbench
