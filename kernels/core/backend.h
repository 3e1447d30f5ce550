// A backend, such as CUDA on GPUs: its devices and how they are opened.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/core/device.h"

namespace parbench {

/// A device of a backend, as the part of its name after the colon: "0", or "0/1" for a part of
/// device 0.
struct DeviceNumber {
  int device = 0;
  std::optional<int> part = {};
  friend bool operator==(const DeviceNumber&, const DeviceNumber&) = default;
};
[[nodiscard]] std::string to_string(const DeviceNumber& number);

/// Share of the process's cores that its devices use: part `index` of `count`. Other processes of
/// the run on the same cores use the other parts.
struct CoreShare {
  int index = 0;
  int count = 1;
};

struct DeviceOptions {
  bool spare_for_copies = false;  // reserve a core for copy lanes if there are more cores than
                                  // devices; no effect on GPUs
  bool autotune = false;          // choose kernels by measuring, if the backend can
  // let kernels round weight gradients of convolutions of bf16 to bf16, if the backend can
  bool round_gradients = false;
  // prefix of the devices' names: "node1/0/" for the devices of a rank
  std::string name_prefix = {};
  int rank = 0;  // DeviceInfo::rank
  CoreShare core_share = {};
  bool stages_messages = false;  // DeviceInfo::staged, for devices whose memory is not host memory
  // a device of which a part is named is divided into at least this number of parts
  int min_parts = 0;
  bool oversubscribe = false;  // allow more devices than cores: devices share cores
};

/// A kind of device with the libraries that compute on it (oneDNN on CPU cores, CUDA on GPUs).
class Backend {
 public:
  virtual ~Backend() = default;

  [[nodiscard]] virtual std::string_view name() const = 0;  // the part before ':' in a device name

  /// A library and its version, as a report names them: {"oneDNN", "2.6.3"}.
  struct Component {
    std::string name;
    std::string version;
    // for `parbench devices`: what was found, or the reason why nothing was found
    std::string details = {};
  };
  [[nodiscard]] virtual std::vector<Component> components() const = 0;

  /// Number of cores or GPUs; device numbers are below it. 0 if there are none.
  [[nodiscard]] virtual int device_count() const = 0;

  /// Maximum number of devices that a run can request by count; more than `device_count` if a
  /// device can be divided.
  [[nodiscard]] virtual int device_limit() const { return device_count(); }
  /// Returns whether several devices can share a core (DeviceOptions::oversubscribe).
  [[nodiscard]] virtual bool can_oversubscribe() const { return false; }
  /// Returns the numbers of the devices that a request of `count` devices opens. `count` is at most
  /// `device_limit`, unless devices share cores.
  [[nodiscard]] virtual std::vector<DeviceNumber> choose(int count) const;

  /// Returns DeviceInfo::unit for each device number. Ranks that find the same unit share or divide
  /// that device. Empty if ranks divide the backend's hardware by CoreShare.
  [[nodiscard]] virtual std::vector<std::string> units() const { return {}; }
  /// Maximum number of parts into which that device can be divided; 1 if it cannot be divided.
  [[nodiscard]] virtual int max_parts([[maybe_unused]] int device) const { return 1; }

  /// Returns one line about the devices that were found ("2 cores: 0,1 …"), or why none was found
  /// and the remedy.
  [[nodiscard]] virtual std::string description() const = 0;

  /// Marks the beginning or end of the measured part for profilers of this backend.
  virtual void profile([[maybe_unused]] bool on) {}

  /// Returns whether the devices of this backend can choose kernels by measuring them.
  [[nodiscard]] virtual bool can_autotune() const { return false; }
  /// Returns whether devices of this backend have kernels that round weight gradients.
  [[nodiscard]] virtual bool can_round_gradients() const { return false; }

  /// Returns why no device of this backend supports this format, with the remedy; empty if some
  /// device may support it. Devices without support throw Unsupported when they prepare operations.
  [[nodiscard]] virtual std::string lacks(NumberFormat /*format*/) const { return {}; }

  /// Opens distinct devices for one run, in the order in which the user named them. Throws
  /// UsageError for more devices than there are, and for a part that does not exist.
  [[nodiscard]] virtual std::vector<std::unique_ptr<Device>> open(
      const std::vector<DeviceNumber>& numbers, const DeviceOptions& options) = 0;

  /// Opens one device that has the cores of all these devices, or is the GPU that they are parts
  /// of, for work while they are idle. Null if several of them share cores, or if no single device
  /// covers them all. Throws as `open` does.
  [[nodiscard]] virtual std::unique_ptr<Device> open_whole(
      [[maybe_unused]] const std::vector<DeviceNumber>& numbers,
      [[maybe_unused]] const DeviceOptions& options) {
    return nullptr;
  }
};

}  // namespace parbench
