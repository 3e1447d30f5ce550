// The part of a run that profilers record.
#pragma once

#include <functional>

namespace parbench {

/// Calls `mark(true)` at its construction and `mark(false)` at its destruction.
class ProfilerWindow {
 public:
  explicit ProfilerWindow(const std::function<void(bool)>& mark) : mark_(mark) { mark_(true); }
  ~ProfilerWindow() {
    try {
      mark_(false);
    } catch (...) {  // NOLINT(bugprone-empty-catch): a missing end mark must not fail the run
    }
  }
  ProfilerWindow(const ProfilerWindow&) = delete;
  ProfilerWindow& operator=(const ProfilerWindow&) = delete;

 private:
  const std::function<void(bool)>& mark_;
};

}  // namespace parbench
