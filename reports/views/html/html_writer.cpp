// Escapes and writes HTML.
#include "reports/views/html/html_writer.h"

#include <cstddef>
#include <nlohmann/json.hpp>

namespace parbench::report {
namespace {

constexpr std::string_view replacement = "\xEF\xBF\xBD";  // U+FFFD

/// Returns the replacement for a byte of text; empty if it stays.
std::string_view escape_of(char c) {
  switch (c) {
    case '&':
      return "&amp;";
    case '<':
      return "&lt;";
    case '>':
      return "&gt;";
    case '"':
      return "&quot;";
    case '\'':
      return "&#39;";
    case '\t':
    case '\n':
      return {};
    default:
      return static_cast<unsigned char>(c) < 0x20 || c == 0x7F ? replacement : std::string_view();
  }
}

struct Escape {
  std::string_view bytes;
  std::string_view written;
};

/// In JSON, these characters occur only in texts, which allow escapes.
constexpr Escape script_escapes[] = {{"<", "\\u003c"},
                                     {">", "\\u003e"},
                                     {"&", "\\u0026"},
                                     {"\xE2\x80\xA8", "\\u2028"},
                                     {"\xE2\x80\xA9", "\\u2029"}};

}  // namespace

std::string html_escaped(std::string_view text) {
  std::string escaped;
  escaped.reserve(text.size());
  for (const char c : text) {
    const std::string_view written = escape_of(c);
    if (written.empty()) {
      escaped += c;
    } else {
      escaped += written;
    }
  }
  return escaped;
}

std::string script_json(const Json& json) {
  const std::string text = json.dump(-1, ' ', false, Json::error_handler_t::replace);
  std::string escaped;
  escaped.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const Escape* found = nullptr;
    for (const Escape& escape : script_escapes) {
      if (text.compare(at, escape.bytes.size(), escape.bytes) == 0) found = &escape;
    }
    if (found == nullptr) {
      escaped += text[at++];
    } else {
      escaped += found->written;
      at += found->bytes.size();
    }
  }
  return escaped;
}

HtmlWriter& HtmlWriter::open(std::string_view tag, std::span<const Attribute> attributes) {
  out_ += '<';
  out_ += tag;
  for (const auto& [name, value] : attributes) {
    out_ += ' ';
    out_ += name;
    if (value.empty()) continue;
    out_ += "=\"";
    out_ += html_escaped(value);
    out_ += '"';
  }
  out_ += '>';
  return *this;
}

HtmlWriter& HtmlWriter::close(std::string_view tag) {
  out_ += "</";
  out_ += tag;
  out_ += '>';
  return *this;
}

HtmlWriter& HtmlWriter::text(std::string_view data) { return raw(html_escaped(data)); }

HtmlWriter& HtmlWriter::element(std::string_view tag, std::string_view data,
                                Attributes attributes) {
  return open(tag, attributes).text(data).close(tag);
}

HtmlWriter& HtmlWriter::raw(std::string_view markup) {
  out_ += markup;
  return *this;
}

}  // namespace parbench::report
