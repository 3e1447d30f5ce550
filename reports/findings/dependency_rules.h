// Rules about devices that wait for each other's results.
#pragma once

#include <optional>
#include <string>

#include "reports/findings/rules.h"

namespace parbench::report {

/// Names the device that waits longest for another one, and what it waits for longest. Only where
/// devices compute at once, and neither where a model is divided into stages nor where devices
/// communicate: those waits have rules of their own.
[[nodiscard]] std::optional<Remark> waits_for_device(const Profiled& one, const ProfiledCases& all);

/// A device that computes longer than the mean of several.
struct BusiestDevice {
  std::string device;
  double excess = 0;  // over the mean, as a fraction of it
  double mean = 0;    // seconds
};

/// Returns the device that computes longest of those that compute at once, if it computes at least
/// 10% longer than their mean. Where devices compute in turn, an even partition gains nothing.
[[nodiscard]] std::optional<BusiestDevice> busiest_device(const Profiled& one);

/// Names the only device that updates the parameters of a training step, where the others run
/// nothing while it adds gradients, updates or sends. Advises the fastest measured strategy in
/// which all devices update.
[[nodiscard]] std::optional<Remark> central_device(const Profiled& one, const ProfiledCases& all);

/// Returns whether there is such a device.
[[nodiscard]] bool has_central_device(const Profiled& one);

}  // namespace parbench::report
