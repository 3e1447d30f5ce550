// The state of the stand-in, and its ends.
#include "tests/cuda_stand_in/objects.h"

#include <cstdio>
#include <cstdlib>

#include "tests/cuda_stand_in/stand_in.h"

namespace parbench::stand_in {
namespace {

/// Reports what a program has not given back, as far as its static objects end before.
struct ExitReport {
  ~ExitReport() {
    for (const auto& [kind, count] : live_objects()) {
      std::fprintf(stderr, "CUDA stand-in: at exit: %d × %s not given back\n", count, kind.c_str());
    }
  }
};

/// Every header and report shows this variable, so that its times are not mistaken for a GPU's.
const int announced = setenv("CUDA_DEVICE_MAX_CONNECTIONS", "of a stand-in, no figures", 1);

}  // namespace

State& state() {
  (void)announced;
  static State& all = *new State;  // threads of streams may outlive static objects
  static const ExitReport report;
  return all;
}

ThreadState::~ThreadState() {
  const std::lock_guard lock(state().mutex);
  if (context != nullptr) context->user = {};
}

ThreadState& this_thread() {
  thread_local ThreadState mine;
  return mine;
}

void refuse(const std::string& call, const std::string& reason) {
  std::fprintf(stderr, "CUDA stand-in: %s: %s\n", call.c_str(), reason.c_str());
  std::abort();
}

Call::Call(const char* name, std::initializer_list<const Object*> handles)
    : name_(name), lock_(state().mutex) {
  const std::thread::id mine = std::this_thread::get_id();
  wait([&] { return state().loader == std::thread::id() || state().loader == mine; },
       "another thread loads a kernel");
  if (this_thread().in_host_function) refuse(name, "called by a host function of a stream");
  this_thread().correlation = ++state().calls;
  for (const Object* object : handles) check(object);
}

Call::~Call() { record_call(name_); }

cudaError_t Call::fail(cudaError_t status, const char* reason) const {
  if (reason != nullptr) std::fprintf(stderr, "CUDA stand-in: %s: %s\n", name_, reason);
  this_thread().last = status;
  return status;
}

cudaError_t Call::lost() const {
  const cudaError_t status = state().lost;
  return status == cudaSuccess ? status : fail(status);
}

void Call::check(const Object* object) const {
  if (object == nullptr) refuse(name_, "a null handle");
  if (!object->alive) refuse(name_, std::string("the ") + object->kind + " was destroyed");
}

constexpr std::chrono::seconds longest_wait{60};

void Call::wait(const std::function<bool()>& condition, const char* what) {
  const auto ends = [&] { return condition() || state().lost != cudaSuccess; };
  if (!state().changed.wait_for(lock_, longest_wait, ends))
    refuse(name_, std::string("hangs: ") + what);
}

int setting(const char* variable, int otherwise) {
  const char* value = std::getenv(variable);
  return value != nullptr ? static_cast<int>(std::strtol(value, nullptr, 10)) : otherwise;
}

int device_count() { return setting("PARBENCH_STAND_IN_DEVICES", 2); }
int multiprocessors() { return setting("PARBENCH_STAND_IN_MULTIPROCESSORS", 64); }

void fail_allocation(int number) {
  const std::lock_guard lock(state().mutex);
  state().allocations_to_failure = number;
}

void lose_devices(int number) {
  const std::lock_guard lock(state().mutex);
  state().tasks_to_loss = number;
}

void hold_copies(bool on) {
  const std::lock_guard lock(state().mutex);
  state().holds_copies = on;
  state().changed.notify_all();
}

bool recover() {
  hold_copies(false);
  slow_batch_norm({});
  std::unique_lock lock(state().mutex);
  // What a lost device has left to do must not count as a task of what follows.
  const bool ended = state().lost == cudaSuccess ||
                     state().changed.wait_for(lock, longest_wait, [] { return are_idle(); });
  if (!ended) refuse(__func__, "hangs: tasks of lost devices do not end");
  const bool is_left = state().allocations_to_failure > 0 || state().tasks_to_loss > 0;
  state().allocations_to_failure = state().tasks_to_loss = 0;
  state().lost = cudaSuccess;
  state().loaded.clear();
  return is_left;
}

std::map<std::string, int> live_objects() {
  const std::lock_guard lock(state().mutex);
  std::map<std::string, int> counts;
  for (const auto& object : state().objects) {
    const std::string kind = object->kind;
    if (object->alive && kind != "primary context" && kind != "default stream") ++counts[kind];
  }
  for (const auto& [address, allocation] : state().allocations) {
    ++counts[allocation.kind == Allocation::Kind::device ? "device memory" : "page-locked memory"];
  }
  return counts;
}

}  // namespace parbench::stand_in
