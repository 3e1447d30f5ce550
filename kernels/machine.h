// What this machine offers: the backends built in, their devices, and why the rest is missing.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/device.h"

namespace parbench {

/// One way to compute (oneDNN on CPU cores, CUDA on GPUs).
class Backend {
 public:
  virtual ~Backend() = default;

  [[nodiscard]] virtual std::string_view name() const = 0;  // the part before ':' in a device name

  /// Libraries and versions, as a report names them: {"oneDNN", "2.6.3"}, …
  struct Component {
    std::string name;
    std::string version;
  };
  [[nodiscard]] virtual std::vector<Component> components() const = 0;

  /// Most devices that one run can have (one core or one GPU each). 0 when there are none.
  [[nodiscard]] virtual int device_limit() const = 0;

  /// One line for people: what was found ("2 cores: 0,1 …"), or why nothing was and what would mend
  /// it.
  [[nodiscard]] virtual std::string description() const = 0;

  /// Opens devices for one run. `indices` are the numbers behind the colon, distinct and sorted as
  /// the user gave them; `spare_for_copies` asks to leave a core or engine to copy lanes if there
  /// are enough. Throws UsageError when there are not so many.
  [[nodiscard]] virtual std::vector<std::unique_ptr<Device>> open(const std::vector<int>& indices,
                                                                  bool spare_for_copies) = 0;
};

/// Made once in `main` and passed by reference.
class Machine {
 public:
  Machine();  // looks for what this build contains
  explicit Machine(std::vector<std::unique_ptr<Backend>> backends)
      : backends_(std::move(backends)) {}

  [[nodiscard]] const std::vector<std::unique_ptr<Backend>>& backends() const { return backends_; }
  [[nodiscard]] Backend* find(std::string_view name) const;  // nullptr when not built in

  /// Backends that this build does not contain, and what would mend it.
  struct Missing {
    std::string name;
    std::string reason;
  };
  [[nodiscard]] static std::vector<Missing> missing_backends();

  /// Opens the devices of `--devices`: a count ("2": that many of the default backend) or a comma
  /// list ("cpu:0,cpu:1"). Throws UsageError that names the word, what is wrong and what there is.
  [[nodiscard]] std::vector<std::unique_ptr<Device>> open(std::string_view request,
                                                          bool spare_for_copies) const;

 private:
  std::vector<std::unique_ptr<Backend>> backends_;
};

}  // namespace parbench
