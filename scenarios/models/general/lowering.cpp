// Element operations become parts of the calls that read them if possible, movements become
// strides, and other operations become calls.
#include "scenarios/models/general/lowering.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <optional>
#include <stdexcept>

#include "kernels/base/error.h"
#include "scenarios/models/general/memory_plan.h"
#include "scenarios/models/general/strides.h"

namespace parbench::general {
namespace {

constexpr std::array<std::string_view, Map::max_inputs> source_roles{
    "source0", "source1", "source2", "source3", "source4", "source5", "source6", "source7"};

/// Entry of Program::memory for an input whose values are a part of the call.
constexpr int from_itself = std::numeric_limits<int>::min();

/// A Map under construction, and the memory of its inputs.
struct Program {
  Map map;
  std::vector<int> memory;          // name of the memory, by input
  std::map<int, int> instructions;  // index in the program, by operation of the graph
  bool fits = true;                 // false if inputs or instructions exceed a Map
};

class Lowering {
 public:
  Lowering(const Graph& graph, const std::vector<Target>& targets, const LoweringOptions& options)
      : graph_(graph), targets_(targets), options_(options), plan_(graph, targets, options) {}

  [[nodiscard]] LoweredGraph run() {
    while (const std::optional<int> index = too_long()) plan_.divide(*index);
    place_targets();
    std::vector<std::size_t> order(targets_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, {}, [&](std::size_t i) { return targets_[i].operation; });
    for (const std::size_t i : order) {
      provide(targets_[i].operation);
      write_target(i);
    }
    add_temporaries();
    return std::move(lowered_);
  }

 private:
  [[nodiscard]] int size() const { return plan_.size(); }
  [[nodiscard]] Shape shape(int index) const { return plan_.shape(index); }
  [[nodiscard]] bool is_located(int index) const { return plan_.is_located(index); }
  [[nodiscard]] bool is_computed(int index) const { return plan_.is_computed(index); }
  [[nodiscard]] bool is_constant(int name) const { return plan_.is_constant(name); }
  [[nodiscard]] DType type_of(int index) const { return plan_.type_of(index); }
  [[nodiscard]] StridedView view_of(int index) const { return plan_.view_of(index); }
  [[nodiscard]] StridedTensor tensor_of(const StridedView& view) const {
    return plan_.tensor_of(view);
  }
  [[nodiscard]] static int name_of_target(std::size_t i) { return MemoryPlan::name_of_target(i); }

  /// Returns an operation whose program exceeds the limits of a Map; nothing if there is none.
  [[nodiscard]] std::optional<int> too_long() const {
    for (int index = 0; index < size(); ++index) {
      if (!plan_.needed(index) || !is_computed(index)) continue;
      if (plan_.is_mapped(index) && !program_of(index).fits) return index;
      const Operation& operation = graph_.at(index);
      const bool has_parts =
          operation.kind == OpKind::concatenation || operation.kind == OpKind::placement;
      if (!has_parts) continue;
      for (const int part : operation.inputs) {
        if (!elements_of(part, false).fits) return part;
      }
    }
    for (const Target& target : targets_) {
      if (!program_of_target(target.operation).fits) return target.operation;
    }
    return std::nullopt;
  }

  /// Returns a program that writes the values of a constant to memory.
  [[nodiscard]] Program written_values(int index) const {
    Program program = elements_of(index, false);
    program.memory.front() = from_itself;
    program.map.inputs.front().dtype = DType::f32;
    program.map.inputs.front().values = graph_.at(index).values->elements();
    return program;
  }

  // --- programs ---

  int add_instruction(Program& program, ElementInstruction instruction) const {
    if (program.map.program.size() >= Map::max_instructions) {
      program.fits = false;
      return 0;
    }
    program.map.program.push_back(instruction);
    return static_cast<int>(program.map.program.size()) - 1;
  }

  int add_input(Program& program, int index) const {
    const StridedView view = view_of(index);
    StridedTensor tensor = tensor_of(view);
    for (std::size_t i = 0; i < program.memory.size(); ++i) {
      if (program.memory[i] == view.base && program.map.inputs[i] == tensor) {
        return add_instruction(program, {.from = {static_cast<std::uint8_t>(i)}});
      }
    }
    if (program.memory.size() >= Map::max_inputs) {
      program.fits = false;
      return 0;
    }
    program.memory.push_back(view.base);
    program.map.inputs.push_back(std::move(tensor));
    return add_instruction(program,
                           {.from = {static_cast<std::uint8_t>(program.memory.size() - 1)}});
  }

  int add(Program& program, int index, bool is_root) const {
    if (const auto known = program.instructions.find(index); known != program.instructions.end()) {
      return known->second;
    }
    const Operation& operation = graph_.at(index);
    int instruction = 0;
    if (operation.kind != OpKind::element || (!is_root && is_computed(index)) ||
        is_located(index)) {
      instruction = add_input(program, index);
    } else {
      ElementInstruction made{.op = operation.element, .number = operation.number};
      if (operation.by_samples) made.number /= static_cast<float>(options_.samples);
      if (operation.element == ElementOp::coordinate) {
        made.from[0] = static_cast<std::uint8_t>(operation.dimension);
      }
      for (std::size_t i = 0; i < operation.inputs.size(); ++i) {
        made.from[i] = static_cast<std::uint8_t>(add(program, operation.inputs[i], false));
      }
      instruction = add_instruction(program, made);
    }
    program.instructions[index] = instruction;
    return instruction;
  }

  /// Returns a program that writes the elements of an operation contiguously. `is_root`: whether to
  /// compute the elements also if the operation gets separate memory, instead of reading them from
  /// there.
  [[nodiscard]] Program elements_of(int index, bool is_root) const {
    Program program;
    program.map.extents = shape(index);
    add(program, index, is_root);
    program.map.output.strides = canonical_strides(program.map.extents);
    program.map.output.count = element_count(program.map.extents);
    return program;
  }

  [[nodiscard]] Program program_of(int index) const {
    const Operation& operation = graph_.at(index);
    Program program;
    if (operation.kind == OpKind::reduction) {
      program = reduced(operation, elements_of(operation.inputs.front(), false));
    } else if (operation.kind == OpKind::constant) {
      program = written_values(index);
    } else if (is_movement(operation.kind)) {
      program = copied(operation);
    } else {
      program = elements_of(index, true);
    }
    program.map.output.dtype = type_of(index);
    return program;
  }

  /// Returns a program that writes the elements of an operation to a target. A reduction that only
  /// the target reads is computed by this program.
  [[nodiscard]] Program program_of_target(int index) const {
    const bool is_direct =
        !is_located(index) && !is_computed(index) && graph_.at(index).kind == OpKind::reduction;
    return is_direct ? program_of(index) : elements_of(index, false);
  }

  /// Returns a program that writes the result of a movement (is_movement) contiguously.
  [[nodiscard]] Program copied(const Operation& operation) const {
    const StridedView input = view_of(operation.inputs.front());
    std::optional<StridedView> view = moved(operation, input, options_.samples);
    if (!view) throw std::logic_error("the input of a reshape lies in pieces");
    Program program;
    program.map.extents = view->shape;
    program.memory = {view->base};
    program.map.inputs = {tensor_of(*view)};
    program.map.program = {{}};
    program.map.output.strides = canonical_strides(view->shape);
    program.map.output.count = element_count(view->shape);
    return program;
  }

  /// Returns a program that reduces the results of `program`; dimensions that remain become the
  /// first ones.
  [[nodiscard]] static Program reduced(const Operation& operation, Program program) {
    Map& map = program.map;
    std::vector<std::size_t> order;
    const auto is_reduced = [&](std::size_t d) {
      return std::ranges::find(operation.axes, static_cast<std::int64_t>(d)) !=
             operation.axes.end();
    };
    for (const bool wanted : {false, true}) {
      for (std::size_t d = 0; d < map.extents.size(); ++d) {
        if (is_reduced(d) == wanted) order.push_back(d);
      }
    }
    const auto reordered = [&](const Shape& values) {
      Shape result;
      for (const std::size_t d : order) result.push_back(values[d]);
      return result;
    };
    map.extents = reordered(map.extents);
    for (StridedTensor& input : map.inputs) input.strides = reordered(input.strides);
    for (ElementInstruction& instruction : map.program) {
      if (instruction.op != ElementOp::coordinate) continue;
      instruction.from[0] =
          static_cast<std::uint8_t>(std::ranges::find(order, instruction.from[0]) - order.begin());
    }
    map.reduction = operation.reduction;
    map.reduced = static_cast<int>(operation.axes.size());
    const Shape kept(map.extents.begin(), map.extents.end() - map.reduced);
    map.output.strides = canonical_strides(kept);
    map.output.count = element_count(kept);
    return program;
  }

  // --- calls ---

  /// Returns the name of the memory of a target or an operation: the name of the target if
  /// place_targets has assigned the operation to one.
  [[nodiscard]] int memory_of(int name) const {
    const auto found = placed_.find(name);
    return found == placed_.end() ? name : found->second;
  }

  /// Assigns operations with separate memory to targets of the same type that do not accumulate, so
  /// that the calls of these operations write to the targets directly.
  void place_targets() {
    for (std::size_t i = 0; i < targets_.size(); ++i) {
      const auto [index, dtype, accumulate] = targets_[i];
      if (is_located(index) || !is_computed(index) || accumulate || dtype != type_of(index))
        continue;
      placed_.try_emplace(index, name_of_target(i));
    }
  }

  void emit(Program program, int to) {
    if (!program.fits) throw std::logic_error("a program exceeds the limits of a call");
    LoweredCall call{.desc = std::move(program.map), .arguments = {}};
    for (std::size_t i = 0; i < program.memory.size(); ++i) {
      if (program.memory[i] == from_itself || is_constant(program.memory[i])) continue;
      call.arguments.emplace_back(source_roles[i], memory_of(program.memory[i]));
    }
    call.arguments.emplace_back("destination", memory_of(to));
    lowered_.calls.push_back(std::move(call));
  }

  /// Emits the calls for an operation, after those for its inputs. This order keeps temporaries
  /// short-lived: in the order of the graph, a backward pass would begin by recomputing all results
  /// of the forward pass that it needs.
  void provide(int index) {
    if (is_located(index) || provided_[index]) return;
    for (const int input : graph_.at(index).inputs) provide(input);
    if (is_computed(index)) compute(index);
    provided_[index] = true;
  }

  void compute(int index) {
    const Operation& operation = graph_.at(index);
    switch (operation.kind) {
      case OpKind::concatenation:
        return concatenate(operation, index);
      case OpKind::placement:
        return place(operation, index);
      case OpKind::product:
        return multiply(operation, index);
      case OpKind::rows:
        return take_rows(operation, index);
      case OpKind::scattered_rows:
        return scatter_rows(operation, index);
      case OpKind::input:
      case OpKind::parameter:
      case OpKind::layer:
        throw std::logic_error("inputs and parameters must be in memory");
      default:
        return emit(program_of(index), index);
    }
  }

  /// Writes the elements of `part` to a strided region of the result of `whole`.
  void write_part(int part, int whole, std::int64_t offset, Shape strides) {
    Program program = elements_of(part, false);
    program.map.output = {.dtype = type_of(whole),
                          .count = element_count(shape(whole)),
                          .offset = offset,
                          .strides = std::move(strides)};
    emit(std::move(program), whole);
  }

  void concatenate(const Operation& operation, int index) {
    const Shape strides = canonical_strides(shape(index));
    const auto axis = static_cast<std::size_t>(operation.axes.front());
    std::int64_t begin = 0;
    for (const int part : operation.inputs) {
      write_part(part, index, begin * strides[axis], strides);
      begin += shape(part)[axis];
    }
  }

  void place(const Operation& operation, int index) {
    const Shape whole = shape(index);
    Program zeros;
    zeros.map.extents = whole;
    zeros.map.program = {{.op = ElementOp::number}};
    zeros.map.output = {.dtype = type_of(index),
                        .count = element_count(whole),
                        .strides = canonical_strides(whole)};
    emit(std::move(zeros), index);
    Shape strides = canonical_strides(whole);
    std::int64_t offset = 0;
    for (std::size_t d = 0; d < strides.size(); ++d) {
      offset += operation.starts[d] * strides[d];
      strides[d] *= operation.steps[d];
    }
    write_part(operation.inputs.front(), index, offset, std::move(strides));
  }

  void multiply(const Operation& operation, int index) {
    const StridedView a = view_of(operation.inputs[0]);
    const StridedView b = view_of(operation.inputs[1]);
    const Shape result = shape(index);
    Gemm gemm{.m = result.end()[-2],
              .n = result.back(),
              .k = a.shape.back(),
              .dtype = options_.dtype,
              .transpose_a = MemoryPlan::matrices_of(a)->transposed,
              .transpose_b = MemoryPlan::matrices_of(b)->transposed,
              .math = options_.math};
    gemm.batch = element_count(result) / (gemm.m * gemm.n);
    lowered_.calls.push_back(
        {.desc = gemm,
         .arguments = {
             {"a", memory_of(a.base)}, {"b", memory_of(b.base)}, {"c", memory_of(index)}}});
  }

  /// Returns the name of the memory that contains the elements of an operation.
  [[nodiscard]] int base_of(int index) const { return memory_of(view_of(index).base); }

  void check_rows(std::int64_t rows) const {
    if (rows <= max_rows) return;
    throw UsageError(
        fmt::format("an operation selects among {} rows of {} samples, more than the {} that f32 "
                    "counts exactly; use a smaller batch",
                    rows, options_.samples, max_rows));
  }

  void take_rows(const Operation& operation, int index) {
    const Shape table = shape(operation.inputs[0]);
    check_rows(table.front());
    lowered_.calls.push_back({.desc = EmbeddingForward{.vocabulary = table.front(),
                                                       .width = table.back(),
                                                       .count = shape(index).front(),
                                                       .dtype = type_of(index)},
                              .arguments = {{"indices", base_of(operation.inputs[1])},
                                            {"weights", base_of(operation.inputs[0])},
                                            {"destination", memory_of(index)}}});
  }

  void scatter_rows(const Operation& operation, int index) {
    const Shape table = shape(index);
    check_rows(table.front());
    const int source = operation.inputs[0];
    lowered_.calls.push_back({.desc = EmbeddingBackward{.vocabulary = table.front(),
                                                        .width = table.back(),
                                                        .count = shape(source).front(),
                                                        .dtype = options_.dtype},
                              .arguments = {{"indices", base_of(operation.inputs[1])},
                                            {"diff_destination", base_of(source)},
                                            {"diff_weights", memory_of(index)}}});
  }

  /// Writes a result to a target, unless it was computed there (place_targets).
  void write_target(std::size_t i) {
    const auto& [index, dtype, accumulate] = targets_[i];
    const int name = name_of_target(i);
    if (memory_of(index) == name) return;
    Program program = program_of_target(index);
    program.map.output.dtype = dtype;
    program.map.accumulate = accumulate;
    emit(std::move(program), name);
  }

  // --- memory ---

  void add_temporaries() {
    std::map<int, std::size_t> known;  // index in temporaries by operation
    for (std::size_t call = 0; call < lowered_.calls.size(); ++call) {
      for (const auto& [role, memory] : lowered_.calls[call].arguments) {
        if (memory < 0 || is_located(memory)) continue;
        const auto [found, is_new] = known.try_emplace(memory, lowered_.temporaries.size());
        if (is_new) {
          const auto count = static_cast<std::size_t>(element_count(shape(memory)));
          lowered_.temporaries.push_back(
              {.operation = memory, .bytes = count * size_of(type_of(memory)), .first = call});
        }
        lowered_.temporaries[found->second].last = call;
      }
    }
  }

  const Graph& graph_;
  const std::vector<Target>& targets_;
  const LoweringOptions& options_;
  MemoryPlan plan_;
  std::map<int, int> placed_;     // name of the target, by operation that is computed in its memory
  std::map<int, bool> provided_;  // operations that `provide` has processed
  LoweredGraph lowered_;
};

}  // namespace

LoweredGraph lower(const Graph& graph, const std::vector<Target>& targets,
                   const LoweringOptions& options) {
  return Lowering(graph, targets, options).run();
}

}  // namespace parbench::general
