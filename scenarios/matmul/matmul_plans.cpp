// Tasks of scenario matmul.
#include "scenarios/matmul/matmul_plans.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "scenarios/framework/collectives/member_collectives.h"
#include "scenarios/matmul/products.h"

namespace parbench {
namespace {

/// Minimum number of results in memory of a sharded plan: the result of one product is combined
/// while the next product is computed.
constexpr std::int64_t min_results = 2;
/// Maximum number of different matrices that a device squares in turn. Small, because the published
/// experiment has one, and small matrices should stay in a near cache.
constexpr std::int64_t max_operands = 3;

/// Returns the matrices that a device squares in `products` products; `owner` selects their random
/// numbers.
std::vector<Tensor> make_operands(CaseParts& parts, const MatmulSizes& sizes, int device, int owner,
                                  std::int64_t products) {
  std::vector<Tensor> operands;
  for (std::int64_t i = 0; i < std::min(max_operands, products); ++i) {
    operands.push_back(parts.data.tensor(device, canonical({sizes.n, sizes.n}, sizes.dtype)));
    parts.data.fill(operands.back(), static_cast<std::uint64_t>(owner * max_operands + i));
  }
  return operands;
}

Gemm gemm_of(const MatmulSizes& sizes, std::int64_t columns, std::int64_t inner) {
  return {.m = sizes.n, .n = columns, .k = inner, .dtype = sizes.dtype, .math = sizes.math};
}

/// Returns a task without a cost key, because each product uses other memory than the previous one.
Task product_task(std::string name, LaneId lane, std::vector<TaskId> after) {
  return {.name = std::move(name), .lanes = {lane}, .after = std::move(after)};
}

/// Returns a matrix that is filled at every reset with a rectangle of the square matrix `x`, which
/// must be filled before.
Tensor copy_block(CaseParts& parts, const Tensor& x, std::int64_t first_row, std::int64_t rows,
                  std::int64_t first_column, std::int64_t columns) {
  Tensor block = parts.data.tensor(x.device, canonical({rows, columns}, x.desc.dtype));
  const std::size_t element = size_of(x.desc.dtype);
  const std::size_t pitch = static_cast<std::size_t>(x.desc.shape[1]) * element;
  const std::size_t width = static_cast<std::size_t>(columns) * element;
  parts.data.at_reset(x.device, 0, [=](Stream& stream, BufferView) {
    for (std::int64_t r = 0; r < rows; ++r) {
      stream.copy(block.view.part(r * width, width),
                  x.view.part((first_row + r) * pitch + first_column * element, width));
    }
  });
  return block;
}

/// Assigns a result (memory) and an operand to each product of a sharded plan. A turn uses each
/// result once. Successive products, and successive uses of a result, have different operands if
/// there are several. In the last turn, result r gets operand r modulo the number of operands, as
/// in plans that are not sharded.
struct Turns {
  std::int64_t products = 1;
  std::int64_t results = 1;
  std::int64_t operands = 1;

  [[nodiscard]] std::int64_t result(std::int64_t product) const { return product % results; }
  [[nodiscard]] std::int64_t operand(std::int64_t product) const {
    const std::int64_t turns_to_come = (products - 1) / results - product / results;
    // so that the first product of a turn has another operand than the previous product
    const std::int64_t shift = results % operands == 0 ? 2 : 1;
    return (result(product) + shift * turns_to_come) % operands;
  }
  [[nodiscard]] std::int64_t last_product(std::int64_t in_result) const {
    return in_result + (products - 1 - in_result) / results * results;
  }
};

Turns turns_of(const MatmulSizes& sizes, int devices) {
  const std::int64_t products = sizes.count * devices;
  return {.products = products,
          .results = std::max(sizes.count, min_results),
          .operands = std::clamp<std::int64_t>(products, 1, max_operands)};
}

/// Memory and operations of a sharded strategy on one device.
struct Shard {
  Member lanes;
  std::vector<Tensor> operands;
  std::vector<Tensor> left;  // by operand
  std::vector<Tensor> right;
  Op* product = nullptr;
  std::size_t offset = 0;  // position in bytes of the shard's product within a result
  std::vector<Tensor> results;

  [[nodiscard]] std::size_t product_bytes() const { return product->tensor("c").bytes; }
};

Shard make_shard(CaseParts& parts, const MatmulSizes& sizes, int device, const Turns& turns) {
  Shard shard;
  shard.lanes.device = device;
  shard.lanes.compute = add_lane(parts, device, StreamKind::compute);
  shard.lanes.copies = add_lane(parts, device, StreamKind::copy);
  shard.operands = make_operands(parts, sizes, device, 0, turns.products);
  for (std::int64_t i = 0; i < turns.results; ++i) {
    shard.results.push_back(parts.data.tensor(device, canonical({sizes.n, sizes.n}, sizes.dtype)));
    parts.data.poison(shard.results.back());
  }
  return shard;
}

/// Makes a shard for each device. By columns, a shard has some columns of the second factor; by
/// rows, some rows of the second factor and the columns of the first factor that these rows
/// multiply.
std::vector<Shard> make_shards(CaseParts& parts, const MatmulSizes& sizes, Sharding sharding,
                               const std::vector<std::int64_t>& widths, const Turns& turns) {
  std::vector<Shard> shards;
  std::int64_t first = 0;
  std::size_t offset = 0;
  for (const std::int64_t width : widths) {
    Shard shard = make_shard(parts, sizes, static_cast<int>(shards.size()), turns);
    Gemm product = gemm_of(sizes, sizes.n, width);
    for (const Tensor& x : shard.operands) {
      if (sharding == Sharding::columns) {
        shard.left.push_back(x);
        shard.right.push_back(copy_block(parts, x, 0, sizes.n, first, width));
      } else {
        shard.left.push_back(copy_block(parts, x, 0, sizes.n, first, width));
        shard.right.push_back(copy_block(parts, x, first, width, 0, sizes.n));
      }
    }
    if (sharding == Sharding::columns) product = gemm_of(sizes, width, sizes.n);
    shard.product = &parts.ops.prepare(stream_of(parts, shard.lanes.compute), product);
    if (sharding == Sharding::columns) {
      shard.offset = offset;
      offset += shard.product_bytes();
    }
    first += width;
    shards.push_back(std::move(shard));
  }
  return shards;
}

/// Adds one device's part of a product. The task waits for the previous collective on the same
/// result.
TaskId add_sharded_product(CaseParts& parts, const Shard& shard, std::int64_t product,
                           const Turns& turns, const std::vector<Completion>& done) {
  const auto x = static_cast<std::size_t>(turns.operand(product));
  const BufferView& result = shard.results[turns.result(product)].view;
  std::vector<TaskId> after;
  if (product >= turns.results) after = done[product - turns.results][shard.lanes.device];
  return parts.plan.add(
      product_task(fmt::format("product {} on {}", product, shard.lanes.device),
                   shard.lanes.compute, std::move(after)),
      {bind(*shard.product, {{"a", shard.left[x].view},
                             {"b", shard.right[x].view},
                             {"c", result.part(shard.offset, shard.product_bytes())}})});
}

/// Adds the products of all shards; `combine` adds the collective of each product. A collective is
/// added after the next product, so that the collective's additions, on the same lane, do not delay
/// that product. It waits for the previous collective, because both use the same inboxes.
template <typename Combine>
void add_sharded_products(CaseParts& parts, const std::vector<Shard>& shards, const Turns& turns,
                          const Combine& combine) {
  std::vector<Completion> done;
  // by shard: tasks for which the collective of the previous product waits
  std::vector<std::vector<TaskId>> ready;
  for (std::int64_t p = 0; p <= turns.products; ++p) {
    std::vector<std::vector<TaskId>> computed;
    std::vector<BufferView> data;
    for (const Shard& shard : shards) {
      if (p > 0) data.push_back(shard.results[turns.result(p - 1)].view);
      if (p == turns.products) continue;
      computed.push_back({add_sharded_product(parts, shard, p, turns, done)});
    }
    if (p > 1) {
      for (std::size_t s = 0; s < shards.size(); ++s) {
        ready[s].insert(ready[s].end(), done.back()[s].begin(), done.back()[s].end());
      }
    }
    if (p > 0) done.push_back(combine(fmt::format("product {}", p - 1), data, ready));
    ready = std::move(computed);
  }
}

/// Adds the output and a check of the results on the first device, and checks that the results on
/// the other devices are equal.
void verify_shards(CaseParts& parts, const MatmulSizes& sizes, const std::vector<Shard>& shards,
                   const Turns& turns, const std::vector<std::int64_t>& widths) {
  std::vector<DeviceResults> all;
  for (const Shard& shard : shards) {
    DeviceResults device{.owner = shard.operands.front().device,
                         .device = shard.operands.front().device,
                         .operands = shard.operands,
                         .results = {}};
    for (const Tensor& result : shard.results) {
      const auto index = static_cast<std::int64_t>(device.results.size());
      ProductResult blocks;
      blocks.operand = static_cast<std::size_t>(turns.operand(turns.last_product(index)));
      std::size_t offset = 0;
      for (const std::int64_t width : widths) {
        Tensor block = result;
        block.desc = canonical({sizes.n, width}, sizes.dtype);
        block.view = result.view.part(offset, block.desc.bytes);
        offset += block.desc.bytes;
        blocks.column_blocks.push_back(block);
      }
      device.results.push_back(std::move(blocks));
    }
    all.push_back(std::move(device));
  }
  add_product_output(parts, sizes.n, all.front(), sizes.count);
  add_product_checks(parts, sizes.n, sizes.format(), all.front());
  for (std::size_t r = 1; r < all.size(); ++r) {
    add_equality_check(parts, sizes.n, all.front(), all[r]);
  }
}

/// Lanes on which a device computes whole products, and a planned product for each.
struct ComputeLanes {
  std::vector<LaneId> lanes;
  std::vector<Op*> ops;
};

ComputeLanes make_lanes(CaseParts& parts, const MatmulSizes& sizes, int device, int streams) {
  ComputeLanes made;
  for (int i = 0; i < streams; ++i) {
    made.lanes.push_back(add_lane(parts, device, StreamKind::compute, i, streams));
    made.ops.push_back(
        &parts.ops.prepare(stream_of(parts, made.lanes.back()), gemm_of(sizes, sizes.n, sizes.n)));
  }
  return made;
}

}  // namespace

void plan_products(CaseParts& parts, const MatmulSizes& sizes, const std::vector<int>& owners,
                   int streams, bool in_turn) {
  const bool is_whole = parts.context.device_count() == 1;
  std::map<int, ComputeLanes> lanes_of;
  std::vector<TaskId> last;  // last task of the previous device
  for (const int owner : owners) {
    const int device = is_whole ? 0 : owner;
    const auto [known, is_new] = lanes_of.try_emplace(device);
    if (is_new) known->second = make_lanes(parts, sizes, device, streams);
    const auto& [lanes, ops] = known->second;
    DeviceResults results{.owner = owner,
                          .device = device,
                          .operands = make_operands(parts, sizes, device, owner, sizes.count),
                          .results = {}};
    const std::vector<TaskId> before = in_turn ? last : std::vector<TaskId>{};
    for (std::int64_t i = 0; i < sizes.count; ++i) {
      const std::size_t lane = i % lanes.size();
      const Tensor result = parts.data.tensor(device, ops[lane]->tensor("c"));
      parts.data.poison(result);
      const std::size_t operand = i % results.operands.size();
      results.results.push_back({.column_blocks = {result}, .operand = operand});
      const BufferView x = results.operands[operand].view;
      last = {parts.plan.add(
          product_task(fmt::format("product {} on {}", i, owner), lanes[lane], before),
          {bind(*ops[lane], {{"a", x}, {"b", x}, {"c", result.view}})})};
    }
    add_product_output(parts, sizes.n, results, sizes.count);
    add_product_checks(parts, sizes.n, sizes.format(), results);
  }
}

void plan_sharded_products(CaseParts& parts, const MatmulSizes& sizes, Sharding sharding) {
  const auto widths = split_evenly(sizes.n, parts.context.device_count());
  const Turns turns = turns_of(sizes, parts.context.device_count());
  const std::vector<Shard> shards = make_shards(parts, sizes, sharding, widths, turns);
  std::vector<Member> members;
  std::vector<std::int64_t> block_bytes;
  for (const Shard& shard : shards) {
    members.push_back(shard.lanes);
    block_bytes.push_back(static_cast<std::int64_t>(shard.product_bytes()));
  }
  MemberCollectives collectives(parts, std::move(members));
  add_sharded_products(parts, shards, turns,
                       [&](const std::string& name, const std::vector<BufferView>& data,
                           const std::vector<std::vector<TaskId>>& ready) {
                         return sharding == Sharding::columns
                                    ? collectives.all_gather(name, block_bytes, data, ready)
                                    : collectives.add(name, Collective::all_reduce, data, ready);
                       });
  verify_shards(parts, sizes, shards, turns,
                sharding == Sharding::columns ? widths : std::vector{sizes.n});
}

}  // namespace parbench
