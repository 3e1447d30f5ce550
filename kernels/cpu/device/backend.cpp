// Divides the process's cores among CPU devices.
#include "kernels/cpu/device/backend.h"

#include <fmt/format.h>
#include <hwloc.h>
#include <omp.h>

#include <algorithm>
#include <oneapi/dnnl/dnnl.hpp>

#include "kernels/base/error.h"
#include "kernels/cpu/device/device.h"
#include "kernels/cpu/host/topology.h"
#include "kernels/cpu/runtime/engine.h"
#include "kernels/cpu/runtime/memory.h"
#include "kernels/cpu/runtime/waiting.h"

namespace parbench::cpu {
namespace {

std::string isa_name() {
  switch (dnnl::get_effective_cpu_isa()) {
    case dnnl::cpu_isa::sse41:
      return "SSE4.1";
    case dnnl::cpu_isa::avx:
      return "AVX";
    case dnnl::cpu_isa::avx2:
      return "AVX2";
    case dnnl::cpu_isa::avx512_core:
      return "AVX-512";
    case dnnl::cpu_isa::avx512_core_vnni:
      return "AVX-512 VNNI";
    case dnnl::cpu_isa::avx512_core_bf16:
      return "AVX-512 BF16";
    default:
      return "newest known";
  }
}

class CpuBackend final : public Backend {
 public:
  CpuBackend() : cores_(usable_cores()), model_(processor_model()) {}

  [[nodiscard]] std::string_view name() const override { return "cpu"; }

  [[nodiscard]] std::vector<Component> components() const override {
    const dnnl::version_t* dnnl = dnnl::version();
    const unsigned hwloc = hwloc_get_api_version();
    return {{"oneDNN", fmt::format("{}.{}.{}", dnnl->major, dnnl->minor, dnnl->patch)},
            {"oneDNN instruction set", isa_name()},
            {"hwloc", fmt::format("{}.{}.{}", hwloc >> 16, (hwloc >> 8) & 0xffU, hwloc & 0xffU)},
            {"OpenMP", std::to_string(_OPENMP)},
            {"OpenMP waiting", waiting_policy()}};
  }

  [[nodiscard]] int device_count() const override { return static_cast<int>(cores_.size()); }

  [[nodiscard]] std::string description() const override {
    return fmt::format("{}: {} core{} ({}), {:.1f} GiB of memory, oneDNN with {}", model_,
                       cores_.size(), cores_.size() == 1 ? "" : "s", fmt::join(cores_, ","),
                       static_cast<double>(total_memory()) / (1U << 30U), isa_name());
  }

  [[nodiscard]] std::string lacks(NumberFormat format) const override {
    return lacking_arithmetic(format);
  }

  [[nodiscard]] std::vector<std::unique_ptr<Device>> open(const std::vector<DeviceNumber>& numbers,
                                                          const DeviceOptions& options) override {
    int parts = 0;
    for (const DeviceNumber& number : numbers) {
      if (number.partition) {
        throw UsageError(fmt::format(
            "--devices: cpu:{} does not exist: cores are divided among cpu:0, cpu:1 and so on",
            to_string(number)));
      }
      parts = std::max(parts, number.device + 1);
    }
    const int count = device_count();
    if (parts > count) {
      throw UsageError(fmt::format(
          "--devices: cpu:{} does not exist; this process may use {} core{}, so cpu:0 to cpu:{}",
          parts - 1, count, count == 1 ? "" : "s", count - 1));
    }
    const int spare = options.spare_for_copies && count > parts ? 1 : 0;
    const std::ptrdiff_t width = (count - spare) / parts;
    std::vector<std::unique_ptr<Device>> devices;
    for (const auto& [index, partition] : numbers) {
      const auto first = cores_.begin() + index * width;
      const std::vector<int> own(first, first + width);
      // Cores that no device computes on serve the copies of all.
      const std::vector<int> left(cores_.begin() + parts * width, cores_.end());
      devices.push_back(
          std::make_unique<CpuDevice>(DeviceInfo{.name = fmt::format("cpu:{}", index),
                                                 .backend = "cpu",
                                                 .model = model_,
                                                 .hardware = model_,
                                                 .cores = own,
                                                 .copy_cores = left.empty() ? own : left,
                                                 .memory_bytes = total_memory(),
                                                 .host_memory = true},
                                      local_cores(own)));
    }
    return devices;
  }

 private:
  std::vector<int> cores_;
  std::string model_;
};

}  // namespace

std::unique_ptr<Backend> make_backend() { return std::make_unique<CpuBackend>(); }

}  // namespace parbench::cpu
