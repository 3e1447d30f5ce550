// The file of --trace: timelines of the cases of a run, written at its end.
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
  /// Empty: there is no file, and nothing is kept. `cases`: only cases whose names contain one of
  /// these; none: all.
  TraceFile(std::filesystem::path path, std::vector<std::string> cases)
      : path_(std::move(path)), cases_(std::move(cases)) {}

  void add(const report::CaseResult& one, const Timeline& timeline);

  /// Throws Error.
  void write() const;

  /// What the run says of it at its end; nothing where there is no file.
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
