// Finds the peaks of a case's devices.
#include "reports/model/ceilings.h"

#include <algorithm>

#include "reports/model/peaks.h"

namespace parbench::report {
namespace {

/// Finds a device by name among the devices of the case's scenario; other scenarios may have a
/// device of that name.
const Device* find_device(const Report& report, const CaseResult& c, std::string_view name) {
  const auto found = std::ranges::find_if(report.devices, [&](const Device& device) {
    return device.name == name && device.scenario == c.scenario;
  });
  return found == report.devices.end() ? nullptr : &*found;
}

std::optional<double> value_of(const Device& device, std::string_view what) {
  const Peak* peak = find_peak(device.peaks, what);
  if (peak == nullptr) return std::nullopt;
  return peak->value;
}

}  // namespace

std::optional<double> Ceilings::flops(TaskKind kind) const {
  return kind == TaskKind::compute ? gemm : std::nullopt;
}

std::optional<double> Ceilings::bytes(TaskKind kind) const {
  if (kind == TaskKind::compute) return memory;
  return kind == TaskKind::copy ? copy : std::nullopt;
}

Ceilings ceilings_of(const Report& report, const CaseResult& c, std::string_view device) {
  const Device* known = find_device(report, c, device);
  if (known == nullptr) return {};
  Ceilings ceilings{value_of(*known, gemm_peak(c.dtype)), value_of(*known, memory_peak), {}};
  // A device with its own memory copies within that memory and to the host at very different rates,
  // and the record of a call does not distinguish these copies.
  if (!value_of(*known, to_host_peak)) ceilings.copy = value_of(*known, copy_peak);
  return ceilings;
}

Ceilings common_ceilings(const Report& report, const CaseResult& c) {
  if (!c.profile || c.profile->metrics.devices.empty()) return {};
  Ceilings common = ceilings_of(report, c, c.profile->metrics.devices.front().device);
  for (const DeviceMetrics& metrics : c.profile->metrics.devices) {
    const Ceilings own = ceilings_of(report, c, metrics.device);
    if (own.gemm != common.gemm) common.gemm.reset();
    if (own.memory != common.memory) common.memory.reset();
    if (own.copy != common.copy) common.copy.reset();
  }
  return common;
}

}  // namespace parbench::report
