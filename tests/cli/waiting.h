// Waiting for what a running program does.
#pragma once

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <thread>

#include "reports/io/file.h"
#include "tests/support/process.h"

namespace parbench::test {

/// Waits until a running program has done something; false when it ends before.
[[nodiscard]] bool wait_until(Process& process, const auto& condition) {
  while (!condition()) {
    if (!process.running()) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return true;
}

/// Whether a report has a sample. Runs replace it whole, so it can be read at any time.
[[nodiscard]] inline bool has_measured(const std::filesystem::path& path) {
  if (!std::filesystem::exists(path)) return false;
  const report::Report report = report::read_report(path);
  return std::ranges::any_of(
      report.cases, [](const report::CaseResult& known) { return !known.samples.empty(); });
}

}  // namespace parbench::test
