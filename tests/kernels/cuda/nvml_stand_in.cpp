// Stands in for libnvidia-ml.so.1 where there is no driver: the functions that the CUDA backend
// asks, with scripted answers. NVML_STAND_IN_OLD leaves out what came with newer drivers.
#include "tests/kernels/cuda/nvml_stand_in.h"

#include <cstring>
#include <string_view>

using parbench::test::NvmlScript;
using parbench::test::Scripted;

namespace {

template <typename Value, typename Answer>
nvmlReturn_t answer(const Scripted<Value>& scripted, Answer* out) {
  if (scripted.status == NVML_SUCCESS) *out = scripted.value;
  return scripted.status;
}

}  // namespace

extern "C" {

NvmlScript nvml_script;

nvmlReturn_t nvmlInit_v2() {
  if (nvml_script.init == NVML_SUCCESS) ++nvml_script.running;
  return nvml_script.init;
}

nvmlReturn_t nvmlShutdown() {
  --nvml_script.running;
  return NVML_SUCCESS;
}

const char* nvmlErrorString(nvmlReturn_t result) {
  return result == NVML_ERROR_DRIVER_NOT_LOADED ? "Driver Not Loaded" : "Unknown Error";
}

nvmlReturn_t nvmlSystemGetDriverVersion(char* version, unsigned int length) {
  constexpr std::string_view text = "580.82.07";
  if (length <= text.size()) return NVML_ERROR_INSUFFICIENT_SIZE;
  std::memcpy(version, text.data(), text.size() + 1);
  return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetHandleByPciBusId_v2(const char* bus_id, nvmlDevice_t* device) {
  if (std::string_view(bus_id) != nvml_script.bus_id) return NVML_ERROR_NOT_FOUND;
  *device = reinterpret_cast<nvmlDevice_t>(&nvml_script);
  return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetClockInfo(nvmlDevice_t, nvmlClockType_t type, unsigned int* clock) {
  return type == NVML_CLOCK_SM ? answer(nvml_script.clock, clock) : NVML_ERROR_INVALID_ARGUMENT;
}

nvmlReturn_t nvmlDeviceGetMaxClockInfo(nvmlDevice_t, nvmlClockType_t type, unsigned int* clock) {
  return type == NVML_CLOCK_SM ? answer(nvml_script.max_clock, clock) : NVML_ERROR_INVALID_ARGUMENT;
}

nvmlReturn_t nvmlDeviceGetPowerUsage(nvmlDevice_t, unsigned int* milliwatts) {
  return answer(nvml_script.milliwatts, milliwatts);
}

#ifdef NVML_STAND_IN_OLD

nvmlReturn_t nvmlDeviceGetTemperature(nvmlDevice_t, nvmlTemperatureSensors_t,
                                      unsigned int* celsius) {
  return answer(nvml_script.temperature, celsius);
}

nvmlReturn_t nvmlDeviceGetCurrentClocksThrottleReasons(nvmlDevice_t, unsigned long long* reasons) {
  return answer(nvml_script.reasons, reasons);
}

#else

nvmlReturn_t nvmlDeviceGetTemperatureV(nvmlDevice_t, nvmlTemperature_t* reading) {
  if (reading->version != nvmlTemperature_v1) return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
  return answer(nvml_script.temperature, &reading->temperature);
}

nvmlReturn_t nvmlDeviceGetCurrentClocksEventReasons(nvmlDevice_t, unsigned long long* reasons) {
  return answer(nvml_script.reasons, reasons);
}

nvmlReturn_t nvmlDeviceGetFieldValues(nvmlDevice_t, int count, nvmlFieldValue_t* values) {
  for (nvmlFieldValue_t* field = values; field != values + count; ++field) {
    field->valueType = NVML_VALUE_TYPE_UNSIGNED_LONG_LONG;
    field->nvmlReturn = field->fieldId == nvml_script.field.id
                            ? answer(nvml_script.field.nanoseconds, &field->value.ullVal)
                            : NVML_ERROR_NOT_SUPPORTED;
  }
  return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetMaxPcieLinkGeneration(nvmlDevice_t, unsigned int* generation) {
  return answer(nvml_script.pcie_generation, generation);
}

nvmlReturn_t nvmlDeviceGetMaxPcieLinkWidth(nvmlDevice_t, unsigned int* width) {
  return answer(nvml_script.pcie_width, width);
}

nvmlReturn_t nvmlDeviceGetTopologyCommonAncestor(nvmlDevice_t, nvmlDevice_t,
                                                 nvmlGpuTopologyLevel_t* level) {
  return answer(nvml_script.common_ancestor, level);
}

nvmlReturn_t nvmlDeviceGetP2PStatus(nvmlDevice_t, nvmlDevice_t, nvmlGpuP2PCapsIndex_t index,
                                    nvmlGpuP2PStatus_t* status) {
  if (index != NVML_P2P_CAPS_INDEX_NVLINK) return NVML_ERROR_INVALID_ARGUMENT;
  return answer(nvml_script.nvlink_peer, status);
}

nvmlReturn_t nvmlDeviceGetNvLinkState(nvmlDevice_t, unsigned int link, nvmlEnableState_t* active) {
  if (link > nvml_script.links) return NVML_ERROR_INVALID_ARGUMENT;  // the GPU has one more
  *active = link < nvml_script.links ? NVML_FEATURE_ENABLED : NVML_FEATURE_DISABLED;
  return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetNvLinkVersion(nvmlDevice_t, unsigned int, unsigned int* version) {
  *version = NVML_NVLINK_VERSION_4_0;
  return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetNvLinkRemotePciInfo_v2(nvmlDevice_t, unsigned int link,
                                                 nvmlPciInfo_t* pci) {
  *pci = {};
  pci->bus = link < nvml_script.direct_links ? nvml_script.bus : 0xc0;
  return NVML_SUCCESS;
}

#endif

}  // extern "C"
