// Loads and queries the management library.
#include "kernels/cuda/device/nvml.h"

#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <utility>

namespace parbench::cuda {
namespace {

NvmlFunctions look_up(const DynamicLibrary& library) {
  NvmlFunctions f;
  library.find(f.init, "nvmlInit_v2");
  library.find(f.shutdown, "nvmlShutdown");
  library.find(f.error_string, "nvmlErrorString");
  library.find(f.driver_version, "nvmlSystemGetDriverVersion");
  library.find(f.handle, "nvmlDeviceGetHandleByPciBusId_v2");
  library.find(f.clock, "nvmlDeviceGetClockInfo");
  library.find(f.max_clock, "nvmlDeviceGetMaxClockInfo");
  library.find(f.temperature, "nvmlDeviceGetTemperatureV");
  library.find(f.old_temperature, "nvmlDeviceGetTemperature");
  library.find(f.power, "nvmlDeviceGetPowerUsage");
  library.find(f.reasons, "nvmlDeviceGetCurrentClocksEventReasons");
  library.find(f.reasons, "nvmlDeviceGetCurrentClocksThrottleReasons");  // name before CUDA 12.2
  library.find(f.field_values, "nvmlDeviceGetFieldValues");
  library.find(f.pcie_generation, "nvmlDeviceGetMaxPcieLinkGeneration");
  library.find(f.pcie_width, "nvmlDeviceGetMaxPcieLinkWidth");
  library.find(f.common_ancestor, "nvmlDeviceGetTopologyCommonAncestor");
  library.find(f.nvlink_state, "nvmlDeviceGetNvLinkState");
  library.find(f.nvlink_version, "nvmlDeviceGetNvLinkVersion");
  library.find(f.nvlink_remote, "nvmlDeviceGetNvLinkRemotePciInfo_v2");
  library.find(f.peer_status, "nvmlDeviceGetP2PStatus");
  return f;
}

/// Returns the result of a query for one value; nothing if the library lacks it or the GPU does not
/// support it.
template <typename Value, typename Function, typename... Arguments>
std::optional<Value> ask(Function function, Arguments... arguments) {
  Value value{};
  if (function == nullptr || function(arguments..., &value) != NVML_SUCCESS) return std::nullopt;
  return value;
}

/// A limit that lowers the clock. Idleness, and clocks set by the user (application clocks, display
/// clocks), are not limits.
struct Throttle {
  unsigned long long bit;  // bit of nvmlClocksEventReasons in nvml.h
  unsigned int counter;    // field with the nanoseconds under this limit; 0 if there is none
  const char* name;
};
constexpr std::array throttles{
    Throttle{nvmlClocksEventReasonSwPowerCap, NVML_FI_DEV_CLOCKS_EVENT_REASON_SW_POWER_CAP,
             "power cap"},
    Throttle{nvmlClocksThrottleReasonHwSlowdown, 0, "hardware slowdown"},
    Throttle{nvmlClocksEventReasonSyncBoost, NVML_FI_DEV_CLOCKS_EVENT_REASON_SYNC_BOOST,
             "sync boost"},
    Throttle{nvmlClocksEventReasonSwThermalSlowdown,
             NVML_FI_DEV_CLOCKS_EVENT_REASON_SW_THERM_SLOWDOWN, "temperature limit"},
    Throttle{nvmlClocksThrottleReasonHwThermalSlowdown,
             NVML_FI_DEV_CLOCKS_EVENT_REASON_HW_THERM_SLOWDOWN, "hardware thermal slowdown"},
    Throttle{nvmlClocksThrottleReasonHwPowerBrakeSlowdown,
             NVML_FI_DEV_CLOCKS_EVENT_REASON_HW_POWER_BRAKE_SLOWDOWN, "power brake"},
};

std::optional<double> temperature(const NvmlFunctions& f, nvmlDevice_t gpu) {
  nvmlTemperature_t reading{};
  reading.version = nvmlTemperature_v1;
  reading.sensorType = NVML_TEMPERATURE_GPU;
  if (f.temperature != nullptr && f.temperature(gpu, &reading) == NVML_SUCCESS) {
    return reading.temperature;
  }
  return ask<unsigned int>(f.old_temperature, gpu, NVML_TEMPERATURE_GPU);
}

void read_reasons(const NvmlFunctions& f, nvmlDevice_t gpu, Condition& condition) {
  const auto reasons = ask<unsigned long long>(f.reasons, gpu);
  if (!reasons) return;
  for (const Throttle& throttle : throttles) {
    if ((*reasons & throttle.bit) != 0) condition.throttled_by.emplace_back(throttle.name);
  }
  condition.resting = (*reasons & nvmlClocksEventReasonGpuIdle) != 0;
  // A clock that the user has set is intended, so it is not compared with the full clock.
  const bool chosen = (*reasons & nvmlClocksEventReasonApplicationsClocksSetting) != 0;
  if (chosen) condition.full_clock_mhz.reset();
}

std::int64_t whole_milliseconds(const nvmlFieldValue_t& field) {
  constexpr std::int64_t nanoseconds = 1'000'000;
  const bool is_long = field.valueType == NVML_VALUE_TYPE_UNSIGNED_LONG_LONG;
  return static_cast<std::int64_t>(is_long ? field.value.ullVal : field.value.ulVal) / nanoseconds;
}

void read_counters(const NvmlFunctions& f, nvmlDevice_t gpu, Condition& condition) {
  if (f.field_values == nullptr) return;
  std::array<nvmlFieldValue_t, throttles.size()> fields{};
  std::array<const char*, throttles.size()> names{};
  std::size_t count = 0;
  for (const Throttle& throttle : throttles) {
    if (throttle.counter == 0) continue;
    names[count] = throttle.name;
    fields[count++].fieldId = throttle.counter;
  }
  if (f.field_values(gpu, static_cast<int>(count), fields.data()) != NVML_SUCCESS) return;
  for (std::size_t i = 0; i < count; ++i) {
    const nvmlFieldValue_t& field = fields[i];
    if (field.nvmlReturn != NVML_SUCCESS) continue;
    condition.throttle_counters.push_back({names[i], whole_milliseconds(field)});
  }
}

/// Returns whether two bus addresses are equal. They are compared as numbers, because their domains
/// may have different numbers of digits ("00000000:17:00.0", "0000:17:00.0").
bool is_at(const nvmlPciInfo_t& pci, const std::string& bus_id) {
  char* end = nullptr;
  const unsigned long domain = std::strtoul(bus_id.c_str(), &end, 16);
  if (*end != ':') return false;
  const unsigned long bus = std::strtoul(end + 1, &end, 16);
  if (*end != ':') return false;
  const unsigned long device = std::strtoul(end + 1, nullptr, 16);
  return pci.domain == domain && pci.bus == bus && pci.device == device;
}

std::string words_of(const NvmlFunctions& f, nvmlReturn_t status) {
  if (f.error_string == nullptr) return fmt::format("error {}", static_cast<int>(status));
  return f.error_string(status);
}

}  // namespace

// --- the library -------------------------------------------------------------------------------

std::shared_ptr<const Nvml> Nvml::load(const std::string& library) {
  return std::shared_ptr<const Nvml>(new Nvml(library));
}

Nvml::Nvml(const std::string& library) : library_(library), functions_(look_up(library_)) {
  absence_ = find_absence(library);
}

std::string Nvml::find_absence(const std::string& library) {
  if (!library_.is_loaded()) return fmt::format("NVML cannot be loaded: {}", library_.error());
  if (functions_.init == nullptr || functions_.handle == nullptr) {
    functions_ = {};
    return fmt::format("{} is too old: it lacks nvmlInit_v2; update the driver", library);
  }
  const nvmlReturn_t status = functions_.init();
  if (status == NVML_SUCCESS) return {};
  return fmt::format("NVML does not start: {}", words_of(functions_, status));
}

Nvml::~Nvml() {
  if (absence_.empty() && functions_.shutdown != nullptr) (void)functions_.shutdown();
}

std::optional<std::string> Nvml::driver_version() const {
  std::array<char, NVML_SYSTEM_DRIVER_VERSION_BUFFER_SIZE> text{};
  if (!absence_.empty() || functions_.driver_version == nullptr) return std::nullopt;
  if (functions_.driver_version(text.data(), text.size()) != NVML_SUCCESS) return std::nullopt;
  return text.data();
}

std::optional<NvmlGpu> Nvml::gpu(const std::string& bus_id) const {
  if (!absence_.empty()) return std::nullopt;
  const auto handle = ask<nvmlDevice_t>(functions_.handle, bus_id.c_str());
  if (!handle) return std::nullopt;
  return NvmlGpu(shared_from_this(), *handle);
}

// --- a GPU -------------------------------------------------------------------------------------

NvmlGpu::NvmlGpu(std::shared_ptr<const Nvml> nvml, nvmlDevice_t handle)
    : nvml_(std::move(nvml)), handle_(handle) {}

Condition NvmlGpu::condition() const {
  const NvmlFunctions& f = nvml_->functions();
  Condition condition;
  // Values that drop soonest after the end of the work are read first.
  condition.clock_mhz = ask<unsigned int>(f.clock, handle_, NVML_CLOCK_SM);
  condition.full_clock_mhz = ask<unsigned int>(f.max_clock, handle_, NVML_CLOCK_SM);
  read_reasons(f, handle_, condition);
  const auto milliwatts = ask<unsigned int>(f.power, handle_);
  if (milliwatts) condition.power_watts = *milliwatts / 1e3;
  condition.temperature_celsius = temperature(f, handle_);
  read_counters(f, handle_, condition);
  return condition;
}

std::optional<PcieLink> NvmlGpu::pcie_link() const {
  const NvmlFunctions& f = nvml_->functions();
  const auto generation = ask<unsigned int>(f.pcie_generation, handle_);
  const auto width = ask<unsigned int>(f.pcie_width, handle_);
  if (!generation || !width || *width == 0) return std::nullopt;
  return PcieLink{*generation, *width};
}

std::optional<nvmlGpuTopologyLevel_t> NvmlGpu::common_ancestor(const NvmlGpu& other) const {
  return ask<nvmlGpuTopologyLevel_t>(nvml_->functions().common_ancestor, handle_, other.handle_);
}

NvLinks NvmlGpu::nvlinks_to(const NvmlGpu& other, const std::string& bus_id) const {
  const NvmlFunctions& f = nvml_->functions();
  const auto connected =
      ask<nvmlGpuP2PStatus_t>(f.peer_status, handle_, other.handle_, NVML_P2P_CAPS_INDEX_NVLINK);
  if (connected != NVML_P2P_STATUS_OK) return {};
  NvLinks direct;
  NvLinks all;
  for (unsigned int link = 0; link < NVML_NVLINK_MAX_LINKS; ++link) {
    const auto state = ask<nvmlEnableState_t>(f.nvlink_state, handle_, link);
    if (state != NVML_FEATURE_ENABLED) continue;
    const unsigned int version = ask<unsigned int>(f.nvlink_version, handle_, link).value_or(0);
    all = {all.count + 1, version};
    const auto remote = ask<nvmlPciInfo_t>(f.nvlink_remote, handle_, link);
    if (remote && is_at(*remote, bus_id)) direct = {direct.count + 1, version};
  }
  // If no link ends at the other GPU, all links end at a switch that connects the GPUs.
  return direct.count > 0 ? direct : all;
}

}  // namespace parbench::cuda
