// Backends and devices of this machine, and the reasons why backends are missing.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/core/backend.h"

namespace parbench {

/// Sets environment variables that libraries of the backends read while they are loaded, and
/// restarts the program if it had to set one. Call it first in `main`, with argv.
void prepare_process(char* const* arguments);

/// Backends of this machine. Created once in `main` and passed by reference.
class Machine {
 public:
  Machine();  // detects the backends of this build
  explicit Machine(std::vector<std::unique_ptr<Backend>> backends)
      : backends_(std::move(backends)) {}

  /// Backends of this build, the default one first: GPUs if there are any.
  [[nodiscard]] const std::vector<std::unique_ptr<Backend>>& backends() const { return backends_; }
  [[nodiscard]] Backend* find(std::string_view name) const;  // nullptr when not built in

  /// Returns names and versions of the components of all backends.
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> libraries() const;

  /// A backend that this build does not contain; `reason` includes the remedy.
  struct Missing {
    std::string name;
    std::string reason;
  };
  [[nodiscard]] static std::vector<Missing> missing_backends();

  /// Examples of device requests that this build accepts, for help and errors.
  [[nodiscard]] static std::string_view request_examples();

  /// Opens the devices of `--devices`: a count ("2" opens two devices of the default backend) or a
  /// comma list ("cpu:0,cpu:1", "cuda:0/0,cuda:0/1"). Throws UsageError, with the reason, for other
  /// text and for devices that do not exist or are named twice.
  [[nodiscard]] std::vector<std::unique_ptr<Device>> open(std::string_view request,
                                                          const DeviceOptions& options = {}) const;

  /// Opens one device that has the cores of all requested devices, or the GPU that they are parts
  /// of; null if there is none (Backend::open_whole).
  [[nodiscard]] std::unique_ptr<Device> open_whole(std::string_view request,
                                                   const DeviceOptions& options = {}) const;

 private:
  std::vector<std::unique_ptr<Backend>> backends_;
};

}  // namespace parbench
