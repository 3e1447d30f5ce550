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

const NvmlScript& script_of(nvmlDevice_t device) {
  return *reinterpret_cast<const NvmlScript*>(device);
}

#ifndef NVML_STAND_IN_OLD
NvmlScript towards(nvmlDevice_t device, nvmlDevice_t other) {
  const NvmlScript& script = script_of(device);
  return script.towards != nullptr ? script.towards(script, script_of(other)) : script;
}
#endif

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
  const std::string_view text = nvml_script.driver_version;
  if (length <= text.size()) return NVML_ERROR_INSUFFICIENT_SIZE;
  std::memcpy(version, text.data(), text.size() + 1);
  return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetHandleByPciBusId_v2(const char* bus_id, nvmlDevice_t* device) {
  NvmlScript* found = std::string_view(bus_id) == nvml_script.bus_id ? &nvml_script : nullptr;
  if (nvml_script.find != nullptr) found = nvml_script.find(bus_id);
  *device = reinterpret_cast<nvmlDevice_t>(found);
  return found != nullptr ? NVML_SUCCESS : NVML_ERROR_NOT_FOUND;
}

nvmlReturn_t nvmlDeviceGetClockInfo(nvmlDevice_t device, nvmlClockType_t type,
                                    unsigned int* clock) {
  return type == NVML_CLOCK_SM ? answer(script_of(device).clock, clock)
                               : NVML_ERROR_INVALID_ARGUMENT;
}

nvmlReturn_t nvmlDeviceGetMaxClockInfo(nvmlDevice_t device, nvmlClockType_t type,
                                       unsigned int* clock) {
  return type == NVML_CLOCK_SM ? answer(script_of(device).max_clock, clock)
                               : NVML_ERROR_INVALID_ARGUMENT;
}

nvmlReturn_t nvmlDeviceGetPowerUsage(nvmlDevice_t device, unsigned int* milliwatts) {
  return answer(script_of(device).milliwatts, milliwatts);
}

#ifdef NVML_STAND_IN_OLD

nvmlReturn_t nvmlDeviceGetTemperature(nvmlDevice_t device, nvmlTemperatureSensors_t,
                                      unsigned int* celsius) {
  return answer(script_of(device).temperature, celsius);
}

nvmlReturn_t nvmlDeviceGetCurrentClocksThrottleReasons(nvmlDevice_t device,
                                                       unsigned long long* reasons) {
  return answer(script_of(device).reasons, reasons);
}

#else

nvmlReturn_t nvmlDeviceGetTemperatureV(nvmlDevice_t device, nvmlTemperature_t* reading) {
  if (reading->version != nvmlTemperature_v1) return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
  return answer(script_of(device).temperature, &reading->temperature);
}

nvmlReturn_t nvmlDeviceGetCurrentClocksEventReasons(nvmlDevice_t device,
                                                    unsigned long long* reasons) {
  return answer(script_of(device).reasons, reasons);
}

nvmlReturn_t nvmlDeviceGetFieldValues(nvmlDevice_t device, int count, nvmlFieldValue_t* values) {
  for (nvmlFieldValue_t* field = values; field != values + count; ++field) {
    field->valueType = NVML_VALUE_TYPE_UNSIGNED_LONG_LONG;
    field->nvmlReturn = field->fieldId == script_of(device).field.id
                            ? answer(script_of(device).field.nanoseconds, &field->value.ullVal)
                            : NVML_ERROR_NOT_SUPPORTED;
  }
  return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetMaxPcieLinkGeneration(nvmlDevice_t device, unsigned int* generation) {
  return answer(script_of(device).pcie_generation, generation);
}

nvmlReturn_t nvmlDeviceGetMaxPcieLinkWidth(nvmlDevice_t device, unsigned int* width) {
  return answer(script_of(device).pcie_width, width);
}

nvmlReturn_t nvmlDeviceGetTopologyCommonAncestor(nvmlDevice_t device, nvmlDevice_t other,
                                                 nvmlGpuTopologyLevel_t* level) {
  return answer(towards(device, other).common_ancestor, level);
}

nvmlReturn_t nvmlDeviceGetP2PStatus(nvmlDevice_t device, nvmlDevice_t other,
                                    nvmlGpuP2PCapsIndex_t index, nvmlGpuP2PStatus_t* status) {
  if (index != NVML_P2P_CAPS_INDEX_NVLINK) return NVML_ERROR_INVALID_ARGUMENT;
  return answer(towards(device, other).nvlink_peer, status);
}

nvmlReturn_t nvmlDeviceGetNvLinkState(nvmlDevice_t device, unsigned int link,
                                      nvmlEnableState_t* active) {
  if (link > script_of(device).links) return NVML_ERROR_INVALID_ARGUMENT;  // the GPU has one more
  *active = link < script_of(device).links ? NVML_FEATURE_ENABLED : NVML_FEATURE_DISABLED;
  return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetNvLinkVersion(nvmlDevice_t, unsigned int, unsigned int* version) {
  *version = NVML_NVLINK_VERSION_4_0;
  return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetNvLinkRemotePciInfo_v2(nvmlDevice_t device, unsigned int link,
                                                 nvmlPciInfo_t* pci) {
  *pci = {};
  pci->bus = link < script_of(device).direct_links ? script_of(device).bus : 0xc0;
  return NVML_SUCCESS;
}

#endif

}  // extern "C"
