#include "kernels/base/units/units.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <span>

namespace parbench {
namespace {

struct Unit {
  double size;
  std::string_view name;
};

/// Rounds to `significant` digits. Callers choose the unit after rounding, so that 999.97 µs
/// becomes 1.000 ms instead of 1000.0 µs.
double rounded(double value, int significant) {
  if (value == 0) return 0;
  const double digits = significant - 1 - std::floor(std::log10(std::abs(value)));
  const double scale = std::pow(10.0, digits);
  return std::isfinite(scale) && scale > 0 ? std::round(value * scale) / scale : value;
}

/// Returns the number of decimals for `significant` digits in total.
int decimals_for(double value, int significant) {
  if (value == 0) return 0;
  const auto exponent = static_cast<int>(std::floor(std::log10(std::abs(value))));
  return std::clamp(significant - 1 - exponent, 0, 9);
}

/// Returns the largest unit in which the rounded value is at least 1; the smallest unit if there is
/// none. `units` are in ascending order.
const Unit& unit_for(double value, std::span<const Unit> units, int significant) {
  const auto fits = [&](const Unit& unit) {
    return std::abs(rounded(value / unit.size, significant)) >= 1;
  };
  const auto found = std::find_if(units.rbegin(), units.rend(), fits);
  return found == units.rend() ? units.front() : *found;
}

std::string scaled(double value, std::span<const Unit> units, int significant) {
  const Unit& unit = unit_for(value, units, significant);
  const double shown = rounded(value / unit.size, significant);
  return fmt::format("{:.{}f} {}", shown, decimals_for(shown, significant), unit.name);
}

/// Returns a share in percent, without the percent sign. Values that round to 0 have no minus sign.
std::string signed_percent(double fraction, int decimals) {
  std::string digits = fmt::format("{:.{}f}", std::abs(fraction) * 100, decimals);
  const bool zero = digits.find_first_not_of("0.") == std::string::npos;
  return fraction < 0 && !zero ? "−" + digits : digits;
}

/// Returns whether a number is shown as equal to a limit only because of rounding. `text`, `limit`:
/// the number and the limit as shown; `distance`: their difference.
bool hides_side_of(const std::string& text, const std::string& limit, double distance) {
  return text == limit && distance != 0;
}

int ratio_decimals(double ratio) {
  const double magnitude = std::abs(rounded(ratio, 3));
  if (magnitude >= 100) return 0;
  if (magnitude >= 10) return 1;
  return magnitude >= 0.1 || magnitude == 0 ? 2 : 3;
}

}  // namespace

std::string format_duration(double seconds) {
  static constexpr std::array<Unit, 4> units{{{1e-9, "ns"}, {1e-6, "µs"}, {1e-3, "ms"}, {1, "s"}}};
  if (!std::isfinite(seconds)) return std::string(no_number);
  return scaled(seconds, units, 4);
}

std::string format_wait(double seconds) {
  if (!std::isfinite(seconds) || seconds < 0 || seconds > 1e15) return std::string(no_number);
  const auto whole = static_cast<std::int64_t>(std::llround(seconds));
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  return fmt::format("{} h {:02} min", whole / 3600, whole / 60 % 60);
}

std::string format_bytes(double bytes) { return format_bytes(std::array{bytes}); }

std::string format_bytes(std::span<const double> sizes) {
  static constexpr std::array<Unit, 5> units{
      {{1, "B"}, {0x1p10, "KiB"}, {0x1p20, "MiB"}, {0x1p30, "GiB"}, {0x1p40, "TiB"}}};
  constexpr int digits = 3;
  if (sizes.empty()) return {};
  const double largest = *std::max_element(sizes.begin(), sizes.end());
  if (!std::isfinite(largest)) return std::string(no_number);
  const Unit& unit = unit_for(largest, units, digits);
  const double shown = rounded(largest / unit.size, digits);
  const int decimals = unit.size > 1 ? decimals_for(shown, digits) : 0;
  std::string text;
  for (const double size : sizes) {
    if (!text.empty()) text += " + ";
    text += size == 0 ? "0" : fmt::format("{:.{}f}", size / unit.size, decimals);
  }
  return fmt::format("{} {}", text, unit.name);
}

std::string format_amount(double amount, std::string_view unit) {
  static constexpr std::array<Unit, 6> prefixes{
      {{1, ""}, {1e3, "k"}, {1e6, "M"}, {1e9, "G"}, {1e12, "T"}, {1e15, "P"}}};
  static constexpr std::array<Unit, 1> plain{{{1, ""}}};
  if (!std::isfinite(amount)) return std::string(no_number);
  const bool prefixed = unit == "FLOP" || unit == "B" || unit == "items";
  const std::span<const Unit> units =
      prefixed ? std::span<const Unit>(prefixes) : std::span<const Unit>(plain);
  return scaled(amount, units, 3) + std::string(unit);
}

std::string format_rate(double per_second, std::string_view unit) {
  if (!std::isfinite(per_second)) return std::string(no_number);
  return format_amount(per_second, unit) + "/s";
}

std::string format_percent(double fraction, int decimals) {
  if (!std::isfinite(fraction)) return std::string(no_number);
  return signed_percent(fraction, decimals) + '%';
}

std::string format_percent(double fraction, double low, double high) {
  if (!std::isfinite(fraction)) return std::string(no_number);
  if (!std::isfinite(low) || !std::isfinite(high)) return format_percent(fraction, 0);
  int decimals = 0;
  const auto text = [&](double value) { return signed_percent(value, decimals); };
  if (text(low) == text(high)) ++decimals;
  constexpr int max_decimals = 2;
  const auto is_hidden = [&](double value) { return hides_side_of(text(value), text(0), value); };
  while (decimals < max_decimals && (is_hidden(low) || is_hidden(high))) ++decimals;
  const std::string_view between = text(low).starts_with("−") ? " to " : "–";
  return fmt::format("{}% ({}{}{}%)", text(fraction), text(low), between, text(high));
}

std::string format_count(std::size_t count, std::string_view thing) {
  const std::string_view plural = thing.ends_with('s') ? "es" : "s";
  return fmt::format("{} {}{}", count, thing, count == 1 ? "" : plural);
}

std::string format_list(const std::vector<std::string>& items) {
  constexpr std::size_t max_items = 3;
  if (items.empty()) return {};
  const bool all = items.size() <= max_items + 1;
  const auto named =
      items.begin() + static_cast<std::ptrdiff_t>(all ? items.size() - 1 : max_items);
  std::string last = all ? items.back() : fmt::format("{} more", items.end() - named);
  if (named == items.begin()) return last;
  return fmt::format("{} and {}", fmt::join(items.begin(), named, ", "), last);
}

std::string format_ratio(double ratio) {
  if (!std::isfinite(ratio)) return std::string(no_number);
  return fmt::format("{:.{}f}×", ratio, ratio_decimals(ratio));
}

std::string format_ratio(double ratio, double low, double high) {
  if (!std::isfinite(ratio)) return std::string(no_number);
  if (!std::isfinite(low) || !std::isfinite(high)) return format_ratio(ratio);
  int decimals = ratio_decimals(ratio);
  const auto text = [&](double value) { return fmt::format("{:.{}f}", value, decimals); };
  if (text(low) == text(high)) ++decimals;
  constexpr int max_decimals = 6;
  const auto is_hidden = [&](double value) {
    return hides_side_of(text(value), text(1), value - 1);
  };
  while (decimals < max_decimals && (is_hidden(low) || is_hidden(high))) ++decimals;
  return fmt::format("{}× ({}–{})", text(ratio), text(low), text(high));
}

std::string format_ratio(const Ratio& ratio) {
  const auto& interval = ratio.interval;
  if (!interval) return format_ratio(ratio.value);
  return with_confidence(format_ratio(ratio.value, interval->low, interval->high), *interval);
}

std::string format_percent(const Ratio& fraction) {
  const auto& interval = fraction.interval;
  if (!interval) return format_percent(fraction.value, 0);
  return with_confidence(format_percent(fraction.value, interval->low, interval->high), *interval);
}

std::string format_confidence(double confidence) { return format_number(100 * confidence) + '%'; }

std::string with_confidence(std::string text, const Interval& interval) {
  if (!is_low(interval) || !text.ends_with(')')) return text;
  text.insert(text.size() - 1,
              fmt::format(" at {} confidence", format_confidence(interval.confidence)));
  return text;
}

std::string format_number(double value, int significant) {
  if (!std::isfinite(value)) return std::string(no_number);
  return fmt::format("{:.{}g}", value, significant);
}

}  // namespace parbench
