// Reads and checks products.
#include "scenarios/matmul/products.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "scenarios/framework/checks/spot_check.h"
#include "scenarios/framework/collectives/messages.h"

namespace parbench {
namespace {

constexpr int random_columns = 12;
constexpr std::int64_t spread_rows = 16;

/// Returns the rows to recompute of the `index`-th of `total` results: the first, the last, and up
/// to 16 evenly spread ones, which differ between results to check more of the blocks that a
/// collective moves.
std::set<std::int64_t> checked_rows(std::int64_t n, std::size_t index, std::size_t total) {
  const std::int64_t bands = std::min(spread_rows, n);
  const std::int64_t shift =
      static_cast<std::int64_t>(index) * (n / bands) / static_cast<std::int64_t>(total);
  std::set<std::int64_t> rows = {0, n - 1};
  for (std::int64_t band = 0; band < bands; ++band) rows.insert(band * n / bands + shift);
  return rows;
}

std::optional<std::string> check_result(CaseParts& parts, std::int64_t n, NumberFormat format,
                                        const DeviceResults& results, std::size_t index,
                                        const std::vector<float>& x) {
  for (const std::int64_t row : checked_rows(n, index, results.results.size())) {
    const std::vector<float> got = read_rows(parts.data, results.results[index], row, 1);
    ProductProbe probe;
    probe.columns = n;
    probe.inner = n;
    probe.a_rows =
        std::span(x).subspan(static_cast<std::size_t>(row * n), static_cast<std::size_t>(n));
    probe.b = x;
    probe.c_rows = got;
    if (auto wrong = spot_check(probe, format, random_columns)) {
      return fmt::format("{}, product {}, row {}: {}",
                         parts.context.device(results.device).info().name, index, row, *wrong);
    }
  }
  return std::nullopt;
}

}  // namespace

std::vector<float> read_rows(CaseData& data, const ProductResult& result, std::int64_t first,
                             std::int64_t count) {
  std::int64_t columns = 0;
  for (const Tensor& block : result.column_blocks) columns += block.desc.shape[1];
  std::vector<float> rows(static_cast<std::size_t>(count * columns));
  std::int64_t column = 0;
  for (const Tensor& block : result.column_blocks) {
    const std::int64_t width = block.desc.shape[1];
    const std::size_t row_bytes = static_cast<std::size_t>(width) * size_of(block.desc.dtype);
    Tensor part = block;
    part.desc = canonical({count, width}, block.desc.dtype);
    part.view = block.view.part(first * row_bytes, count * row_bytes);
    const std::vector<float> values = data.read(part);
    for (std::int64_t r = 0; r < count; ++r) {
      std::copy_n(values.begin() + r * width, width, rows.begin() + r * columns + column);
    }
    column += width;
  }
  return rows;
}

void add_product_output(CaseParts& parts, std::int64_t n, const DeviceResults& results,
                        std::int64_t count) {
  const std::string name = fmt::format("x·x of device {}", results.owner);
  parts.outputs.push_back({name, [&parts, n, results, count] {
                             const auto slices = split_evenly(n, static_cast<int>(count));
                             std::vector<float> whole;
                             std::int64_t row = 0;
                             for (std::size_t i = 0; i < slices.size() && slices[i] > 0; ++i) {
                               const auto rows =
                                   read_rows(parts.data, results.results[i], row, slices[i]);
                               whole.insert(whole.end(), rows.begin(), rows.end());
                               row += slices[i];
                             }
                             return whole;
                           }});
}

void add_product_checks(CaseParts& parts, std::int64_t n, NumberFormat format,
                        const DeviceResults& results) {
  const auto check = [&parts, n, format, results]() -> std::optional<std::string> {
    std::vector<std::vector<float>> x;
    for (const Tensor& operand : results.operands) x.push_back(parts.data.read(operand));
    for (std::size_t i = 0; i < results.results.size(); ++i) {
      const std::vector<float>& operand = x[results.results[i].operand];
      if (auto wrong = check_result(parts, n, format, results, i, operand)) return wrong;
    }
    return std::nullopt;
  };
  parts.checks.push_back({"sampled values of every product computed naively", check});
}

void add_equality_check(CaseParts& parts, std::int64_t n, const DeviceResults& first,
                        const DeviceResults& other) {
  const auto check = [&parts, n, first, other]() -> std::optional<std::string> {
    for (std::size_t i = 0; i < first.results.size(); ++i) {
      if (read_rows(parts.data, first.results[i], 0, n) !=
          read_rows(parts.data, other.results[i], 0, n)) {
        return fmt::format("{} and {} hold different results of product {}",
                           parts.context.device(first.device).info().name,
                           parts.context.device(other.device).info().name, i);
      }
    }
    return std::nullopt;
  };
  parts.checks.push_back({"devices' results equal", check});
}

}  // namespace parbench
