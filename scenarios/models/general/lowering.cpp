// Elements are computed where they are read, movements are strides, and everything else is a call.
#include "scenarios/models/general/lowering.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>

#include "scenarios/models/general/strides.h"

namespace parbench::general {
namespace {

constexpr std::array<std::string_view, Map::max_inputs> source_roles{
    "source0", "source1", "source2", "source3", "source4", "source5", "source6", "source7"};

/// Elements that cost nothing to compute again.
bool is_free(const Operation& operation) {
  return operation.kind == OpKind::element && operation.inputs.empty();
}

/// In place of memory: an input whose values the call has itself.
constexpr int from_itself = std::numeric_limits<int>::min();

/// A program under construction, and the memory that its inputs are in.
struct Program {
  Map map;
  std::vector<int> memory;      // by input
  std::map<int, int> steps;     // by operation of the graph
  bool fits = true;             // within the limits of a Map
};

class Lowering {
 public:
  Lowering(const Graph& graph, const std::vector<Target>& targets, const LoweringOptions& options)
      : graph_(graph), targets_(targets), options_(options) {}

  [[nodiscard]] LoweredGraph run() {
    find_needed();
    while (!decide()) continue;
    place_targets();
    for (int index = 0; index < size(); ++index) {
      if (needed(index) && is_computed(index)) compute(index);
    }
    for (std::size_t i = 0; i < targets_.size(); ++i) write_target(i);
    add_temporaries();
    return std::move(lowered_);
  }

 private:
  [[nodiscard]] int size() const { return static_cast<int>(graph_.operations().size()); }
  [[nodiscard]] bool needed(int index) const { return !readers_[at(index)].empty(); }
  [[nodiscard]] bool is_located(int index) const { return options_.located.contains(index); }
  [[nodiscard]] static std::size_t at(int index) { return static_cast<std::size_t>(index); }
  [[nodiscard]] Shape shape(int index) const {
    return shape_at(graph_.shape(index), options_.samples);
  }

  // --- what is computed ---

  void find_needed() {
    readers_.resize(at(size()));
    for (std::size_t i = 0; i < targets_.size(); ++i) {
      readers_[at(targets_[i].operation)].push_back(name_of_target(i));
    }
    for (int index = size(); index-- > 0;) {
      if (!needed(index) || is_located(index)) continue;
      if (graph_.shape(index).size() > Map::max_rank) {
        throw std::invalid_argument(fmt::format(
            "{} has more than {} dimensions", to_string(graph_.shape(index)), Map::max_rank));
      }
      for (const int input : graph_.at(index).inputs) readers_[at(input)].push_back(index);
    }
  }

  /// In arguments and lists of readers.
  [[nodiscard]] static int name_of_target(std::size_t i) { return -1 - static_cast<int>(i); }
  [[nodiscard]] const Target* target_named(int name) const {
    return name < 0 ? &targets_[at(-1 - name)] : nullptr;
  }

  /// Whether an operation's result gets memory of its own.
  [[nodiscard]] bool is_computed(int index) const { return computed_[at(index)]; }

  /// Decides what is computed to memory. False: a program was too long, and has been divided.
  [[nodiscard]] bool decide() {
    computed_.assign(at(size()), false);
    for (int index = 0; index < size(); ++index) {
      if (!needed(index) || is_located(index)) continue;
      const Operation& operation = graph_.at(index);
      computed_[at(index)] = divided_.contains(index) || gets_memory(index);
      require_inputs(operation);
    }
    for (int index = 0; index < size(); ++index) {
      if (!needed(index) || !is_computed(index) || !is_mapped(index)) continue;
      if (!program_of(index).fits) return divide(index);
    }
    return true;
  }

  [[nodiscard]] bool gets_memory(int index) const {
    const Operation& operation = graph_.at(index);
    if (operation.kind == OpKind::constant || is_movement(operation.kind)) return false;
    const std::vector<int>& readers = readers_[at(index)];
    const auto reads_elements = [&](int reader) { return this->reads_elements(reader); };
    if (is_free(operation)) return !std::ranges::all_of(readers, reads_elements);
    if (operation.kind == OpKind::reduction) return readers.size() > 1 || readers.front() >= 0;
    if (operation.kind != OpKind::element) return true;
    return readers.size() > 1 || !reads_elements(readers.front()) ||
           (!options_.fuse && readers.front() >= 0);
  }

  /// Whether a reader can compute what it reads, element by element.
  [[nodiscard]] bool reads_elements(int reader) const {
    if (reader < 0) return true;
    const OpKind kind = graph_.at(reader).kind;
    return kind == OpKind::element || kind == OpKind::reduction ||
           kind == OpKind::concatenation || kind == OpKind::placement;
  }

  /// Copies what a reshape, a product or a choice of rows cannot read where it lies.
  void require_inputs(const Operation& operation) {
    const int first = operation.inputs.empty() ? -1 : operation.inputs.front();
    if (operation.kind == OpKind::reshape) {
      if (!moved(operation, view_of(first), options_.samples)) computed_[at(first)] = true;
    } else if (operation.kind == OpKind::product) {
      for (const int input : operation.inputs) {
        if (!in_memory_as(input, options_.dtype) || !matrices_of(view_of(input))) {
          computed_[at(input)] = true;
        }
      }
    } else if (operation.kind == OpKind::rows || operation.kind == OpKind::scattered_rows) {
      if (!is_plain(first) || !in_memory_as(first, options_.dtype)) computed_[at(first)] = true;
      const int indices = operation.inputs.back();
      if (is_plain(indices) && in_memory_as(indices, DType::i32)) return;
      computed_[at(indices)] = true;
      indices_.insert(indices);
    }
  }

  /// Whether elements lie in canonical order from the beginning of some memory.
  [[nodiscard]] bool is_plain(int index) const {
    const StridedView view = view_of(index);
    return view.offset == 0 && view.is_contiguous();
  }

  [[nodiscard]] bool in_memory_as(int index, DType dtype) const {
    const int base = view_of(index).base;
    return (is_computed(base) || is_located(base)) && type_of(base) == dtype;
  }

  [[nodiscard]] bool is_mapped(int index) const {
    const OpKind kind = graph_.at(index).kind;
    return kind == OpKind::element || kind == OpKind::reduction || kind == OpKind::constant ||
           is_movement(kind);
  }

  /// Gives memory to the input of a program that has the most steps of its own.
  [[nodiscard]] bool divide(int index) {
    int largest = -1;
    std::size_t steps = 0;
    for (const int input : graph_.at(index).inputs) {
      if (is_computed(input) || is_located(input) || is_free(graph_.at(input))) continue;
      const std::size_t own = count_steps(input);
      if (own > steps) {
        largest = input;
        steps = own;
      }
    }
    if (largest < 0) throw std::logic_error("a single operation has too many inputs");
    divided_.insert(largest);
    return false;
  }

  [[nodiscard]] std::size_t count_steps(int index) const {
    if (graph_.at(index).kind != OpKind::element || is_computed(index) || is_located(index)) return 0;
    std::size_t steps = 1;
    for (const int input : graph_.at(index).inputs) steps += count_steps(input);
    return steps;
  }

  // --- where elements lie ---

  [[nodiscard]] DType type_of(int index) const {
    const auto located = options_.located.find(index);
    if (located != options_.located.end()) return located->second;
    if (indices_.contains(index)) return DType::i32;
    switch (graph_.at(index).kind) {
      case OpKind::scattered_rows: return DType::f32;
      case OpKind::constant: return is_computed(index) ? options_.dtype : DType::f32;
      case OpKind::reduction: return feeds_product(index) ? options_.dtype : DType::f32;
      default: return options_.dtype;
    }
  }

  /// Whether a product reads the operation, or elements that are moved from it.
  [[nodiscard]] bool feeds_product(int index) const {
    return std::ranges::any_of(readers_[at(index)], [&](int reader) {
      if (reader < 0) return false;
      const OpKind kind = graph_.at(reader).kind;
      return kind == OpKind::product || kind == OpKind::rows ||
             (is_movement(kind) && feeds_product(reader));
    });
  }

  [[nodiscard]] StridedView view_of(int index) const {
    const Operation& operation = graph_.at(index);
    if (!is_located(index) && !is_computed(index) && is_movement(operation.kind)) {
      if (auto view = moved(operation, view_of(operation.inputs.front()), options_.samples)) {
        return *view;
      }
    }
    return {.base = index, .shape = shape(index), .strides = canonical_strides(shape(index))};
  }

  [[nodiscard]] StridedTensor tensor_of(const StridedView& view) const {
    StridedTensor tensor{.dtype = type_of(view.base),
                         .count = element_count(shape(view.base)),
                         .offset = view.offset,
                         .strides = view.strides};
    if (is_constant(view.base)) tensor.values = values_of(view.base);
    return tensor;
  }

  [[nodiscard]] std::shared_ptr<const std::vector<float>> values_of(int constant) const {
    const std::vector<double>& values = *graph_.at(constant).values;
    return std::make_shared<const std::vector<float>>(values.begin(), values.end());
  }

  /// Writes the values of a constant to its memory.
  [[nodiscard]] Program written_values(int index) const {
    Program program = elements_of(index, false);
    program.memory.front() = from_itself;
    program.map.inputs.front().dtype = DType::f32;
    program.map.inputs.front().values = values_of(index);
    return program;
  }

  // --- programs ---

  int add_step(Program& program, ElementStep step) const {
    if (program.map.program.size() >= Map::max_steps) {
      program.fits = false;
      return 0;
    }
    program.map.program.push_back(step);
    return static_cast<int>(program.map.program.size()) - 1;
  }

  int add_input(Program& program, int index) const {
    const StridedView view = view_of(index);
    StridedTensor tensor = tensor_of(view);
    for (std::size_t i = 0; i < program.memory.size(); ++i) {
      if (program.memory[i] == view.base && program.map.inputs[i] == tensor) {
        return add_step(program, {.from = {static_cast<std::uint8_t>(i)}});
      }
    }
    if (program.memory.size() >= Map::max_inputs) {
      program.fits = false;
      return 0;
    }
    program.memory.push_back(view.base);
    program.map.inputs.push_back(std::move(tensor));
    return add_step(program, {.from = {static_cast<std::uint8_t>(program.memory.size() - 1)}});
  }

  int add(Program& program, int index, bool is_root) const {
    if (const auto known = program.steps.find(index); known != program.steps.end()) {
      return known->second;
    }
    const Operation& operation = graph_.at(index);
    int step = 0;
    if (operation.kind != OpKind::element || (!is_root && is_computed(index)) ||
        is_located(index)) {
      step = add_input(program, index);
    } else {
      ElementStep made{.op = operation.element, .number = operation.number};
      if (operation.by_samples) made.number /= static_cast<float>(options_.samples);
      if (operation.element == ElementOp::coordinate) {
        made.from[0] = static_cast<std::uint8_t>(operation.dimension);
      }
      for (std::size_t i = 0; i < operation.inputs.size(); ++i) {
        made.from[i] = static_cast<std::uint8_t>(add(program, operation.inputs[i], false));
      }
      step = add_step(program, made);
    }
    program.steps[index] = step;
    return step;
  }

  /// The elements of an operation in its own shape, written one behind the other.
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

  /// The elements of a movement, one behind the other.
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

  /// Brings the dimensions that a reduction leaves to the front.
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
    for (ElementStep& step : map.program) {
      if (step.op != ElementOp::coordinate) continue;
      step.from[0] = static_cast<std::uint8_t>(std::ranges::find(order, step.from[0]) -
                                               order.begin());
    }
    map.reduction = operation.reduction;
    map.reduced = static_cast<int>(operation.axes.size());
    const Shape kept(map.extents.begin(), map.extents.end() - map.reduced);
    map.output.strides = canonical_strides(kept);
    map.output.count = element_count(kept);
    return program;
  }

  // --- calls ---

  /// Whether an operation's elements are a part of the calls that read them.
  [[nodiscard]] bool is_constant(int name) const {
    return name >= 0 && graph_.at(name).kind == OpKind::constant && !is_computed(name);
  }

  /// The memory of a target, or of an operation, which may be that of a target.
  [[nodiscard]] int memory_of(int name) const {
    const auto found = placed_.find(name);
    return found == placed_.end() ? name : found->second;
  }

  /// Computes results in the memory of targets that have their types.
  void place_targets() {
    for (std::size_t i = 0; i < targets_.size(); ++i) {
      const auto [index, dtype, accumulate] = targets_[i];
      if (is_located(index) || !is_computed(index) || accumulate || dtype != type_of(index)) continue;
      placed_.try_emplace(index, name_of_target(i));
    }
  }

  void emit(Program program, int to) {
    LoweredCall call{.desc = std::move(program.map), .arguments = {}};
    for (std::size_t i = 0; i < program.memory.size(); ++i) {
      if (program.memory[i] == from_itself || is_constant(program.memory[i])) continue;
      call.arguments.emplace_back(source_roles[i], memory_of(program.memory[i]));
    }
    call.arguments.emplace_back("destination", memory_of(to));
    lowered_.calls.push_back(std::move(call));
  }

  void compute(int index) {
    const Operation& operation = graph_.at(index);
    switch (operation.kind) {
      case OpKind::concatenation: return concatenate(operation, index);
      case OpKind::placement: return place(operation, index);
      case OpKind::product: return multiply(operation, index);
      case OpKind::rows: return take_rows(operation, index);
      case OpKind::scattered_rows: return scatter_rows(operation, index);
      case OpKind::input:
      case OpKind::parameter:
      case OpKind::layer:
        throw std::logic_error("inputs and parameters must be in memory");
      default: return emit(program_of(index), index);
    }
  }

  /// Writes the elements of `part` to a strided place within the result of `whole`.
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

  struct Matrices {
    bool transposed = false;
  };
  /// How a product reads matrices that lie one behind the other; nothing for others.
  [[nodiscard]] static std::optional<Matrices> matrices_of(const StridedView& view) {
    if (view.offset != 0) return std::nullopt;
    if (view.is_contiguous()) return Matrices{};
    StridedView turned = view;
    std::swap(turned.shape.end()[-1], turned.shape.end()[-2]);
    std::swap(turned.strides.end()[-1], turned.strides.end()[-2]);
    if (turned.is_contiguous()) return Matrices{.transposed = true};
    return std::nullopt;
  }

  void multiply(const Operation& operation, int index) {
    const StridedView a = view_of(operation.inputs[0]);
    const StridedView b = view_of(operation.inputs[1]);
    const Shape result = shape(index);
    Gemm gemm{.m = result.end()[-2],
              .n = result.back(),
              .k = a.shape.back(),
              .dtype = options_.dtype,
              .transpose_a = matrices_of(a)->transposed,
              .transpose_b = matrices_of(b)->transposed,
              .math = options_.math};
    gemm.batch = element_count(result) / (gemm.m * gemm.n);
    lowered_.calls.push_back({.desc = gemm,
                              .arguments = {{"a", memory_of(a.base)},
                                            {"b", memory_of(b.base)},
                                            {"c", memory_of(index)}}});
  }

  /// The memory that a view's elements are in.
  [[nodiscard]] int base_of(int index) const { return memory_of(view_of(index).base); }

  void take_rows(const Operation& operation, int index) {
    const Shape table = shape(operation.inputs[0]);
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
    const int source = operation.inputs[0];
    lowered_.calls.push_back({.desc = EmbeddingBackward{.vocabulary = table.front(),
                                                        .width = table.back(),
                                                        .count = shape(source).front(),
                                                        .dtype = options_.dtype},
                              .arguments = {{"indices", base_of(operation.inputs[1])},
                                            {"diff_destination", base_of(source)},
                                            {"diff_weights", memory_of(index)}}});
  }

  /// Computes a result where it is wanted, or copies it.
  void write_target(std::size_t i) {
    const auto& [index, dtype, accumulate] = targets_[i];
    const int name = name_of_target(i);
    if (memory_of(index) == name) return;
    const bool is_direct = !is_located(index) && !is_computed(index) &&
                           graph_.at(index).kind == OpKind::reduction;
    Program program = is_direct ? program_of(index) : elements_of(index, false);
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
          lowered_.temporaries.push_back({.operation = memory,
                                          .bytes = count * size_of(type_of(memory)),
                                          .first = call});
        }
        lowered_.temporaries[found->second].last = call;
      }
    }
  }

  const Graph& graph_;
  const std::vector<Target>& targets_;
  const LoweringOptions& options_;
  std::vector<std::vector<int>> readers_;  // by operation, what is needed of them, and targets
  std::vector<bool> computed_;             // by operation
  std::set<int> divided_;       // elements that get memory because a program was too long
  std::set<int> indices_;       // results that name rows
  std::map<int, int> placed_;   // operations whose memory is a target's
  LoweredGraph lowered_;
};

}  // namespace

LoweredGraph lower(const Graph& graph, const std::vector<Target>& targets,
                   const LoweringOptions& options) {
  return Lowering(graph, targets, options).run();
}

}  // namespace parbench::general
