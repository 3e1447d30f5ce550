// A backend, such as CUDA on GPUs: its devices and how they are opened.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/core/device.h"

namespace parbench {

/// A device by its name behind the colon: "0", or "0/1" for a part of device 0.
struct DeviceNumber {
  int device = 0;
  std::optional<int> part = {};
  friend bool operator==(const DeviceNumber&, const DeviceNumber&) = default;
};
[[nodiscard]] std::string to_string(const DeviceNumber& number);

/// The part of the process's cores that its devices get, where other processes of the run have the
/// same cores.
struct CoreShare {
  int index = 0;
  int count = 1;
};

/// Options for opening the devices of a run.
struct DeviceOptions {
  bool spare_for_copies = false;  // leave a core or engine to copy lanes if there are enough
  bool autotune = false;          // choose kernels by measuring, where the backend can
  std::string name_prefix = {};   // of the names of the devices: "node1/0/" for those of a rank
  int rank = 0;                   // DeviceInfo::rank
  CoreShare core_share = {};
  bool stages_messages = false;  // DeviceInfo::staged of devices whose memory is not the host's
  int min_parts = 0;           // into which a device is divided at least, of which a part is named
  bool oversubscribe = false;  // more devices than cores share them, where the backend can
};

/// A kind of devices with the libraries that compute on them (oneDNN on CPU cores, CUDA on GPUs).
class Backend {
 public:
  virtual ~Backend() = default;

  [[nodiscard]] virtual std::string_view name() const = 0;  // the part before ':' in a device name

  /// Libraries and versions, as a report names them: {"oneDNN", "2.6.3"}, …
  struct Component {
    std::string name;
    std::string version;
    std::string details = {};  // what is there, or why it is not: for `parbench devices`
  };
  [[nodiscard]] virtual std::vector<Component> components() const = 0;

  /// Device numbers are below this: cores, or GPUs. 0 when there are none.
  [[nodiscard]] virtual int device_count() const = 0;

  /// Maximum number of devices that a run can request by number alone; more than `device_count`
  /// where a device can be divided.
  [[nodiscard]] virtual int device_limit() const { return device_count(); }
  /// Whether several devices can share a core when they are asked to (DeviceOptions).
  [[nodiscard]] virtual bool can_oversubscribe() const { return false; }
  /// Returns the devices for a request of that many, at most `device_limit`, unless they share.
  [[nodiscard]] virtual std::vector<DeviceNumber> choose(int count) const;

  /// Returns DeviceInfo::unit of each device number, so that processes which see the same hardware
  /// share it out among each other; empty where they divide it otherwise.
  [[nodiscard]] virtual std::vector<std::string> units() const { return {}; }
  /// Maximum number of parts into which that device can be divided; 1: it cannot.
  [[nodiscard]] virtual int max_parts([[maybe_unused]] int device) const { return 1; }

  /// Returns what was found in one line ("2 cores: 0,1 …"), or why nothing was and the remedy.
  [[nodiscard]] virtual std::string description() const = 0;

  /// Marks the beginning or end of the measured part for profilers of this backend.
  virtual void profile([[maybe_unused]] bool on) {}

  /// Whether its devices choose kernels by measuring them when they are asked to.
  [[nodiscard]] virtual bool can_autotune() const { return false; }

  /// Returns why none of its devices has arithmetic of this format, with the remedy; empty where
  /// some may have it. Devices that are too old refuse each operation.
  [[nodiscard]] virtual std::string lacks(NumberFormat /*format*/) const { return {}; }

  /// Opens devices for one run, distinct and in the order in which the user gave them. Throws
  /// UsageError for more devices than there are, and for a part that does not exist.
  [[nodiscard]] virtual std::vector<std::unique_ptr<Device>> open(
      const std::vector<DeviceNumber>& numbers, const DeviceOptions& options) = 0;

  /// Opens one device with the cores of all these devices, or the GPU that they are parts of, for
  /// work while they are idle. Null where several of them have the same cores, or where no device
  /// has what all of them have. Throws as `open` does.
  [[nodiscard]] virtual std::unique_ptr<Device> open_whole(
      [[maybe_unused]] const std::vector<DeviceNumber>& numbers,
      [[maybe_unused]] const DeviceOptions& options) {
    return nullptr;
  }
};

}  // namespace parbench
