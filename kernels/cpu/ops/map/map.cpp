// Programs over strided tensors: an interpreter that runs each instruction on a whole tile, as
// numexpr does.
#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "kernels/cpu/ops/map/element_instructions.h"
#include "kernels/cpu/ops/map/map_plan.h"
#include "kernels/cpu/ops/parallel.h"
#include "kernels/cpu/ops/plans.h"
#include "kernels/cpu/ops/prepare.h"

namespace parbench::cpu {
namespace {

using Arguments = std::span<std::byte* const>;

/// The operands of a Map: the arguments of a call, and the values that the operation contains.
class MapValues {
 public:
  explicit MapValues(const Map& desc) {
    for (const StridedTensor& input : desc.inputs) values_.push_back(input.values);
  }

  /// Returns the addresses of all inputs, followed by the output.
  [[nodiscard]] std::array<std::byte*, Map::max_inputs + 1> all(Arguments arguments) const {
    std::array<std::byte*, Map::max_inputs + 1> addresses{};
    std::size_t next = 0;
    for (std::size_t i = 0; i < values_.size(); ++i) {
      auto* own = values_[i] == nullptr ? nullptr : const_cast<float*>(values_[i]->data());
      addresses.at(i) = own == nullptr ? arguments[next++] : reinterpret_cast<std::byte*>(own);
    }
    addresses.at(values_.size()) = arguments[next];
    return addresses;
  }

 private:
  std::vector<std::shared_ptr<const std::vector<float>>> values_;
};

/// Computes tiles in one thread, with blocks of its own.
class TileRunner {
 public:
  TileRunner(const MapPlan& plan, Arguments arguments) : plan_(plan), arguments_(arguments) {
    const auto& instructions = plan_.instructions();
    for (std::size_t i = 0; i < instructions.size(); ++i) {
      results_[i] = {&uniform_[i], true};
      uniform_[i] = instructions[i].instruction.number;
    }
  }

  /// Computes a tile and returns one result per element of the tile.
  const float* run(const TileStart& start, const TileExtents& extents);
  void store(const TileStart& start, const TileExtents& extents);

  [[nodiscard]] std::byte* element(std::size_t operand, const TileStart& start) const {
    const MapOperand& one = plan_.loops().operands[operand];
    return arguments_[one.argument] +
           plan_.position(operand, start) * static_cast<std::int64_t>(size_of(one.dtype));
  }
  [[nodiscard]] float* work() { return block(plan_.work_block()); }
  [[nodiscard]] std::array<double, MapPlan::max_totals>& totals() { return totals_; }

 private:
  [[nodiscard]] float* block(std::size_t index) {
    return blocks_.data() + index * plan_.block_elements();
  }
  [[nodiscard]] float* location_of(const LocatedInstruction& located, std::size_t index,
                                   const TileStart& start);
  void load(const LocatedInstruction& located, float* out, const TileStart& start,
            const TileExtents& extents);
  void compute(const ElementInstruction& instruction, float* out, std::size_t count) const;
  void copy(std::size_t source, const TileStart& start, const TileExtents& extents) const;

  const MapPlan& plan_;
  Arguments arguments_;
  std::array<InstructionSource, Map::max_instructions + 2> results_;
  std::array<float, Map::max_instructions + 2> uniform_;
  alignas(64) std::array<double, MapPlan::max_totals> totals_;
  alignas(64) std::array<float, MapPlan::max_block_elements> blocks_;
};

float* TileRunner::location_of(const LocatedInstruction& located, std::size_t index,
                               const TileStart& start) {
  switch (located.location) {
    case ResultLocation::uniform:
      return &uniform_[index];
    case ResultLocation::block:
      return block(located.block);
    case ResultLocation::memory:
      return reinterpret_cast<float*>(element(located.instruction.from[0], start));
    case ResultLocation::output:
      break;
  }
  return reinterpret_cast<float*>(element(plan_.loops().output(), start));
}

void TileRunner::load(const LocatedInstruction& located, float* out, const TileStart& start,
                      const TileExtents& extents) {
  const std::size_t operand = located.instruction.from[0];
  const MapOperand& one = plan_.loops().operands[operand];
  const TileExtents loaded =
      located.location == ResultLocation::uniform ? TileExtents{1, 1, 1} : extents;
  if (one.is_coordinate) {
    load_positions(out, loaded, plan_.position(operand, start), plan_.strides(operand));
  } else {
    load_tile(out, loaded, one.dtype, element(operand, start), plan_.strides(operand));
  }
}

void TileRunner::compute(const ElementInstruction& instruction, float* out,
                         std::size_t count) const {
  std::array<InstructionSource, 3> sources;
  for (std::size_t i = 0; i < operand_count(instruction.op); ++i) {
    sources.at(i) = results_.at(instruction.from.at(i));
    sources.at(i).is_uniform = sources.at(i).is_uniform && count > 1;
  }
  run_instruction(instruction.op, out, sources, count);
}

const float* TileRunner::run(const TileStart& start, const TileExtents& extents) {
  const auto count = static_cast<std::size_t>(element_count(extents));
  const auto& instructions = plan_.instructions();
  for (std::size_t i = 0; i < instructions.size(); ++i) {
    const LocatedInstruction& located = instructions[i];
    if (located.instruction.op == ElementOp::number) continue;
    float* out = location_of(located, i, start);
    const bool is_uniform = located.location == ResultLocation::uniform;
    if (operand_count(located.instruction.op) > 0) {
      compute(located.instruction, out, is_uniform ? 1 : count);
    } else if (located.location != ResultLocation::memory) {
      load(located, out, start, extents);
    }
    results_.at(i) = {out, is_uniform};
  }
  const InstructionSource& last = results_.at(instructions.size() - 1);
  if (!last.is_uniform) return last.elements;
  return std::fill_n(work(), count, *last.elements) - count;
}

void TileRunner::copy(std::size_t source, const TileStart& start,
                      const TileExtents& extents) const {
  const std::size_t output = plan_.loops().output();
  copy_tile(element(output, start), plan_.strides(output), element(source, start),
            plan_.strides(source), extents, size_of(plan_.loops().operands[output].dtype));
}

void TileRunner::store(const TileStart& start, const TileExtents& extents) {
  if (plan_.is_copy()) return copy(plan_.instructions()[0].instruction.from[0], start, extents);
  const float* results = run(start, extents);
  if (plan_.instructions().back().location == ResultLocation::output) return;
  const std::size_t output = plan_.loops().output();
  store_tile(plan_.loops().operands[output].dtype, element(output, start), plan_.strides(output),
             extents, results);
}

/// Calls body(runner, first, last) in the stream's team, for ranges [first, last) of `items` items
/// with `elements` elements each.
template <class Body>
void parallel_tiles(const MapPlan& plan, Arguments arguments, std::int64_t items,
                    std::int64_t elements, int threads, const Body& body) {
  const auto weight = static_cast<std::size_t>(elements);
  parallel_ranges(static_cast<std::size_t>(items) * weight, weight, threads,
                  [&](std::size_t begin, std::size_t end) {
                    TileRunner runner(plan, arguments);
                    body(runner, static_cast<std::int64_t>(begin / weight),
                         static_cast<std::int64_t>(end / weight));
                  });
}

class MapOp final : public CpuOp {
 public:
  explicit MapOp(const Map& desc) : CpuOp(desc), plan_(desc), values_(desc) {
    add_tensors(*this);
    set_implementation(plan_.is_copy() ? "copies of rows" : "vector loops over tiles");
  }

  void execute(const Execution& execution, Arguments arguments) override {
    const auto addresses = values_.all(arguments);
    parallel_tiles(plan_, addresses, plan_.tiles(false), plan_.tile_elements(), execution.threads,
                   [&](TileRunner& runner, std::int64_t first, std::int64_t last) {
                     TileStart start{};
                     for (std::int64_t tile = first; tile < last; ++tile) {
                       plan_.seek(start, tile, false);
                       runner.store(start, plan_.extents_at(start));
                     }
                   });
  }

 private:
  MapPlan plan_;
  MapValues values_;
};

/// A Map with a reduction. If it has few results, the reduced part is divided into chunks that run
/// in parallel and are combined in order. The number of chunks does not depend on the number of
/// threads.
class ReducingMapOp final : public CpuOp {
 public:
  explicit ReducingMapOp(const Map& desc) : CpuOp(desc), plan_(desc), values_(desc) {
    kept_tiles_ = plan_.tiles(false);
    reduced_tiles_ = plan_.tiles(true);
    chunks_ = chunks();
    add_tensors(*this);
    if (chunks_ > 1) {
      const std::int64_t partials = chunks_ * kept_tiles_ * plan_.kept_elements();
      partials_ = add_scratch(static_cast<std::size_t>(partials) * sizeof(double));
    }
    set_implementation("vector loops over tiles");
  }

  void execute(const Execution& execution, Arguments arguments) override {
    const auto addresses = values_.all(arguments);
    auto* partials = reinterpret_cast<double*>(execution.scratch + partials_);
    const std::int64_t elements = plan_.tile_elements() * reduced_tiles_ / chunks_;
    parallel_tiles(plan_, addresses, kept_tiles_ * chunks_, elements, execution.threads,
                   [&](TileRunner& runner, std::int64_t first, std::int64_t last) {
                     for (std::int64_t item = first; item < last; ++item) {
                       reduce(runner, item, partials);
                     }
                   });
    if (chunks_ == 1) return;
    parallel_tiles(plan_, addresses, kept_tiles_, plan_.kept_elements() * chunks_,
                   execution.threads,
                   [&](TileRunner& runner, std::int64_t first, std::int64_t last) {
                     for (std::int64_t tile = first; tile < last; ++tile) {
                       combine_chunks(runner, tile, partials);
                     }
                   });
  }

 private:
  [[nodiscard]] std::int64_t chunks() const {
    constexpr std::int64_t wanted_items = 64;
    constexpr std::int64_t min_elements = 16384;
    const std::int64_t elements = plan_.tile_elements() * reduced_tiles_;
    return std::max<std::int64_t>(
        1, std::min({reduced_tiles_, wanted_items / kept_tiles_, elements / min_elements}));
  }

  [[nodiscard]] double* partial(double* partials, std::int64_t chunk, std::int64_t tile) const {
    return partials + (chunk * kept_tiles_ + tile) * plan_.kept_elements();
  }

  /// Returns the extents of the results of a tile.
  [[nodiscard]] TileExtents kept_extents(TileExtents extents) const {
    for (std::size_t i = 0; i < tile_dimensions; ++i) {
      if (plan_.is_reduced().at(i)) extents.at(i) = 1;
    }
    return extents;
  }

  void reduce(TileRunner& runner, std::int64_t item, double* partials) const {
    const std::int64_t chunk = item / kept_tiles_;
    const std::int64_t tile = item % kept_tiles_;
    TileStart start{};
    plan_.seek(start, tile, false);
    double* totals = chunks_ == 1 ? runner.totals().data() : partial(partials, chunk, tile);
    const std::int64_t begin = chunk * reduced_tiles_ / chunks_;
    const std::int64_t end = (chunk + 1) * reduced_tiles_ / chunks_;
    for (std::int64_t i = begin; i < end; ++i) {
      plan_.seek(start, i, true);
      add_tile(runner, start, totals, i == begin);
    }
    if (chunks_ == 1) finish(runner, tile, totals);
  }

  void add_tile(TileRunner& runner, const TileStart& start, double* totals, bool is_first) const {
    const TileExtents extents = plan_.extents_at(start);
    const float* results = runner.run(start, extents);
    fold_tile(plan_.loops().reduction, runner.work(), results, extents, plan_.is_reduced());
    const auto count = static_cast<std::size_t>(element_count(kept_extents(extents)));
    if (is_first) {
      std::copy_n(runner.work(), count, totals);
    } else {
      combine(plan_.loops().reduction, totals, runner.work(), count);
    }
  }

  void combine_chunks(TileRunner& runner, std::int64_t tile, double* partials) const {
    const auto count = static_cast<std::size_t>(plan_.kept_elements());
    double* totals = partial(partials, 0, tile);
    for (std::int64_t chunk = 1; chunk < chunks_; ++chunk) {
      combine(plan_.loops().reduction, totals, partial(partials, chunk, tile), count);
    }
    finish(runner, tile, totals);
  }

  void finish(TileRunner& runner, std::int64_t tile, const double* totals) const {
    TileStart start{};
    plan_.seek(start, tile, false);
    const TileExtents extents = kept_extents(plan_.extents_at(start));
    const std::size_t output = plan_.loops().output();
    const DType dtype = plan_.loops().operands[output].dtype;
    const TileStrides& strides = plan_.strides(output);
    std::byte* address = runner.element(output, start);
    const auto count = static_cast<std::size_t>(element_count(extents));
    float* work = runner.work();
    std::copy_n(totals, count, work);
    if (plan_.loops().accumulate) {
      std::array<float, MapPlan::max_totals> old;
      load_tile(old.data(), extents, dtype, address, strides);
      const std::array<InstructionSource, 3> sources{InstructionSource{old.data()},
                                                     InstructionSource{work}};
      run_instruction(ElementOp::addition, work, sources, count);
    }
    store_tile(dtype, address, strides, extents, work);
  }

  MapPlan plan_;
  MapValues values_;
  std::int64_t kept_tiles_ = 1;
  std::int64_t reduced_tiles_ = 1;
  std::int64_t chunks_ = 1;
  std::size_t partials_ = 0;
};

}  // namespace

Planned plan(const Map& desc) {
  if (map_loops(desc).reduction == Reduction::none) return std::make_unique<MapOp>(desc);
  return std::make_unique<ReducingMapOp>(desc);
}

}  // namespace parbench::cpu
