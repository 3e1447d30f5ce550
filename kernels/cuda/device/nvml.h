// What the driver's management library (NVML) reports of GPUs: clocks, temperature, power,
// throttling, links. It is loaded at run time, since it comes with the driver and the program
// starts without.
#pragma once

#include <nvml.h>

#include <memory>
#include <optional>
#include <string>

#include "kernels/core/condition.h"
#include "kernels/cuda/runtime/dynamic_library.h"

namespace parbench::cuda {

/// The functions used here. A pointer is null where the library is too old, or too new, for it.
struct NvmlFunctions {
  decltype(&nvmlInit_v2) init = nullptr;
  decltype(&nvmlShutdown) shutdown = nullptr;
  decltype(&nvmlErrorString) error_string = nullptr;
  decltype(&nvmlSystemGetDriverVersion) driver_version = nullptr;
  decltype(&nvmlDeviceGetHandleByPciBusId_v2) handle = nullptr;

  decltype(&nvmlDeviceGetClockInfo) clock = nullptr;
  decltype(&nvmlDeviceGetMaxClockInfo) max_clock = nullptr;
  decltype(&nvmlDeviceGetTemperatureV) temperature = nullptr;
  /// nvmlDeviceGetTemperature, for drivers that lack the other; deprecated, so not named here.
  nvmlReturn_t (*old_temperature)(nvmlDevice_t, nvmlTemperatureSensors_t, unsigned int*) = nullptr;
  decltype(&nvmlDeviceGetPowerUsage) power = nullptr;
  decltype(&nvmlDeviceGetCurrentClocksEventReasons) reasons = nullptr;  // or its older name
  decltype(&nvmlDeviceGetFieldValues) field_values = nullptr;

  decltype(&nvmlDeviceGetMaxPcieLinkGeneration) pcie_generation = nullptr;
  decltype(&nvmlDeviceGetMaxPcieLinkWidth) pcie_width = nullptr;
  decltype(&nvmlDeviceGetTopologyCommonAncestor) common_ancestor = nullptr;
  decltype(&nvmlDeviceGetNvLinkState) nvlink_state = nullptr;
  decltype(&nvmlDeviceGetNvLinkVersion) nvlink_version = nullptr;
  decltype(&nvmlDeviceGetNvLinkRemotePciInfo_v2) nvlink_remote = nullptr;
  decltype(&nvmlDeviceGetP2PStatus) peer_status = nullptr;
};

/// The best that a GPU and its slot can do; a resting link is slower.
struct PcieLink {
  unsigned int generation = 0;
  unsigned int width = 0;
};

/// The active links of one GPU that lead to another, by way of a switch or not.
struct NvLinks {
  int count = 0;
  unsigned int version = 0;  // an nvmlNvlinkVersion_t
};

class Nvml;

/// One GPU. What the library does not report is left out, and nothing throws.
class NvmlGpu {
 public:
  NvmlGpu(std::shared_ptr<const Nvml> nvml, nvmlDevice_t handle);

  /// The clock is that of the multiprocessors. Counters are milliseconds under the throttle.
  [[nodiscard]] Condition condition() const;

  [[nodiscard]] std::optional<PcieLink> pcie_link() const;
  [[nodiscard]] std::optional<nvmlGpuTopologyLevel_t> common_ancestor(const NvmlGpu& other) const;
  /// `bus_id`: of the other GPU.
  [[nodiscard]] NvLinks nvlinks_to(const NvmlGpu& other, const std::string& bus_id) const;

 private:
  std::shared_ptr<const Nvml> nvml_;
  nvmlDevice_t handle_;
};

/// The loaded library, initialised until it goes.
class Nvml : public std::enable_shared_from_this<Nvml> {
 public:
  /// Never throws and never returns null: without the library there is a reason.
  [[nodiscard]] static std::shared_ptr<const Nvml> load(
      const std::string& library = "libnvidia-ml.so.1");
  ~Nvml();
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  /// Why nothing can be asked; empty when everything can.
  [[nodiscard]] const std::string& absence() const { return absence_; }
  /// "580.82.07".
  [[nodiscard]] std::optional<std::string> driver_version() const;
  /// By its address on the bus ("0000:17:00.0"), for indices differ from those of the CUDA runtime
  /// (CUDA_VISIBLE_DEVICES, order by speed). Nothing for one that the library does not know.
  [[nodiscard]] std::optional<NvmlGpu> gpu(const std::string& bus_id) const;
  [[nodiscard]] const NvmlFunctions& functions() const { return functions_; }

 private:
  explicit Nvml(const std::string& library);
  [[nodiscard]] std::string find_absence(const std::string& library);

  DynamicLibrary library_;
  NvmlFunctions functions_;
  std::string absence_;
};

}  // namespace parbench::cuda
