// The connections of rank 0 with all other ranks, made when a run begins.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "kernels/core/ranks/rank_link.h"

namespace parbench {

/// A socket that is closed with its owner.
class Socket {
 public:
  Socket() = default;
  explicit Socket(int descriptor) : descriptor_(descriptor) {}
  Socket(Socket&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  Socket& operator=(Socket&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  ~Socket();

  [[nodiscard]] int descriptor() const { return descriptor_; }
  [[nodiscard]] bool is_open() const { return descriptor_ >= 0; }

 private:
  int descriptor_ = -1;
};

/// One end of a connection between ranks.
struct RankConnection {
  int rank = 0;      // at the other end
  std::string host;  // of that rank
  Socket socket;
};

/// Connects the ranks: rank 0 gets a connection with each of the others in their order, each of
/// them one with rank 0. The link carries the addresses of rank 0. Throws Error where a rank cannot
/// be reached.
[[nodiscard]] std::vector<RankConnection> connect_ranks(RankLink& link);

/// The name of this machine, up to its first dot.
[[nodiscard]] std::string host_name();

}  // namespace parbench
