// What a report says of a GPU beside its name, and of what joins it with others.
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
  int own_multiprocessors = 0;  // fewer in a part
  int memory_kilohertz = 0;     // 0: not known, here and below
  int memory_bus_bits = 0;
  std::size_t l2_bytes = 0;
  bool ecc = false;
  std::string bus_id;
  std::optional<PcieLink> pcie = {};
  std::string without_sensors;  // why no clocks are read; empty: they are
};

/// Returns the number of multiprocessors of a whole GPU. Throws where the runtime does not answer.
[[nodiscard]] int multiprocessors_of(int ordinal);
/// Returns 10 · major + minor, 90 for Hopper. Throws where the runtime does not answer.
[[nodiscard]] int compute_capability_of(int ordinal);

/// Asks the runtime and NVML. `part` may be null.
[[nodiscard]] GpuDescription describe(int ordinal, const GpuPart* part, const Nvml& nvml,
                                      const std::optional<NvmlGpu>& sensors);

/// By name, as DeviceInfo has them; what is not known is left out. The bandwidth is the peak of
/// memory that moves data twice a clock: 2 · clock · width, as in NVIDIA's deviceQuery sample.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> facts_of(const GpuDescription& gpu);

/// DeviceInfo::hardware of a GPU of that name, or of a part of it: "NVIDIA H200", "NVIDIA H200, 64
/// of 132 multiprocessors". Kernels are planned for their number, and times follow it.
[[nodiscard]] std::string hardware_of(const std::string& model, const GpuDescription& gpu);

/// "0000:17:00.0"; empty where the runtime does not know it.
[[nodiscard]] std::string bus_id_of(int ordinal);

/// Nothing where the runtime does not know it.
[[nodiscard]] std::optional<bool> has_peer_access(int from, int to);

/// Two GPUs, as far as is known of what joins them.
struct GpuPair {
  NvLinks nvlinks = {};
  std::optional<nvmlGpuTopologyLevel_t> common_ancestor = {};
  std::optional<bool> peer_access = {};
};
/// "NVLink 4.0 × 18, peer access", "PCIe within a NUMA node, no peer access".
[[nodiscard]] std::string link_text(const GpuPair& pair);

/// "PCIe 5 × 16": generation and lanes.
[[nodiscard]] std::string host_link_text(const std::optional<PcieLink>& link);

}  // namespace parbench::cuda
