// Attention and rotary positions of ONNX (operator set 23) and onnxruntime.
#include <fmt/format.h>

#include <cmath>

#include "scenarios/models/onnx/general/indexing.h"
#include "scenarios/models/onnx/translator.h"

namespace parbench::onnx_import {
namespace {

constexpr float hidden_score = -1e30F;  // becomes 0 in the softmax

/// Returns {N, positions, heads·width} as {N, heads, positions, width}; x may have that form
/// already.
Term by_heads(Term x, std::int64_t heads) {
  const Extents from = x.shape();
  if (from.size() == 4) return x;
  refuse_if(from.size() != 3 || heads < 1 || from[2].size % heads != 0,
            fmt::format("{} heads do not divide its input {}", heads, to_string(from)));
  return x.reshape({from[0], from[1], {.size = heads}, {.size = from[2].size / heads}})
      .permute({0, 2, 1, 3});
}

/// Returns {N, heads, positions, width} as {N, positions, heads·width}.
Term joined_heads(Term x) {
  const Term moved = x.permute({0, 2, 1, 3});
  const Extents from = moved.shape();
  return moved.reshape({from[0], from[1], {.size = from[2].size * from[3].size}});
}

/// Repeats heads of keys or values for the `heads` heads of queries that share them.
Term repeated_heads(Term x, std::int64_t heads) {
  const std::int64_t own = x.shape()[1].size;
  refuse_if(own < 1 || heads % own != 0,
            "the number of query heads is not a multiple of the number of key heads");
  return own == heads ? x : repeated(x, 1, heads / own);
}

struct Weighing {
  float scale = 0;  // 0: 1/sqrt(width)
  float cap = 0;    // limit of scores, applied by a tanh; 0: none
  bool is_causal = false;
  std::int64_t past = 0;          // positions before the queries
  std::optional<Term> mask = {};  // selects visible keys if boolean, else added to scores
  bool is_boolean = false;
};

/// Returns scores {N, heads, queries, keys} before masks.
Term scores_of(Term queries, Term keys, const Weighing& how) {
  const auto width = static_cast<float>(queries.shape()[3].size);
  const Term scaled = queries * (how.scale == 0 ? 1 / std::sqrt(width) : how.scale);
  const Term scores = scaled.multiply(keys.transpose());
  return how.cap == 0 ? scores : (scores / how.cap).tanh() * how.cap;
}

Term causal(Term scores, std::int64_t past) {
  const Extents shape = scores.shape();
  const Extents last{shape[2], shape[3]};
  const Term query{scores.graph, scores.graph->coordinate(last, 0)};
  const Term newest = query + static_cast<float>(past);
  return newest.less(newest.coordinate(1)).choose(hidden_score, scores);
}

/// Returns the attention {N, heads, queries, width}.
Term attended(Term queries, Term keys, Term values, const Weighing& how) {
  const std::int64_t heads = queries.shape()[1].size;
  keys = repeated_heads(keys, heads);
  values = repeated_heads(values, heads);
  Term scores = scores_of(queries, keys, how);
  if (how.mask) {
    scores = how.is_boolean ? how.mask->choose(scores, hidden_score)
                            : scores + how.mask->max(hidden_score);
  }
  if (how.is_causal) scores = causal(scores, how.past);
  return softmax_over(scores, {3}).multiply(values);
}

void check_rank(Term x) {
  refuse_if(x.rank() != 4, "its inputs have other than 3 or 4 dimensions");
}

std::optional<Term> optional_operand(Arguments& arguments, std::size_t which) {
  return arguments.has(which) ? std::optional(arguments.operand(which)) : std::nullopt;
}

/// Inputs: Q, K, V, mask, past keys, past values.
Outputs attention(Arguments& arguments) {
  refuse_if(arguments.has(6), "lengths of sequences are not supported");
  const bool is_joined = arguments.rank(0) == 3;
  const Term queries = by_heads(arguments.operand(0), arguments.integer("q_num_heads", 0));
  const std::int64_t heads = arguments.integer("kv_num_heads", 0);
  Term keys = by_heads(arguments.operand(1), heads);
  Term values = by_heads(arguments.operand(2), heads);
  for (const Term x : {queries, keys, values}) check_rank(x);
  const std::int64_t own = keys.shape()[2].size;
  // prepends the keys and values of earlier positions
  if (arguments.has(4)) keys = general::concatenated({arguments.operand(4), keys}, 2);
  if (arguments.has(5)) values = general::concatenated({arguments.operand(5), values}, 2);
  const Term result =
      attended(queries, keys, values,
               {.scale = arguments.real("scale", 0),
                .cap = arguments.real("softcap", 0),
                .is_causal = arguments.flag("is_causal", false),
                .past = keys.shape()[2].size - own,
                .mask = optional_operand(arguments, 3),
                .is_boolean = arguments.has(3) && arguments.type(3) == ElementType::boolean});
  return {is_joined ? joined_heads(result) : result, keys, values};
}

// --- onnxruntime ---

/// Returns the mask to add to scores: the sum of a padding mask {N, keys} of ones and zeros,
/// converted, and an addend. `padding` and `addend`: indices of these inputs, which may be omitted.
std::optional<Term> mask_of(Arguments& arguments, std::size_t padding, std::size_t addend) {
  if (!arguments.has(padding)) return optional_operand(arguments, addend);
  const Term seen = arguments.operand(padding);
  const Extents shape = seen.shape();
  refuse_if(shape.size() != 2, "its padding mask must have two dimensions: samples and keys");
  return arguments.plus(seen.reshape({shape[0], {}, {}, shape[1]}).choose(0.0F, hidden_score),
                        addend);
}

void refuse_inputs(const Arguments& arguments, std::initializer_list<std::size_t> indices) {
  for (const std::size_t which : indices) {
    refuse_if(arguments.has(which), fmt::format("its input {} is not supported", which + 1));
  }
}

/// Returns the attention of queries, keys and values, {N, positions, heads·width} each. `padding`:
/// index of the input with the padding mask.
Outputs attended_rows(Arguments& arguments, const std::vector<Term>& rows, std::size_t padding) {
  const std::int64_t heads = arguments.integer("num_heads", 0);
  std::vector<Term> parts;
  for (const Term one : rows) {
    parts.push_back(by_heads(one, heads));
    check_rank(parts.back());
  }
  return {joined_heads(attended(parts[0], parts[1], parts[2],
                                {.scale = arguments.real("scale", 0),
                                 .is_causal = arguments.flag("unidirectional", false),
                                 .mask = mask_of(arguments, padding, 5)}))};
}

/// Inputs: query, key, value, bias, padding, addend, past.
Outputs multi_head_attention(Arguments& arguments) {
  refuse_inputs(arguments, {6, 7});
  std::vector<Term> rows;
  std::int64_t first = 0;
  for (std::size_t which = 0; which < 3; ++which) {
    rows.push_back(arguments.operand(which));
    refuse_if(rows.back().rank() == 0, "its inputs have other than 3 or 4 dimensions");
    if (!arguments.has(3)) continue;  // biases of query, key and value, concatenated
    const std::int64_t width = rows.back().shape().back().size;
    rows.back() = rows.back() + arguments.operand(3).part(0, first, width);
    first += width;
  }
  return attended_rows(arguments, rows, 4);
}

/// Inputs: input, weights {width, 3·hidden}, bias, padding, past, addend.
Outputs joined_attention(Arguments& arguments) {
  refuse_inputs(arguments, {4, 6});
  const Term x = arguments.operand(0);
  const Term all = arguments.plus(x.multiply(arguments.operand(1)), 2);
  const std::int64_t width = all.shape().back().size / 3;
  std::vector<Term> rows;
  for (std::int64_t i = 0; i < 3; ++i) {
    rows.push_back(all.part(all.rank() - 1, i * width, width));
  }
  return attended_rows(arguments, rows, 3);
}

// --- rotary positions ---

/// Returns {N, positions, 1, width}: the rows of a table at `positions`; without positions, the
/// table {N, positions, width}.
Term angles(Term table, const std::optional<Term>& positions) {
  if (positions) table = table.rows(*positions);
  refuse_if(table.rank() == 0, "its tables of sines and cosines must have dimensions");
  return table.reshape(with_dimension(table.shape(), table.rank() - 1));
}

/// Rotates the first `count` elements of heads in x {N, positions, heads, width}. The elements of a
/// pair are neighbours if `interleaved`, else count/2 apart.
Term turned(Term x, Term cosines, Term sines, std::int64_t count, bool interleaved) {
  const std::int64_t half = count / 2;
  const Extents shape = x.shape();
  const std::int64_t width = shape[3].size;
  refuse_if(count < 2 || count % 2 != 0 || count > width,
            fmt::format("{} of {} elements cannot be rotated in pairs", count, width));
  const std::int64_t step = interleaved ? 2 : 1;
  const Term first = x.part(3, 0, half, step);
  const Term second = x.part(3, interleaved ? 1 : half, half, step);
  const Term real = cosines * first - sines * second;
  const Term imaginary = sines * first + cosines * second;
  Term result = x;
  if (interleaved) {
    const Extents pairs = with_dimension(first.shape(), 4);
    result = general::concatenated({real.reshape(pairs), imaginary.reshape(pairs)}, 4)
                 .reshape({shape[0], shape[1], shape[2], {.size = count}});
  } else {
    result = general::concatenated({real, imaginary}, 3);
  }
  if (count == width) return result;
  return general::concatenated({result, x.part(3, count, width - count)}, 3);
}

struct RotaryInputs {
  std::size_t cosines;
  std::size_t sines;
  std::size_t positions;
};

Outputs rotated(Arguments& arguments, const RotaryInputs& inputs, std::int64_t heads) {
  const Term given = arguments.operand(0);
  const Extents from = given.shape();
  const Term x = by_heads(given, heads).permute({0, 2, 1, 3});
  const Term table = arguments.operand(inputs.cosines);
  std::optional<Term> positions = optional_operand(arguments, inputs.positions);
  // A single number is the position of the first token; the others follow it.
  if (positions && general::count_of(positions->shape()).is_one()) {
    const Term row = arguments.coordinate({{}, x.shape()[1]}, 1);
    positions = row + positions->reshape({});
  }
  const Term cosines = angles(table, positions);
  std::int64_t count = arguments.integer("rotary_embedding_dim", 0);
  if (count == 0) count = 2 * table.shape().back().size;
  const Term sines = angles(arguments.operand(inputs.sines), positions);
  const Term result = turned(x, cosines, sines, count, arguments.flag("interleaved", false));
  return {from.size() == 3 ? result.reshape(from) : result.permute({0, 2, 1, 3})};
}

Outputs rotary(Arguments& arguments) {
  return rotated(arguments, {.cosines = 1, .sines = 2, .positions = 3},
                 arguments.integer("num_heads", 0));
}

/// Derives an omitted number of heads from the table.
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
