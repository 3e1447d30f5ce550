// Numbers for the reasons of the rows of a table that have no numbers of their own.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

namespace parbench::report {

/// Numbered reasons of rows; equal reasons share one.
class Reasons {
 public:
  /// Returns " (2)"; empty for no reason.
  std::string reference(const std::string& reason) {
    if (reason.empty()) return {};
    const auto [known, is_new] = numbers_.emplace(reason, texts_.size() + 1);
    if (is_new) texts_.push_back(reason);
    return " (" + std::to_string(known->second) + ")";
  }
  [[nodiscard]] const std::vector<std::string>& texts() const { return texts_; }

 private:
  std::vector<std::string> texts_;
  std::unordered_map<std::string, std::size_t> numbers_;
};

}  // namespace parbench::report
