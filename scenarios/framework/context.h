// Devices, streams and memory that all cases of a run share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "kernels/core/device.h"
#include "scenarios/framework/ranks/all_reduce_choices.h"
#include "scenarios/framework/ranks/rank_group.h"

namespace parbench {

/// Devices, streams and memory of the cases of a run, which are prepared one after the other and
/// sampled in interleaved rounds. Each case borrows memory from the beginning of one arena per
/// device and kind, so an arena is as large as the largest case needs. The content of borrowed
/// memory is undefined whenever another case has run since. Content that must persist is `shared`:
/// it is made once and found again by its key.
class Context {
 public:
  struct Options {
    std::uint64_t seed = 1;
    /// Whether preparing a case may run kernels to measure values on which its plan depends. A dry
    /// run estimates them instead. It executes no case and allocates no memory: its streams only
    /// plan.
    bool measures = true;
    /// The ranks to which the devices belong; must outlive the context. Null for a single process.
    RankGroup* ranks = nullptr;
    /// Partitions by case name, from an earlier run whose cases are measured again: the units that
    /// begin the second and later stages ("layer2.0+layer3.0").
    std::map<std::string, std::string> known_cuts = {};
  };

  /// `whole`: a device with the cores of all `devices`, which are idle while it works; may be null.
  Context(std::vector<std::unique_ptr<Device>> devices, Options options,
          std::unique_ptr<Device> whole = nullptr);

  [[nodiscard]] int device_count() const { return static_cast<int>(devices_.size()); }
  [[nodiscard]] Device& device(int index) const {
    return *devices_.at(static_cast<std::size_t>(index));
  }
  [[nodiscard]] const Options& options() const { return options_; }

  /// Returns a context with the same options for the device that has the cores of all devices; null
  /// if there is no such device. That context has its own streams and memory, made on demand.
  [[nodiscard]] Context* whole() const { return whole_.get(); }

  [[nodiscard]] RankGroup* ranks() const { return options_.ranks; }
  [[nodiscard]] bool is_remote(int device) const { return this->device(device).info().is_remote; }
  /// With several processes, copies the memory at `data` on the rank that owns the device to all
  /// ranks; all ranks call this function in the same order.
  void share(int device, void* data, std::size_t bytes) const;

  /// Returns the stream of that device, kind and share (see Device::make_stream), made at the first
  /// call. A device has only one copy stream, whatever the share.
  [[nodiscard]] Stream& stream(int device, StreamKind kind, int index = 0, int sharers = 1);

  /// Returns the communicator of all devices in their order, made at the first call; null if
  /// neither a library nor messages between ranks can join them, and for a single device.
  [[nodiscard]] Communicator* communicator();
  /// Returns a communicator of these devices, in this order; null in the same cases.
  [[nodiscard]] Communicator* communicator(const std::vector<int>& devices);
  /// Returns a communicator of all devices that does all-reduces in the way `by`, and other
  /// collectives by the ranks' library; null unless each rank of the run has one device, in host
  /// memory.
  [[nodiscard]] Communicator* communicator(RankAllReduce by);

  /// Starts a case, to which all memory borrowed from now on belongs.
  void begin_case();

  static constexpr std::size_t alignment = 4096;

  /// Borrows memory for the current case, aligned to `alignment`; the bytes up to the next multiple
  /// of `alignment` are borrowed, too. The memory is only usable after `commit`.
  [[nodiscard]] BufferView borrow(int device, std::size_t bytes,
                                  MemoryKind kind = MemoryKind::device);

  /// Returns memory whose content outlives the case. Commits of cases that request it run `fill`
  /// until that has succeeded once; the view passed to `fill` is only valid during the call. All
  /// requests with the same device and key must have the same number of bytes.
  using Fill = std::function<void(BufferView)>;
  [[nodiscard]] BufferView shared(int device, const std::string& key, std::size_t bytes, Fill fill);

  /// Allocates the memory that the current case borrowed, if it is more than any earlier case
  /// borrowed, and fills new shared memory. After OutOfMemory, memory of earlier cases stays
  /// usable, and page-locked for other backends as before.
  void commit();

  /// Sets how initial parameters (at the next resets) and images of forward passes (in cases
  /// prepared from now on) are changed in f32, to imitate roundings (`perturb` in
  /// scenarios/training/batch_data.h). 0, the initial value: no change; n and −n: opposite changes,
  /// different for each n.
  void set_perturbation(int number) { perturbation_ = number; }
  [[nodiscard]] int perturbation() const { return perturbation_; }

  /// Returns numbers that several cases need. Calls `measure` once per run and key; with several
  /// processes, only on the rank that owns the device.
  using Measure = std::function<std::vector<double>()>;
  [[nodiscard]] const std::vector<double>& measured(const std::string& key, int device,
                                                    const Measure& measure);

  /// Runs `work`, during which `check_time` calls `check`.
  using Check = std::function<void()>;
  void with_check(const Check& check, const std::function<void()>& work);

  /// Calls the function of `with_check`, if any, which throws if the run's time is over. Long
  /// measurements call `check_time` between their parts.
  void check_time() const {
    if (check_) check_();
  }

  /// Runs work whose scratch memory is not counted for the current case: work that the first of
  /// several cases does for all of them, or that only verification does.
  void uncounted(const std::function<void()>& work);

  /// Returns memory for converting the layout of a tensor to be read on the host. All cases share
  /// one buffer per device, which is not counted for any case; its content is valid until the next
  /// call for that device.
  [[nodiscard]] BufferView readback(int device, std::size_t bytes);

  /// Includes the current case in `held_bytes` of later cases. `commit` calls it; a dry run, which
  /// does not commit, calls it directly.
  void hold_case();

  /// Returns the bytes that a device needs for the held cases (see `hold_case`) and the current
  /// one: the largest borrowed memory of each kind, all shared memory, and the largest scratch
  /// memory of each stream.
  [[nodiscard]] std::size_t held_bytes(int device) const;

  /// Returns the bytes of the current case on a device: borrowed memory (all kinds), requested
  /// shared memory, and scratch memory of operations. Independent of earlier cases.
  [[nodiscard]] std::size_t case_bytes(int device) const;

 private:
  struct Arena {
    Buffer memory;
    std::size_t used = 0;  // bytes used by the current case
    std::size_t held = 0;  // maximum bytes used by a held case
    /// Locks with which devices of other backends may copy from and to the first `locked_bytes`.
    std::vector<std::shared_ptr<void>> locks = {};
    std::size_t locked_bytes = 0;
  };
  struct Shared {
    Buffer memory;
    std::size_t bytes = 0;
    Fill fill;
    bool used = false;  // whether the current case uses it
    bool held = false;  // whether a held case uses it
  };

  [[nodiscard]] std::vector<int> all_devices() const;
  [[nodiscard]] std::unique_ptr<Communicator> make_communicator();
  [[nodiscard]] std::unique_ptr<Communicator> make_communicator(const std::vector<int>& some);
  [[nodiscard]] std::unique_ptr<Communicator> join_in_process(const std::vector<int>& some) const;
  [[nodiscard]] std::unique_ptr<Communicator> join_devices_of_ranks() const;
  [[nodiscard]] bool has_a_host_device_of_each_rank() const;
  [[nodiscard]] std::vector<double> measured_by(int rank, const Measure& measure);

  enum class Locking { new_case, prepared_cases };

  static void unlock_pages(Arena& arena);
  /// Locks the pages of the first `bytes` bytes of the arena for copies by other backends, unless
  /// they are already locked. If that fails, throws OutOfMemory for a new case. Prepared cases
  /// cannot be sampled without their locks, so for them it throws DeviceLost, as if the copying
  /// backend were lost.
  void lock_pages(int owner, Arena& arena, std::size_t bytes, Locking whose);

  std::unique_ptr<Context> whole_;
  std::vector<std::unique_ptr<Device>> devices_;
  Options options_;
  int perturbation_ = 0;
  std::map<std::pair<int, MemoryKind>, Arena> arenas_;
  std::map<std::pair<int, std::string>, Shared> shared_;
  std::map<std::string, std::vector<double>> measured_;
  Check check_;
  std::map<int, Buffer> readback_;
  std::unique_ptr<AllReduceChoices> all_reduce_choices_;       // null: single process
  std::optional<std::unique_ptr<Communicator>> communicator_;  // nothing: not requested yet
  std::map<RankAllReduce, std::unique_ptr<Communicator>> rank_communicators_;
  std::map<std::vector<int>, std::unique_ptr<Communicator>> some_communicators_;  // by devices
  // Last member: the destructor of a stream waits for its work, which uses the members above.
  struct OwnStream {
    std::unique_ptr<Stream> stream;
    std::size_t held_scratch = 0;  // maximum bytes that a held case requested
  };
  std::map<std::tuple<int, StreamKind, int, int>, OwnStream> streams_;
};

}  // namespace parbench
