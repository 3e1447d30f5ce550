// Divides the process's cores among CPU devices.
#include "kernels/cpu/device/backend.h"

#include <fmt/format.h>
#include <hwloc.h>
#include <omp.h>

#include <algorithm>
#include <oneapi/dnnl/dnnl.hpp>
#include <set>
#include <utility>

#include "kernels/base/cpu_quota.h"
#include "kernels/base/error.h"
#include "kernels/cpu/device/device.h"
#include "kernels/cpu/host/topology.h"
#include "kernels/cpu/runtime/engine.h"
#include "kernels/cpu/runtime/instruction_sets.h"
#include "kernels/cpu/runtime/memory.h"
#include "kernels/cpu/runtime/waiting.h"

namespace parbench::cpu {
namespace {

/// Returns this process's share of the cores. With fewer cores than shares, share i is core i
/// modulo the number of cores.
std::vector<int> share_of_cores(const std::vector<int>& cores, const CoreShare& share) {
  const int count = static_cast<int>(cores.size());
  if (share.count > count) return {cores[static_cast<std::size_t>(share.index % count)]};
  return {cores.begin() + share.index * count / share.count,
          cores.begin() + (share.index + 1) * count / share.count};
}

/// Returns the instruction set and the variable that limits it: "AVX2 (DNNL_MAX_CPU_ISA=AVX2)".
std::string instruction_set_and_limit() {
  const std::string limit = instruction_set_limit();
  return limit.empty() ? used_instruction_set()
                       : fmt::format("{} ({})", used_instruction_set(), limit);
}

class CpuBackend final : public Backend {
 public:
  CpuBackend() : cores_(usable_cores()), model_(processor_model()) {
    (void)wanted_layout();  // throws for an invalid value, before anything is planned
  }

  [[nodiscard]] std::string_view name() const override { return "cpu"; }

  [[nodiscard]] std::vector<Component> components() const override {
    const dnnl::version_t* dnnl = dnnl::version();
    const unsigned hwloc = hwloc_get_api_version();
    return {{"oneDNN", fmt::format("{}.{}.{}", dnnl->major, dnnl->minor, dnnl->patch)},
            {"oneDNN instruction set", used_instruction_set()},
            {"hwloc", fmt::format("{}.{}.{}", hwloc >> 16, (hwloc >> 8) & 0xffU, hwloc & 0xffU)},
            {"OpenMP", std::to_string(_OPENMP)},
            {"OpenMP waiting", waiting_policy()}};
  }

  [[nodiscard]] int device_count() const override { return static_cast<int>(cores_.size()); }

  [[nodiscard]] std::string description() const override {
    const auto quota = CpuQuota().limit(cores_.size());
    return fmt::format("{}: {} core{} ({}){}, {:.1f} GiB of memory, oneDNN with {}", model_,
                       cores_.size(), cores_.size() == 1 ? "" : "s", fmt::join(cores_, ","),
                       quota ? fmt::format(" with a CPU quota of {:.3g} cores", *quota) : "",
                       static_cast<double>(total_memory()) / (1U << 30U),
                       instruction_set_and_limit());
  }

  [[nodiscard]] std::string lacks(NumberFormat format) const override {
    return lacking_arithmetic(format);
  }

  [[nodiscard]] bool can_oversubscribe() const override { return true; }

  [[nodiscard]] std::vector<std::unique_ptr<Device>> open(const std::vector<DeviceNumber>& numbers,
                                                          const DeviceOptions& options) override {
    std::vector<std::unique_ptr<Device>> devices;
    for (DeviceCores& one : divided_cores(numbers, options)) {
      devices.push_back(make_device(fmt::format("cpu:{}", one.number), std::move(one.own),
                                    std::move(one.for_copies), options));
    }
    return devices;
  }

  [[nodiscard]] std::unique_ptr<Device> open_whole(const std::vector<DeviceNumber>& numbers,
                                                   const DeviceOptions& options) override {
    std::vector<int> all;
    for (const DeviceCores& one : divided_cores(numbers, options)) {
      all.insert(all.end(), one.own.begin(), one.own.end());
    }
    const std::set<int> different(all.begin(), all.end());
    if (numbers.size() < 2 || different.size() < all.size()) return nullptr;
    return make_device("cpu:all", all, all, options);
  }

 private:
  /// The cores of a device, and the cores for its copies.
  struct DeviceCores {
    int number = 0;
    std::vector<int> own;
    std::vector<int> for_copies;
  };

  /// Divides the process's cores among devices. Throws UsageError for nonexistent devices.
  [[nodiscard]] std::vector<DeviceCores> divided_cores(const std::vector<DeviceNumber>& numbers,
                                                       const DeviceOptions& options) const {
    int parts = 0;
    for (const DeviceNumber& number : numbers) {
      if (number.part) {
        throw UsageError(fmt::format(
            "--devices: cpu:{} does not exist: cores are divided among cpu:0, cpu:1 and so on",
            to_string(number)));
      }
      parts = std::max(parts, number.device + 1);
    }
    const std::vector<int> cores = share_of_cores(cores_, options.core_share);
    const int count = static_cast<int>(cores.size());
    const bool share = options.oversubscribe && parts > count;
    if (parts > count && !share) {
      throw UsageError(fmt::format(
          "--devices: cpu:{} does not exist; this process may use {} core{}, so cpu:0 to cpu:{}",
          parts - 1, count, count == 1 ? "" : "s", count - 1));
    }
    const int spare = options.spare_for_copies && count > parts ? 1 : 0;
    const std::ptrdiff_t width = share ? 1 : (count - spare) / parts;
    std::vector<DeviceCores> devices;
    for (const auto& [index, part] : numbers) {
      const auto first = cores.begin() + (share ? index % count : index * width);
      const std::vector<int> own(first, first + width);
      // The cores without a device execute the copies of all devices. If there are none, each
      // device executes its own copies.
      const auto after = share ? cores.end() : cores.begin() + parts * width;
      const std::vector<int> left(after, cores.end());
      devices.push_back({index, own, left.empty() ? own : left});
    }
    return devices;
  }

  [[nodiscard]] std::unique_ptr<Device> make_device(const std::string& name, std::vector<int> cores,
                                                    std::vector<int> copy_cores,
                                                    const DeviceOptions& options) const {
    std::vector<int> local = local_cores(cores);
    return std::make_unique<CpuDevice>(DeviceInfo{.name = options.name_prefix + name,
                                                  .backend = "cpu",
                                                  .model = model_,
                                                  .hardware = model_,
                                                  .cores = std::move(cores),
                                                  .copy_cores = std::move(copy_cores),
                                                  .memory_bytes = total_memory(),
                                                  .host_memory = true,
                                                  .rank = options.rank},
                                       std::move(local));
  }

  std::vector<int> cores_;
  std::string model_;
};

}  // namespace

std::unique_ptr<Backend> make_backend() { return std::make_unique<CpuBackend>(); }

}  // namespace parbench::cpu
