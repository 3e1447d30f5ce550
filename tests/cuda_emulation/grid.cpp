// Runs grids: a fiber for each thread of a block that waits at a barrier, one block after another.
//
// The order of threads and blocks is unspecified on a GPU. Here every other block runs its threads
// backwards, and every other grid its blocks, so that a missing barrier or a sum whose order
// depends on the blocks' shows.
#include <cuda_runtime_api.h>

#include <boost/context/fiber.hpp>
#include <boost/context/fixedsize_stack.hpp>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <utility>
#include <vector>

#if defined(PARBENCH_ANNOUNCE_STACKS)
#include <sanitizer/common_interface_defs.h>
#endif

namespace parbench::emulation {
namespace {

constexpr std::size_t stack_bytes = std::size_t{1} << 17U;
constexpr unsigned int max_threads = 1024;  // of a block, on any GPU

/// Announces the use of another stack to the address sanitizer.
class StackSwitch {
 public:
#if defined(PARBENCH_ANNOUNCE_STACKS)
  void leave(const void* bottom, std::size_t bytes) {
    __sanitizer_start_switch_fiber(&fake_stack_, bottom, bytes);
  }
  void arrive(const void** bottom = nullptr, std::size_t* bytes = nullptr) {
    __sanitizer_finish_switch_fiber(fake_stack_, bottom, bytes);
  }

 private:
  void* fake_stack_ = nullptr;
#else
  void leave(const void* /*bottom*/, std::size_t /*bytes*/) {}
  void arrive(const void** /*bottom*/ = nullptr, std::size_t* /*bytes*/ = nullptr) {}
#endif
};

/// Runs one thread after another, and stops wherever one waits.
class Fiber {
 public:
  Fiber() {
    const boost::context::stack_context stack =
        boost::context::fixedsize_stack(stack_bytes).allocate();
    bottom_ = static_cast<std::byte*>(stack.sp) - stack.size;
    fiber_ = boost::context::fiber(
        std::allocator_arg, boost::context::preallocated(stack.sp, stack.size, stack),
        boost::context::fixedsize_stack(stack_bytes), [this](boost::context::fiber&& host) {
          run(std::move(host));
          return std::move(host_);
        });
  }

  /// Goes on until the thread waits or has ended; true when it has ended. `thread` is what a fiber
  /// without one begins with.
  bool resume(const std::function<void()>& thread) {
    if (ended_) thread_ = &thread;
    ended_ = false;
    outside_.leave(bottom_, stack_bytes);
    fiber_ = std::move(fiber_).resume();
    outside_.arrive();
    return ended_;
  }

  /// For the thread that runs on it.
  void stop() {
    inside_.leave(host_bottom_, host_bytes_);
    host_ = std::move(host_).resume();
    inside_.arrive(&host_bottom_, &host_bytes_);
  }

 private:
  void run(boost::context::fiber&& host) {
    host_ = std::move(host);
    inside_.arrive(&host_bottom_, &host_bytes_);
    for (;;) {
      (*thread_)();
      ended_ = true;
      stop();
    }
  }

  boost::context::fiber fiber_;  // while it stands still
  boost::context::fiber host_;   // while it runs: who resumed it
  const void* bottom_ = nullptr;
  const void* host_bottom_ = nullptr;
  std::size_t host_bytes_ = 0;
  StackSwitch outside_;
  StackSwitch inside_;
  const std::function<void()>* thread_ = nullptr;
  bool ended_ = true;
};

enum class State { ready, at_block_barrier, at_warp_barrier, ended };

struct Thread {
  State state = State::ready;
  Barrier barrier{};
  Fiber* fiber = nullptr;  // none before it begins and after it has ended
  unsigned int exchanges = 0;
};

/// The block that runs. It is never destroyed: fibers that stand still cannot be.
class Block {
 public:
  void run(const std::function<void()>& thread, bool backwards) {
    const unsigned int count = blockDim.x * blockDim.y * blockDim.z;
    threads_.assign(count, {});
    do {
      for (unsigned int i = 0; i < count; ++i) {
        const unsigned int number = backwards ? count - 1 - i : i;
        if (threads_[number].state == State::ready) resume(number, thread);
      }
    } while (release_warps() || release_block());
  }

  void wait(State state, Barrier barrier) {
    Thread& thread = threads_[current_];
    thread.state = state;
    thread.barrier = barrier;
    thread.fiber->stop();
  }

  [[nodiscard]] Lane lane() const {
    const auto count = static_cast<unsigned int>(threads_.size());
    const unsigned int first = current_ / warp_size * warp_size;
    return {current_ - first, min(warp_size, count - first)};
  }

  void begin_exchange() { ++threads_[current_].exchanges; }
  /// Two sets of slots: a thread is at most one exchange ahead of another one of its warp.
  [[nodiscard]] std::uint64_t& exchanged(unsigned int lane) {
    return exchanged_[threads_[current_].exchanges % 2][current_ / warp_size * warp_size + lane];
  }

 private:
  void resume(unsigned int number, const std::function<void()>& kernel) {
    Thread& thread = threads_[number];
    if (thread.fiber == nullptr) {
      if (idle_.empty()) idle_.push_back(all_.emplace_back(std::make_unique<Fiber>()).get());
      thread.fiber = idle_.back();
      idle_.pop_back();
    }
    current_ = number;
    threadIdx = {number % blockDim.x, number / blockDim.x % blockDim.y,
                 number / (blockDim.x * blockDim.y)};
    if (!thread.fiber->resume(kernel)) return;
    thread.state = State::ended;
    idle_.push_back(std::exchange(thread.fiber, nullptr));
  }

  /// Lets those threads go on, from `first` on, that all wait at one barrier.
  bool release(std::size_t first, std::size_t count, State state) {
    const Thread& leader = threads_[first];
    if (leader.state != state) return false;
    for (std::size_t i = first; i < first + count; ++i) {
      const Thread& thread = threads_[i];
      if (thread.state != state || thread.barrier.line != leader.barrier.line) return false;
    }
    for (std::size_t i = first; i < first + count; ++i) threads_[i].state = State::ready;
    return true;
  }

  bool release_warps() {
    bool any = false;
    for (std::size_t first = 0; first < threads_.size(); first += warp_size) {
      const std::size_t count = min<std::size_t>(warp_size, threads_.size() - first);
      any = release(first, count, State::at_warp_barrier) || any;
    }
    return any;
  }

  /// False when all threads have ended.
  bool release_block() {
    if (release(0, threads_.size(), State::at_block_barrier)) return true;
    for (const Thread& thread : threads_) {
      if (thread.state == State::ended) continue;
      std::fprintf(stderr, "a thread waits at %s:%d\n", thread.barrier.file, thread.barrier.line);
      refuse("the other threads have ended or wait elsewhere");
    }
    return false;
  }

  std::vector<Thread> threads_;
  std::vector<std::unique_ptr<Fiber>> all_;
  std::vector<Fiber*> idle_;
  std::uint64_t exchanged_[2][max_threads]{};
  unsigned int current_ = 0;
};

Block& running() {
  static Block& block = *new Block;
  return block;
}

}  // namespace

void run_grid(dim3 grid, dim3 block, const std::function<void()>& thread) {
  static bool backwards = false;
  constexpr unsigned int max_high = 65535;
  if (grid.x == 0 || grid.y == 0 || grid.z == 0 || grid.y > max_high || grid.z > max_high) {
    refuse("a grid has no block, or too many in y or z");
  }
  const unsigned int threads = block.x * block.y * block.z;
  if (threads == 0 || threads > max_threads) refuse("a block has no thread, or more than 1024");
  gridDim = grid;
  blockDim = block;
  const std::uint64_t blocks = std::uint64_t{grid.x} * grid.y * grid.z;
  for (std::uint64_t i = 0; i < blocks; ++i) {
    const std::uint64_t number = backwards ? blocks - 1 - i : i;
    blockIdx = {static_cast<unsigned int>(number % grid.x),
                static_cast<unsigned int>(number / grid.x % grid.y),
                static_cast<unsigned int>(number / (std::uint64_t{grid.x} * grid.y))};
    running().run(thread, (number % 2 != 0) != backwards);
  }
  backwards = !backwards;
}

void meet_block(Barrier barrier) { running().wait(State::at_block_barrier, barrier); }
void meet_warp(Barrier barrier) { running().wait(State::at_warp_barrier, barrier); }
Lane lane() { return running().lane(); }
void begin_exchange() { running().begin_exchange(); }
std::uint64_t& exchanged(unsigned int lane) { return running().exchanged(lane); }

void refuse(const char* reason) {
  std::fprintf(stderr, "CUDA emulation: %s\n", reason);
  std::abort();
}

}  // namespace parbench::emulation
