// What this machine offers: the backends built in, their devices, and why the rest is missing.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/core/device.h"

namespace parbench {

/// A device by its name behind the colon: "0", or "0/1" for a partition of device 0.
struct DeviceNumber {
  int device = 0;
  std::optional<int> partition = {};
  friend bool operator==(const DeviceNumber&, const DeviceNumber&) = default;
};
[[nodiscard]] std::string to_string(const DeviceNumber& number);

/// How the devices of a run are opened.
struct DeviceOptions {
  bool spare_for_copies = false;  // leave a core or engine to copy lanes if there are enough
  bool autotune = false;          // choose kernels by measuring, where the backend can
};

/// One way to compute (oneDNN on CPU cores, CUDA on GPUs).
class Backend {
 public:
  virtual ~Backend() = default;

  [[nodiscard]] virtual std::string_view name() const = 0;  // the part before ':' in a device name

  /// Libraries and versions, as a report names them: {"oneDNN", "2.6.3"}, …
  struct Component {
    std::string name;
    std::string version;
    std::string details = {};  // for whoever asks what is there, and why something is not
  };
  [[nodiscard]] virtual std::vector<Component> components() const = 0;

  /// Device numbers are below this: cores, or GPUs. 0 when there are none.
  [[nodiscard]] virtual int device_count() const = 0;

  /// Most devices that a run can ask for by their number alone; more than `device_count` where one
  /// device can be divided.
  [[nodiscard]] virtual int device_limit() const { return device_count(); }
  /// What a request for that many devices, at most `device_limit`, means.
  [[nodiscard]] virtual std::vector<DeviceNumber> choose(int count) const;

  /// One line for people: what was found ("2 cores: 0,1 …"), or why nothing was and what would mend
  /// it.
  [[nodiscard]] virtual std::string description() const = 0;

  /// Tells profilers that listen to this backend that what counts begins or ends here.
  virtual void profile([[maybe_unused]] bool on) {}

  /// Whether its devices choose kernels by measuring them when they are asked to.
  [[nodiscard]] virtual bool can_autotune() const { return false; }

  /// Whether any of its devices can multiply f32 in TF32. One that is too old says so of each
  /// operation.
  [[nodiscard]] virtual bool has_tf32() const { return false; }

  /// Opens devices for one run, distinct and in the order in which the user gave them. Throws
  /// UsageError when there are not so many, and for a partition where there is none.
  [[nodiscard]] virtual std::vector<std::unique_ptr<Device>> open(
      const std::vector<DeviceNumber>& numbers, const DeviceOptions& options) = 0;
};

/// Gives the process what libraries of the backends read while they are loaded. Starts the program
/// again where that was missing. Call it first in `main`, with argv.
void prepare_process(char* const* arguments);

/// Made once in `main` and passed by reference.
class Machine {
 public:
  Machine();  // looks for what this build contains
  explicit Machine(std::vector<std::unique_ptr<Backend>> backends)
      : backends_(std::move(backends)) {}

  /// The default one first: GPUs where there are any.
  [[nodiscard]] const std::vector<std::unique_ptr<Backend>>& backends() const { return backends_; }
  [[nodiscard]] Backend* find(std::string_view name) const;  // nullptr when not built in

  /// Backends that this build does not contain, and what would mend it.
  struct Missing {
    std::string name;
    std::string reason;
  };
  [[nodiscard]] static std::vector<Missing> missing_backends();

  /// Requests of devices that a user of this build may write, for help and errors.
  [[nodiscard]] static std::string_view request_examples();

  /// Opens the devices of `--devices`: a count ("2": that many of the default backend) or a comma
  /// list ("cpu:0,cpu:1", "cuda:0/0,cuda:0/1"). Throws UsageError that names the word, what is
  /// wrong and what there is.
  [[nodiscard]] std::vector<std::unique_ptr<Device>> open(std::string_view request,
                                                          const DeviceOptions& options = {}) const;

 private:
  std::vector<std::unique_ptr<Backend>> backends_;
};

}  // namespace parbench
