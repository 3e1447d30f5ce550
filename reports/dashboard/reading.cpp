// Explains the statistical method to readers of the dashboard.
#include "reports/dashboard/reading.h"

#include <fmt/format.h>

#include "kernels/base/units/units.h"
#include "reports/dashboard/change_points.h"

namespace parbench::report {

std::string too_few_text(const SeriesLengths& lengths) {
  if (lengths.too_short == 0) return {};
  const std::string need =
      fmt::format("Change detection needs {} reports of a case on the same kind of machine; ",
                  min_values_with_a_change);
  if (lengths.too_short == lengths.cases) {
    return need + fmt::format("so far there are at most {}.", lengths.longest);
  }
  return need + fmt::format("{} of {} cases have fewer.", lengths.too_short, lengths.cases);
}

void write_reading(HtmlWriter& html) {
  const ChangePointParameters parameters;
  html.raw("<section id=\"reading\" class=\"reading\" aria-labelledby=\"reading-title\">\n");
  html.raw("<h2 id=\"reading-title\">How to read this</h2>\n<dl>\n");
  const auto item = [&](std::string_view name, const std::string& text) {
    html.element("dt", name).element("dd", text).raw("\n");
  };
  item("a line",
       "The medians of one case (strategy, parameters, number format) over the reports of "
       "one class of machines, in the order of time. Machines with other processors, "
       "cores, memory or devices have pages of their own.");
  item("band, ± 95% CI",
       "The 95% interval of the median from the samples of that report. It does not contain what "
       "differs from run to run. °: too few samples for 95%.");
  item("change",
       fmt::format(
           "The level before it and the level after it differ. Found by E-divisive (Matteson and "
           "James 2014) in the logarithms of the medians: energy distance with α = 1, permutation "
           "test with {} permutations and a significance of {}, at least {} reports between two "
           "changes, windows of {} reports. Without any change, one of {:.0f} such windows shows "
           "one by chance, more where neighbouring runs resemble each other.",
           parameters.permutations, format_percent(parameters.significance, 0),
           parameters.min_segment, parameters.window, 1 / parameters.significance));
  item("size of a change",
       fmt::format("New time over old time, + is slower: the median of the ratios of up to {} "
                   "reports before and after (Hodges and Lehmann), with the 95% interval of Mann "
                   "and Whitney’s test; another confidence is named. Changes below {} are not "
                   "listed.",
                   values_beside_change, format_percent(min_change, 0)));
  item("before, after",
       "Commits of the last report with the old level and the first with the new "
       "one. What changed lies between them, give or take a report. +: with "
       "changes that were not committed.");
  html.raw("</dl>\n</section>\n");
}

}  // namespace parbench::report
