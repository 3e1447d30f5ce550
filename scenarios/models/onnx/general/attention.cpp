// Attention and rotary positions of ONNX (operator set 23) and onnxruntime.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "scenarios/models/onnx/general/indexing.h"
#include "scenarios/models/onnx/translator.h"

namespace parbench::onnx_import {
namespace {

using general::Extent;
using general::Extents;
using general::Graph;
using enum ElementOp;

constexpr float hidden = -1e30F;  // score of hidden positions; its softmax is zero

/// Returns {N, positions, heads·width} as {N, heads, positions, width}.
int by_heads(Graph& graph, int x, std::int64_t heads) {
  const Extents from = graph.shape(x);
  if (from.size() == 4) return x;
  if (from.size() != 3 || heads < 1 || from[2].size % heads != 0) {
    throw CannotTranslate(
        fmt::format("{} heads do not divide its input {}", heads, general::to_string(from)));
  }
  const int divided =
      graph.reshape(x, {from[0], from[1], {.size = heads}, {.size = from[2].size / heads}});
  return graph.permute(divided, {0, 2, 1, 3});
}

/// The inverse of by_heads.
int joined_heads(Graph& graph, int x) {
  const int moved = graph.permute(x, {0, 2, 1, 3});
  const Extents from = graph.shape(moved);
  return graph.reshape(moved, {from[0], from[1], {.size = from[2].size * from[3].size}});
}

/// Repeats heads of keys or values, each for several heads of queries.
int repeated_heads(Graph& graph, int x, std::int64_t heads) {
  const Extents from = graph.shape(x);
  if (from[1].size == heads) return x;
  if (from[1].size < 1 || heads % from[1].size != 0) {
    throw CannotTranslate("its heads of queries are no multiple of those of keys");
  }
  const Extent each{.size = heads / from[1].size};
  const int one = graph.reshape(x, {from[0], from[1], {}, from[2], from[3]});
  const int all = graph.broadcast(one, {from[0], from[1], each, from[2], from[3]});
  return graph.reshape(all, {from[0], {.size = heads}, from[2], from[3]});
}

struct Weighing {
  float scale = 0;  // 0: 1/sqrt(width)
  float cap = 0;    // of scores, by a tanh; 0: none
  bool is_causal = false;
  std::int64_t past = 0;  // positions before the queries
};

/// Returns scores {N, heads, queries, keys} before masks.
int scores_of(Graph& graph, int queries, int keys, const Weighing& how) {
  const auto width = static_cast<float>(graph.shape(queries)[3].size);
  const float scale = how.scale == 0 ? 1 / std::sqrt(width) : how.scale;
  const int scaled = graph.apply(product, queries, scale);
  const int scores = graph.multiply(scaled, graph.permute(keys, {0, 1, 3, 2}));
  if (how.cap == 0) return scores;
  return graph.apply(product, graph.apply(tanh, graph.apply(quotient, scores, how.cap)), how.cap);
}

int causal(Graph& graph, int scores, std::int64_t past) {
  const Extents shape = graph.shape(scores);
  const Extents last{shape[2], shape[3]};
  const int newest = graph.apply(addition, graph.coordinate(last, 0), static_cast<float>(past));
  const int is_later = graph.apply(less, newest, graph.coordinate(last, 1));
  return graph.select(is_later, graph.number(hidden), scores);
}

/// Applies a mask: booleans select visible keys; other masks are added.
int masked(Graph& graph, int scores, int mask, bool is_boolean) {
  if (is_boolean) return graph.select(mask, scores, graph.number(hidden));
  return graph.apply(addition, scores, graph.apply(maximum, mask, hidden));
}

/// `mask` −1: none. Returns {N, heads, queries, width}.
int attended(Graph& graph, int queries, int keys, int values, const Weighing& how, int mask,
             bool is_boolean) {
  const std::int64_t heads = graph.shape(queries)[1].size;
  keys = repeated_heads(graph, keys, heads);
  values = repeated_heads(graph, values, heads);
  int scores = scores_of(graph, queries, keys, how);
  if (mask >= 0) scores = masked(graph, scores, mask, is_boolean);
  if (how.is_causal) scores = causal(graph, scores, how.past);
  return graph.multiply(softmax_over(graph, scores, {3}), values);
}

float number_of(const Arguments& arguments, std::string_view name) {
  return static_cast<float>(arguments.attribute(name, 0.0));
}

/// Prepends the results of earlier positions.
int with_past(Arguments& arguments, std::size_t which, int x) {
  if (!arguments.has(which)) return x;
  return arguments.graph().concatenate({arguments.operand(which), x}, 2);
}

void check_rank(const Graph& graph, int x) {
  if (graph.shape(x).size() != 4)
    throw CannotTranslate("its inputs have other than 3 or 4 dimensions");
}

/// Inputs: Q, K, V, mask, past keys, past values.
Outputs attention(Arguments& arguments) {
  Graph& graph = arguments.graph();
  if (arguments.has(6)) throw CannotTranslate("it has lengths of sequences");
  const bool is_joined = arguments.rank(0) == 3;
  const int queries = by_heads(graph, arguments.operand(0), arguments.integer("q_num_heads", 0));
  const std::int64_t heads = arguments.integer("kv_num_heads", 0);
  int keys = by_heads(graph, arguments.operand(1), heads);
  int values = by_heads(graph, arguments.operand(2), heads);
  for (const int x : {queries, keys, values}) check_rank(graph, x);
  const std::int64_t own = graph.shape(keys)[2].size;
  keys = with_past(arguments, 4, keys);
  values = with_past(arguments, 5, values);
  const Weighing how{.scale = number_of(arguments, "scale"),
                     .cap = number_of(arguments, "softcap"),
                     .is_causal = arguments.flag("is_causal", false),
                     .past = graph.shape(keys)[2].size - own};
  const bool has_mask = arguments.has(3);
  const bool is_boolean = has_mask && arguments.type(3) == ElementType::boolean;
  const int result =
      attended(graph, queries, keys, values, how, has_mask ? arguments.operand(3) : -1, is_boolean);
  return {is_joined ? joined_heads(graph, result) : result, keys, values};
}

// --- onnxruntime ---

/// Returns a padding mask of ones and zeros, {N, keys}, as an addend; −1: none.
int padding_mask(Arguments& arguments, std::size_t which) {
  if (!arguments.has(which)) return -1;
  Graph& graph = arguments.graph();
  const int mask = arguments.operand(which);
  const Extents shape = graph.shape(mask);
  if (shape.size() != 2) throw CannotTranslate("its mask is not one number for each key");
  const int seen = graph.reshape(mask, {shape[0], {}, {}, shape[1]});
  return graph.select(seen, graph.number(0), graph.number(hidden));
}

int plus(Graph& graph, int a, int b) {
  if (a < 0 || b < 0) return std::max(a, b);
  return graph.apply(addition, a, b);
}

int optional_operand(Arguments& arguments, std::size_t which) {
  return arguments.has(which) ? arguments.operand(which) : -1;
}

void refuse_inputs(const Arguments& arguments, std::initializer_list<std::size_t> places) {
  for (const std::size_t which : places) {
    if (arguments.has(which)) {
      throw CannotTranslate(fmt::format("its input {} is not supported", which + 1));
    }
  }
}

/// Inputs: query, key, value, bias, padding, addend, past.
Outputs multi_head_attention(Arguments& arguments) {
  Graph& graph = arguments.graph();
  refuse_inputs(arguments, {6, 7});
  const std::int64_t heads = arguments.integer("num_heads", 0);
  std::vector<int> parts;
  std::int64_t first = 0;
  for (std::size_t which = 0; which < 3; ++which) {
    int part = arguments.operand(which);
    if (arguments.has(3)) {  // biases of query, key and value, concatenated
      const std::int64_t width = graph.shape(part).back().size;
      part = graph.apply(addition, part, run_of(graph, arguments.operand(3), 0, first, width));
      first += width;
    }
    parts.push_back(by_heads(graph, part, heads));
    check_rank(graph, parts.back());
  }
  const Weighing how{.scale = number_of(arguments, "scale"),
                     .is_causal = arguments.flag("unidirectional", false)};
  const int mask = plus(graph, padding_mask(arguments, 4), optional_operand(arguments, 5));
  return {joined_heads(graph, attended(graph, parts[0], parts[1], parts[2], how, mask, false))};
}

/// Inputs: input, weights {width, 3·hidden}, bias, padding, past, addend.
Outputs joined_attention(Arguments& arguments) {
  Graph& graph = arguments.graph();
  refuse_inputs(arguments, {4, 6});
  const std::int64_t heads = arguments.integer("num_heads", 0);
  int all = graph.multiply(arguments.operand(0), arguments.operand(1));
  if (arguments.has(2)) all = graph.apply(addition, all, arguments.operand(2));
  const std::int64_t width = graph.shape(all).back().size / 3;
  const std::size_t last = graph.shape(all).size() - 1;
  std::vector<int> parts;
  for (std::int64_t i = 0; i < 3; ++i) {
    parts.push_back(by_heads(graph, run_of(graph, all, last, i * width, width), heads));
    check_rank(graph, parts.back());
  }
  const Weighing how{.scale = number_of(arguments, "scale"),
                     .is_causal = arguments.flag("unidirectional", false)};
  const int mask = plus(graph, padding_mask(arguments, 3), optional_operand(arguments, 5));
  return {joined_heads(graph, attended(graph, parts[0], parts[1], parts[2], how, mask, false))};
}

// --- rotary positions ---

/// Returns rows of a table by positions, {N, positions, 1, width}; without positions, the table has
/// this form.
int angles(Arguments& arguments, int table, int positions) {
  Graph& graph = arguments.graph();
  if (positions >= 0) {
    const Extents by = graph.shape(positions);
    const int list = graph.reshape(positions, {general::count_of(by)});
    Extents to = by;
    to.push_back(graph.shape(table).back());
    table = graph.reshape(graph.rows(table, list), std::move(to));
  }
  Extents wide = graph.shape(table);
  wide.insert(wide.end() - 1, Extent());
  return graph.reshape(table, std::move(wide));
}

/// `x`: {N, positions, heads, width}, whose first `count` elements are rotated.
int turned(Graph& graph, int x, int cosines, int sines, std::int64_t count, bool interleaved) {
  const std::int64_t half = count / 2;
  const Extents shape = graph.shape(x);
  const std::int64_t width = shape[3].size;
  if (count < 2 || count % 2 != 0 || count > width) {
    throw CannotTranslate(fmt::format("it turns {} of {} elements", count, width));
  }
  const std::int64_t step = interleaved ? 2 : 1;
  const int first = run_of(graph, x, 3, 0, half, step);
  const int second = run_of(graph, x, 3, interleaved ? 1 : half, half, step);
  const auto times = [&](int a, int b) { return graph.apply(product, a, b); };
  const int real = graph.apply(difference, times(cosines, first), times(sines, second));
  const int imaginary = graph.apply(addition, times(sines, first), times(cosines, second));
  int result = 0;
  if (interleaved) {
    Extents pairs = shape;
    pairs[3] = {.size = half};
    pairs.emplace_back();
    result = graph.concatenate({graph.reshape(real, pairs), graph.reshape(imaginary, pairs)}, 4);
    pairs = shape;
    pairs[3] = {.size = count};
    result = graph.reshape(result, pairs);
  } else {
    result = graph.concatenate({real, imaginary}, 3);
  }
  if (count == width) return result;
  return graph.concatenate({result, run_of(graph, x, 3, count, width - count)}, 3);
}

struct RotaryInputs {
  std::size_t cosines;
  std::size_t sines;
  std::size_t positions;
};

Outputs rotated(Arguments& arguments, const RotaryInputs& inputs, std::int64_t heads) {
  Graph& graph = arguments.graph();
  const int given = arguments.operand(0);
  const Extents from = graph.shape(given);
  const bool is_joined = from.size() == 3;
  const int x = graph.permute(by_heads(graph, given, heads), {0, 2, 1, 3});
  const int table = arguments.operand(inputs.cosines);
  int positions = optional_operand(arguments, inputs.positions);
  // position of the first element
  if (positions >= 0 && general::count_of(graph.shape(positions)).is_one()) {
    const Extents row{{}, graph.shape(x)[1]};
    positions = graph.apply(addition, graph.coordinate(row, 1), graph.reshape(positions, {}));
  }
  std::int64_t count = arguments.integer("rotary_embedding_dim", 0);
  if (count == 0) count = 2 * graph.shape(table).back().size;
  const int cosines = angles(arguments, table, positions);
  const int sines = angles(arguments, arguments.operand(inputs.sines), positions);
  const int result = turned(graph, x, cosines, sines, count, arguments.flag("interleaved", false));
  if (is_joined) return {graph.reshape(result, from)};
  return {graph.permute(result, {0, 2, 1, 3})};
}

Outputs rotary(Arguments& arguments) {
  return rotated(arguments, {.cosines = 1, .sines = 2, .positions = 3},
                 arguments.integer("num_heads", 0));
}

/// If the number of heads is omitted, it is derived from the table.
Outputs rotary_of_onnxruntime(Arguments& arguments) {
  std::int64_t heads = arguments.integer("num_heads", 0);
  const Extents table = arguments.shape(2);
  if (heads == 0 && arguments.rank(0) == 3 && !table.empty() && table.back().size > 0) {
    heads = arguments.shape(0)[2].size / (2 * table.back().size);
  }
  return rotated(arguments, {.cosines = 2, .sines = 3, .positions = 1}, heads);
}

}  // namespace

OperatorTable attention_operators() {
  return {{"Attention", attention},
          {"RotaryEmbedding", rotary},
          {"com.microsoft.Attention", joined_attention},
          {"com.microsoft.MultiHeadAttention", multi_head_attention},
          {"com.microsoft.RotaryEmbedding", rotary_of_onnxruntime}};
}

}  // namespace parbench::onnx_import
