// Reports of a few cases, and lines of the text that views make of them.
#pragma once

#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "tests/reports/sample.h"

namespace parbench::report {

inline std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

/// The first line that holds a text; empty when there is none.
inline std::string line_with(const std::string& text, const std::string& part) {
  for (const std::string& line : lines_of(text)) {
    if (line.find(part) != std::string::npos) return line;
  }
  return {};
}

inline Report report_of(std::vector<CaseResult> cases) {
  Report report = sample_report();
  report.cases = std::move(cases);
  report.answers.clear();
  return report;
}

}  // namespace parbench::report
