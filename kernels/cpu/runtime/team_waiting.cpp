// Interposes functions of GNU's OpenMP library, which has no interface for waiting times.
#include "kernels/cpu/runtime/team_waiting.h"

#include <dlfcn.h>

#include <algorithm>
#include <atomic>
#include <utility>

namespace parbench::cpu {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::nanoseconds;

thread_local TeamMeter* meter_of_thread = nullptr;
thread_local nanoseconds* waited_at_barriers = nullptr;  // null outside of measured regions

/// Returns the function of that name in GNU's library, which a function below replaces.
template <class Function>
Function* function_of_library(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));  // NOLINT(*-reinterpret-cast)
}

struct Region {
  void (*function)(void*);
  void* data;
  std::atomic<nanoseconds::rep> worked{0};
};

/// Runs a thread's part of a region, and adds its working time to the region.
void work_measured(void* argument) {
  Region& region = *static_cast<Region*>(argument);
  nanoseconds waited{0};
  nanoseconds* const outer = std::exchange(waited_at_barriers, &waited);
  const auto begin = Clock::now();
  region.function(region.data);
  const nanoseconds worked = Clock::now() - begin - waited;
  waited_at_barriers = outer;
  region.worked.fetch_add(worked.count(), std::memory_order_relaxed);
}

}  // namespace

TeamMeter::TeamMeter() { meter_of_thread = this; }
TeamMeter::~TeamMeter() { meter_of_thread = nullptr; }

nanoseconds TeamMeter::waiting(nanoseconds whole, int threads) const {
  const nanoseconds alone = whole - in_regions_;
  return std::max(nanoseconds{0}, whole - (worked_ + alone) / threads);
}

}  // namespace parbench::cpu

// NOLINTBEGIN(readability-identifier-naming): the library's names
extern "C" {

void GOMP_parallel(void (*function)(void*), void* data, unsigned threads, unsigned flags) {
  using namespace parbench::cpu;
  static auto* const parallel =
      function_of_library<void(void (*)(void*), void*, unsigned, unsigned)>("GOMP_parallel");
  // Nested regions count as part of the outer region.
  TeamMeter* const meter = std::exchange(meter_of_thread, nullptr);
  if (meter == nullptr) return parallel(function, data, threads, flags);
  Region region{function, data};
  const auto begin = Clock::now();
  parallel(work_measured, &region, threads, flags);
  meter->add(Clock::now() - begin, nanoseconds(region.worked.load(std::memory_order_relaxed)));
  meter_of_thread = meter;
}

void GOMP_barrier() {
  using namespace parbench::cpu;
  static auto* const barrier = function_of_library<void()>("GOMP_barrier");
  if (waited_at_barriers == nullptr) return barrier();
  const auto begin = Clock::now();
  barrier();
  *waited_at_barriers += Clock::now() - begin;
}

}  // extern "C"
// NOLINTEND(readability-identifier-naming)
