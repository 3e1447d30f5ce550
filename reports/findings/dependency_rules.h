// Rules about devices that wait for each other's results.
#pragma once

#include <optional>
#include <string>

#include "reports/findings/rules.h"

namespace parbench::report {

/// Names the device that waits longest for another one, and the task for which it waits longest.
/// Applies from 10% of the time, and only if devices compute at the same time. Does not apply if a
/// model is divided into stages or if devices communicate: those waits have rules of their own.
[[nodiscard]] std::optional<Remark> waits_for_device(const Profiled& one, const ProfiledCases& all);

/// The device that computes longest, compared with the mean of all computing devices.
struct BusiestDevice {
  std::string device;
  double excess = 0;  // fraction by which the device exceeds the mean
  double mean = 0;    // mean computing time in seconds
};

/// Returns the device that computes longest, if it exceeds the mean by at least 10%. Applies only
/// if devices compute at the same time; if they take turns, an even partition gains nothing.
[[nodiscard]] std::optional<BusiestDevice> busiest_device(const Profiled& one);

/// Names the only device that updates the parameters of a training step, if the other devices are
/// idle for at least 10% of the time while it adds gradients, updates or sends. Advises the fastest
/// measured strategy in which all devices update, if it is faster.
[[nodiscard]] std::optional<Remark> central_device(const Profiled& one, const ProfiledCases& all);

/// Returns whether `central_device` applies to the case.
[[nodiscard]] bool has_central_device(const Profiled& one);

}  // namespace parbench::report
