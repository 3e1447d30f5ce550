// Sums over the devices and calls of a profile.
#include "reports/reasons/profiled.h"

#include <algorithm>
#include <functional>
#include <numeric>

namespace parbench::report {
namespace {

template <class Items, class Value>
double sum(const Items& items, const Value& value) {
  return std::transform_reduce(items.begin(), items.end(), 0.0, std::plus<>(), value);
}

/// Of a kind of calls.
double sum_of_compute(const Profile& profile, double CallProfile::*member) {
  return sum(profile.calls,
             [&](const CallProfile& call) { return call.kind == "compute" ? call.*member : 0.0; });
}

/// Over devices that compute.
template <class Value>
double sum_of_computing(const Profile& profile, const Value& value) {
  return sum(profile.devices,
             [&](const DeviceProfile& device) { return device.compute > 0 ? value(device) : 0.0; });
}

}  // namespace

int Profiled::computing_devices() const {
  return static_cast<int>(std::ranges::count_if(
      profile_->devices, [](const DeviceProfile& device) { return device.compute > 0; }));
}

double Profiled::compute_seconds() const {
  return sum_of_compute(*profile_, &CallProfile::seconds);
}

double Profiled::compute_flops() const { return sum_of_compute(*profile_, &CallProfile::flops); }

double Profiled::concurrency() const {
  double busy = 0;
  double streams = 0;
  for (std::size_t k = 1; k < profile_->streams_busy.size(); ++k) {
    busy += profile_->streams_busy[k];
    streams += static_cast<double>(k) * profile_->streams_busy[k];
  }
  return busy > 0 ? streams / busy : 0;
}

double Profiled::share_of(double seconds) const {
  const double whole = profile_->span * computing_devices();
  return whole > 0 ? seconds / whole : 0;
}

double Profiled::launch_share() const {
  return share_of(sum_of_computing(*profile_, [](const DeviceProfile& device) {
    return device.waits.host + device.waits.queue;
  }));
}

double Profiled::host_share() const {
  return share_of(
      sum_of_computing(*profile_, [](const DeviceProfile& device) { return device.waits.host; }));
}

double Profiled::bubble_share() const {
  return share_of(sum_of_computing(*profile_, [](const DeviceProfile& device) {
    return device.idle - device.waits.host - device.waits.queue;
  }));
}

std::vector<Profiled> profiled_cases(const Report& report, const std::string& scenario) {
  std::vector<Profiled> found;
  for (const Case& one : report.cases) {
    if (one.scenario == scenario && has_number(one) && one.profile) found.emplace_back(one);
  }
  return found;
}

const Profiled* find(const std::vector<Profiled>& cases, const std::string& name) {
  const auto found = std::ranges::find(cases, name, &Profiled::name);
  return found == cases.end() ? nullptr : &*found;
}

const Profiled* baseline_of(const std::vector<Profiled>& cases, const Profiled& one) {
  return one.of().speedup ? find(cases, one.of().speedup->baseline) : nullptr;
}

}  // namespace parbench::report
