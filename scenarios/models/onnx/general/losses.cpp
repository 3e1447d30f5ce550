// Operators that compute losses; classes are dimension 1 of the prediction.
#include "scenarios/models/onnx/general/indexing.h"
#include "scenarios/models/onnx/translator.h"

namespace parbench::onnx_import {
namespace {

using general::Extents;
using general::Graph;
using enum ElementOp;

/// `log_probabilities`: {N, classes, …}; inputs 1 and 2 are targets {N, …} and weights {classes}.
int likelihood_loss(Arguments& arguments, int log_probabilities) {
  Graph& graph = arguments.graph();
  const Extents shape = graph.shape(log_probabilities);
  if (shape.size() < 2) throw CannotTranslate("its input has no classes");
  const int targets = arguments.operand(1);
  const Extents of_targets = graph.shape(targets);
  if (of_targets.size() + 1 != shape.size()) {
    throw CannotTranslate("its targets do not fit its prediction");
  }
  Extents wide = of_targets;
  wide.insert(wide.begin() + 1, general::Extent());
  const int expected = graph.reshape(targets, wide);
  int is_counted = graph.apply(equal, graph.coordinate(shape, 1), expected);
  if (arguments.has_attribute("ignore_index")) {
    const auto ignored = static_cast<float>(arguments.integer("ignore_index", 0));
    const int is_ignored = graph.apply(equal, expected, graph.number(ignored));
    is_counted = graph.select(is_ignored, graph.number(0), is_counted);
  }
  int weights = is_counted;
  if (arguments.has(2)) {
    Extents row(shape.size());
    row[1] = shape[1];
    weights = graph.apply(product, is_counted, graph.reshape(arguments.operand(2), row));
  }
  // Log probabilities that are not counted may be infinite.
  const int chosen = graph.select(is_counted, log_probabilities, graph.number(0));
  const int terms = graph.apply(negation, graph.apply(product, weights, chosen));
  const std::string reduction = arguments.attribute("reduction", std::string("mean"));
  arguments.set_type(ElementType::floating);
  if (reduction == "none") return graph.reshape(graph.sum(terms, {1}), of_targets);
  const int sum = graph.reshape(graph.sum(terms, {}), {});
  if (reduction == "sum") return sum;
  return graph.apply(quotient, sum, graph.reshape(graph.sum(weights, {}), {}));
}

Outputs negative_log_likelihood(Arguments& arguments) {
  return {likelihood_loss(arguments, arguments.operand(0))};
}

Outputs softmax_cross_entropy(Arguments& arguments) {
  const int logs = log_softmax_over(arguments.graph(), arguments.operand(0), {1});
  return {likelihood_loss(arguments, logs), logs};
}

}  // namespace

OperatorTable loss_operators() {
  return {{"NegativeLogLikelihoodLoss", negative_log_likelihood},
          {"SoftmaxCrossEntropyLoss", softmax_cross_entropy}};
}

}  // namespace parbench::onnx_import
