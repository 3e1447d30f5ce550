// Writes HTML from markup and data; escapes all data.
#pragma once

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "reports/io/json_value.h"

namespace parbench::report {

/// Escapes text for HTML, in an element or a quoted attribute, so that none of it is markup.
/// Controls that HTML forbids become U+FFFD.
[[nodiscard]] std::string html_escaped(std::string_view text);

/// Returns compact JSON for a script element: `<`, `>`, `&`, U+2028 and U+2029 are written as JSON
/// escapes, so that no text can end the element or a line of the script.
[[nodiscard]] std::string script_json(const Json& json);

class HtmlWriter {
 public:
  using Attribute = std::pair<std::string_view, std::string_view>;
  using Attributes = std::initializer_list<Attribute>;

  /// Writes a start tag. An attribute with an empty value is written as its name only.
  HtmlWriter& open(std::string_view tag, std::span<const Attribute> attributes);
  HtmlWriter& open(std::string_view tag, Attributes attributes = {}) {
    return open(tag, std::span(attributes.begin(), attributes.size()));
  }
  HtmlWriter& close(std::string_view tag);
  HtmlWriter& text(std::string_view data);
  /// Writes an element that contains text.
  HtmlWriter& element(std::string_view tag, std::string_view data, Attributes attributes = {});
  /// Writes trusted markup, which does not come from a report.
  HtmlWriter& raw(std::string_view markup);

  [[nodiscard]] std::string take() { return std::move(out_); }

 private:
  std::string out_;
};

}  // namespace parbench::report
