// Backends whose devices cannot be used again in this process, and in which case they were lost.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "kernels/base/error.h"
#include "scenarios/framework/context.h"
#include "scenarios/framework/plan.h"

namespace parbench {

/// What later cases and scenarios ask before they run. Reasons are texts for the report.
class LostBackends {
 public:
  /// The first loss of a backend is the reason for all that follows.
  void add(const std::string& case_name, const DeviceLost& error);

  [[nodiscard]] bool contains(std::string_view backend) const { return reasons_.contains(backend); }

  /// Why nothing can run on a backend; nothing while its devices work.
  [[nodiscard]] std::optional<std::string> reason(std::string_view backend) const;
  /// Why a plan cannot run: one of its lanes is on a device that is lost.
  [[nodiscard]] std::optional<std::string> reason(const Plan& plan) const;
  /// Why no case can run: all devices are lost.
  [[nodiscard]] std::optional<std::string> reason(const Context& context) const;

 private:
  std::map<std::string, std::string, std::less<>> reasons_;  // of each backend
};

}  // namespace parbench
