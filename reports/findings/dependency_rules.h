// Rules about devices that wait for each other's results.
#pragma once

#include <optional>

#include "reports/findings/rules.h"

namespace parbench::report {

/// Names the device that waits longest for another one, and what it waits for longest. Only where
/// devices compute at once, and neither where a model is divided into stages nor where devices
/// communicate: those waits have rules of their own.
[[nodiscard]] std::optional<Remark> waits_for_device(const Profiled& one, const ProfiledCases& all);

/// Names the only device that updates the parameters of a training step, where the others run
/// nothing while it adds gradients, updates or sends. Advises the fastest measured strategy in
/// which all devices update.
[[nodiscard]] std::optional<Remark> central_device(const Profiled& one, const ProfiledCases& all);

/// Whether that rule finds such a device.
[[nodiscard]] bool has_central_device(const Profiled& one);

}  // namespace parbench::report
