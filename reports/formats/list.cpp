// The one list of formats: a new one is its file, its declaration, and a line here.
#include <array>

#include "reports/formats/format.h"

namespace parbench::report {

std::span<const Format> formats() {
  static constexpr std::array all{
      Format{"google-benchmark", "all rows, for compare.py and conbench", google_benchmark_text},
      Format{"github-action-benchmark", "medians, for its tool 'googlecpp'",
             github_action_benchmark_text},
      Format{"bencher", "medians, for its adapter 'cpp_google'", bencher_text},
      Format{"csv", "every case and everything known of it, but for the samples", csv_text},
      Format{"prometheus",
             "gauges in the text format, for the textfile collector or a push gateway",
             prometheus_text},
      Format{"markdown", "tables for a comment on GitHub", markdown_text},
  };
  return all;
}

}  // namespace parbench::report
