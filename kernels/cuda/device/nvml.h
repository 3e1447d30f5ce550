// The driver's management library (NVML): clocks, temperature, power, throttling and links of GPUs.
// It is loaded at run time, because it comes with the driver and the program starts without it.
#pragma once

#include <nvml.h>

#include <memory>
#include <optional>
#include <string>

#include "kernels/core/condition.h"
#include "kernels/cuda/runtime/dynamic_library.h"

namespace parbench::cuda {

/// Functions of the library; null for functions that its version lacks.
struct NvmlFunctions {
  decltype(&nvmlInit_v2) init = nullptr;
  decltype(&nvmlShutdown) shutdown = nullptr;
  decltype(&nvmlErrorString) error_string = nullptr;
  decltype(&nvmlSystemGetDriverVersion) driver_version = nullptr;
  decltype(&nvmlDeviceGetHandleByPciBusId_v2) handle = nullptr;

  decltype(&nvmlDeviceGetClockInfo) clock = nullptr;
  decltype(&nvmlDeviceGetMaxClockInfo) max_clock = nullptr;
  decltype(&nvmlDeviceGetTemperatureV) temperature = nullptr;
  /// nvmlDeviceGetTemperature, for drivers without the newer function; it is deprecated, so its
  /// name is not used here.
  nvmlReturn_t (*old_temperature)(nvmlDevice_t, nvmlTemperatureSensors_t, unsigned int*) = nullptr;
  decltype(&nvmlDeviceGetPowerUsage) power = nullptr;
  // or nvmlDeviceGetCurrentClocksThrottleReasons, the name before CUDA 12.2
  decltype(&nvmlDeviceGetCurrentClocksEventReasons) reasons = nullptr;
  decltype(&nvmlDeviceGetFieldValues) field_values = nullptr;

  decltype(&nvmlDeviceGetMaxPcieLinkGeneration) pcie_generation = nullptr;
  decltype(&nvmlDeviceGetMaxPcieLinkWidth) pcie_width = nullptr;
  decltype(&nvmlDeviceGetTopologyCommonAncestor) common_ancestor = nullptr;
  decltype(&nvmlDeviceGetNvLinkState) nvlink_state = nullptr;
  decltype(&nvmlDeviceGetNvLinkVersion) nvlink_version = nullptr;
  decltype(&nvmlDeviceGetNvLinkRemotePciInfo_v2) nvlink_remote = nullptr;
  decltype(&nvmlDeviceGetP2PStatus) peer_status = nullptr;
};

/// Maximum generation and number of lanes that a GPU and its slot support. An idle link runs at a
/// lower generation.
struct PcieLink {
  unsigned int generation = 0;
  unsigned int width = 0;
};

/// The active NVLinks from one GPU to another, directly or through a switch.
struct NvLinks {
  int count = 0;
  unsigned int version = 0;  // an nvmlNvlinkVersion_t
};

class Nvml;

/// One GPU. Values that the library does not report are absent; nothing throws.
class NvmlGpu {
 public:
  NvmlGpu(std::shared_ptr<const Nvml> nvml, nvmlDevice_t handle);

  /// Returns the condition, with the clock of the multiprocessors. Throttle counters are the
  /// milliseconds during which a limit has lowered the clock.
  [[nodiscard]] Condition condition() const;

  [[nodiscard]] std::optional<PcieLink> pcie_link() const;
  [[nodiscard]] std::optional<nvmlGpuTopologyLevel_t> common_ancestor(const NvmlGpu& other) const;
  /// Returns the NVLinks to another GPU. `bus_id`: bus address of that GPU.
  [[nodiscard]] NvLinks nvlinks_to(const NvmlGpu& other, const std::string& bus_id) const;

 private:
  std::shared_ptr<const Nvml> nvml_;
  nvmlDevice_t handle_;
};

/// The loaded library, initialised during the lifetime of this object.
class Nvml : public std::enable_shared_from_this<Nvml> {
 public:
  /// Never throws and never returns null: without the library, `absence` is the reason.
  [[nodiscard]] static std::shared_ptr<const Nvml> load(
      const std::string& library = "libnvidia-ml.so.1");
  ~Nvml();
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  /// Returns why the library cannot be used; empty if it can.
  [[nodiscard]] const std::string& absence() const { return absence_; }
  /// Returns the driver's version, such as "580.82.07"; nothing if it is unknown.
  [[nodiscard]] std::optional<std::string> driver_version() const;
  /// Returns a GPU by its bus address ("0000:17:00.0"), because indices differ from those of the
  /// CUDA runtime (CUDA_VISIBLE_DEVICES, order by speed). Nothing if the library does not know it.
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
