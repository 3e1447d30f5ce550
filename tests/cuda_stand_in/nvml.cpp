// The script of the stand-in of NVML (tests/kernels/cuda/nvml_stand_in.cpp): devices, and the links
// between them by PARBENCH_STAND_IN_TOPOLOGY.
#include "tests/kernels/cuda/nvml_stand_in.h"

#include <cstdio>
#include <cstdlib>
#include <deque>
#include <string_view>
#include <utility>

#include "tests/cuda_stand_in/libraries.h"
#include "tests/cuda_stand_in/objects.h"

extern "C" parbench::test::NvmlScript nvml_script;

namespace parbench::stand_in {
namespace {

using test::NvmlScript;

constexpr unsigned int first_bus = 1;  // device 0's, as cudaDeviceGetPCIBusId has it

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

int ordinal_of(const NvmlScript& script) { return static_cast<int>(script.own_bus - first_bus); }

NvmlScript towards(const NvmlScript& one, const NvmlScript& other) {
  NvmlScript answers = one;
  const bool near = are_neighbours(ordinal_of(one), ordinal_of(other));
  const bool linked = topology().links > 0 && (topology().by_switch || near);
  answers.common_ancestor = {near ? topology().pair : topology().other};
  if (linked) answers.nvlink_peer = {NVML_P2P_STATUS_OK};
  return answers;
}

/// A script of its own for each call, because the topology may change.
NvmlScript* find(const char* bus_id) {
  static auto& scripts = *new std::deque<NvmlScript>;
  unsigned int bus = 0;
  const bool known = std::sscanf(bus_id, "%*x:%x:", &bus) == 1 && bus >= first_bus &&
                     std::cmp_less(bus - first_bus, device_count());
  if (!known) return nullptr;
  const unsigned int neighbour = (bus - first_bus) ^ 1U;
  const bool has_links = topology().by_switch || std::cmp_less(neighbour, device_count());
  const unsigned int links = has_links ? topology().links : 0;
  const std::lock_guard lock(state().mutex);
  NvmlScript& script = scripts.emplace_back();
  script.towards = towards;
  script.own_bus = bus;
  script.links = links;
  script.direct_links = topology().by_switch ? 0 : links;
  script.bus = first_bus + neighbour;
  return &script;
}

}  // namespace

bool can_access_peer(int device, int peer) {
  if (device == peer) return false;
  return are_neighbours(device, peer) ? topology().pair_access : topology().other_access;
}

// clang-format off
#define PARBENCH_NVML(add) \
  add(nvmlInit_v2) add(nvmlShutdown) add(nvmlSystemGetDriverVersion) \
  add(nvmlDeviceGetHandleByPciBusId_v2) add(nvmlDeviceGetClockInfo) \
  add(nvmlDeviceGetTemperatureV) add(nvmlDeviceGetPowerUsage) \
  add(nvmlDeviceGetMaxPcieLinkGeneration) add(nvmlDeviceGetMaxPcieLinkWidth) \
  add(nvmlDeviceGetTopologyCommonAncestor) add(nvmlDeviceGetNvLinkState) \
  add(nvmlDeviceGetNvLinkVersion) add(nvmlDeviceGetNvLinkRemotePciInfo_v2) \
  add(nvmlDeviceGetP2PStatus)
// clang-format on

Functions nvml_functions() {
  nvml_script.find = find;
  nvml_script.driver_version = "stand-in";
  return {PARBENCH_NVML(PARBENCH_ENTRY)};
}

}  // namespace parbench::stand_in
