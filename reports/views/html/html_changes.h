// The picture of changes: what the time of each case is in some reports, against another one.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "kernels/base/units/interval.h"
#include "reports/views/html/html.h"
#include "reports/views/html/html_writer.h"

namespace parbench::report {

/// The time of a case less that of its baseline, as a fraction of that.
struct ChangePoint {
  std::size_t row = 0;  // of the table of its section, from 0
  double value = 0;
  std::optional<Interval> interval;
};

struct ChangeSeries {
  std::string name;
  std::vector<ChangePoint> points;
};

struct ChangesPicture {
  std::string description;         // a sentence
  std::vector<std::string> cases;  // of the rows
  std::vector<ChangeSeries> series;
  std::optional<double> threshold;  // of changes that count
};

/// Writes where the picture stands and what the script draws it from; nothing on a page without
/// script. It belongs into the section of a table of class `cases` with these rows.
void write_changes(HtmlWriter& html, const WebAssets& assets, const ChangesPicture& picture);

}  // namespace parbench::report
