// Facts about GPUs from the runtime and NVML, formatted for reports.
#include "kernels/cuda/device/gpu_facts.h"

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <array>

#include "kernels/cuda/runtime/error.h"

namespace parbench::cuda {
namespace {

/// Returns whether a query for a report succeeded; its failure does not stop the program.
bool answered(cudaError_t status) {
  if (status != cudaSuccess) (void)cudaGetLastError();
  return status == cudaSuccess;
}

/// Returns an attribute of a GPU; 0 if the query fails.
int known_attribute(cudaDeviceAttr which, int ordinal) {
  int value = 0;
  return answered(cudaDeviceGetAttribute(&value, which, ordinal)) ? value : 0;
}

/// Returns the version that an nvmlNvlinkVersion_t denotes; empty if it is unknown.
std::string nvlink_version(unsigned int version) {
  constexpr std::array names{"", "1.0", "2.0", "2.2", "3.0", "3.1", "4.0", "5.0"};
  return version < names.size() ? names[version] : "";
}

std::string path_text(nvmlGpuTopologyLevel_t ancestor) {
  switch (ancestor) {
    case NVML_TOPOLOGY_INTERNAL:
      return "one board";
    case NVML_TOPOLOGY_SINGLE:
      return "PCIe, one switch";
    case NVML_TOPOLOGY_MULTIPLE:
      return "PCIe, several switches";
    case NVML_TOPOLOGY_HOSTBRIDGE:
      return "PCIe, one host bridge";
    case NVML_TOPOLOGY_NODE:
      return "PCIe, within a NUMA node";
    case NVML_TOPOLOGY_SYSTEM:
      return "PCIe, across NUMA nodes";
  }
  return "PCIe";
}

std::string nvlink_text(const NvLinks& links) {
  const std::string version = nvlink_version(links.version);
  return fmt::format("NVLink{}{} × {}", version.empty() ? "" : " ", version, links.count);
}

std::string sensors_missing(const Nvml& nvml, const std::optional<NvmlGpu>& sensors) {
  if (sensors) return {};
  return nvml.absence().empty() ? "NVML does not know this GPU" : nvml.absence();
}

}  // namespace

int multiprocessors_of(int ordinal) {
  int count = 0;
  PARBENCH_CUDA(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, ordinal));
  return count;
}

int compute_capability_of(int ordinal) {
  int major = 0;
  int minor = 0;
  PARBENCH_CUDA(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, ordinal));
  PARBENCH_CUDA(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, ordinal));
  return 10 * major + minor;
}

GpuDescription describe(int ordinal, const GpuPart* part, const Nvml& nvml,
                        const std::optional<NvmlGpu>& sensors) {
  const int multiprocessors = known_attribute(cudaDevAttrMultiProcessorCount, ordinal);
  return {.compute_major = known_attribute(cudaDevAttrComputeCapabilityMajor, ordinal),
          .compute_minor = known_attribute(cudaDevAttrComputeCapabilityMinor, ordinal),
          .multiprocessors = multiprocessors,
          .own_multiprocessors = part != nullptr ? part->multiprocessors() : multiprocessors,
          .memory_kilohertz = known_attribute(cudaDevAttrMemoryClockRate, ordinal),
          .memory_bus_bits = known_attribute(cudaDevAttrGlobalMemoryBusWidth, ordinal),
          .l2_bytes = static_cast<std::size_t>(known_attribute(cudaDevAttrL2CacheSize, ordinal)),
          .ecc = known_attribute(cudaDevAttrEccEnabled, ordinal) != 0,
          .bus_id = bus_id_of(ordinal),
          .pcie = sensors ? sensors->pcie_link() : std::nullopt,
          .without_sensors = sensors_missing(nvml, sensors)};
}

namespace {

bool is_whole(const GpuDescription& gpu) { return gpu.own_multiprocessors == gpu.multiprocessors; }

/// Returns "132" or "64 of 132".
std::string multiprocessors_text(const GpuDescription& gpu) {
  if (is_whole(gpu)) return fmt::format("{}", gpu.multiprocessors);
  return fmt::format("{} of {}", gpu.own_multiprocessors, gpu.multiprocessors);
}

}  // namespace

std::string hardware_of(const std::string& model, const GpuDescription& gpu) {
  if (is_whole(gpu)) return model;
  return fmt::format("{}, {} multiprocessors", model, multiprocessors_text(gpu));
}

std::vector<std::pair<std::string, std::string>> facts_of(const GpuDescription& gpu) {
  std::vector<std::pair<std::string, std::string>> facts;
  const auto add = [&](bool known, const char* name, std::string value) {
    if (known) facts.emplace_back(name, std::move(value));
  };
  const double megahertz = gpu.memory_kilohertz / 1e3;
  add(true, "compute capability", fmt::format("{}.{}", gpu.compute_major, gpu.compute_minor));
  add(true, "multiprocessors", multiprocessors_text(gpu));
  add(megahertz > 0, "memory clock", fmt::format("{:.0f} MHz", megahertz));
  add(gpu.memory_bus_bits > 0, "memory bus", fmt::format("{} bit", gpu.memory_bus_bits));
  add(megahertz > 0 && gpu.memory_bus_bits > 0, "memory bandwidth",
      fmt::format("{:.0f} GB/s", 2 * megahertz * gpu.memory_bus_bits / 8 / 1e3));
  add(gpu.l2_bytes > 0, "L2 cache",
      fmt::format("{:.0f} MiB", static_cast<double>(gpu.l2_bytes) / (1U << 20U)));
  add(true, "ECC", gpu.ecc ? "on" : "off");
  add(!gpu.bus_id.empty(), "PCI bus", gpu.bus_id);
  add(gpu.pcie.has_value(), "host link", host_link_text(gpu.pcie));
  add(!gpu.without_sensors.empty(), "clocks and throttling", "not read: " + gpu.without_sensors);
  return facts;
}

std::string bus_id_of(int ordinal) {
  std::array<char, NVML_DEVICE_PCI_BUS_ID_BUFFER_SIZE> text{};
  const auto size = static_cast<int>(text.size());
  return answered(cudaDeviceGetPCIBusId(text.data(), size, ordinal)) ? text.data() : "";
}

std::optional<bool> has_peer_access(int from, int to) {
  int value = 0;
  const bool known =
      answered(cudaDeviceGetP2PAttribute(&value, cudaDevP2PAttrAccessSupported, from, to));
  return known ? std::optional(value != 0) : std::nullopt;
}

std::string link_text(const GpuPair& pair) {
  std::string text = "PCIe";
  if (pair.common_ancestor) text = path_text(*pair.common_ancestor);
  if (pair.nvlinks.count > 0) text = nvlink_text(pair.nvlinks);
  if (pair.peer_access) text += *pair.peer_access ? ", peer access" : ", no peer access";
  return text;
}

std::string host_link_text(const std::optional<PcieLink>& link) {
  return link ? fmt::format("PCIe {} × {}", link->generation, link->width) : "PCIe";
}

}  // namespace parbench::cuda
