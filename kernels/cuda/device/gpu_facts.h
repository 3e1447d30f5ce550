// Facts about a GPU and its links to others, for reports.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kernels/cuda/device/gpu_part.h"
#include "kernels/cuda/device/nvml.h"

namespace parbench::cuda {

struct GpuDescription {
  int compute_major = 0;
  int compute_minor = 0;
  int multiprocessors = 0;
  int own_multiprocessors = 0;  // multiprocessors of the device, which may be a part of the GPU
  int memory_kilohertz = 0;     // 0 if unknown, as for the next two members
  int memory_bus_bits = 0;
  std::size_t l2_bytes = 0;
  bool ecc = false;
  std::string bus_id;
  std::optional<PcieLink> pcie = {};
  std::string without_sensors;  // why clocks are not read; empty if they are
};

/// Returns the number of multiprocessors of a whole GPU. Throws if the runtime fails.
[[nodiscard]] int multiprocessors_of(int ordinal);
/// Returns 10 · major + minor, 90 for Hopper. Throws if the runtime fails.
[[nodiscard]] int compute_capability_of(int ordinal);

/// Queries the runtime and NVML. `part`: null for the whole GPU.
[[nodiscard]] GpuDescription describe(int ordinal, const GpuPart* part, const Nvml& nvml,
                                      const std::optional<NvmlGpu>& sensors);

/// Returns facts by name, for DeviceInfo; unknown facts are omitted. The bandwidth is the peak of
/// memory that transfers data twice per clock: 2 · clock · width, as in NVIDIA's deviceQuery
/// sample.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> facts_of(const GpuDescription& gpu);

/// Returns DeviceInfo::hardware of a GPU with that model name, or of a part of it: "NVIDIA H200",
/// "NVIDIA H200, 64 of 132 multiprocessors". The number is included because the choice of kernels,
/// and times, depend on it.
[[nodiscard]] std::string hardware_of(const std::string& model, const GpuDescription& gpu);

/// Returns the bus address of a GPU, such as "0000:17:00.0"; empty if the runtime fails.
[[nodiscard]] std::string bus_id_of(int ordinal);

/// Returns whether GPU `from` can access the memory of GPU `to`; nothing if the runtime fails.
[[nodiscard]] std::optional<bool> has_peer_access(int from, int to);

/// Facts about the link between two GPUs, as far as they are known.
struct GpuPair {
  NvLinks nvlinks = {};
  std::optional<nvmlGpuTopologyLevel_t> common_ancestor = {};
  std::optional<bool> peer_access = {};
};
/// Returns a text such as "NVLink 4.0 × 18, peer access" or "PCIe, within a NUMA node, no peer
/// access".
[[nodiscard]] std::string link_text(const GpuPair& pair);

/// Returns generation and lanes, such as "PCIe 5 × 16"; "PCIe" if they are unknown.
[[nodiscard]] std::string host_link_text(const std::optional<PcieLink>& link);

}  // namespace parbench::cuda
