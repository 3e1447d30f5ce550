// The connections of rank 0 with all other ranks, made when a run begins.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kernels/core/ranks/rank_link.h"

namespace parbench {

/// A TCP connection with another rank, which sees the end of that process.
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

  /// Sends a packet of any length; one thread at a time. What cannot be sent any more is dropped.
  void send(const std::string& packet);

  /// Reads what has arrived, without waiting. Returns whether the other side is still there.
  [[nodiscard]] bool read();
  /// Returns the next packet that has been read.
  [[nodiscard]] std::optional<std::string> next();

 private:
  int descriptor_ = -1;
  std::string read_;
  std::size_t used_ = 0;  // bytes of it
};

struct Connections {
  std::vector<std::string> hosts;         // by rank
  std::map<int, Connection> connections;  // of rank 0 with all others, of others with rank 0
};

/// All ranks call it at once. The link carries the addresses of rank 0. Throws Error where a rank
/// cannot be reached.
[[nodiscard]] Connections connect_ranks(RankLink& link);

/// The name of this machine, up to its first dot.
[[nodiscard]] std::string host_name();

}  // namespace parbench
