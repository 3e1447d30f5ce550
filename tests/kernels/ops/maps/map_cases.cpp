// Rows of the conformance table for programs over strided tensors: each operation of an
// instruction, and the ways in which tensors can lie in memory.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/kernels/ops/cases.h"
#include "tests/kernels/ops/maps/map_programs.h"

namespace parbench::test {
namespace {

constexpr DType bf16 = DType::bf16;
constexpr DType f32 = DType::f32;
constexpr DType i32 = DType::i32;
constexpr double tight = 2e-5;
constexpr double loose = 1e-2;
using enum ElementOp;

using Cases = std::vector<OperationCase>;
using Input = std::uint8_t;

std::string suffix(DType dtype) { return dtype == bf16 ? "_bf16" : ""; }
double tolerance(DType dtype, double of_f32 = tight) { return dtype == bf16 ? loose : of_f32; }

Map map_of(const Shape& extents, std::vector<StridedTensor> inputs, const ElementProgram& program,
           DType dtype = f32) {
  return {.extents = extents,
          .inputs = std::move(inputs),
          .program = program,
          .output = dense(extents, dtype)};
}

/// Applies `op` to two inputs of `extents`, the first one eight times as large where `is_scaled`.
ElementProgram two_inputs(ElementOp op, bool is_scaled, bool is_positive) {
  ProgramWriter writer;
  Input a = writer.input(0);
  const Input b = writer.input(1);
  if (is_scaled) a = writer.apply(product, a, writer.number(8));
  if (is_positive) a = writer.apply(absolute, a);
  writer.apply(op, a, b);
  return writer.program();
}

std::vector<StridedTensor> two_of(const Shape& extents) { return {dense(extents), dense(extents)}; }

/// Gives the first of two inputs values of the operation's own.
Map with_values(Map map) {
  std::vector<float> values(static_cast<std::size_t>(map.inputs[0].count));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = 0.25F * static_cast<float>(i % 7);
  map.inputs[0].values = std::make_shared<const std::vector<float>>(std::move(values));
  return map;
}

void add_operations(Cases& cases) {
  struct Row {
    const char* name;
    ElementOp op;
    bool is_scaled = false;    // the first input is from -8 to 8
    bool is_positive = false;  // … made positive
    bool is_exact = false;
  };
  for (const Row& row :
       std::initializer_list<Row>{{"absolute", absolute, true, false, true},
                                  {"ceiling", ceiling, true, false, true},
                                  {"cosine", cosine, true},
                                  {"error_function", error_function},
                                  {"exponential", exponential, true},
                                  {"floor", ElementOp::floor, true, false, true},
                                  {"logarithm", logarithm, true, true},
                                  {"negation", negation, false, false, true},
                                  {"reciprocal", reciprocal},
                                  {"rounding", rounding, true, false, true},
                                  {"sign", sign, false, false, true},
                                  {"sine", sine, true},
                                  {"square_root", square_root, true, true},
                                  {"tanh", ElementOp::tanh},
                                  {"addition", addition},
                                  {"difference", difference},
                                  {"product", product},
                                  {"quotient", quotient},
                                  {"power", power, true, true},
                                  {"minimum", minimum, false, false, true},
                                  {"maximum", maximum, false, false, true},
                                  {"remainder", ElementOp::remainder, true, false, true},
                                  {"less", less, false, false, true},
                                  {"equal", equal, false, false, true}}) {
    for (const DType dtype : {f32, bf16}) {
      const Shape extents{3, 7, 33};
      cases.push_back({"map_" + std::string(row.name) + suffix(dtype),
                       map_of(extents, {dense(extents, dtype), dense(extents, dtype)},
                              two_inputs(row.op, row.is_scaled, row.is_positive), dtype),
                       tolerance(dtype, row.is_exact ? 0 : tight)});
    }
  }
}

/// selection(a < b, f(a), b), with numbers and all kinds of sources.
ElementProgram choice() {
  ProgramWriter writer;
  const Input a = writer.input(0);
  const Input b = writer.input(1);
  const Input condition = writer.apply(less, a, b);
  const Input one_number = writer.apply(selection, condition, writer.number(0.5F), b);
  const Input other_number = writer.apply(selection, condition, a, writer.number(0.25F));
  const Input numbers = writer.apply(selection, condition, writer.number(2), writer.number(-3));
  const Input constant = writer.apply(selection, writer.number(0), a, b);
  const Input sums = writer.apply(addition, one_number, other_number);
  const Input more = writer.apply(addition, numbers, constant);
  writer.apply(selection, condition, writer.apply(addition, sums, more), b);
  return writer.program();
}

/// x = tanh((x + a number) · w), ten times.
ElementProgram long_program() {
  ProgramWriter writer;
  Input x = writer.input(0);
  for (int i = 0; i < 10; ++i) {
    const Input moved = writer.apply(addition, x, writer.number(0.125F * static_cast<float>(i)));
    const Input scaled = writer.apply(product, moved, writer.input(1));
    x = writer.apply(ElementOp::tanh, scaled);
  }
  return writer.program();
}

/// The sum of `count` results that all live at once.
ElementProgram wide_program(int count) {
  ProgramWriter writer;
  std::vector<Input> results;
  const Input x = writer.input(0);
  for (int i = 0; i < count; ++i)
    results.push_back(writer.apply(sine, i == 0 ? x : results.back()));
  Input sum = results[0];
  for (int i = 1; i < count; ++i)
    sum = writer.apply(addition, sum, results[static_cast<std::size_t>(i)]);
  return writer.program();
}

ElementProgram one_instruction(ElementOp op) {
  ProgramWriter writer;
  const Input a = writer.input(0);
  writer.apply(op, a, writer.input(1));
  return writer.program();
}

void add_programs(Cases& cases) {
  const Shape matrix{37, 129};
  const Shape large{40, 1031};
  const InPlace to_first{{"destination", "source0"}};
  for (const DType dtype : {f32, bf16}) {
    const std::vector<StridedTensor> two{dense(matrix, dtype), dense(matrix, dtype)};
    const std::vector<StridedTensor> two_large{dense(large, dtype), dense(large, dtype)};
    const auto add = [&](const std::string& name, const Map& map, const InPlace& in_place = {}) {
      cases.push_back({"map_" + name + suffix(dtype), map, tolerance(dtype), in_place});
    };
    add("selection", map_of(matrix, two, choice(), dtype));
    add("long", map_of(large, two_large, long_program(), dtype), to_first);
    add("many_results", map_of(matrix, {dense(matrix, dtype)}, wide_program(31), dtype));
    add("large", map_of(large, two_large, one_instruction(addition), dtype), to_first);
    Map sum = map_of(large, two_large, one_instruction(product), dtype);
    sum.accumulate = true;
    add("accumulate", sum);
  }
  cases.push_back({"map_widen", map_of(matrix, {dense(matrix, bf16)}, identity()), 0});
  cases.push_back({"map_narrow", map_of(matrix, {dense(matrix)}, identity(), bf16), loose});
  cases.push_back({"map_i32",
                   map_of(matrix, {dense(matrix, i32), dense(matrix)}, one_instruction(addition)),
                   tight});
  cases.push_back({"map_values",
                   with_values(map_of(matrix, two_of(matrix), one_instruction(addition))), tight});
  cases.push_back({"map_scalar", map_of({}, {dense({})}, identity()), 0});
  cases.push_back({"map_one_element", map_of({1, 1}, {dense({1, 1})}, identity(), bf16), loose});
  ProgramWriter half;
  half.number(0.5F);
  cases.push_back({"map_number", map_of(large, {}, half.program()), 0});
  cases.push_back({"map_number_bf16", map_of(matrix, {}, half.program(), bf16), loose});
}

/// A triangle of a matrix: x where column ≤ row, else −row.
ElementProgram triangle() {
  ProgramWriter writer;
  const Input row = writer.coordinate(1);
  const Input above = writer.apply(less, row, writer.coordinate(2));
  writer.apply(selection, above, writer.apply(negation, row), writer.input(0));
  return writer.program();
}

/// A tensor of `extents` whose dimensions lie in memory in the order `order`, outermost first.
StridedTensor permuted(const Shape& extents, const std::vector<std::size_t>& order,
                       DType dtype = f32) {
  StridedTensor tensor{.dtype = dtype, .count = element_count(extents), .strides = extents};
  std::int64_t stride = 1;
  for (std::size_t i = order.size(); i-- > 0;) {
    tensor.strides[order[i]] = stride;
    stride *= extents[order[i]];
  }
  return tensor;
}

void add_permutations(Cases& cases) {
  const Shape eight{2, 3, 1, 2, 4, 3, 2, 5};
  for (const DType dtype : {f32, bf16}) {
    const auto add = [&](const std::string& name, const Shape& extents,
                         const std::vector<std::size_t>& order) {
      cases.push_back({"map_" + name + suffix(dtype),
                       map_of(extents, {permuted(extents, order, dtype)}, identity(), dtype),
                       tolerance(dtype, 0)});
    };
    add("transpose", {131, 77}, {1, 0});
    add("transpose_narrow", {3, 700}, {1, 0});
    add("transpose_flat", {700, 3}, {1, 0});
    add("heads", {2, 5, 19, 16}, {0, 2, 1, 3});
    add("channels_last", {2, 9, 7, 35}, {0, 3, 1, 2});
    add("reversed_order", {9, 6, 7, 11}, {3, 2, 1, 0});
    add("eight_dimensions", eight, {6, 3, 7, 0, 2, 5, 1, 4});
  }
  const Shape matrix{65, 130};
  cases.push_back(
      {"map_sum_with_transposed",
       map_of(matrix, {dense(matrix), permuted(matrix, {1, 0})}, one_instruction(addition)),
       tight});
  Map transposed = map_of(matrix, {permuted(matrix, {1, 0})}, identity());
  transposed.accumulate = true;
  cases.push_back({"map_transpose_accumulate", transposed, tight});
}

StridedTensor strided(const StridedTensor& whole, std::int64_t offset, Shape strides) {
  return {whole.dtype, whole.count, offset, std::move(strides)};
}

void add_broadcasts(Cases& cases) {
  const Shape image{3, 5, 7, 33};
  for (const DType dtype : {f32, bf16}) {
    const auto add = [&](const std::string& name, const Shape& extents,
                         const StridedTensor& other) {
      cases.push_back(
          {"map_broadcast_" + name + suffix(dtype),
           map_of(extents, {dense(extents, dtype), other}, one_instruction(product), dtype),
           tolerance(dtype)});
    };
    add("channels", image, strided(dense({5}, dtype), 0, {0, 1, 0, 0}));
    add("row", image, strided(dense({33}, dtype), 0, {0, 0, 0, 1}));
    add("column", {50, 40}, strided(dense({50}, dtype), 0, {1, 0}));
    add("wide_column", {5, 3000}, strided(dense({5}, dtype), 0, {1, 0}));
    add("wide_row", {5, 3000}, strided(dense({3000}, dtype), 0, {0, 1}));
    add("one", image, strided(dense({1}, dtype), 0, {0, 0, 0, 0}));
    add("outer", {60, 70}, strided(dense({70}, dtype), 0, {0, 1}));
  }
  cases.push_back(
      {"map_outer_product",
       map_of({90, 70}, {strided(dense({90}), 0, {1, 0}), strided(dense({70}), 0, {0, 1})},
              one_instruction(product)),
       tight});
  cases.push_back(
      {"map_repeat", map_of({4, 300}, {strided(dense({300}), 0, {0, 1})}, identity()), 0});
  cases.push_back({"map_triangle", map_of({3, 40, 41}, {dense({3, 40, 41})}, triangle()), 0});
  cases.push_back({"map_triangle_bf16",
                   map_of({2, 9, 300}, {dense({2, 9, 300}, bf16)}, triangle(), bf16), loose});
  // Overlapping windows, as wide as a tile is.
  cases.push_back(
      {"map_windows", map_of({20, 100}, {strided(dense({800}), 3, {32, 1})}, identity()), 0});
}

void add_slices(Cases& cases) {
  for (const DType dtype : {f32, bf16}) {
    const auto add = [&](const std::string& name, const Map& map) {
      cases.push_back({"map_" + name + suffix(dtype), map, tolerance(dtype, 0)});
    };
    const StridedTensor whole = dense({9, 40, 50}, dtype);
    add("slice", map_of({4, 13, 21}, {strided(whole, 2 * 2000 + 5 * 50 + 7, {2000, 50, 1})},
                        identity(), dtype));
    add("slice_steps", map_of({4, 13, 16}, {strided(whole, 3, {4000, 150, 3})}, identity(), dtype));
    add("flip", map_of({9, 40, 50}, {strided(whole, 49, {2000, 50, -1})}, identity(), dtype));
    add("flip_rows", map_of({9, 40, 50}, {strided(whole, std::int64_t{39} * 50, {2000, -50, 1})},
                            identity(), dtype));
    Map part = map_of({9, 15, 50}, {dense({9, 15, 50}, dtype)}, identity(), dtype);
    part.output = strided(whole, std::int64_t{10} * 50, {2000, 50, 1});
    add("concatenation", part);
    Map spread = map_of({9, 40, 25}, {dense({9, 40, 25}, dtype)}, identity(), dtype);
    spread.output = strided(whole, 48, {2000, 50, -2});
    add("spread", spread);
    Map added = part;
    added.accumulate = true;
    cases.push_back({"map_slice_gradient" + suffix(dtype), added, tolerance(dtype)});
    Map scattered = map_of({50, 30}, {dense({50, 30}, dtype)}, identity(), dtype);
    scattered.output = strided(dense({30, 50}, dtype), 0, {1, 50});
    add("scatter_transposed", scattered);
  }
}

Map reduction_of(const Shape& extents, int reduced, const StridedTensor& input, Reduction reduction,
                 const ElementProgram& program = identity()) {
  const Shape kept(extents.begin(), extents.end() - reduced);
  return {.extents = extents,
          .inputs = {input},
          .program = program,
          .output = dense(kept, input.dtype),
          .reduction = reduction,
          .reduced = reduced};
}

ElementProgram square() {
  ProgramWriter writer;
  const Input x = writer.input(0);
  writer.apply(product, x, x);
  return writer.program();
}

/// 1 + x/64, whose product over hundreds of elements stays in range.
ElementProgram near_one() {
  ProgramWriter writer;
  const Input x = writer.apply(product, writer.input(0), writer.number(1.0F / 64));
  writer.apply(addition, x, writer.number(1));
  return writer.program();
}

void add_reductions(Cases& cases) {
  struct Kind {
    const char* name;
    Reduction reduction;
    ElementProgram program;
    bool is_exact = false;
  };
  const std::vector<Kind> kinds{{"sum", Reduction::sum, identity()},
                                {"squares", Reduction::sum, square()},
                                {"maximum", Reduction::maximum, identity(), true},
                                {"minimum", Reduction::minimum, identity(), true},
                                {"product", Reduction::product, near_one()}};
  for (const Kind& kind : kinds) {
    for (const DType dtype : {f32, bf16}) {
      const auto add = [&](const std::string& where, const Shape& extents, int reduced,
                           const StridedTensor& input) {
        cases.push_back({std::string("map_") + kind.name + "_" + where + suffix(dtype),
                         reduction_of(extents, reduced, input, kind.reduction, kind.program),
                         tolerance(dtype, kind.is_exact ? 0 : tight)});
      };
      add("trailing", {37, 129}, 1, dense({37, 129}, dtype));
      add("short_rows", {300, 5}, 1, dense({300, 5}, dtype));
      add("leading", {65, 40}, 1, permuted({65, 40}, {1, 0}, dtype));
      add("few_columns", {3, 500}, 1, permuted({3, 500}, {1, 0}, dtype));
      add("middle", {5, 33, 41}, 1, permuted({5, 33, 41}, {0, 2, 1}, dtype));
      add("two", {7, 9, 5, 11}, 2, permuted({7, 9, 5, 11}, {2, 0, 3, 1}, dtype));
      add("all", {40, 19}, 2, dense({40, 19}, dtype));
    }
  }
}

void add_long_sums(Cases& cases) {
  const std::map<std::string, Pattern> same{{"source0", Pattern::equal}};
  const std::map<std::string, Pattern> far{{"source0", Pattern::dominated}};
  const auto add = [&](const std::string& name, const Map& map, double relative,
                       const std::map<std::string, Pattern>& patterns = {}) {
    cases.push_back({"map_" + name, map, relative, {}, patterns});
  };
  const StridedTensor many = dense({300001});
  const Map all = reduction_of({300001}, 1, many, Reduction::sum);
  add("long_sum", all, tight);
  add("long_sum_of_equal", all, 1e-6, same);
  add("long_sum_of_dominated", all, 1e-6, far);
  add("long_sum_of_squares", reduction_of({300001}, 1, many, Reduction::sum, square()), tight);
  add("long_maximum", reduction_of({300001}, 1, many, Reduction::maximum), 0);
  add("long_columns_of_equal",
      reduction_of({50, 7000}, 1, permuted({50, 7000}, {1, 0}), Reduction::sum), 1e-6, same);
  add("long_wide_columns",
      reduction_of({1500, 200}, 1, permuted({1500, 200}, {1, 0}), Reduction::sum), tight);
  add("long_rows_of_equal", reduction_of({3, 50000}, 1, dense({3, 50000}), Reduction::sum), 1e-6,
      same);
  add("exponentials_of_large",
      map_of({40, 30}, {dense({40, 30}), dense({40, 30})}, two_inputs(exponential, true, false)),
      tight, {{"source0", Pattern::sharp}});
  for (const DType dtype : {f32, bf16}) {
    Map added = reduction_of({37, 129}, 1, dense({37, 129}, dtype), Reduction::sum);
    added.accumulate = true;
    cases.push_back({"map_sum_accumulate" + suffix(dtype), added, tolerance(dtype)});
  }
  Map spread = reduction_of({20, 30}, 1, dense({20, 30}), Reduction::sum);
  spread.output = strided(dense({61}), 1, {3});
  add("sum_into_strided", spread, tight);
  Map to_f32 = reduction_of({20, 300}, 1, dense({20, 300}, bf16), Reduction::sum);
  to_f32.output = dense({20});
  add("sum_of_bf16_in_f32", to_f32, tight);
  add("sum_of_one", reduction_of({20, 1}, 1, dense({20, 1}), Reduction::sum), 0);
  add("sum_of_broadcast", reduction_of({20, 6}, 1, strided(dense({20}), 0, {1, 0}), Reduction::sum),
      tight);
}

}  // namespace

std::vector<OperationCase> map_cases() {
  Cases cases;
  add_operations(cases);
  add_programs(cases);
  add_permutations(cases);
  add_broadcasts(cases);
  add_slices(cases);
  add_reductions(cases);
  add_long_sums(cases);
  return cases;
}

}  // namespace parbench::test
