// Finds GPUs, or the reason why there are none, and opens them as a whole or in parts.
#include "kernels/cuda/device/backend.h"

#include <cublasLt.h>
#include <cuda_profiler_api.h>
#include <cuda_runtime_api.h>
#include <cudnn.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "kernels/base/error.h"
#include "kernels/cuda/activity/activity_trace.h"
#include "kernels/cuda/collectives/nccl.h"
#include "kernels/cuda/cudnn/cudnn_graph.h"
#include "kernels/cuda/device/device.h"
#include "kernels/cuda/device/gpu_facts.h"
#include "kernels/cuda/device/gpu_part.h"
#include "kernels/cuda/device/nvml.h"
#include "kernels/cuda/device/peers.h"
#include "kernels/cuda/runtime/error.h"
#include "kernels/cuda/tuning/tuning.h"

namespace parbench::cuda {
namespace {

/// Returns "13.0" for the runtime's 13000.
std::string cuda_version(int number) {
  return fmt::format("{}.{}", number / 1000, number % 1000 / 10);
}

/// Returns "9.19.0" for cuDNN's 91900 and "13.1.0" for cuBLAS's 130100.
std::string library_version(std::size_t number) {
  return fmt::format("{}.{}.{}", number / 10000, number / 100 % 100, number % 100);
}

/// Returns NCCL's version, or a note that collectives run without it. The loader's message is in
/// the details, because it is too long for the header of tables.
Backend::Component nccl_component(const Nccl& nccl) {
  if (nccl.absence().empty()) return {"NCCL", nccl.version()};
  return {"NCCL", "none (install 2.13 or newer)", nccl.absence()};
}

/// Returns the latest version of CUDA that the driver supports; nothing without a driver.
std::optional<int> driver_version() {
  int version = 0;
  if (cudaDriverGetVersion(&version) != cudaSuccess || version == 0) return std::nullopt;
  return version;
}

std::string connections() {
  const char* value = std::getenv("CUDA_DEVICE_MAX_CONNECTIONS");
  return value != nullptr ? value : "default";
}

int runtime_version() {
  int version = 0;
  (void)cudaRuntimeGetVersion(&version);
  return version;
}

/// Returns why there are no GPUs, and the remedy.
std::string absence_text(cudaError_t status) {
  const auto driver = driver_version();
  if (!driver) {
    return "no NVIDIA driver on this machine; install one, or start a container with access to "
           "GPUs";
  }
  if (status == cudaErrorInsufficientDriver) {
    return fmt::format("the driver is for CUDA {}, this build needs {}; update the driver",
                       cuda_version(*driver), cuda_version(runtime_version()));
  }
  if (status == cudaErrorNoDevice || status == cudaSuccess) {
    return "the driver finds no GPU; is one visible to this process (CUDA_VISIBLE_DEVICES)?";
  }
  return fmt::format("the driver does not start: {}; run `nvidia-smi`", text_of(status));
}

cudaDeviceProp properties_of(int ordinal) {
  cudaDeviceProp properties{};
  PARBENCH_CUDA(cudaGetDeviceProperties(&properties, ordinal));
  return properties;
}

class CudaBackend final : public Backend {
 public:
  explicit CudaBackend(LoadNvml load_nvml) : load_nvml_(std::move(load_nvml)) {
    const cudaError_t status = cudaGetDeviceCount(&count_);
    if (status != cudaSuccess) {
      (void)cudaGetLastError();
      count_ = 0;
    }
    if (count_ == 0) absence_ = absence_text(status);
  }

  [[nodiscard]] std::string_view name() const override { return "cuda"; }
  [[nodiscard]] std::vector<Component> components() const override;
  [[nodiscard]] int device_count() const override { return count_; }
  [[nodiscard]] int device_limit() const override;
  [[nodiscard]] std::vector<DeviceNumber> choose(int count) const override;
  [[nodiscard]] std::vector<std::string> units() const override;
  [[nodiscard]] int max_parts(int device) const override { return max_parts_of(device); }
  [[nodiscard]] std::string description() const override;
  [[nodiscard]] bool can_autotune() const override { return true; }
  [[nodiscard]] bool can_round_gradients() const override { return true; }
  void profile(bool on) override;
  [[nodiscard]] std::vector<std::unique_ptr<Device>> open(const std::vector<DeviceNumber>& numbers,
                                                          const DeviceOptions& options) override;
  [[nodiscard]] std::unique_ptr<Device> open_whole(const std::vector<DeviceNumber>& numbers,
                                                   const DeviceOptions& options) override;

 private:
  /// Returns the management library. Loads it at the first call, because most commands do not need
  /// it.
  [[nodiscard]] const Nvml& nvml() const {
    if (!nvml_) nvml_ = load_nvml_();
    return *nvml_;
  }
  [[nodiscard]] const std::shared_ptr<const Nccl>& nccl() const {
    if (!nccl_) nccl_ = Nccl::load();
    return nccl_;
  }

  int count_ = 0;
  std::string absence_;
  LoadNvml load_nvml_;
  mutable std::shared_ptr<const Nvml> nvml_;
  mutable std::shared_ptr<const Nccl> nccl_;
  std::shared_ptr<ActivityTrace> trace_ = std::make_shared<ActivityTrace>();
};

std::vector<Backend::Component> CudaBackend::components() const {
  const auto driver = driver_version();
  std::vector<Component> known{{"CUDA", cuda_version(runtime_version())},
                               {"CUDA of the driver", driver ? cuda_version(*driver) : "no driver"},
                               {"CUDA connections", connections()},
                               {"cuDNN", library_version(cudnnGetVersion())},
                               {"cuBLAS", library_version(cublasLtGetVersion())},
                               nccl_component(*nccl())};
  if (const auto version = nvml().driver_version()) known.push_back({"NVIDIA driver", *version});
  return known;
}

/// Returns the maximum argument of `choose`: the number of GPUs, or of the parts of a single GPU.
int CudaBackend::device_limit() const { return count_ == 1 ? max_parts_of(0) : count_; }

std::vector<DeviceNumber> CudaBackend::choose(int count) const {
  if (count <= count_) return Backend::choose(count);
  std::vector<DeviceNumber> numbers;
  for (int part = 0; part < count; ++part) numbers.push_back({.device = 0, .part = part});
  return numbers;
}

/// Returns "GPU-6fd1e2a8-…", the name of the GPU for nvidia-smi and CUDA_VISIBLE_DEVICES.
std::string unit_of(const cudaDeviceProp& gpu) {
  std::string digits;
  for (const char byte : gpu.uuid.bytes) {
    digits += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  }
  for (const std::size_t index : {20, 16, 12, 8}) digits.insert(index, "-");
  return "GPU-" + digits;
}

std::vector<std::string> CudaBackend::units() const {
  std::vector<std::string> units;
  for (int i = 0; i < count_; ++i) units.push_back(unit_of(properties_of(i)));
  return units;
}

std::string CudaBackend::description() const {
  if (count_ == 0) return absence_;
  std::vector<std::string> names;
  for (int i = 0; i < count_; ++i) {
    const cudaDeviceProp gpu = properties_of(i);
    names.push_back(fmt::format("{} (compute capability {}.{}, {} multiprocessors, {:.0f} GiB)",
                                gpu.name, gpu.major, gpu.minor, gpu.multiProcessorCount,
                                static_cast<double>(gpu.totalGlobalMem) / (1U << 30U)));
  }
  return fmt::format("{} GPU{}: {}", count_, count_ == 1 ? "" : "s", fmt::join(names, ", "));
}

void CudaBackend::profile(bool on) {
  if (count_ > 0) PARBENCH_CUDA(on ? cudaProfilerStart() : cudaProfilerStop());
}

/// Returns the number of parts into which each requested GPU is divided, at least `min_parts`; 0
/// for a GPU requested as a whole. Throws UsageError for a GPU requested both as a whole and in
/// parts.
std::map<int, int> parts_of(const std::vector<DeviceNumber>& numbers, int min_parts) {
  std::map<int, int> parts;
  for (const DeviceNumber& number : numbers) {
    const int wanted = number.part ? std::max(*number.part + 1, min_parts) : 0;
    const auto [known, is_new] = parts.try_emplace(number.device, wanted);
    if (!is_new && (wanted == 0 || known->second == 0)) {
      throw UsageError(
          fmt::format("--devices: cuda:{} is named as a whole and in parts, which share "
                      "multiprocessors; choose one of the two",
                      number.device));
    }
    known->second = std::max(known->second, wanted);
  }
  return parts;
}

DeviceInfo info_of(const DeviceNumber& number, int parts, const GpuDescription& description,
                   const DeviceOptions& options, const Nccl& nccl) {
  const cudaDeviceProp gpu = properties_of(number.device);
  DeviceInfo info{.name = options.name_prefix + "cuda:" + to_string(number),
                  .backend = "cuda",
                  .model = gpu.name,
                  .hardware = hardware_of(gpu.name, description),
                  .cores = {},
                  .copy_cores = {},
                  .memory_bytes = gpu.totalGlobalMem,
                  .rank = options.rank,
                  .staged = options.stages_messages,
                  .unit = unit_of(gpu)};
  info.facts = facts_of(description);
  // NCCL requires a whole GPU for each member.
  if (!number.part && nccl.joins_processes()) info.joined_by = "NCCL " + nccl.version();
  if (number.part) {
    info.model += fmt::format(" (part {} of {}: {} of {} multiprocessors)", *number.part + 1, parts,
                              description.own_multiprocessors, description.multiprocessors);
  }
  return info;
}

/// Version of the stored choices. Increase it if the search returns other candidates or another
/// order, because choices are stored as indices; and if a kernel of this project that is a
/// candidate (batch normalisation, patches, conversions to and from bf16) becomes faster or slower.
constexpr int search_format = 1;

/// Returns the file with choices of earlier processes on the same hardware, with the same driver,
/// libraries and search; nothing if there is no path for it.
std::optional<TuningFile> tuning_file_of(const std::string& hardware) {
  const auto path = tuning_file_path();
  if (!path) return std::nullopt;
  return TuningFile(
      *path,
      fmt::format("search {}; cudnn-frontend {}; {}; driver {}; cuDNN {}; cuBLAS {}", search_format,
                  frontend_version(), hardware, cuda_version(driver_version().value_or(0)),
                  library_version(cudnnGetVersion()), library_version(cublasLtGetVersion())));
}

std::vector<std::unique_ptr<Device>> CudaBackend::open(const std::vector<DeviceNumber>& numbers,
                                                       const DeviceOptions& options) {
  trace_->detach();  // allowed, because the devices of earlier scenarios are destroyed
  const std::map<int, int> counts = parts_of(numbers, options.min_parts);
  std::map<int, std::vector<std::unique_ptr<GpuPart>>> parts;
  for (const auto& [device, count] : counts) {
    if (count > 0) parts[device] = divide(device, count);
  }
  std::set<int> whole;
  for (const auto& [device, count] : counts) {
    if (count == 0) whole.insert(device);
  }
  const std::map<int, std::set<int>> peers = enable_peers(whole);
  std::map<std::string, std::shared_ptr<TuningChoices>> choices;  // choices by hardware
  std::vector<std::unique_ptr<Device>> devices;
  for (const DeviceNumber& number : numbers) {
    std::unique_ptr<GpuPart> part;
    if (number.part) {
      part = std::move(parts.at(number.device).at(static_cast<std::size_t>(*number.part)));
    }
    std::optional<NvmlGpu> sensors = nvml().gpu(bus_id_of(number.device));
    DeviceInfo info =
        info_of(number, counts.at(number.device),
                describe(number.device, part.get(), nvml(), sensors), options, *nccl());
    if (const auto found = peers.find(number.device); found != peers.end()) {
      for (const int peer : found->second) {
        info.peers.push_back(fmt::format("{}cuda:{}", options.name_prefix, peer));
      }
    }
    std::shared_ptr<TuningChoices> shared;
    if (options.autotune) {
      std::shared_ptr<TuningChoices>& alike = choices[info.hardware];
      if (!alike) alike = std::make_shared<TuningChoices>(tuning_file_of(info.hardware));
      shared = alike;
    }
    devices.push_back(std::make_unique<CudaDevice>(std::move(info), number.device, std::move(part),
                                                   std::move(sensors), nccl(), trace_,
                                                   std::move(shared), options.round_gradients));
  }
  return devices;
}

/// Opens the whole GPU as a device in addition to its parts `numbers`. Returns null unless these
/// are several parts of one GPU.
std::unique_ptr<Device> CudaBackend::open_whole(const std::vector<DeviceNumber>& numbers,
                                                const DeviceOptions& options) {
  const bool are_parts_of_one =
      numbers.size() > 1 && std::ranges::all_of(numbers, [&](const DeviceNumber& number) {
        return number.part && number.device == numbers.front().device;
      });
  if (!are_parts_of_one) return nullptr;
  const std::vector<DeviceNumber> whole{DeviceNumber{.device = numbers.front().device}};
  return std::move(open(whole, options).front());
}

}  // namespace

std::unique_ptr<Backend> make_backend() {
  return make_backend([] { return Nvml::load(); });
}

std::unique_ptr<Backend> make_backend(LoadNvml load_nvml) {
  // The default is 8 hardware queues, and more streams than queues wait for each other
  // unnecessarily. The variable is read when the first context is made. A value of the user is
  // kept.
  // NOLINT(concurrency-mt-unsafe): no other thread exists yet
  setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", 0);
  return std::make_unique<CudaBackend>(std::move(load_nvml));
}

}  // namespace parbench::cuda
