// What this machine offers: the backends built in, their devices, and why the rest is missing.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/core/backend.h"

namespace parbench {

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

  /// Backends that this build does not contain, and the remedy.
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

  /// Opens one device with the cores of all devices of such a request, or the GPU that they are
  /// parts of; null where there is none (Backend::open_whole).
  [[nodiscard]] std::unique_ptr<Device> open_whole(std::string_view request,
                                                   const DeviceOptions& options = {}) const;

 private:
  std::vector<std::unique_ptr<Backend>> backends_;
};

}  // namespace parbench
