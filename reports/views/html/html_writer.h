// The one place where a page of HTML is put together from markup and data: data is always escaped.
#pragma once

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "reports/io/json_value.h"

namespace parbench::report {

/// Text as it stands in HTML, in an element or in a quoted attribute: no character of it is markup.
/// Controls that HTML forbids become U+FFFD.
[[nodiscard]] std::string html_escaped(std::string_view text);

/// JSON as it stands in a script element: `<`, `>`, `&`, U+2028 and U+2029 are written as escapes
/// of JSON, so that no text can end the element or a line of the script. Compact.
[[nodiscard]] std::string script_json(const Json& json);

class HtmlWriter {
 public:
  using Attribute = std::pair<std::string_view, std::string_view>;
  using Attributes = std::initializer_list<Attribute>;

  /// An attribute without value is written by its name alone.
  HtmlWriter& open(std::string_view tag, std::span<const Attribute> attributes);
  HtmlWriter& open(std::string_view tag, Attributes attributes = {}) {
    return open(tag, std::span(attributes.begin(), attributes.size()));
  }
  HtmlWriter& close(std::string_view tag);
  HtmlWriter& text(std::string_view data);
  /// open, text, close.
  HtmlWriter& element(std::string_view tag, std::string_view data, Attributes attributes = {});
  /// Markup that does not come from a report.
  HtmlWriter& raw(std::string_view markup);

  [[nodiscard]] std::string take() { return std::move(out_); }

 private:
  std::string out_;
};

}  // namespace parbench::report
