// What the handles of the stand-in point to, and what every call begins with.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace parbench::stand_in {

using Clock = std::chrono::steady_clock;
using Task = std::function<void()>;

/// Base of what a handle points to. Its memory is kept when it is destroyed, so that a later use of
/// the handle is seen.
struct Object {
  explicit Object(const char* name) : kind(name) {}
  virtual ~Object() = default;
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;

  const char* kind;
  bool alive = true;
};

/// An execution of cudaEventRecord.
struct Record {
  bool done = false;
  Clock::time_point time;
};

/// Kind of a task in activity records; `none`: it has no record. A collective, recorded as a
/// kernel, also waits for tasks that it has no order with.
enum class Work { none, kernel, collective, copy, peer_copy, fill };

struct Node {
  Task task;
  std::vector<std::size_t> needs;  // nodes before it
  Work work = Work::none;
  const CUstream_st* stream = nullptr;  // that captured it
  std::uint64_t number = 0;             // of all nodes; not 0
};

/// A capture in progress, or one that has ended.
struct Capture {
  CUstream_st* origin = nullptr;
  std::vector<Node> nodes;
  std::set<CUstream_st*> streams;
  bool active = true;
  bool is_invalid = false;
};

/// Memory of CUDA's, or page-locked by it.
struct Allocation {
  enum class Kind { device, pinned, registered };
  Kind kind = Kind::device;
  std::size_t bytes = 0;
  int device = 0;
  bool placed = false;    // by a policy of the thread that allocated it
  void* pages = nullptr;  // with the guards around it
  std::size_t page_bytes = 0;
};

[[nodiscard]] int device_count();
[[nodiscard]] int multiprocessors();
/// A variable of the environment.
[[nodiscard]] int setting(const char* variable, int otherwise);

/// All that threads share.
struct State {
  std::mutex mutex;
  std::condition_variable changed;  // a task has ended
  std::vector<std::unique_ptr<Object>> objects;
  std::map<std::uintptr_t, Allocation> allocations;
  std::map<std::uintptr_t, std::size_t>
      freed;  // bytes of memory by its address, until that is used again
  std::set<std::pair<int, int>> peers;
  cudaError_t lost = cudaSuccess;  // what every call returns from then on
  int allocations_to_failure = setting("PARBENCH_STAND_IN_FAIL_ALLOCATION", 0);
  int tasks_to_loss = setting("PARBENCH_STAND_IN_LOSE_TASK", 0);
  bool holds_copies = false;
  std::uint32_t calls = 0;                       // so far
  std::uint64_t nodes = 0;                       // of graphs, so far
  std::set<std::pair<int, const void*>> loaded;  // kernels, by device
  std::thread::id loader;                        // the thread that loads a kernel; none
};
[[nodiscard]] State& state();

/// What belongs to a host thread.
struct ThreadState {
  ~ThreadState();
  int device = 0;
  CUctx_st* context = nullptr;  // null: the primary one of the device
  cudaError_t last = cudaSuccess;
  std::uint32_t correlation = 0;  // number of its call
  bool in_host_function = false;
};
[[nodiscard]] ThreadState& this_thread();

/// Ends the process.
[[noreturn]] void refuse(const std::string& call, const std::string& reason);

/// A call of the runtime library, which holds the lock of the state.
class Call {
 public:
  /// Ends the process unless the objects of the handles exist.
  explicit Call(const char* name, std::initializer_list<const Object*> handles = {});
  ~Call();
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  /// Makes it the last error. `reason`: for stderr; null where a correct program may meet it.
  cudaError_t fail(cudaError_t status, const char* reason = nullptr) const;
  /// What has made the devices unusable; cudaSuccess otherwise.
  [[nodiscard]] cudaError_t lost() const;
  /// Ends the process unless the handle's object exists.
  void check(const Object* object) const;
  void wait(const std::function<bool()>& condition, const char* what);
  [[nodiscard]] const char* name() const { return name_; }

 private:
  const char* name_;
  std::unique_lock<std::mutex> lock_;
};

/// Begins a function of the runtime library as `call`, with the objects of these handles. Returns
/// what has made the devices unusable.
#define PARBENCH_CALL(...)            \
  Call call(__func__, {__VA_ARGS__}); \
  if (const cudaError_t lost = call.lost()) return lost

/// Keeps a new object. The lock is held.
template <class Kind, class... Arguments>
Kind* make(Arguments&&... arguments) {
  auto made = std::make_unique<Kind>(std::forward<Arguments>(arguments)...);
  Kind* object = made.get();
  state().objects.push_back(std::move(made));
  return object;
}

/// Whether one device can be given access to the memory of another one.
[[nodiscard]] bool can_access_peer(int device, int peer);

/// The context that calls of this thread mean. The lock is held, here and below.
[[nodiscard]] CUctx_st* current_context();
/// Adds a task to a stream, or to the capture that it takes part in.
void submit(CUstream_st& stream, Task task, Work work = Work::none);
/// Memory of each device, and how much of it is allocated.
inline constexpr std::size_t memory_bytes = std::size_t{8} << 30U;
[[nodiscard]] std::size_t used_bytes(int device);
/// Lets the device load what has this address, unless it has: waits until its streams are idle.
void load(Call& call, int device, const void* kernel);
/// Lets what is not ordered happen in another order than that of the calls.
void pause_at_random();
/// The stream on which cudaMemcpy copies.
[[nodiscard]] CUstream_st& default_stream(int device);
/// Whether all streams of the device are idle, or of all devices.
[[nodiscard]] bool are_idle(std::optional<int> device = {});
/// Waits until all streams of the device are idle.
void drain(Call& call, int device);
/// Nothing for pageable memory. Ends the process where the bytes exceed an allocation.
[[nodiscard]] const Allocation* allocation_of(const std::string& call, const void* address,
                                              std::size_t bytes);

/// Returns a task that also completes an activity record, if such records are enabled. `node`: 0
/// for work that no graph launches.
[[nodiscard]] Task recorded(const CUstream_st& stream, Task task, Work work,
                            std::uint64_t node = 0);
/// Adds the activity record of a call of this thread.
void record_call(std::string_view name);
/// Calls back who traces nodes. `original`: 0 for a captured node.
void announce_node(std::uint64_t node, std::uint64_t original);

}  // namespace parbench::stand_in

// NOLINTBEGIN(readability-identifier-naming): the vendor's names
struct CUctx_st : parbench::stand_in::Object {
  CUctx_st(int ordinal, int count, bool is_green)
      : Object(is_green ? "green context" : "primary context"),
        device(ordinal),
        number(static_cast<std::uint32_t>(parbench::stand_in::state().objects.size())),
        multiprocessors(count),
        green(is_green) {}
  int device;
  std::uint32_t number;  // of all contexts
  int multiprocessors;
  bool green;
  std::uint32_t streams = 0;  // so far
  std::thread::id user;       // the thread to which a green context is current
};

struct CUstream_st : parbench::stand_in::Object {
  explicit CUstream_st(CUctx_st* owner, const char* name = "stream")
      : Object(name), context(owner), number(++owner->streams) {}
  CUctx_st* context;
  std::uint32_t number;  // among the streams of the context
  std::deque<parbench::stand_in::Task> queue;
  std::condition_variable filled;
  bool busy = false;
  bool started = false;
  std::shared_ptr<parbench::stand_in::Capture> capture;
  std::vector<std::size_t> tail;  // nodes that the next one waits for

  [[nodiscard]] bool is_idle() const { return queue.empty() && !busy; }
};

struct CUevent_st : parbench::stand_in::Object {
  CUevent_st(CUctx_st* owner, bool has_time) : Object("event"), context(owner), timed(has_time) {}
  CUctx_st* context;
  bool timed;
  std::shared_ptr<parbench::stand_in::Record> record;
  std::shared_ptr<parbench::stand_in::Capture>
      capture;                     // of the last record, where it was captured
  std::vector<std::size_t> nodes;  // that this record stands for
};

struct CUgraph_st : parbench::stand_in::Object {
  explicit CUgraph_st(std::vector<parbench::stand_in::Node> all)
      : Object("graph"), nodes(std::move(all)) {}
  std::vector<parbench::stand_in::Node> nodes;
};

struct CUgraphExec_st : parbench::stand_in::Object {
  explicit CUgraphExec_st(std::vector<parbench::stand_in::Node> all)
      : Object("executable graph"), nodes(std::move(all)) {}
  std::vector<parbench::stand_in::Node> nodes;
};
// NOLINTEND(readability-identifier-naming)
