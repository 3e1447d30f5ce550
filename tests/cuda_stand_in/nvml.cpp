// NVML: sensors of devices, and the links between them by PARBENCH_STAND_IN_TOPOLOGY.
#include <nvml.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "tests/cuda_stand_in/libraries.h"
#include "tests/cuda_stand_in/objects.h"

namespace parbench::stand_in {
namespace {

constexpr unsigned int switch_bus = 0xC0;  // no device's
constexpr unsigned int first_bus = 1;      // device 0's, as cudaDeviceGetPCIBusId has it

struct Topology {
  std::string_view name;
  unsigned int links;            // NVLinks of a device, to its neighbour or to a switch
  bool by_switch;                // NVLinks connect all devices
  nvmlGpuTopologyLevel_t pair;   // PCIe within a pair of neighbours (0 and 1, 2 and 3)
  nvmlGpuTopologyLevel_t other;  // and between pairs
  bool pair_access;
  bool other_access;
};
constexpr Topology topologies[] = {
    {"nvlink-switch", 18, true, NVML_TOPOLOGY_NODE, NVML_TOPOLOGY_SYSTEM, true, true},
    {"nvlink-pairs", 4, false, NVML_TOPOLOGY_HOSTBRIDGE, NVML_TOPOLOGY_SYSTEM, true, false},
    {"pcie-switches", 0, false, NVML_TOPOLOGY_SINGLE, NVML_TOPOLOGY_NODE, true, false},
    {"no-peers", 0, false, NVML_TOPOLOGY_SYSTEM, NVML_TOPOLOGY_SYSTEM, false, false}};

const Topology& topology() {
  const char* name = std::getenv("PARBENCH_STAND_IN_TOPOLOGY");
  for (const Topology& one : topologies) {
    if (name == nullptr || one.name == name) return one;
  }
  refuse("PARBENCH_STAND_IN_TOPOLOGY", std::string("no topology '") + name + "'");
}

bool are_neighbours(int one, int other) { return one / 2 == other / 2; }

int ordinal_of(nvmlDevice_t device) {
  return static_cast<int>(reinterpret_cast<std::uintptr_t>(device)) - 1;
}

bool has_links(int ordinal) {
  return topology().links > 0 && (topology().by_switch || (ordinal ^ 1) < device_count());
}

}  // namespace

bool can_access_peer(int device, int peer) {
  if (device == peer) return false;
  return are_neighbours(device, peer) ? topology().pair_access : topology().other_access;
}

Functions nvml_functions() {
#define PARBENCH_ENTRY(name) std::pair(#name, reinterpret_cast<void*>(&(name)))
  return {PARBENCH_ENTRY(nvmlInit_v2),
          PARBENCH_ENTRY(nvmlShutdown),
          PARBENCH_ENTRY(nvmlSystemGetDriverVersion),
          PARBENCH_ENTRY(nvmlDeviceGetHandleByPciBusId_v2),
          PARBENCH_ENTRY(nvmlDeviceGetClockInfo),
          PARBENCH_ENTRY(nvmlDeviceGetTemperatureV),
          PARBENCH_ENTRY(nvmlDeviceGetPowerUsage),
          PARBENCH_ENTRY(nvmlDeviceGetMaxPcieLinkGeneration),
          PARBENCH_ENTRY(nvmlDeviceGetMaxPcieLinkWidth),
          PARBENCH_ENTRY(nvmlDeviceGetTopologyCommonAncestor),
          PARBENCH_ENTRY(nvmlDeviceGetNvLinkState),
          PARBENCH_ENTRY(nvmlDeviceGetNvLinkVersion),
          PARBENCH_ENTRY(nvmlDeviceGetNvLinkRemotePciInfo_v2),
          PARBENCH_ENTRY(nvmlDeviceGetP2PStatus)};
#undef PARBENCH_ENTRY
}

}  // namespace parbench::stand_in

using namespace parbench::stand_in;  // NOLINT(google-build-using-namespace): the vendor's functions

namespace {

nvmlReturn_t answer(unsigned int* value, unsigned int known) {
  *value = known;
  return NVML_SUCCESS;
}

}  // namespace

nvmlReturn_t nvmlInit_v2() { return NVML_SUCCESS; }
nvmlReturn_t nvmlShutdown() { return NVML_SUCCESS; }

nvmlReturn_t nvmlSystemGetDriverVersion(char* version, unsigned int length) {
  std::snprintf(version, length, "stand-in");
  return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetHandleByPciBusId_v2(const char* bus_id, nvmlDevice_t* device) {
  unsigned int bus = 0;
  const bool known = std::sscanf(bus_id, "%*x:%x:", &bus) == 1 && bus >= first_bus &&
                     bus < first_bus + static_cast<unsigned int>(device_count());
  if (!known) return NVML_ERROR_NOT_FOUND;
  // NOLINTNEXTLINE(performance-no-int-to-ptr): only ordinal_of reads it
  *device = reinterpret_cast<nvmlDevice_t>(std::uintptr_t{bus - first_bus + 1});
  return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetClockInfo(nvmlDevice_t, nvmlClockType_t, unsigned int* megahertz) {
  return answer(megahertz, 1000);
}
nvmlReturn_t nvmlDeviceGetTemperatureV(nvmlDevice_t, nvmlTemperature_t* reading) {
  if (reading->version != nvmlTemperature_v1) return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
  reading->temperature = 40;
  return NVML_SUCCESS;
}
nvmlReturn_t nvmlDeviceGetPowerUsage(nvmlDevice_t, unsigned int* milliwatts) {
  return answer(milliwatts, 100'000);
}
nvmlReturn_t nvmlDeviceGetMaxPcieLinkGeneration(nvmlDevice_t, unsigned int* generation) {
  return answer(generation, 5);
}
nvmlReturn_t nvmlDeviceGetMaxPcieLinkWidth(nvmlDevice_t, unsigned int* width) {
  return answer(width, 16);
}

nvmlReturn_t nvmlDeviceGetTopologyCommonAncestor(nvmlDevice_t one, nvmlDevice_t other,
                                                 nvmlGpuTopologyLevel_t* level) {
  const bool near = are_neighbours(ordinal_of(one), ordinal_of(other));
  *level = near ? topology().pair : topology().other;
  return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetP2PStatus(nvmlDevice_t one, nvmlDevice_t other,
                                    nvmlGpuP2PCapsIndex_t index, nvmlGpuP2PStatus_t* status) {
  if (index != NVML_P2P_CAPS_INDEX_NVLINK) return NVML_ERROR_INVALID_ARGUMENT;
  const bool linked = topology().links > 0 &&
                      (topology().by_switch || are_neighbours(ordinal_of(one), ordinal_of(other)));
  *status = linked ? NVML_P2P_STATUS_OK : NVML_P2P_STATUS_NOT_SUPPORTED;
  return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetNvLinkState(nvmlDevice_t device, unsigned int link,
                                      nvmlEnableState_t* active) {
  const bool on = has_links(ordinal_of(device)) && link < topology().links;
  *active = on ? NVML_FEATURE_ENABLED : NVML_FEATURE_DISABLED;
  return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetNvLinkVersion(nvmlDevice_t, unsigned int, unsigned int* version) {
  return answer(version, NVML_NVLINK_VERSION_4_0);
}

nvmlReturn_t nvmlDeviceGetNvLinkRemotePciInfo_v2(nvmlDevice_t device, unsigned int,
                                                 nvmlPciInfo_t* pci) {
  *pci = {};
  const auto neighbour = static_cast<unsigned int>(ordinal_of(device) ^ 1);
  pci->bus = topology().by_switch ? switch_bus : first_bus + neighbour;
  return NVML_SUCCESS;
}
