// libFuzzer's target for the reader of reports and of files of Google Benchmark: whatever the bytes
// are, they are refused with a UsageError, or they are a report that can be written, read again,
// shown, exported and made a page.
#include <cstddef>
#include <cstdint>
#include <exception>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <string_view>

#include "kernels/base/error.h"
#include "reports/compare/comparison.h"
#include "reports/compare/render/render.h"
#include "reports/io/bounded_json.h"
#include "reports/io/file.h"
#include "reports/io/formats/format.h"
#include "reports/io/json.h"
#include "reports/text/text.h"
#include "reports/views/html/html.h"
#include "reports/views/table.h"
#include "tests/fuzz/require.h"

namespace {

using namespace parbench::report;
using parbench::UsageError;

Json parsed(const std::string& text, std::string_view only) {
  std::istringstream stream(text);
  return parse_bounded(stream, ReadLimits{}, only);
}

/// What was read and written once is read as the same.
void check_round_trip(const Report& report) {
  const std::string once = to_text(to_json(report));
  const Json again = parsed(once, {});
  const std::string twice = to_text(to_json(from_json(again)));
  require(once == twice, "a report that is written and read is the same");
}

void check_letters(std::string_view text) {
  require(printable(text, true) == text, "no control characters are shown");
}

std::size_t scripts_in(std::string_view page) {
  std::size_t count = 0;
  for (std::size_t at = page.find("<script"); at != page.npos; at = page.find("<script", at + 1)) {
    ++count;
  }
  return count;
}

void check_shown(const Report& report) {
  check_letters(to_table(report));
  const std::string page = to_html({{"report", report}}, {"", "run();"});
  check_letters(page);
  require(scripts_in(page) == 2, "a page's scripts are its data and its program");
}

/// With itself, and with a report that has nothing of it.
void check_compared(const Report& report) {
  for (const Report& other : {report, Report{}}) {
    const auto comparison = parbench::compare::compare({"base", other}, {"new", report});
    check_letters(parbench::compare::to_table(comparison));
    check_letters(parbench::compare::to_markdown(comparison));
    check_letters(parbench::compare::to_html(comparison, {"", "run();"}));
    (void)parsed(parbench::compare::json_text(comparison), {});
  }
}

void check_numbers(const Json& json) {
  require(!json.is_null(), "exported numbers are finite");
  for (const Json& child : json) {
    if (json.is_structured()) check_numbers(child);
  }
}

void check_formats(const Report& report) {
  for (const Format& format : formats()) {
    std::string text;
    try {
      text = format.write(report);
    } catch (const UsageError&) {
      continue;  // nothing was measured
    }
    require(text.ends_with('\n'), "exported files end with a line break");
    if (text.starts_with('{')) check_numbers(parsed(text, {}).at("benchmarks"));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  try {
    const Report report = report_of_text(text);
    check_shown(report);
    check_round_trip(report);
    check_formats(report);
    check_compared(report);
    (void)from_json(parsed(text, {}));
  } catch (const UsageError&) {
    // As it should be: the message is for the user.
  }
  return 0;
}
