// Repairs text in one pass, copying the parts that it keeps.
#include "reports/io/foreign/repair.h"

#include <fmt/format.h>
#include <utf8proc.h>

#include <algorithm>
#include <array>

#include "reports/text/text.h"

namespace parbench::report {
namespace {

constexpr std::string_view blanks = " \t\r\n";

std::string quotation(std::string_view text) { return printable(shortened(text, 80)); }

/// Returns whether a word is a non-finite number, as C and C++ libraries write it.
bool is_non_finite(std::string_view word) {
  constexpr std::array<std::string_view, 8> words{"nan",      "nan(ind)", "nan(snan)", "inf",
                                                  "infinity", "1.#inf",   "1.#ind",    "1.#qnan"};
  if (word.starts_with('-') || word.starts_with('+')) word.remove_prefix(1);
  std::string lower(word);
  std::ranges::transform(lower, lower.begin(), [](char letter) {
    return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
  });
  return std::ranges::find(words, lower) != words.end();
}

/// Returns whether a word is a non-finite number, as Google Benchmark writes it.
bool is_written_by_google_benchmark(std::string_view word) {
  if (word.starts_with('-')) word.remove_prefix(1);
  return word == "NaN" || word == "Infinity";
}

/// Returns whether a letter can be part of a number or word outside of strings.
bool is_of_word(char letter) {
  constexpr std::string_view others = "+-.#()_";
  return is_alphanumeric(letter) || others.find(letter) != others.npos;
}

class Repairer {
 public:
  Repairer(std::string_view text, std::vector<FileNote>& file_notes)
      : text_(text), notes_(file_notes) {
    constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
    if (text_.starts_with(byte_order_mark)) text_.remove_prefix(byte_order_mark.size());
  }

  std::vector<FoundObject> operator()() {
    while (find_object()) take_object();
    return std::move(objects_);
  }

 private:
  /// Returns whether an object begins at an index: a brace, then a quotation mark. A brace alone is
  /// not enough, because lines of logs may begin with "{driver}".
  [[nodiscard]] bool is_begin(std::size_t at) const {
    if (text_[at] != '{') return false;
    const std::size_t next = text_.find_first_not_of(blanks, at + 1);
    return next != text_.npos && text_[next] == '"';
  }

  /// Advances to the next object, skipping other text. Returns false at the end.
  bool find_object() {
    std::size_t line_begin = at_;
    for (; at_ < text_.size(); ++at_) {
      const bool found = is_begin(at_);
      if (found || text_[at_] == '\n') leave_out(text_.substr(line_begin, at_ - line_begin));
      if (found) return true;
      if (text_[at_] != '\n') continue;
      ++line_;
      line_begin = at_ + 1;
    }
    leave_out(text_.substr(std::min(line_begin, text_.size())));
    return false;
  }

  /// Adds a note that a line or a part of it was left out, unless it has only blanks and the
  /// separators of a list.
  void leave_out(std::string_view line) {
    if (line.find_first_not_of(" \t\r\n[],") == line.npos) return;
    const std::size_t begin = line.find_first_not_of(blanks);
    line = line.substr(begin, line.find_last_not_of(blanks) + 1 - begin);
    add_file_note(notes_, "text that is not JSON was left out",
                  fmt::format("line {}, '{}'", line_, quotation(line)));
  }

  void take_object() {
    objects_.push_back({{}, line_});
    std::string& copy = objects_.back().text;
    int depth = 0;
    std::size_t comma = std::string::npos;  // index in the copy of a comma that only blanks follow
    do {
      const char letter = text_[at_];
      if (letter == '"') {
        take_string(copy);
      } else if (is_of_word(letter)) {
        take_word(copy);
      } else {
        if (letter == '{' || letter == '[') ++depth;
        if (letter == '}' || letter == ']') {
          --depth;
          if (comma != std::string::npos) leave_out_comma(copy, comma);
        }
        if (letter == '\n') ++line_;
        copy += letter;
        ++at_;
      }
      if (letter == ',') {
        comma = copy.size() - 1;
      } else if (blanks.find(letter) == blanks.npos) {
        comma = std::string::npos;
      }
    } while (depth > 0 && at_ < text_.size());
  }

  void leave_out_comma(std::string& copy, std::size_t comma) {
    copy.erase(comma, 1);
    add_file_note(notes_, "commas before closing brackets were left out",
                  fmt::format("line {}", line_));
  }

  void take_word(std::string& copy) {
    std::size_t end = at_;
    while (end < text_.size() && is_of_word(text_[end])) ++end;
    const std::string_view word = text_.substr(at_, end - at_);
    at_ = end;
    if (!is_non_finite(word)) {
      copy += word;
      return;
    }
    copy += "null";
    if (is_written_by_google_benchmark(word)) return;
    add_file_note(notes_, "numbers that are not finite were read as missing",
                  fmt::format("line {}, '{}'", line_, word));
  }

  /// Copies a string with its quotation marks, or the rest of the text if it has no end.
  void take_string(std::string& copy) {
    std::size_t end = at_ + 1;
    while (end < text_.size() && text_[end] != '"') end += text_[end] == '\\' ? 2 : 1;
    end = std::min(end + 1, text_.size());
    const std::string_view string = text_.substr(at_, end - at_);
    if (!take_characters(copy, string)) {
      add_file_note(notes_, "bytes that are not UTF-8 were read as Latin-1",
                    fmt::format("line {}", line_));
    }
    line_ += static_cast<std::size_t>(std::ranges::count(string, '\n'));
    at_ = end;
  }

  /// Copies characters, and bytes that are not UTF-8 as Latin-1. Returns whether all are UTF-8.
  static bool take_characters(std::string& copy, std::string_view string) {
    bool is_utf8 = true;
    for (std::size_t i = 0; i < string.size();) {
      const auto* bytes = reinterpret_cast<const utf8proc_uint8_t*>(string.data() + i);
      utf8proc_int32_t character = 0;
      const auto length =
          utf8proc_iterate(bytes, static_cast<utf8proc_ssize_t>(string.size() - i), &character);
      if (length > 0) {
        copy += string.substr(i, static_cast<std::size_t>(length));
        i += static_cast<std::size_t>(length);
        continue;
      }
      std::array<utf8proc_uint8_t, 4> encoded{};
      const auto size = utf8proc_encode_char(bytes[0], encoded.data());
      copy.append(encoded.begin(), encoded.begin() + size);
      is_utf8 = false;
      ++i;
    }
    return is_utf8;
  }

  std::string_view text_;
  std::vector<FileNote>& notes_;
  std::size_t at_ = 0;
  std::size_t line_ = 1;
  std::vector<FoundObject> objects_;
};

}  // namespace

std::vector<FoundObject> repaired_objects(std::string_view text,
                                          std::vector<FileNote>& file_notes) {
  return Repairer(text, file_notes)();
}

}  // namespace parbench::report
