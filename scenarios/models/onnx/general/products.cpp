// Operators that compute matrix products.

#include <algorithm>
#include <cctype>
#include <map>
#include <string>

#include "scenarios/models/layers/linear.h"
#include "scenarios/models/onnx/exchanged.h"
#include "scenarios/models/onnx/general/indexing.h"
#include "scenarios/models/onnx/translator.h"

namespace parbench::onnx_import {
namespace {

// --- linear layers ---

/// Returns whether an input is a matrix of weights.
bool is_matrix_of_weights(Arguments& arguments, std::size_t which) {
  return arguments.is_network() && arguments.is_weight(which) && arguments.rank(which) == 2;
}

/// Appends a linear layer for x {…, features} and returns its result, in the form of x. Nothing if
/// x has another number of features, or if no dimension before the last contains the samples.
/// `weights` {outputs, inputs} and `bias` {outputs} are constants; −1: no bias. `named_after`: the
/// constant after which the layer is named.
std::optional<Term> linear(Arguments& arguments, Term x, int weights, int bias, int named_after) {
  const Extents shape = arguments.translator().constants().shape(weights);
  Extents from = x.shape();
  if (from.empty() || from.back() != shape[1]) return std::nullopt;
  const auto samples = std::ranges::find_if(from, &Extent::samples);
  if (samples == from.end() || samples + 1 == from.end()) return std::nullopt;
  const Term moved = Exchanged(from).moved(x);
  const Extents all = moved.shape();
  const Extent count = general::count_of(general::part_of(all, 1, all.size() - 1));
  Extents flat{all.front(), count, all.back()};
  if (count.is_one()) flat.erase(flat.begin() + 1);
  std::vector<std::pair<std::string, int>> parameters{{"weights", weights}};
  if (bias >= 0) parameters.emplace_back("bias", bias);
  const Term made = arguments.add_layer(std::make_shared<const Linear>(shape[0].size, bias >= 0),
                                        {moved.reshape(flat)}, std::move(parameters), named_after);
  from.back() = shape[0];
  return Exchanged(from).restored(made);
}

// --- products ---

Outputs matrix_product(Arguments& arguments) {
  Term a = arguments.operand(0);
  if (!arguments.is_constant(0) && is_matrix_of_weights(arguments, 1)) {
    const int weights = arguments.constant(1, "weights");
    const int turned = arguments.translator().turned(weights);
    if (const auto made = linear(arguments, a, turned, -1, weights)) return {*made};
  }
  Term b = arguments.operand(1);
  const bool is_row = a.rank() == 1;
  const bool is_column = b.rank() == 1;
  if (is_row) a = a.reshape(with_dimension(a.shape(), 0));
  if (is_column) b = b.reshape(with_dimension(b.shape(), 1));
  const Term result = a.multiply(b);
  Extents to = result.shape();
  if (is_column) to.pop_back();
  if (is_row) to.erase(to.end() - (is_column ? 1 : 2));
  return {result.reshape(std::move(to))};
}

/// Computes alpha·A·B + beta·C.
Outputs general_product(Arguments& arguments) {
  const float alpha = arguments.real("alpha", 1.0);
  const float beta = arguments.real("beta", 1.0);
  const bool has_addend = arguments.has(2) && beta != 0;
  Term a = arguments.operand(0);
  if (arguments.flag("transA", false)) a = a.permute({1, 0});
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
  Term b = arguments.operand(1);
  if (is_turned) b = b.permute({1, 0});
  Term result = a.multiply(b);
  if (alpha != 1) result = result * alpha;
  if (!has_addend) return {result};
  const Term addend = arguments.operand(2);
  return {result + (beta == 1 ? addend : addend * beta)};
}

/// Computes a product of onnxruntime; both factors may be transposed.
Outputs fused_product(Arguments& arguments) {
  refuse_if(arguments.flag("transBatchA", false) || arguments.flag("transBatchB", false),
            "transBatchA and transBatchB are not supported");
  const auto factor = [&](std::size_t which, std::string_view is_transposed) {
    const Term x = arguments.operand(which);
    if (!arguments.flag(is_transposed, false)) return x;
    refuse_if(x.rank() < 2, "a transposed factor must have at least two dimensions");
    return x.transpose();
  };
  const Term a = factor(0, "transA");
  const Term result = a.multiply(factor(1, "transB"));
  const float alpha = arguments.real("alpha", 1.0);
  return {alpha == 1 ? result : result * alpha};
}

// --- einsum ---

/// An operand of Einsum and its letters, one per dimension. Letters of an ellipsis have negative
/// codes.
struct Lettered {
  std::string letters;
  Term term;
};

/// Converts a letter to a signed code; `char` is signed only on some processors.
signed char code_of(char letter) { return static_cast<signed char>(letter); }

/// Returns the letters of `a` that `b` has (`has`) or lacks.
std::string selected(const std::string& a, const std::string& b, bool has) {
  std::string left;
  std::ranges::copy_if(a, std::back_inserter(left),
                       [&](char letter) { return (b.find(letter) != std::string::npos) == has; });
  return left;
}
std::string common_letters(const std::string& a, const std::string& b) {
  return selected(a, b, true);
}
std::string letters_without(const std::string& a, const std::string& b) {
  return selected(a, b, false);
}

/// Sums over the letters that are not in `order`, and arranges the remaining dimensions in that
/// order.
Term arranged(const Lettered& of, const std::string& order) {
  Integers reduced;
  const Extents from = of.term.shape();
  Extents shape;
  for (std::size_t d = 0; d < of.letters.size(); ++d) {
    if (order.find(of.letters[d]) == std::string::npos) {
      reduced.push_back(signed_size(d));
    } else {
      shape.push_back(from[d]);
    }
  }
  const Term sum = reduced.empty() ? of.term : of.term.sum(reduced);
  const std::string left = common_letters(of.letters, order);
  Integers dimensions;
  for (const char letter : common_letters(order, left)) {
    dimensions.push_back(signed_size(left.find(letter)));
  }
  return sum.reshape(shape).permute(dimensions);
}

/// Returns the product of two operands, summed over the letters that `wanted` lacks.
Lettered contracted(const Lettered& a, const Lettered& b, const std::string& wanted) {
  const std::string shared = common_letters(a.letters, b.letters);
  const std::string batch = common_letters(shared, wanted);
  const std::string inner = letters_without(shared, wanted);
  const std::string of_a = common_letters(letters_without(a.letters, shared), wanted);
  const std::string of_b = common_letters(letters_without(b.letters, shared), wanted);
  std::map<char, Extent> extents;
  for (const Lettered* one : {&a, &b}) {
    const Extents shape = one->term.shape();
    for (std::size_t d = 0; d < shape.size(); ++d) extents[one->letters[d]] = shape[d];
  }
  const auto shape_of = [&](const std::string& letters) {
    Extents shape;
    for (const char letter : letters) shape.push_back(extents.at(letter));
    return shape;
  };
  const auto matrices = [&](const Lettered& one, const std::string& rows,
                            const std::string& columns) {
    Extents shape = shape_of(batch);
    shape.push_back(general::count_of(shape_of(rows)));
    shape.push_back(general::count_of(shape_of(columns)));
    return arranged(one, batch + rows + columns).reshape(shape);
  };
  const Term rows = matrices(a, of_a, inner);
  const Term result = rows.multiply(matrices(b, inner, of_b));
  const std::string letters = batch + of_a + of_b;
  return {letters, result.reshape(shape_of(letters))};
}

/// Returns the number of dimensions for which an ellipsis stands.
std::size_t hidden_dimensions(const std::string& letters, std::size_t rank) {
  const auto is_other = [](unsigned char letter) {
    return letter != '.' && std::isalpha(letter) == 0;
  };
  const auto ellipsis = letters.find("...");
  const std::size_t named = letters.size() - (ellipsis == std::string::npos ? 0 : 3);
  refuse_if(std::ranges::any_of(letters, is_other) || named > rank,
            "a term of its equation does not match its input");
  return ellipsis == std::string::npos ? 0 : rank - named;
}

/// Replaces an ellipsis by one letter per dimension. Their codes are negative and ascend to −1, so
/// that the last dimensions of all terms have the same letters.
std::string expanded(std::string letters, std::size_t dimensions) {
  std::erase(letters, ' ');
  const auto ellipsis = letters.find("...");
  if (ellipsis == std::string::npos) return letters;
  std::string names;
  for (std::size_t i = 0; i < dimensions; ++i) {
    names += static_cast<char>(static_cast<signed char>(i) - static_cast<signed char>(dimensions));
  }
  return letters.replace(ellipsis, 3, names);
}

Outputs einsum(Arguments& arguments) {
  std::string equation = arguments.text("equation", "");
  std::erase(equation, ' ');
  const auto arrow = equation.find("->");
  std::string inputs = equation.substr(0, arrow);
  std::vector<Lettered> terms;
  std::size_t max_hidden = 0;
  for (std::size_t which = 0; which < arguments.count(); ++which) {
    const auto comma = inputs.find(',');
    const std::string letters = inputs.substr(0, comma);
    inputs = comma == std::string::npos ? "" : inputs.substr(comma + 1);
    const std::size_t rank = arguments.rank(which);
    const std::size_t hidden = hidden_dimensions(letters, rank);
    max_hidden = std::max(max_hidden, hidden);
    terms.push_back({expanded(letters, hidden), arguments.operand(which)});
    std::string sorted = terms.back().letters;
    std::ranges::sort(sorted);
    refuse_if(sorted.size() != rank || std::ranges::adjacent_find(sorted) != sorted.end(),
              "a term of its equation names a dimension twice or omits one");
  }
  std::string all;
  for (const Lettered& one : terms) all += one.letters;
  std::string result;
  // implicit output: letters that occur once, in alphabetical order, after those of ellipses
  if (arrow == std::string::npos) {
    std::ranges::copy_if(all, std::back_inserter(result), [&](char letter) {
      return std::ranges::count(all, letter) == 1 || code_of(letter) < 0;
    });
    std::ranges::sort(result, {}, code_of);
    result.erase(std::unique(result.begin(), result.end()), result.end());
  } else {
    result = expanded(equation.substr(arrow + 2), max_hidden);
  }
  refuse_if(terms.empty(), "it has no inputs");
  Lettered product_so_far = terms.front();
  for (std::size_t i = 1; i < terms.size(); ++i) {
    std::string wanted = result;
    for (std::size_t later = i + 1; later < terms.size(); ++later) wanted += terms[later].letters;
    product_so_far = contracted(product_so_far, terms[i], wanted);
  }
  return {arranged(product_so_far, result)};
}

}  // namespace

OperatorTable product_operators() {
  return {{"Einsum", einsum},
          {"Gemm", general_product},
          {"MatMul", matrix_product},
          {"com.microsoft.FusedMatMul", fused_product}};
}

}  // namespace parbench::onnx_import
