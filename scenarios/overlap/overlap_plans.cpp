// Adds tasks, memory and checks of scenario overlap.
#include "scenarios/overlap/overlap_plans.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "scenarios/framework/checks/spot_check.h"

namespace parbench {
namespace {

constexpr int overlap_device = 0;
/// Maximum number of different left operands, used in turn, so that a result copied too early or
/// twice is wrong.
constexpr std::int64_t max_operands = 7;
constexpr std::int64_t output_rows = 16;
constexpr int random_columns = 12;

constexpr std::uint64_t factor_numbers = 0;
std::uint64_t matrix_numbers(std::int64_t i) { return 1 + i; }

/// Data of a case to which tasks and checks refer. Its tasks have no cost key: a plan streams
/// through its matrices, and repeated measurements of one task would use cached data.
struct OverlapData {
  OverlapSizes sizes;
  Tensor factor;                  // the operand that all products share
  std::vector<Tensor> operands;   // d2h: left operands, used in turn
  std::vector<Tensor> on_device;  // the matrices that are copied; the same memory in every order
  std::vector<Tensor> on_host;    // one per copy; empty if nothing is copied
  std::vector<Tensor> products;   // h2d: one result for each copied matrix
  Op* product = nullptr;
  Op* discard = nullptr;  // renews the pages of a host matrix; only with HostMemory::fresh

  [[nodiscard]] const Tensor& operand(std::int64_t i) const {
    return operands[i % operands.size()];
  }
  /// Returns matrix i on the host, or on the device if nothing is copied.
  [[nodiscard]] const Tensor& matrix(std::int64_t i) const {
    return on_host.empty() ? on_device[i] : on_host[i];
  }
};

struct OverlapLanes {
  LaneId compute = -1;
  LaneId copy = -1;
};

/// Fills matrices at every reset: matrix i contains the rows from i on of one tall matrix of random
/// numbers. All matrices differ, but only n + count − 1 rows of numbers are drawn.
void fill_windows(CaseParts& parts, const OverlapSizes& sizes,
                  const std::vector<Tensor>& matrices) {
  const std::int64_t rows = sizes.n + static_cast<std::int64_t>(matrices.size()) - 1;
  const std::size_t row = static_cast<std::size_t>(sizes.n) * size_of(sizes.dtype);
  Op& draw = parts.ops.prepare(parts.data.stream(overlap_device),
                               Fill{rows * sizes.n, sizes.dtype, Distribution::uniform, -1.0F, 1.0F,
                                    parts.context.options().seed, matrix_numbers(0)});
  parts.data.at_reset(overlap_device, rows * row,
                      [&draw, row, matrices](Stream& stream, BufferView tall) {
                        draw.enqueue(stream, bind(draw, {{"destination", tall}}).views);
                        for (std::size_t i = 0; i < matrices.size(); ++i) {
                          stream.copy(matrices[i].view, tall.part(i * row, matrices[i].view.bytes));
                        }
                      });
}

void make_device_matrices(CaseParts& parts, OverlapData& data, OverlapOrder order) {
  const OverlapSizes& sizes = data.sizes;
  const OverlapOrder reader_alone = sizes.to_host ? OverlapOrder::copy : OverlapOrder::compute;
  const bool is_filled = order == reader_alone;  // otherwise tasks of the plan write them
  for (std::int64_t i = 0; i < sizes.count; ++i) {
    data.on_device.push_back(
        parts.data.tensor(overlap_device, canonical({sizes.n, sizes.n}, sizes.dtype)));
    if (!is_filled) parts.data.poison(data.on_device.back());
  }
  if (is_filled) fill_windows(parts, sizes, data.on_device);
}

void make_host_matrices(CaseParts& parts, OverlapData& data, Stream& copy_stream) {
  const OverlapSizes& sizes = data.sizes;
  const TensorDesc desc = canonical({sizes.n, sizes.n}, sizes.dtype);
  const MemoryKind kind =
      sizes.memory == HostMemory::pinned ? MemoryKind::pinned : MemoryKind::pageable;
  for (std::int64_t i = 0; i < sizes.count; ++i) {
    data.on_host.push_back(parts.data.tensor(overlap_device, desc, kind));
    if (sizes.to_host) parts.data.poison(data.on_host.back());
  }
  if (!sizes.to_host) fill_windows(parts, sizes, data.on_host);
  if (sizes.memory == HostMemory::fresh) {
    data.discard = &parts.ops.prepare(copy_stream, Discard{static_cast<std::int64_t>(desc.bytes)});
  }
}

void make_operands(CaseParts& parts, OverlapData& data) {
  const OverlapSizes& s = data.sizes;
  const Shape factor = s.to_host ? Shape{s.inner, s.n} : Shape{s.n, s.inner};
  data.factor = parts.data.tensor(overlap_device, canonical(factor, s.dtype));
  parts.data.fill(data.factor, factor_numbers);
  for (std::int64_t i = 0; s.to_host && i < std::min(s.count, max_operands); ++i) {
    data.operands.push_back(parts.data.tensor(overlap_device, canonical({s.n, s.inner}, s.dtype)));
    parts.data.fill(data.operands.back(), matrix_numbers(i));
  }
  for (std::int64_t i = 0; !s.to_host && i < s.count; ++i) {
    data.products.push_back(parts.data.tensor(overlap_device, canonical({s.n, s.inner}, s.dtype)));
    parts.data.poison(data.products.back());
  }
}

TaskId add_product(CaseParts& parts, const OverlapData& data, LaneId lane, std::int64_t i,
                   std::vector<TaskId> after) {
  const Tensor& matrix = data.on_device[i];
  const bool to_host = data.sizes.to_host;
  return parts.plan.add(
      {.name = fmt::format("product {}", i), .lanes = {lane}, .after = std::move(after)},
      {bind(*data.product, {{"a", to_host ? data.operand(i).view : matrix.view},
                            {"b", data.factor.view},
                            {"c", to_host ? matrix.view : data.products[i].view}})});
}

TaskId add_copy(CaseParts& parts, const OverlapData& data, LaneId lane, std::int64_t i,
                std::vector<TaskId> after) {
  const OverlapSizes& sizes = data.sizes;
  const BufferView matrix = data.on_device[i].view;
  const BufferView host = data.on_host[i].view;
  std::vector<Call> calls;
  if (data.discard != nullptr) calls.emplace_back(bind(*data.discard, {{"memory", host}}));
  const std::int64_t rows_per_copy = sizes.chunk == 0 ? sizes.n : std::min(sizes.chunk, sizes.n);
  const std::size_t row = static_cast<std::size_t>(sizes.n) * size_of(sizes.dtype);
  for (std::int64_t first = 0; first < sizes.n; first += rows_per_copy) {
    const std::size_t bytes = std::min(rows_per_copy, sizes.n - first) * row;
    const BufferView there = matrix.part(first * row, bytes);
    const BufferView here = host.part(first * row, bytes);
    calls.emplace_back(sizes.to_host ? CopyCall{here, there} : CopyCall{there, here});
  }
  return parts.plan.add({.name = fmt::format("copy {}", i),
                         .kind = TaskKind::copy,
                         .lanes = {lane},
                         .after = std::move(after)},
                        std::move(calls));
}

void add_in_turn(CaseParts& parts, const OverlapData& data, const OverlapLanes& lanes) {
  std::vector<TaskId> all_before;
  for (const bool copies : {!data.sizes.to_host, data.sizes.to_host}) {
    const std::vector<TaskId> after =
        all_before.empty() ? std::vector<TaskId>{} : std::vector<TaskId>{all_before.back()};
    for (std::int64_t i = 0; i < data.sizes.count; ++i) {
      all_before.push_back(copies ? add_copy(parts, data, lanes.copy, i, after)
                                  : add_product(parts, data, lanes.compute, i, after));
    }
  }
}

/// Adds two loops: the first fills device matrices, the second reads them. As in the other orders,
/// every matrix has its own memory, so that no order has a warmer cache. Only the dependencies
/// limit how far the first loop advances.
///
/// A copy of pageable memory may block the enqueueing thread until the copy is done, an effect to
/// be measured. Work that may run concurrently must already be enqueued by then: products are
/// enqueued before copies to the host, and each product directly after its copy from the host.
void add_overlapped(CaseParts& parts, const OverlapData& data, const OverlapLanes& lanes) {
  const OverlapSizes& sizes = data.sizes;
  const std::int64_t lead = sizes.to_host ? sizes.prefetch : 0;
  std::vector<TaskId> filled;
  std::vector<TaskId> emptied;
  const auto fill = [&](std::int64_t i) {
    std::vector<TaskId> free;
    if (i > sizes.prefetch) free.push_back(emptied[i - sizes.prefetch - 1]);
    filled.push_back(sizes.to_host ? add_product(parts, data, lanes.compute, i, std::move(free))
                                   : add_copy(parts, data, lanes.copy, i, std::move(free)));
  };
  const auto empty = [&](std::int64_t i) {
    emptied.push_back(sizes.to_host ? add_copy(parts, data, lanes.copy, i, {filled[i]})
                                    : add_product(parts, data, lanes.compute, i, {filled[i]}));
  };
  for (std::int64_t i = 0; i < sizes.count + lead; ++i) {
    if (i < sizes.count) fill(i);
    if (i >= lead) empty(i - lead);
  }
}

void add_tasks(CaseParts& parts, const OverlapData& data, const OverlapLanes& lanes,
               OverlapOrder order) {
  if (order == OverlapOrder::sequential) return add_in_turn(parts, data, lanes);
  if (order == OverlapOrder::overlapped) return add_overlapped(parts, data, lanes);
  for (std::int64_t i = 0; i < data.sizes.count; ++i) {
    if (order == OverlapOrder::copy) {
      add_copy(parts, data, lanes.copy, i, {});
    } else {
      add_product(parts, data, lanes.compute, i, {});
    }
  }
}

// --- verification ---

/// Returns the first row and the number of rows of matrix i to compare; the range moves from matrix
/// to matrix.
std::pair<std::int64_t, std::int64_t> rows_of(const OverlapSizes& sizes, std::int64_t i) {
  const std::int64_t count = std::min(output_rows, sizes.n);
  return {(sizes.n - count) * i / std::max<std::int64_t>(1, sizes.count - 1), count};
}

std::vector<float> read_rows(CaseParts& parts, const Tensor& matrix,
                             std::pair<std::int64_t, std::int64_t> rows) {
  Tensor part = matrix;
  const std::int64_t columns = matrix.desc.shape[1];
  const std::size_t row_bytes = static_cast<std::size_t>(columns) * size_of(matrix.desc.dtype);
  part.desc = canonical({rows.second, columns}, matrix.desc.dtype);
  part.view = matrix.view.part(rows.first * row_bytes, rows.second * row_bytes);
  return parts.data.read(part);
}

void add_outputs(CaseParts& parts, const std::shared_ptr<OverlapData>& data) {
  for (std::int64_t i = 0; i < data->sizes.count; ++i) {
    parts.outputs.push_back({fmt::format("rows of result {}", i), [&parts, data, i] {
                               const bool to_host = data->sizes.to_host;
                               return read_rows(parts,
                                                to_host ? data->matrix(i) : data->products[i],
                                                rows_of(data->sizes, i));
                             }});
  }
}

std::optional<std::string> check_product(CaseParts& parts, const OverlapData& data,
                                         const std::vector<float>& factor, std::int64_t i) {
  const bool to_host = data.sizes.to_host;
  const auto rows = rows_of(data.sizes, i);
  const std::vector<float> a = read_rows(parts, to_host ? data.operand(i) : data.matrix(i), rows);
  const std::vector<float> c = read_rows(parts, to_host ? data.matrix(i) : data.products[i], rows);
  ProductProbe probe;
  probe.columns = to_host ? data.sizes.n : data.sizes.inner;
  probe.inner = to_host ? data.sizes.inner : data.sizes.n;
  probe.a_rows = a;
  probe.b = factor;
  probe.c_rows = c;
  if (auto wrong = spot_check(probe, {data.sizes.dtype, data.sizes.math}, random_columns)) {
    return fmt::format("result {}, rows from {} on: {}", i, rows.first, *wrong);
  }
  return std::nullopt;
}

void add_checks(CaseParts& parts, const std::shared_ptr<OverlapData>& data, OverlapOrder order) {
  if (order == OverlapOrder::copy) {
    const auto check = [&parts, data]() -> std::optional<std::string> {
      for (std::int64_t i = 0; i < data->sizes.count; ++i) {
        if (parts.data.read(data->on_device[i]) != parts.data.read(data->on_host[i])) {
          return fmt::format("copy {} differs from its source", i);
        }
      }
      return std::nullopt;
    };
    parts.checks.push_back({"copies equal to their sources", check});
    return;
  }
  const auto check = [&parts, data]() -> std::optional<std::string> {
    const std::vector<float> factor = parts.data.read(data->factor);
    for (std::int64_t i = 0; i < data->sizes.count; ++i) {
      if (auto wrong = check_product(parts, *data, factor, i)) return wrong;
    }
    return std::nullopt;
  };
  parts.checks.push_back({"sampled values of every product computed naively", check});
}

}  // namespace

void plan_overlap(CaseParts& parts, const OverlapSizes& sizes, OverlapOrder order) {
  const auto data = std::make_shared<OverlapData>();
  data->sizes = sizes;
  OverlapLanes lanes;
  const bool copies = order != OverlapOrder::compute;
  const bool computes = order != OverlapOrder::copy;
  if (computes) lanes.compute = add_lane(parts, overlap_device, StreamKind::compute);
  if (copies) lanes.copy = add_lane(parts, overlap_device, StreamKind::copy);
  make_device_matrices(parts, *data, order);
  if (copies) make_host_matrices(parts, *data, stream_of(parts, lanes.copy));
  if (computes) {
    make_operands(parts, *data);
    const Gemm gemm{.m = sizes.n,
                    .n = sizes.to_host ? sizes.n : sizes.inner,
                    .k = sizes.to_host ? sizes.inner : sizes.n,
                    .dtype = sizes.dtype,
                    .math = sizes.math};
    data->product = &parts.ops.prepare(stream_of(parts, lanes.compute), gemm);
    add_outputs(parts, data);
  }
  add_tasks(parts, *data, lanes, order);
  add_checks(parts, data, order);
}

}  // namespace parbench
