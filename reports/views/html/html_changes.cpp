// Writes the data of the picture of changes, as described in reports/web/src/changes.ts.
#include "reports/views/html/html_changes.h"

#include "reports/io/json_list.h"
#include "reports/views/html/html_data.h"

namespace parbench::report {
namespace {

/// Returns [row, value, low, high]; without interval [row, value].
Json point_data(const ChangePoint& point) {
  Json list = value_with_interval(point.value, point.interval);
  list.insert(list.begin(), point.row);
  return list;
}

Json series_data(const ChangeSeries& series) {
  return {{"name", series.name}, {"points", json_list(series.points, point_data)}};
}

Json picture_data(const ChangesPicture& picture) {
  Json json{{"description", picture.description},
            {"cases", picture.cases},
            {"series", json_list(picture.series, series_data)}};
  if (picture.threshold) json["threshold"] = short_number(*picture.threshold);
  return json;
}

}  // namespace

void write_changes(HtmlWriter& html, const WebAssets& assets, const ChangesPicture& picture) {
  if (assets.script.empty()) return;
  html.raw("<div class=\"pictures\"></div>\n");
  html.open("script", {{"type", "application/json"}, {"id", "parbench-changes"}});
  html.raw(script_json(picture_data(picture))).raw("</script>\n");
}

}  // namespace parbench::report
