// The part of a run that profilers record.
#pragma once

#include <functional>

namespace parbench {

/// Marks the beginning and the end of that part by its lifetime.
class ProfilerWindow {
 public:
  explicit ProfilerWindow(const std::function<void(bool)>& mark) : mark_(mark) { mark_(true); }
  ~ProfilerWindow() {
    try {
      mark_(false);
    } catch (
        ...) {  // NOLINT(bugprone-empty-catch): a trace without an end is no reason to lose a run
    }
  }
  ProfilerWindow(const ProfilerWindow&) = delete;
  ProfilerWindow& operator=(const ProfilerWindow&) = delete;

 private:
  const std::function<void(bool)>& mark_;
};

}  // namespace parbench
