// A training step of a multi-layer perceptron by plain loops: what small models are checked against
// completely.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "scenarios/models/network.h"

namespace parbench {

/// Whether a network is a chain of linear layers and ReLUs.
[[nodiscard]] bool is_perceptron(const Network& network);

using NamedValues = std::map<std::string, std::vector<double>>;

/// Forward, mean squared error and backward over a whole batch in double. Values that a device
/// keeps in `dtype` (weights, activations, their gradients) are rounded to it. Refers to the
/// network and the parameters.
class NaivePerceptron {
 public:
  /// A batch; canonical, samples outermost.
  struct Batch {
    std::vector<double> images;
    std::vector<double> target;
    std::int64_t samples = 0;
  };
  /// Computes the forward pass. Throws std::invalid_argument for a network that is no perceptron.
  NaivePerceptron(const Network& network, const NamedValues& parameters, const Batch& batch,
                  DType dtype);

  [[nodiscard]] double loss() const;
  /// Gradients by the name of the parameter.
  [[nodiscard]] NamedValues gradients() const;
  /// Gradients if each input of a ReLU that is nearer to zero than `closeness` times the layer's
  /// root mean square was on the other side of it; `from`: those without that. Takes the samples
  /// alone that have such inputs.
  [[nodiscard]] NamedValues switched_gradients(NamedValues from, double closeness) const;

 private:
  using Values = std::vector<double>;
  [[nodiscard]] Values limits(double closeness) const;
  [[nodiscard]] std::vector<std::size_t> samples_near_zero(const Values& limits) const;
  [[nodiscard]] NamedValues backward(const std::vector<std::size_t>& samples,
                                     const Values& limits) const;

  const Network& network_;
  const NamedValues& parameters_;
  std::size_t samples_;
  DType dtype_;
  std::vector<Values> values_;  // values_[i] is what layer i reads; the last one is the prediction
  Values errors_;               // of the prediction
};

}  // namespace parbench
