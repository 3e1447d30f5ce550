// Builds the value during parsing, so that every limit applies before memory is allocated.
#include "reports/io/bounded_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "reports/text/text.h"

namespace parbench::report {
namespace {

constexpr std::size_t quoted_columns = 100;

/// Shortens a message of the parser or a part of the file. Removes the parser's error number and
/// replaces control characters, such as NUL, at which a message would end.
std::string brief(std::string_view what) {
  if (const std::size_t id = what.find("] "); id != std::string_view::npos) {
    what.remove_prefix(id + 2);
  }
  return printable(shortened(what, quoted_columns));
}

/// Returns "invalid literal" for "parse error at line 39, column 1: syntax error while parsing
/// value - invalid literal; last read: '…'".
std::string reason_of(std::string_view what) {
  constexpr std::string_view dash = " - ";
  if (const std::size_t at = what.find(dash); at != what.npos) what.remove_prefix(at + dash.size());
  return brief(what.substr(0, what.find("; last read")));
}

/// Returns `offset`, or the offset of the next character if `offset` is within a UTF-8 character.
std::size_t begin_of_character(std::string_view text, std::size_t offset) {
  while (offset < text.size() && (static_cast<unsigned char>(text[offset]) & 0xC0U) == 0x80U)
    ++offset;
  return offset;
}

std::string_view remedy_for(std::string_view reason) {
  return reason.find("backslash") == reason.npos ? "correct or remove it"
                                                 : "write two backslashes for each";
}

/// Builds the value from the events of the parser. The parser's own tree builder with a callback is
/// no alternative: its time is quadratic in the length of a list.
class Builder : public nlohmann::json_sax<Json> {
 public:
  Builder(std::istream& stream, const ReadLimits& limits, std::string_view only,
          const ParseContext& context)
      : stream_(stream), limits_(limits), only_(only), context_(context) {}

  [[nodiscard]] Json take() { return std::move(root_); }

  bool null() override { return add(nullptr); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(std::int64_t value) override { return add(value); }
  bool number_unsigned(std::uint64_t value) override { return add(value); }
  bool number_float(double value, const std::string&) override { return add(value); }
  bool string(std::string& value) override {
    const std::size_t bytes = value.size();
    put(std::move(value));
    check_text(bytes);
    return true;
  }
  bool binary(Json::binary_t&) override { return false; }  // does not occur in JSON
  bool start_object(std::size_t) override { return open(Json::object()); }
  bool start_array(std::size_t) override {
    const bool is_kept = !containers_.empty() || only_.empty();
    return open(Json::array()) && (is_kept || forget_items());
  }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }

  bool key(std::string& name) override {
    Json* object = containers_.back();
    skip_next_ = containers_.size() == 1 && !only_.empty() && name != only_;
    if (object != nullptr && !skip_next_) {
      next_ = add_member(object->get_ref<Json::object_t&>(), name);
      skip_next_ = next_ == nullptr;
    }
    check_text(name.size());
    return true;
  }

  bool parse_error(std::size_t position, const std::string&,
                   const Json::exception& error) override {
    constexpr int number_overflow = 406;
    if (error.id == number_overflow) {
      refuse(fmt::format("byte {}: {}; correct the number", position, brief(error.what())));
    }
    const bool is_complete = values_ > 0 && containers_.empty();
    if (stream_.eof() && !is_complete) {
      refuse(
          fmt::format("is truncated, it ends within a value after {} bytes; take a complete copy",
                      position - 1));
    }
    if (std::string_view(error.what()).find("UTF-8") != std::string_view::npos) {
      throw SyntaxError(located(
          fmt::format("is not UTF-8 (byte {}); convert it or write it again", position), depth()));
    }
    const std::string reason = reason_of(error.what());
    throw SyntaxError(
        fmt::format("is not JSON: {} ({}); {}", line_at(position), reason, remedy_for(reason)));
  }

 private:
  /// Returns the address for the next value; null if the value is not kept.
  Json* next_value() {
    if (containers_.empty()) return &root_;
    Json* container = containers_.back();
    if (container == nullptr || skip_next_) return nullptr;
    if (container->is_object()) return next_;
    return &container->get_ref<Json::array_t&>().emplace_back();
  }

  /// Stores a value if it is kept, and returns its address.
  Json* put(Json value) {
    Json* value_at = next_value();
    skip_next_ = false;
    if (value_at == nullptr) return nullptr;
    count();
    *value_at = std::move(value);
    return value_at;
  }

  /// Adds a member and returns the address of its value. If the object has that name already,
  /// throws UsageError, or adds a note and returns null if `ParseContext::file_notes` is set.
  Json* add_member(Json::object_t& object, const std::string& name) {
    count();
    const auto [member, is_new] = object.emplace(name, nullptr);
    if (!is_new) {
      if (context_.file_notes == nullptr) {
        refuse(fmt::format("has the key '{}' twice in one object; keep one", brief(name)),
               depth() - 1);
      }
      add_file_note(*context_.file_notes, "duplicate keys: the first value was used",
                    fmt::format("'{}' in {}", brief(name), path(depth() - 1)));
      return nullptr;
    }
    if (object.size() > limits_.keys) {
      refuse(fmt::format("has more than {0} keys in one object, at most {0} are read; remove some",
                         limits_.keys),
             depth() - 1);
    }
    return &member->second;
  }

  bool add(Json value) {
    put(std::move(value));
    return true;
  }

  bool open(Json container) {
    if (containers_.size() >= static_cast<std::size_t>(limits_.depth)) {
      refuse(fmt::format(
          "lists and objects are nested deeper than {0} levels, at most {0} are read; flatten them",
          limits_.depth));
    }
    containers_.push_back(put(std::move(container)));
    return true;
  }

  /// Keeps no items of the last opened list.
  bool forget_items() {
    containers_.back() = nullptr;
    return true;
  }

  bool close() {
    containers_.pop_back();
    return true;
  }

  void count() {
    if (++values_ <= limits_.values) return;
    refuse(fmt::format("holds more than {} values; {}", limits_.values, limits_.remedy));
  }

  void check_text(std::size_t bytes) const {
    if (bytes <= limits_.text) return;
    refuse(
        fmt::format("the text has {} bytes, at most {} are read; shorten it", bytes, limits_.text));
  }

  /// Returns the path of the value at a depth, "parbench.cases[3].name"; `depth()` is the depth of
  /// the current value. Empty for the outermost value.
  [[nodiscard]] std::string path(std::size_t depth) const {
    std::string text;
    for (std::size_t i = 0; i < depth; ++i) {
      const Json* container = containers_[i];
      if (container == nullptr || container->empty()) break;
      if (container->is_array()) {
        text += fmt::format("[{}]", container->size() - 1);
        continue;
      }
      if (!text.empty()) text += '.';
      text += brief(container->get_ref<const Json::object_t&>().back().first);
    }
    return text;
  }

  [[nodiscard]] std::size_t depth() const { return containers_.size(); }

  [[nodiscard]] std::string located(const std::string& what, std::size_t depth) const {
    const std::string where = path(depth);
    return where.empty() ? what : fmt::format("{}: {}", where, what);
  }

  [[noreturn]] void refuse(const std::string& what) const { refuse(what, depth()); }
  [[noreturn]] void refuse(const std::string& what, std::size_t depth) const {
    throw UsageError(located(what, depth));
  }

  /// Returns "line 39, 'counters are not available'": the line with the byte at a position counted
  /// from 1, or a part around that byte. Reads the stream again.
  [[nodiscard]] std::string line_at(std::size_t position) const {
    stream_.clear();
    stream_.seekg(0);
    std::size_t number = context_.first_line;
    std::string line;
    while (std::getline(stream_, line) && !stream_.eof() && line.size() + 1 < position) {
      position -= line.size() + 1;
      ++number;
    }
    std::size_t begin = std::min(line.find_first_not_of(" \t"), line.size());
    const std::size_t end = std::min(position, line.size());
    const bool is_cut = end > begin + quoted_columns;
    if (is_cut) begin = begin_of_character(line, end - quoted_columns / 2);
    return fmt::format("line {}, '{}{}'", number, is_cut ? "…" : "",
                       printable(shortened(std::string_view(line).substr(begin), quoted_columns)));
  }

  std::istream& stream_;
  const ReadLimits& limits_;
  std::string_view only_;
  ParseContext context_;
  Json root_;
  std::vector<Json*> containers_;  // open lists and objects; null for one that is not kept
  Json* next_ = nullptr;           // address of the value of the last key
  bool skip_next_ = false;
  std::size_t values_ = 0;
};

/// Throws UsageError for UTF-16: the parser would read the two bytes of a character as two
/// characters. The first characters of JSON are ASCII, so one of their two bytes is zero.
void refuse_utf16(std::istream& stream) {
  std::array<char, 4> start{};
  stream.read(start.data(), start.size());
  const auto read = static_cast<std::size_t>(stream.gcount());
  stream.clear();
  stream.seekg(0);
  const std::string_view text(start.data(), read);
  const bool has_mark = text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff");
  const auto zero_at = [&](std::size_t offset) { return text[offset] == '\0'; };
  const bool whole = read == start.size();
  const bool little = whole && !zero_at(0) && zero_at(1) && !zero_at(2) && zero_at(3);
  const bool big = whole && zero_at(0) && !zero_at(1) && zero_at(2) && !zero_at(3);
  if (!has_mark && !little && !big) return;
  const std::string_view name = has_mark ? "UTF-16" : (little ? "UTF-16LE" : "UTF-16BE");
  throw UsageError(fmt::format(
      "is UTF-16 ({}) and not UTF-8; convert it: iconv -f {} -t UTF-8 OLD.json > NEW.json",
      has_mark ? "by its byte order mark" : "every second byte is zero", name));
}

}  // namespace

Json parse_bounded(std::istream& stream, const ReadLimits& limits, std::string_view only,
                   const ParseContext& context) {
  refuse_utf16(stream);
  Builder builder(stream, limits, only, context);
  Json::sax_parse(stream, &builder);
  // The parser treats a NUL byte as the end.
  if (!stream.eof()) throw SyntaxError("is not JSON: a NUL byte follows its end");
  return builder.take();
}

}  // namespace parbench::report
