#include "bench/execution/lost_backends.h"

#include <fmt/format.h>

#include "kernels/core/device.h"

namespace parbench {

void LostBackends::add(const std::string& case_name, const DeviceLost& error) {
  reasons_.emplace(error.backend(),
                   fmt::format("not run, its device was lost in {}: {}", case_name, error.what()));
}

std::optional<std::string> LostBackends::reason(std::string_view backend) const {
  const auto found = reasons_.find(backend);
  return found == reasons_.end() ? std::nullopt : std::optional(found->second);
}

std::optional<std::string> LostBackends::reason(const Plan& plan) const {
  for (const Stream* stream : plan.streams()) {
    if (auto text = reason(stream->device().info().backend)) return text;
  }
  return std::nullopt;
}

std::optional<std::string> LostBackends::reason(const Context& context) const {
  std::optional<std::string> text;
  for (int device = 0; device < context.device_count(); ++device) {
    text = reason(context.device(device).info().backend);
    if (!text) return std::nullopt;
  }
  return text;
}

}  // namespace parbench
