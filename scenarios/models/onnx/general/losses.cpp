// Operators that compute losses; classes are dimension 1 of the prediction.
#include "scenarios/models/onnx/general/indexing.h"
#include "scenarios/models/onnx/translator.h"

namespace parbench::onnx_import {
namespace {

/// `log_probabilities`: {N, classes, …}; inputs 1 and 2 are targets {N, …} and weights {classes}.
Term likelihood_loss(Arguments& arguments, Term log_probabilities) {
  const Extents shape = log_probabilities.shape();
  refuse_if(shape.size() < 2, "its input has no classes");
  const Term targets = arguments.operand(1);
  const Extents of_targets = targets.shape();
  refuse_if(of_targets.size() + 1 != shape.size(), "its targets do not fit its prediction");
  const Term expected = targets.reshape(with_dimension(of_targets, 1));
  Term is_counted = log_probabilities.coordinate(1).equal(expected);
  if (arguments.has_attribute("ignore_index")) {
    const auto ignored = static_cast<float>(arguments.integer("ignore_index", 0));
    is_counted = expected.equal(ignored).choose(0.0F, is_counted);
  }
  Term weights = is_counted;
  if (arguments.has(2)) weights = is_counted * along(arguments.operand(2), 1, shape.size());
  // Log probabilities that are not counted may be infinite.
  const Term terms = -(weights * is_counted.choose(log_probabilities, 0.0F));
  const std::string reduction = arguments.text("reduction", "mean");
  arguments.set_type(ElementType::floating);
  if (reduction == "none") return terms.sum({1}).reshape(of_targets);
  const Term sum = terms.sum({}).reshape({});
  return reduction == "sum" ? sum : sum / weights.sum({}).reshape({});
}

Outputs negative_log_likelihood(Arguments& arguments) {
  return {likelihood_loss(arguments, arguments.operand(0))};
}

Outputs softmax_cross_entropy(Arguments& arguments) {
  const Term logs = log_softmax_over(arguments.operand(0), {1});
  return {likelihood_loss(arguments, logs), logs};
}

}  // namespace

OperatorTable loss_operators() {
  return {{"NegativeLogLikelihoodLoss", negative_log_likelihood},
          {"SoftmaxCrossEntropyLoss", softmax_cross_entropy}};
}

}  // namespace parbench::onnx_import
