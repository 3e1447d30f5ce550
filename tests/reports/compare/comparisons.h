// Comparisons of made-up reports.
#pragma once

#include <vector>

#include "reports/compare/comparison.h"
#include "tests/reports/compare/made_report.h"

namespace parbench::compare {

inline Comparison compared(const report::Report& base, const report::Report& now,
                           const Options& options = {}) {
  return compare({"before.json", base}, {"after.json", now}, options);
}

/// One case of every kind there is.
struct Everything {
  report::Report base;
  report::Report now;

  Everything() {
    const std::vector<double> noisy{0.9, 0.95, 1, 1.05, 1.1};
    base = made_report({steady(1), steady(1), steady(1), steady(1), noisy, steady(1), steady(1),
                        steady(1), steady(1)});
    now = made_report({steady(1), steady(1.06), steady(0.9), steady(1.2), noisy, steady(1),
                       steady(1), steady(1), steady(1), steady(1)});
    now.cases[5].status = report::CaseStatus::failed;
    now.cases[5].error = "wrong result";
    base.cases[6].status = report::CaseStatus::skipped;
    base.cases[6].error = "no memory";
    now.cases[7].dtype = "bf16";
    now.cases.erase(now.cases.begin() + 8);
  }
};

/// Cases of which the first ones are the same and the others too noisy to decide, against
/// themselves.
inline Comparison partly_decided(int same, int undecided, const Options& options = {}) {
  std::vector<std::vector<double>> cases(static_cast<std::size_t>(same), steady(1));
  for (int i = 0; i < undecided; ++i) cases.push_back({0.9, 0.95, 1, 1.05, 1.1});
  return compared(made_report(cases), made_report(cases), options);
}

}  // namespace parbench::compare
