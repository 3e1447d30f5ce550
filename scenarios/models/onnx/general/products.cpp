// Operators that compute matrix products.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <string>

#include "scenarios/models/layers/linear.h"
#include "scenarios/models/onnx/general/indexing.h"
#include "scenarios/models/onnx/translator.h"

namespace parbench::onnx_import {
namespace {

using general::Extent;
using general::Extents;
using general::Graph;
using enum ElementOp;

// --- linear layers ---

/// Returns whether an input is a matrix of weights.
bool is_matrix_of_weights(Arguments& arguments, std::size_t which) {
  return arguments.is_network() && arguments.is_weight(which) && arguments.rank(which) == 2;
}

/// A tensor as rows, with the samples as first dimension.
struct Rows {
  int operation = 0;
  Extents shape;            // shape of the original tensor
  std::size_t samples = 0;  // dimension of the samples in the original tensor
};

/// Returns {…, features} with samples anywhere as {N, rows, features} or {N, features}; nothing if
/// no dimension begins with the samples.
std::optional<Rows> as_rows(Graph& graph, int x) {
  Rows rows{.operation = x, .shape = graph.shape(x)};
  const auto found = std::ranges::find_if(rows.shape, &Extent::samples);
  if (found == rows.shape.end() || found + 1 == rows.shape.end()) return std::nullopt;
  rows.samples = static_cast<std::size_t>(found - rows.shape.begin());
  Extents divided = rows.shape;
  const std::int64_t outer = found->outer;
  const std::int64_t inner = found->size / outer;
  divided[rows.samples] = {.size = 1, .samples = true};
  divided.insert(divided.begin() + static_cast<std::ptrdiff_t>(rows.samples) + 1, {.size = inner});
  divided.insert(divided.begin() + static_cast<std::ptrdiff_t>(rows.samples), {.size = outer});
  Integers order{static_cast<std::int64_t>(rows.samples) + 1};
  for (std::int64_t d = 0; d < static_cast<std::int64_t>(divided.size()); ++d) {
    if (d != order.front()) order.push_back(d);
  }
  const int moved = graph.permute(graph.reshape(x, divided), order);
  const Extents all = graph.shape(moved);
  const Extent count = general::count_of({all.begin() + 1, all.end() - 1});
  Extents flat{all.front(), count, all.back()};
  if (count.is_one()) flat.erase(flat.begin() + 1);
  rows.operation = graph.reshape(moved, flat);
  return rows;
}

/// Moves the samples back to their original dimension.
int from_rows(Graph& graph, const Rows& rows, int result) {
  Extents divided = rows.shape;
  divided.back() = graph.shape(result).back();
  const Extent joined = divided[rows.samples];
  const std::int64_t outer = joined.outer;
  const auto place = static_cast<std::ptrdiff_t>(rows.samples);
  divided[rows.samples] = {.size = 1, .samples = true};
  divided.insert(divided.begin() + place + 1, {.size = joined.size / outer});
  divided.insert(divided.begin() + place, {.size = outer});
  Extents moved{divided[rows.samples + 1]};
  Integers order;
  std::int64_t next = 1;
  for (std::size_t d = 0; d < divided.size(); ++d) {
    if (d == rows.samples + 1) {
      order.push_back(0);
    } else {
      moved.push_back(divided[d]);
      order.push_back(next++);
    }
  }
  Extents to = rows.shape;
  to.back() = graph.shape(result).back();
  return graph.reshape(graph.permute(graph.reshape(result, moved), order), to);
}

/// `weights` and `bias` are constants, {outputs, inputs} and {outputs}; −1: no bias.
std::optional<int> linear(Arguments& arguments, int x, int weights, int bias, int named_after) {
  Graph& graph = arguments.graph();
  const Extents shape = arguments.translator().constants().shape(weights);
  if (graph.shape(x).empty() || graph.shape(x).back() != shape[1]) return std::nullopt;
  const std::optional<Rows> rows = as_rows(graph, x);
  if (!rows) return std::nullopt;
  std::vector<std::pair<std::string, int>> parameters{{"weights", weights}};
  if (bias >= 0) parameters.emplace_back("bias", bias);
  const int made = arguments.translator().add_layer(
      arguments.node(), std::make_shared<const Linear>(shape[0].size, bias >= 0), {rows->operation},
      std::move(parameters), named_after);
  return from_rows(graph, *rows, made);
}

// --- products ---

Outputs matrix_product(Arguments& arguments) {
  Graph& graph = arguments.graph();
  int a = arguments.operand(0);
  if (!arguments.is_constant(0) && is_matrix_of_weights(arguments, 1)) {
    const int weights = arguments.constant(1, "weights");
    const int turned = arguments.translator().turned(weights);
    if (const auto made = linear(arguments, a, turned, -1, weights)) return {*made};
  }
  int b = arguments.operand(1);
  const bool is_row = graph.shape(a).size() == 1;
  const bool is_column = graph.shape(b).size() == 1;
  if (is_row) a = graph.reshape(a, {{}, graph.shape(a)[0]});
  if (is_column) b = graph.reshape(b, {graph.shape(b)[0], {}});
  const int result = graph.multiply(a, b);
  Extents to = graph.shape(result);
  if (is_column) to.pop_back();
  if (is_row) to.erase(to.end() - (is_column ? 1 : 2));
  return {graph.reshape(result, std::move(to))};
}

/// alpha·A·B + beta·C.
Outputs general_product(Arguments& arguments) {
  Graph& graph = arguments.graph();
  const auto alpha = static_cast<float>(arguments.attribute("alpha", 1.0));
  const auto beta = static_cast<float>(arguments.attribute("beta", 1.0));
  const bool has_addend = arguments.has(2) && beta != 0;
  int a = arguments.operand(0);
  if (arguments.flag("transA", false)) a = graph.permute(a, {1, 0});
  const bool is_turned = arguments.flag("transB", false);
  const bool is_bias = !has_addend || (arguments.is_constant(2) && arguments.rank(2) == 1 &&
                                       arguments.is_network() && !arguments.is_constant(0));
  if (!arguments.is_constant(0) && alpha == 1 && (beta == 1 || !has_addend) && is_bias &&
      is_matrix_of_weights(arguments, 1)) {
    general::Graph& constants = arguments.translator().constants();
    const int given = arguments.constant(1, "weights");
    const int weights = is_turned ? given : arguments.translator().turned(given);
    const int bias = has_addend ? arguments.constant(2, "biases") : -1;
    const bool fits = bias < 0 || constants.shape(bias)[0] == constants.shape(weights)[0];
    if (fits) {
      if (const auto made = linear(arguments, a, weights, bias, given)) return {*made};
    }
  }
  int b = arguments.operand(1);
  if (is_turned) b = graph.permute(b, {1, 0});
  int result = graph.multiply(a, b);
  if (alpha != 1) result = graph.apply(product, result, alpha);
  if (!has_addend) return {result};
  int addend = arguments.operand(2);
  if (beta != 1) addend = graph.apply(product, addend, beta);
  return {graph.apply(addition, result, addend)};
}

// --- einsum ---

/// The letters of an operand; an ellipsis is replaced by upper-case letters that files do not use.
struct Term {
  std::string letters;
  int operation = 0;
};

/// Converts a letter to a code with a sign, which `char` has only on some processors.
signed char code_of(char letter) { return static_cast<signed char>(letter); }

/// Sums over letters that only this term has, and orders the others.
int arranged(Graph& graph, const Term& term, const std::string& order) {
  Integers reduced;
  for (std::size_t d = 0; d < term.letters.size(); ++d) {
    if (order.find(term.letters[d]) == std::string::npos) {
      reduced.push_back(static_cast<std::int64_t>(d));
    }
  }
  const int sum = reduced.empty() ? term.operation : graph.sum(term.operation, reduced);
  std::string left;
  Extents shape;
  for (std::size_t d = 0; d < term.letters.size(); ++d) {
    if (order.find(term.letters[d]) == std::string::npos) continue;
    left += term.letters[d];
    shape.push_back(graph.shape(sum)[d]);
  }
  Integers places;
  for (const char letter : order) {
    if (const auto place = left.find(letter); place != std::string::npos) {
      places.push_back(static_cast<std::int64_t>(place));
    }
  }
  return graph.permute(graph.reshape(sum, shape), places);
}

std::string common_letters(const std::string& a, const std::string& b) {
  std::string both;
  for (const char letter : a) {
    if (b.find(letter) != std::string::npos) both += letter;
  }
  return both;
}

std::string letters_without(const std::string& a, const std::string& b) {
  std::string left;
  for (const char letter : a) {
    if (b.find(letter) == std::string::npos) left += letter;
  }
  return left;
}

/// Returns the product of two terms, with the letters in `wanted`.
Term contracted(Graph& graph, const Term& a, const Term& b, const std::string& wanted) {
  const std::string shared = common_letters(a.letters, b.letters);
  const std::string batch = common_letters(shared, wanted);
  const std::string inner = letters_without(shared, wanted);
  const std::string of_a = common_letters(letters_without(a.letters, shared), wanted);
  const std::string of_b = common_letters(letters_without(b.letters, shared), wanted);
  std::map<char, Extent> extents;
  for (const Term* term : {&a, &b}) {
    for (std::size_t d = 0; d < term->letters.size(); ++d) {
      extents[term->letters[d]] = graph.shape(term->operation)[d];
    }
  }
  const auto shape_of = [&](const std::string& letters) {
    Extents shape;
    for (const char letter : letters) shape.push_back(extents.at(letter));
    return shape;
  };
  const auto matrices = [&](const Term& term, const std::string& rows, const std::string& columns) {
    Extents shape = shape_of(batch);
    shape.push_back(general::count_of(shape_of(rows)));
    shape.push_back(general::count_of(shape_of(columns)));
    return graph.reshape(arranged(graph, term, batch + rows + columns), shape);
  };
  const int result = graph.multiply(matrices(a, of_a, inner), matrices(b, inner, of_b));
  const std::string letters = batch + of_a + of_b;
  return {.letters = letters, .operation = graph.reshape(result, shape_of(letters))};
}

/// Returns the number of dimensions that the ellipsis of a term stands for.
std::size_t hidden_dimensions(const std::string& letters, std::size_t rank) {
  const auto is_other = [](unsigned char letter) {
    return letter != '.' && std::isalpha(letter) == 0;
  };
  const auto place = letters.find("...");
  const std::size_t named = letters.size() - (place == std::string::npos ? 0 : 3);
  if (std::ranges::any_of(letters, is_other) || named > rank) {
    throw CannotTranslate("a term of its equation does not fit its input");
  }
  return place == std::string::npos ? 0 : rank - named;
}

/// Replaces an ellipsis by one letter per dimension; the last dimensions of all terms get the same
/// letters. Their codes are negative and ascending.
std::string expanded(std::string letters, std::size_t dimensions) {
  std::erase(letters, ' ');
  const auto place = letters.find("...");
  if (place == std::string::npos) return letters;
  std::string names;
  for (std::size_t i = 0; i < dimensions; ++i) {
    names += static_cast<char>(static_cast<signed char>(i) - static_cast<signed char>(dimensions));
  }
  return letters.replace(place, 3, names);
}

Outputs einsum(Arguments& arguments) {
  Graph& graph = arguments.graph();
  std::string equation = arguments.attribute("equation", std::string());
  std::erase(equation, ' ');
  const auto arrow = equation.find("->");
  std::string inputs = equation.substr(0, arrow);
  std::vector<Term> terms;
  std::size_t max_hidden = 0;
  for (std::size_t which = 0; which < arguments.count(); ++which) {
    const auto comma = inputs.find(',');
    const std::string letters = inputs.substr(0, comma);
    inputs = comma == std::string::npos ? "" : inputs.substr(comma + 1);
    const std::size_t rank = arguments.rank(which);
    const std::size_t hidden = hidden_dimensions(letters, rank);
    max_hidden = std::max(max_hidden, hidden);
    terms.push_back({.letters = expanded(letters, hidden), .operation = arguments.operand(which)});
    std::string sorted = terms.back().letters;
    std::ranges::sort(sorted);
    if (sorted.size() != rank || std::ranges::adjacent_find(sorted) != sorted.end()) {
      throw CannotTranslate("a term of its equation names a dimension twice, or not all");
    }
  }
  std::string all;
  for (const Term& term : terms) all += term.letters;
  std::string result;
  // implicit output: letters that occur once, in alphabetical order
  if (arrow == std::string::npos) {
    std::ranges::copy_if(all, std::back_inserter(result), [&](char letter) {
      return std::ranges::count(all, letter) == 1 || code_of(letter) < 0;
    });
    std::ranges::sort(result, {}, code_of);
    result.erase(std::unique(result.begin(), result.end()), result.end());
  } else {
    result = expanded(equation.substr(arrow + 2), max_hidden);
  }
  if (terms.empty()) throw CannotTranslate("it has no inputs");
  Term product_so_far = terms.front();
  for (std::size_t i = 1; i < terms.size(); ++i) {
    std::string wanted = result;
    for (std::size_t later = i + 1; later < terms.size(); ++later) wanted += terms[later].letters;
    product_so_far = contracted(graph, product_so_far, terms[i], wanted);
  }
  return {arranged(graph, product_so_far, result)};
}

}  // namespace

OperatorTable product_operators() {
  return {{"Einsum", einsum}, {"Gemm", general_product}, {"MatMul", matrix_product}};
}

}  // namespace parbench::onnx_import
