// What the stand-in of NVIDIA's management library answers, set by tests through its symbol
// `nvml_script`.
#pragma once

#include <nvml.h>

namespace parbench::test {

template <typename Value>
struct Scripted {
  Value value{};
  nvmlReturn_t status = NVML_SUCCESS;
};

/// A counter of nanoseconds under a throttle.
struct ScriptedField {
  unsigned int id = 0;
  Scripted<unsigned long long> nanoseconds;
};

/// Answers for a device, and `nvml_script`, for all.
struct NvmlScript {
  /// The script of the device with this id, null for none, and that of `one` towards another one,
  /// where devices have scripts of their own.
  NvmlScript* (*find)(const char* bus_id) = nullptr;
  NvmlScript (*towards)(const NvmlScript& one, const NvmlScript& other) = nullptr;

  nvmlReturn_t init = NVML_SUCCESS;
  const char* driver_version = "580.82.07";
  int running = 0;  // nvmlInit_v2 without their nvmlShutdown
  const char* bus_id = "0000:17:00.0";
  unsigned int own_bus = 0x17;
  Scripted<unsigned int> clock{1980};
  Scripted<unsigned int> max_clock{1980};
  Scripted<int> temperature{41};
  Scripted<unsigned int> milliwatts{320500};
  Scripted<unsigned long long> reasons;
  ScriptedField field;  // the only one that is supported
  Scripted<unsigned int> pcie_generation{5};
  Scripted<unsigned int> pcie_width{16};
  Scripted<nvmlGpuTopologyLevel_t> common_ancestor{NVML_TOPOLOGY_NODE};
  Scripted<nvmlGpuP2PStatus_t> nvlink_peer{NVML_P2P_STATUS_NOT_SUPPORTED};
  unsigned int links = 0;         // active ones
  unsigned int direct_links = 0;  // of them, those that end at `bus`; the others at a switch
  unsigned int bus = 0x3a;
};

}  // namespace parbench::test
