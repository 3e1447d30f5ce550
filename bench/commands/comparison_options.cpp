#include "bench/commands/comparison_options.h"

#include "bench/cli/output.h"
#include "reports/compare/render/render.h"

namespace parbench {

std::vector<FlagRow> comparison_flags(ComparisonOptions& options) {
  return {number_flag("threshold",
                      "The smallest change of a case's time that counts, in percent; default: 2",
                      AxisKind::percent, 0, 1000, "PERCENT", &options.threshold_percent),
          number_flag("require-decided",
                      "Exit with 4 if fewer than this share of the cases of BASE get a "
                      "verdict: regressed, improved or the same. Cases that were not measured "
                      "count as undecided; default: 0",
                      AxisKind::percent, 0, 100, "PERCENT", &options.required_decided_percent),
          toggle_flag("allow-different-machine", "Compare also reports from different hardware",
                      &options.allow_different_machine),
          choice_flag("format",
                      "One of: table (the default), html (a page), markdown (for a pull request), "
                      "json",
                      {"table", "html", "markdown", "json"}, "FORMAT", &options.format),
          output_flag(options.output_path),
          width_flag(options.width)};
}

void write_comparison(const compare::Comparison& comparison, const ComparisonOptions& options) {
  std::string text;
  if (options.format == "json") {
    text = compare::json_text(comparison);
  } else if (options.format == "html") {
    text = compare::to_html(comparison, report::built_in_web_assets());
  } else if (options.format == "markdown") {
    text = compare::to_markdown(comparison);
  } else {
    text = compare::to_table(comparison, text_style(options.width, options.output_path));
  }
  write_output(text, options.output_path);
}

ExitCode exit_code_of(const compare::Comparison& comparison) {
  return static_cast<ExitCode>(compare::exit_code(comparison));
}

}  // namespace parbench
