// What the cells of a table say of one case, and what their marks mean.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "reports/report.h"

namespace parbench::report {

/// Numbered reasons of the rows without a number; equal reasons share one.
class Reasons {
 public:
  /// " (2)"; empty for no reason.
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

/// Why sampling ended when it did not end as wished.
struct Ending {
  std::string_view reason;
  std::string_view mark;
  std::string_view note;
};

inline constexpr std::array endings{
    Ending{"max-time", "*", "sampling ended at the time limit of one case (--max-time)"},
    Ending{"total-time", "‡", "sampling ended at the time limit of the whole run"},
    Ending{"interrupted", "†", "sampling was interrupted"},
    Ending{"device lost", "‖", "sampling ended when a device was lost in another case"},
};

inline constexpr std::string_view low_confidence_mark = "°";
inline constexpr std::string_view no_bound_mark = "¶";
inline constexpr std::string_view throttled_mark = "§";

/// Of a case without a number: "failed", "skipped", "not run", or what a measured one lacks.
[[nodiscard]] std::string_view status_word(const CaseResult& c);
/// Why a case has no number; empty where that is not known, and of one that has a number.
[[nodiscard]] std::string status_reason(const CaseResult& c);
/// Both in one.
[[nodiscard]] std::string status_cell(const CaseResult& c, Reasons& reasons);
/// Marked when the device was throttled. `others_marked`, here and below: the column's numbers stay
/// below each other.
[[nodiscard]] std::string median_cell(const CaseResult& c, bool others_marked);
[[nodiscard]] std::string interval_cell(const CaseResult& c, bool others_marked);
[[nodiscard]] const Ending* ending_of(const CaseResult& c);
/// The number of samples, marked when sampling did not end as wished; of several processes their
/// number and that of the samples in each: "5×6", "5×4–6".
[[nodiscard]] std::string samples_cell(const CaseResult& c, bool others_marked);
[[nodiscard]] bool is_no_bound(const CaseResult& c);
/// The bound over the time measured, or the mark of a bound that is none.
[[nodiscard]] std::string efficiency_cell(const CaseResult& c);
[[nodiscard]] std::string throughput_cell(const CaseResult& c);
[[nodiscard]] std::pair<std::string, std::string> parts_of(const Ratio& speedup);
[[nodiscard]] std::pair<std::string, std::string> parts_of(const Metric& metric);
/// "1.71×" and "(1.69–1.73)" in one cell.
[[nodiscard]] std::string joined(const std::pair<std::string, std::string>& parts);
[[nodiscard]] const Metric* find_metric(const CaseResult& c, const std::string& name);
/// The memory of each device in one unit: "1.21 + 0.98 GiB".
[[nodiscard]] std::string memory_cell(const CaseResult& c, const std::vector<std::string>& devices);

}  // namespace parbench::report
