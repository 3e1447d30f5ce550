// The picture of changes: the times of cases in several reports relative to another report.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "kernels/base/units/interval.h"
#include "reports/views/html/html.h"
#include "reports/views/html/html_writer.h"

namespace parbench::report {

/// The relative difference of a case's time from its time in the report that is the reference.
struct ChangePoint {
  std::size_t row = 0;  // row in the table of the section, from 0
  double value = 0;
  std::optional<Interval> interval = {};
};

struct ChangeSeries {
  std::string name;
  std::vector<ChangePoint> points = {};
};

struct ChangesPicture {
  std::string description;              // one sentence
  std::vector<std::string> cases = {};  // names of the rows
  std::vector<ChangeSeries> series = {};
  std::optional<double> threshold = {};  // min change that counts
};

/// Writes the element of the picture and its data for the script; nothing on a page without script.
/// Requires that the open section has a table of class `cases` with the rows of the picture.
void write_changes(HtmlWriter& html, const WebAssets& assets, const ChangesPicture& picture);

}  // namespace parbench::report
