// The file of --trace: timelines of a run's cases, written at its end.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "reports/model/report.h"
#include "scenarios/plan/timeline.h"

namespace parbench {

class TraceFile {
 public:
  /// `path`: empty for no file; timelines are then discarded. `cases`: keep only cases whose names
  /// contain one of these; empty: keep all.
  TraceFile(std::filesystem::path path, std::vector<std::string> cases)
      : path_(std::move(path)), cases_(std::move(cases)) {}

  void add(const report::CaseResult& one, const Timeline& timeline);

  /// Writes the file. Throws Error.
  void write() const;

  /// Returns the line about the trace for the end of the run; empty if there is no file.
  [[nodiscard]] std::string line() const;

 private:
  struct Entry {
    std::string name;
    std::vector<std::pair<std::string, std::size_t>> memory;
    Timeline timeline;
  };

  std::filesystem::path path_;
  std::vector<std::string> cases_;
  std::vector<Entry> entries_;
};

}  // namespace parbench
