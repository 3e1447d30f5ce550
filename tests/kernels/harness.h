// Runs one operation on a device between guard bytes, with poisoned outputs, and reads it back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/core/device.h"
#include "kernels/machine/machine.h"
#include "tests/kernels/ops/naive.h"
#include "tests/support/required_devices.h"

namespace parbench::test {

/// A stream to test on: a device's name and how many share it. Later backends add theirs.
struct Lane {
  std::string device;
  int sharers = 1;
};

/// The lanes that every backend's suite runs on: those of all backends that this build has, whether
/// or not this machine has devices for them.
[[nodiscard]] const std::vector<Lane>& lanes();
[[nodiscard]] std::string name_of(const Lane& lane);
inline void PrintTo(const Lane& lane, std::ostream* out) { *out << name_of(lane); }

/// A device and one stream of it.
class Bench {
 public:
  /// Nothing, with the reason in `why`, when this machine does not have it.
  static std::optional<Bench> open(const Lane& lane, std::string& why,
                                   const DeviceOptions& options = {});

  [[nodiscard]] Device& device() const { return *device_; }
  [[nodiscard]] Stream& stream() const { return *stream_; }
  [[nodiscard]] std::unique_ptr<Op> prepare(const OpDesc& desc) const {
    return device_->prepare(desc, stream_->threads());
  }
  /// Enqueues and waits.
  void run(Op& op, const std::vector<BufferView>& views) const;

 private:
  std::unique_ptr<Device> device_;
  std::unique_ptr<Stream> stream_;
};

/// A test on each of the lanes. A fixture with a SetUp of its own calls this one first, and goes no
/// further where there is no bench.
class LaneTest : public testing::TestWithParam<Lane> {
 protected:
  void SetUp() override;

  [[nodiscard]] bool has_bench() const { return bench_.has_value(); }
  [[nodiscard]] const Bench& bench() const { return *bench_; }
  [[nodiscard]] Device& device() const { return bench_->device(); }
  [[nodiscard]] Stream& stream() const { return bench_->stream(); }

 private:
  std::optional<Bench> bench_;
};

/// Memory of one argument on the device, between guards. Moves through pinned memory, so that it
/// works on any device.
class GuardedTensor {
 public:
  GuardedTensor(const Bench& bench, TensorDesc tensor);

  [[nodiscard]] BufferView view() const { return {buffer_, guard, tensor_.bytes}; }
  [[nodiscard]] const TensorDesc& tensor() const { return tensor_; }

  void poison() const;  // every element a NaN, or the index -1; the guards intact
  void write(const std::vector<double>& canonical_values) const;
  void write_bytes(std::span<const std::byte> content) const;
  [[nodiscard]] std::vector<double> read() const;
  [[nodiscard]] std::vector<std::byte> bytes() const;  // without guards
  [[nodiscard]] bool guards_intact() const;

  static constexpr std::size_t guard = 256;

 private:
  /// Writes canonical elements as they are.
  template <class Element>
  void write_elements(const std::vector<double>& values) const;
  void upload(const std::vector<std::byte>& whole) const;
  [[nodiscard]] std::vector<std::byte> download() const;

  const Bench* bench_;
  TensorDesc tensor_;
  Buffer buffer_;
  Buffer staging_;
};

/// The operations that make the opaque inputs of a backward one, in their order: the forward one
/// where it has any.
[[nodiscard]] std::vector<OpDesc> companions(const OpDesc& desc);

/// The values of an operation's index operands: those below zero stand for `ignored`.
struct Indices {
  std::int64_t begin = 0;
  std::int64_t end = 1;
  std::int64_t ignored = 0;
};
/// The values that an operation's description allows: the rows of its table; a quarter of the
/// targets of a loss are ignored ones.
[[nodiscard]] Indices indices_of(const OpDesc& desc);

/// {output, input}: roles that share memory.
using InPlace = std::optional<std::pair<std::string, std::string>>;

/// An operation with memory for its arguments.
class Trial {
 public:
  Trial(const Bench& bench, const OpDesc& desc, InPlace in_place = {});

  /// Random values of everything that the operation (and its companions) read.
  [[nodiscard]] Tensors draw_inputs(std::uint64_t seed) const;

  /// Poisons the outputs, writes the inputs, runs the companions, then the operation; returns its
  /// outputs. Reports changed inputs and guards as test failures.
  [[nodiscard]] Tensors run(const Tensors& inputs) { return run_with(*op_, inputs); }
  /// The same in this trial's memory with another plan of its operation.
  [[nodiscard]] Tensors run_with(Op& op, const Tensors& inputs);
  /// What the companions wrote in the last run, empty without one: the naive loop of a backward
  /// operation reads the forward pass's own results where it cannot read its mask.
  [[nodiscard]] Tensors companion_outputs() const;

  [[nodiscard]] Op& op() const { return *op_; }
  [[nodiscard]] std::vector<BufferView> views() const { return views_of(*op_); }

 private:
  [[nodiscard]] std::string key_of(const Op& op, const Argument& argument) const;
  [[nodiscard]] std::vector<BufferView> views_of(const Op& op) const;
  [[nodiscard]] Tensors outputs_of(const Op& op) const;
  void add_memory(const Op& op);
  [[nodiscard]] bool overwritten(std::string_view role) const;
  void set_inputs(const Tensors& inputs);

  const Bench& bench_;
  InPlace in_place_;
  Indices indices_;
  std::vector<std::unique_ptr<Op>> companions_;
  std::unique_ptr<Op> op_;
  std::map<std::string, std::unique_ptr<GuardedTensor>, std::less<>> memory_;  // by key_of
};

[[nodiscard]] bool is_opaque(const Argument& argument);

/// |got − want| ≤ absolute + relative·max(|want|, rms of want); anything else, NaN included, is a
/// test failure that names the worst element.
void expect_close(const std::string& what, const std::vector<double>& got,
                  const std::vector<double>& want, double relative, double absolute = 1e-7);

}  // namespace parbench::test
