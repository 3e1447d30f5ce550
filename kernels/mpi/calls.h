// Nonblocking calls of MPI. Waits poll them, so that a wait can end when the other rank has failed.
#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>
#include <functional>
#include <limits>
#include <mutex>
#include <span>
#include <string>
#include <utility>

#include "kernels/base/error.h"
#include "kernels/mpi/waiting.h"

namespace parbench::mpi {

/// Throws Error with the library's message unless `code`, the result of a call, is MPI_SUCCESS.
inline void require(int code, const char* what) {
  if (code == MPI_SUCCESS) return;
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  MPI_Error_string(code, text.data(), &length);
  throw Error(std::string("MPI: ") + what + " failed: " + text.data());
}

/// Returns a number of elements as an int, as MPI counts them. Throws Error above 2³¹ − 1.
inline int count_of(std::size_t count) {
  if (count <= static_cast<std::size_t>(std::numeric_limits<int>::max())) {
    return static_cast<int>(count);
  }
  throw Error("MPI: a collective takes at most 2147483647 elements; use a smaller case");
}

class Calls {
 public:
  /// `one_at_a_time`: only one thread at a time may call MPI.
  explicit Calls(bool one_at_a_time) : one_at_a_time_(one_at_a_time) {}

  /// Sets a function that is called from time to time during waits of this object, and may throw.
  void check_with(std::function<void()> check) { check_ = std::move(check); }
  [[nodiscard]] const std::function<void()>& check() const { return check_; }

  /// Makes a call, under a lock if only one thread may call MPI. `what` names the call in errors.
  template <class Call>
  void call(const char* what, const Call& call) {
    std::unique_lock lock(mutex_, std::defer_lock);
    if (one_at_a_time_) lock.lock();
    require(call(), what);  // under the lock, because `require` may call MPI_Error_string
  }

  /// Begins an operation with `begin`, which fills in a request, and waits until the operation has
  /// ended.
  template <class Begin>
  void complete(const char* what, const Begin& begin) {
    std::array<MPI_Request, 1> request{MPI_REQUEST_NULL};
    call(what, [&] { return begin(request.data()); });
    wait_for(request, what);
  }

  void wait_for(std::span<MPI_Request> requests, const char* what) {
    Waiting waiting;
    for (;;) {
      int done = 0;
      call(what, [&] {
        return MPI_Testall(static_cast<int>(requests.size()), requests.data(), &done,
                           MPI_STATUSES_IGNORE);
      });
      if (done != 0) return;
      waiting.pause();
      if (waiting.should_check() && check_) check_();
    }
  }

 private:
  bool one_at_a_time_;
  std::function<void()> check_;
  std::mutex mutex_;
};

}  // namespace parbench::mpi
