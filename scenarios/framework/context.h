// The devices, streams and memory that all cases of a run share.
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

/// Cases of a run are prepared one after the other and sampled in interleaved rounds. They borrow
/// memory from one arena per device and kind, all from its beginning, so that the arena is as large
/// as the largest case; what a case borrows has undefined content whenever another case has run
/// since. What must survive is `shared`: content that is made once and found again by its key.
class Context {
 public:
  struct Options {
    std::uint64_t seed = 1;
    /// Whether preparing a case may run kernels to measure what its plan depends on. A dry run
    /// estimates instead, executes no case, and takes no memory: its streams only plan.
    bool measures = true;
    /// The ranks to which the devices belong, which outlive the context; null: this process alone.
    RankGroup* ranks = nullptr;
    /// The partitions of an earlier run, whose cases are measured again: by the names of these, the
    /// units that begin the later stages ("layer2.0+layer3.0").
    std::map<std::string, std::string> known_cuts = {};
  };

  /// `whole`: a device with the cores of all others, which are idle while it works; may be null.
  Context(std::vector<std::unique_ptr<Device>> devices, Options options,
          std::unique_ptr<Device> whole = nullptr);

  [[nodiscard]] int device_count() const { return static_cast<int>(devices_.size()); }
  [[nodiscard]] Device& device(int index) const {
    return *devices_.at(static_cast<std::size_t>(index));
  }
  [[nodiscard]] const Options& options() const { return options_; }

  /// A context with the same options of the device that has the cores of all others, with streams
  /// and memory of its own, which are made when a case asks for them; null: there is none.
  [[nodiscard]] Context* whole() const { return whole_.get(); }

  [[nodiscard]] RankGroup* ranks() const { return options_.ranks; }
  [[nodiscard]] bool is_remote(int device) const { return this->device(device).info().is_remote; }
  /// Over ranks, fills the memory at `data` with what the rank of that device has there; all ranks
  /// call it in the same order.
  void share(int device, void* data, std::size_t bytes) const;

  /// Returns the stream of that device, kind and share (see Device::make_stream), which is made at
  /// the first call.
  [[nodiscard]] Stream& stream(int device, StreamKind kind, int index = 0, int sharers = 1);

  /// Returns the communicator of all devices in their order, which is made at the first call; null
  /// without a library for it.
  [[nodiscard]] Communicator* communicator();
  /// The same of some devices, in the order in which the communicator joins them.
  [[nodiscard]] Communicator* communicator(const std::vector<int>& devices);
  /// One of all devices that does all-reduces in that way, and other collectives by the library of
  /// the ranks; null unless each rank of the run has one device, in host memory.
  [[nodiscard]] Communicator* communicator(RankAllReduce by);

  /// Starts a case: everything borrowed from now on belongs to it.
  void begin_case();

  static constexpr std::size_t alignment = 4096;

  /// Memory for the current case, aligned to `alignment`; what follows it up to the next multiple
  /// belongs to it too. Only usable after `commit`.
  [[nodiscard]] BufferView borrow(int device, std::size_t bytes,
                                  MemoryKind kind = MemoryKind::device);

  /// Memory with content that outlives the case. `fill` runs at commits after the key was asked for
  /// until it succeeds once; the view that it gets ends with its call. Every later request with the
  /// key must ask for the same number of bytes.
  using Fill = std::function<void(BufferView)>;
  [[nodiscard]] BufferView shared(int device, const std::string& key, std::size_t bytes, Fill fill);

  /// Allocates what the current case borrowed, if it is more than any case before it did, and fills
  /// new shared memory. Throws OutOfMemory and leaves what earlier cases borrowed usable,
  /// page-locked for other backends as it was.
  void commit();

  /// How the next resets change initial parameters, and the next forward passes their images in
  /// f32, as roundings change values (`perturb` in scenarios/training/batch_data.h): 0, as at
  /// first: not at all; n and −n: by opposite changes that differ for each n.
  void set_perturbation(int number) { perturbation_ = number; }
  [[nodiscard]] int perturbation() const { return perturbation_; }

  /// Returns numbers that several cases need, which are measured once a run, by their key; over
  /// ranks by the rank of that device.
  using Measure = std::function<std::vector<double>()>;
  [[nodiscard]] const std::vector<double>& measured(const std::string& key, int device,
                                                    const Measure& measure);

  /// Asks `check` from within `work` whenever that calls `check_time`.
  using Check = std::function<void()>;
  void with_check(const Check& check, const std::function<void()>& work);

  /// Called between the steps of long measurements; throws where the time of the run is over.
  void check_time() const {
    if (check_) check_();
  }

  /// Runs work whose scratch memory is not the current case's: something that only the first case
  /// of several does for all of them, or that only verification does.
  void uncounted(const std::function<void()>& work);

  /// Returns memory for the layout conversion of a tensor on its way to the host. One buffer for
  /// all cases, not counted to any; its content lasts until the next call.
  [[nodiscard]] BufferView readback(int device, std::size_t bytes);

  /// Counts the current case among those whose memory is held, as `commit` does; for a dry run.
  void hold_case();

  /// Returns the bytes that a device needs for the cases that are held and the current one: the
  /// largest of what each borrows, all that is shared, and the largest scratch of each stream.
  [[nodiscard]] std::size_t held_bytes(int device) const;

  /// Bytes of the current case on a device: borrowed (all kinds), shared that it asked for, and the
  /// scratch that its operations need. They do not depend on the cases before it.
  [[nodiscard]] std::size_t case_bytes(int device) const;

 private:
  struct Arena {
    Buffer memory;
    std::size_t used = 0;  // by the current case
    std::size_t held = 0;  // the most that a held case has used
    /// By which devices of other backends may copy from and to its first `locked_bytes`.
    std::vector<std::shared_ptr<void>> locks = {};
    std::size_t locked_bytes = 0;
  };
  struct Shared {
    Buffer memory;
    std::size_t bytes = 0;
    Fill fill;
    bool used = false;  // by the current case
    bool held = false;  // used by a held case
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
  /// Prepares so many bytes from the arena's beginning for copies by other backends; more than that
  /// may be locked already. A new case that finds no room gets OutOfMemory. Cases that are prepared
  /// cannot be sampled without their locks, which ends them like the loss of the backend that has
  /// to copy: DeviceLost.
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
  std::unique_ptr<AllReduceChoices> all_reduce_choices_;       // null: one process
  std::optional<std::unique_ptr<Communicator>> communicator_;  // nothing: not asked for yet
  std::map<RankAllReduce, std::unique_ptr<Communicator>> rank_communicators_;
  std::map<std::vector<int>, std::unique_ptr<Communicator>> some_communicators_;  // by devices
  // Last: the destructor of a stream waits for its work, which uses the members above.
  struct OwnStream {
    std::unique_ptr<Stream> stream;
    std::size_t held_scratch = 0;  // the most that a held case has asked for
  };
  std::map<std::tuple<int, StreamKind, int, int>, OwnStream> streams_;
};

}  // namespace parbench
