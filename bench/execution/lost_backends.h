// Backends whose devices can no longer be used in this process, with the case that lost them.
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

/// Records which backends were lost, and returns why a case or scenario can therefore not run, as a
/// text for the report.
class LostBackends {
 public:
  /// Adds a loss; later losses of the same backend keep the first reason.
  void add(const std::string& case_name, const DeviceLost& error);

  [[nodiscard]] bool contains(std::string_view backend) const { return reasons_.contains(backend); }

  /// Returns why nothing can run on a backend; empty while its devices work.
  [[nodiscard]] std::optional<std::string> reason(std::string_view backend) const;
  /// Returns why a plan cannot run: the device of one of its lanes was lost.
  [[nodiscard]] std::optional<std::string> reason(const Plan& plan) const;
  /// Returns why no case can run: all devices were lost.
  [[nodiscard]] std::optional<std::string> reason(const Context& context) const;

 private:
  std::map<std::string, std::string, std::less<>> reasons_;  // by backend
};

}  // namespace parbench
