// Streams and memory that the cases of a run share.
#include "scenarios/framework/context.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <stdexcept>
#include <utility>

#include "kernels/base/error.h"
#include "kernels/base/round_up.h"
#include "scenarios/framework/ranks/messages.h"

namespace parbench {

Context::Context(std::vector<std::unique_ptr<Device>> devices, Options options,
                 std::unique_ptr<Device> whole)
    : devices_(std::move(devices)), options_(std::move(options)) {
  if (whole != nullptr) {
    std::vector<std::unique_ptr<Device>> alone;
    alone.push_back(std::move(whole));
    whole_ = std::make_unique<Context>(std::move(alone), options_);
  }
  if (options_.ranks == nullptr) return;
  all_reduce_choices_ = std::make_unique<AllReduceChoices>(*options_.ranks, options_.measures);
}

Stream& Context::stream(int device, StreamKind kind, int index, int sharers) {
  if (kind == StreamKind::copy) {
    index = 0;
    sharers = 1;
  }
  const auto key = std::tuple(device, kind, index, sharers);
  auto found = streams_.find(key);
  if (found == streams_.end()) {
    auto made = this->device(device).make_stream(kind, index, sharers);
    if (!options_.measures) made->plan_only();
    found = streams_.emplace(key, OwnStream{.stream = std::move(made)}).first;
  }
  return *found->second.stream;
}

Communicator* Context::communicator() {
  if (!communicator_) communicator_ = make_communicator();
  return communicator_->get();
}

Communicator* Context::communicator(const std::vector<int>& devices) {
  if (devices == all_devices()) return communicator();
  auto known = some_communicators_.find(devices);
  if (known == some_communicators_.end()) {
    auto made = make_communicator(devices);
    known = some_communicators_.emplace(devices, std::move(made)).first;
  }
  return known->second.get();
}

Communicator* Context::communicator(RankAllReduce by) {
  if (!has_a_host_device_of_each_rank()) return nullptr;
  const auto [known, is_new] = rank_communicators_.try_emplace(by);
  if (is_new) {
    known->second = std::make_unique<RankCommunicator>(*all_reduce_choices_,
                                                       RankSet::all(options_.ranks->size()), by);
  }
  return known->second.get();
}

std::vector<int> Context::all_devices() const {
  std::vector<int> all(devices_.size());
  std::iota(all.begin(), all.end(), 0);
  return all;
}

std::unique_ptr<Communicator> Context::join_in_process(const std::vector<int>& some) const {
  if (some.size() < 2) return nullptr;
  std::vector<Device*> devices;
  for (const int index : some) devices.push_back(&device(index));
  return devices.front()->make_communicator(devices);
}

/// With several processes, uses a library if one joins all devices of the run, otherwise messages
/// between ranks if the devices of `some` belong to different ranks and are in host memory. All
/// ranks request the same sets of devices in the same order, so the number of earlier sets gives
/// the tag. Tag 0 belongs to the set of all ranks.
std::unique_ptr<Communicator> Context::make_communicator(const std::vector<int>& some) {
  if (options_.ranks == nullptr) return join_in_process(some);
  if (some.size() < 2) return nullptr;
  if (are_joined_by_library(devices_)) return communicator()->split(some);
  constexpr std::size_t tags = RankLink::tag_count - 1;
  RankSet set{.ranks = {}, .tag = 1 + static_cast<int>(some_communicators_.size() % tags)};
  std::set<int> different;
  for (const int device : some) {
    const DeviceInfo& info = this->device(device).info();
    if (!info.host_memory || !different.insert(info.rank).second) return nullptr;
    set.ranks.push_back(info.rank);
  }
  return std::make_unique<RankCommunicator>(*all_reduce_choices_, std::move(set));
}

bool Context::has_a_host_device_of_each_rank() const {
  if (options_.ranks == nullptr || device_count() != options_.ranks->size()) return false;
  for (int rank = 0; rank < device_count(); ++rank) {
    const DeviceInfo& info = device(rank).info();
    if (info.rank != rank || !info.host_memory) return false;
  }
  return true;
}

/// Makes the communicator of all devices. With several processes, uses a library if one joins the
/// devices, otherwise messages between ranks if each rank has one device, in host memory.
std::unique_ptr<Communicator> Context::make_communicator() {
  if (options_.ranks == nullptr) return join_in_process(all_devices());
  if (devices_.size() < 2) return nullptr;
  if (are_joined_by_library(devices_)) return join_devices_of_ranks();
  if (!has_a_host_device_of_each_rank()) return nullptr;
  return std::make_unique<RankCommunicator>(*all_reduce_choices_,
                                            RankSet::all(options_.ranks->size()));
}

std::unique_ptr<Communicator> Context::join_devices_of_ranks() const {
  RankGroup& ranks = *options_.ranks;
  Device& own = device(ranks.rank());
  Joining joining{
      .id = {}, .rank = ranks.rank(), .size = ranks.size(), .check = [&ranks] { ranks.check(); }};
  if (ranks.rank() == 0) joining.id = own.make_joining_id();
  std::size_t bytes = joining.id.size();
  ranks.share(0, &bytes, sizeof(bytes));
  joining.id.resize(bytes);
  ranks.share(0, joining.id.data(), bytes);
  return own.join(joining);
}

void Context::share(int device, void* data, std::size_t bytes) const {
  if (options_.ranks != nullptr) {
    options_.ranks->share(this->device(device).info().rank, data, bytes);
  }
}

void Context::begin_case() {
  for (auto& [key, arena] : arenas_) arena.used = 0;
  for (auto& [key, shared] : shared_) shared.used = false;
  for (auto& [key, own] : streams_) own.stream->set_requested_scratch(0);
}

BufferView Context::borrow(int device, std::size_t bytes, MemoryKind kind) {
  Arena& arena = arenas_[{device, kind}];
  const std::size_t offset = arena.used;
  arena.used += round_up(bytes, alignment);
  return {arena.memory, offset, bytes};
}

BufferView Context::shared(int device, const std::string& key, std::size_t bytes, Fill fill) {
  Shared& shared = shared_[{device, key}];
  if (shared.bytes != 0 && shared.bytes != bytes) {
    throw std::logic_error(fmt::format("shared memory '{}' has {} bytes, but {} were requested",
                                       key, shared.bytes, bytes));
  }
  if (shared.bytes == 0) {
    shared.bytes = bytes;
    shared.fill = std::move(fill);
  }
  shared.used = true;
  return {shared.memory, 0, bytes};
}

void Context::commit() {
  for (auto& [key, arena] : arenas_) {
    // Only memory of the default kind is locked: a scenario that requests pageable memory measures
    // copies of pageable memory.
    const bool locks = key.second == MemoryKind::device && device(key.first).info().host_memory;
    const std::size_t held = arena.locked_bytes;
    try {
      if (arena.used > arena.memory.bytes()) {
        unlock_pages(arena);
        device(key.first).grow(arena.memory, arena.used, key.second);
      }
      if (locks) lock_pages(key.first, arena, arena.used, Locking::new_case);
    } catch (...) {
      lock_pages(key.first, arena, held, Locking::prepared_cases);
      throw;
    }
  }
  for (auto& entry : shared_) {
    Shared& shared = entry.second;
    if (!shared.used || shared.memory.data() != nullptr) continue;
    // The memory is stored only after it is filled: if filling fails, a later case must not find
    // memory without content.
    Buffer memory = device(entry.first.first).allocate(shared.bytes, MemoryKind::device);
    if (!is_remote(entry.first.first)) uncounted([&] { shared.fill(BufferView(memory)); });
    shared.memory = std::move(memory);
  }
  hold_case();
}

void Context::hold_case() {
  for (auto& [key, arena] : arenas_) arena.held = std::max(arena.held, arena.used);
  for (auto& [key, shared] : shared_) shared.held = shared.held || shared.used;
  for (auto& [key, own] : streams_) {
    own.held_scratch = std::max(own.held_scratch, own.stream->requested_scratch());
  }
}

std::size_t Context::held_bytes(int device) const {
  std::size_t sum = 0;
  for (const auto& [key, arena] : arenas_) {
    if (key.first == device) sum += std::max(arena.held, arena.used);
  }
  for (const auto& [key, shared] : shared_) {
    if (key.first == device && (shared.held || shared.used)) sum += shared.bytes;
  }
  for (const auto& [key, own] : streams_) {
    if (std::get<0>(key) != device) continue;
    sum += std::max(own.held_scratch, own.stream->requested_scratch());
  }
  return sum;
}

void Context::unlock_pages(Arena& arena) {
  arena.locks.clear();
  arena.locked_bytes = 0;
}

void Context::lock_pages(int owner, Arena& arena, std::size_t bytes, Locking whose) {
  if (bytes <= arena.locked_bytes) return;
  unlock_pages(arena);
  std::vector<std::shared_ptr<void>> locks;
  for (const auto& other : devices_) {
    if (other->info().backend == device(owner).info().backend) continue;
    try {
      locks.push_back(other->page_lock({arena.memory, 0, bytes}));
      // NOLINT(bugprone-empty-catch): a lost device copies nothing more
    } catch (const DeviceLost&) {
    } catch (const OutOfMemory& error) {
      if (whose == Locking::new_case) throw;
      throw DeviceLost(other->info().backend, error.what());
    }
  }
  arena.locks = std::move(locks);
  arena.locked_bytes = bytes;
}

const std::vector<double>& Context::measured(const std::string& key, int device,
                                             const Measure& measure) {
  auto found = measured_.find(key);
  if (found == measured_.end()) {
    found = measured_.emplace(key, measured_by(this->device(device).info().rank, measure)).first;
  }
  return found->second;
}

std::vector<double> Context::measured_by(int rank, const Measure& measure) {
  std::vector<double> numbers;
  RankGroup* const ranks = options_.ranks;
  // `check_` involves all ranks, so it is disabled while only one of them measures.
  const Check check = ranks == nullptr ? check_ : std::exchange(check_, {});
  if (ranks == nullptr || ranks->rank() == rank) uncounted([&] { numbers = measure(); });
  check_ = check;
  if (ranks == nullptr) return numbers;
  std::size_t count = numbers.size();
  ranks->share(rank, &count, sizeof(count));
  numbers.resize(count);
  ranks->share(rank, numbers.data(), count * sizeof(double));
  return numbers;
}

void Context::with_check(const Check& check, const std::function<void()>& work) {
  check_ = check;
  try {
    work();
  } catch (...) {
    check_ = {};
    throw;
  }
  check_ = {};
}

void Context::uncounted(const std::function<void()>& work) {
  std::map<const Stream*, std::size_t> requested;
  for (const auto& [key, own] : streams_) {
    requested[own.stream.get()] = own.stream->requested_scratch();
  }
  const auto restore = [&] {
    for (const auto& [key, own] : streams_) {
      // 0 for a stream that `work` has made
      own.stream->set_requested_scratch(requested[own.stream.get()]);
    }
  };
  try {
    work();
  } catch (...) {
    restore();
    throw;
  }
  restore();
}

BufferView Context::readback(int device, std::size_t bytes) {
  Buffer& memory = readback_[device];
  if (memory.bytes() < bytes) this->device(device).grow(memory, bytes, MemoryKind::device);
  return {memory, 0, bytes};
}

std::size_t Context::case_bytes(int device) const {
  std::size_t sum = 0;
  for (const auto& [key, arena] : arenas_) {
    if (key.first == device) sum += arena.used;
  }
  for (const auto& [key, shared] : shared_) {
    if (key.first == device && shared.used) sum += shared.bytes;
  }
  for (const auto& [key, own] : streams_) {
    if (std::get<0>(key) == device) sum += own.stream->requested_scratch();
  }
  return sum;
}

}  // namespace parbench
