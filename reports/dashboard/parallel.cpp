// Threads that draw numbers from a shared counter.
#include "reports/dashboard/parallel.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "reports/model/machine_info.h"

namespace parbench::report {

void in_parallel(std::size_t count, const std::function<void(std::size_t)>& work) {
  std::atomic<std::size_t> next{0};
  std::mutex mutex;
  std::exception_ptr failure;
  const auto take_all = [&] {
    for (std::size_t i = next++; i < count; i = next++) {
      try {
        work(i);
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (!failure) failure = std::current_exception();
        next = count;
      }
    }
  };
  {
    std::vector<std::jthread> threads;
    const std::size_t cores = std::max<std::size_t>(1, cores_allowed().size());
    for (std::size_t i = 1; i < std::min(cores, count); ++i) threads.emplace_back(take_all);
    take_all();
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace parbench::report
