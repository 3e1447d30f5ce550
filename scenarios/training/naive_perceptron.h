// A training step of a multi-layer perceptron by plain loops: a complete reference for small
// models.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "scenarios/models/network.h"

namespace parbench {

/// Returns whether a network is a chain of linear layers with biases and ReLUs, its samples are
/// vectors, and its loss is the mean squared error.
[[nodiscard]] bool is_perceptron(const Network& network);

using NamedValues = std::map<std::string, std::vector<double>>;

/// Forward pass, mean squared error and backward pass over a whole batch in double. Values that a
/// device stores in `dtype` (weights, activations and gradients of activations) are rounded to it.
/// Keeps references to the network and the parameters.
class NaivePerceptron {
 public:
  /// A batch, canonical, with samples outermost.
  struct Batch {
    std::vector<double> images;
    std::vector<double> target;
    std::int64_t samples = 0;
  };
  /// Computes the forward pass. Throws std::invalid_argument for other networks than perceptrons.
  NaivePerceptron(const Network& network, const NamedValues& parameters, const Batch& batch,
                  DType dtype);

  [[nodiscard]] double loss() const;
  [[nodiscard]] NamedValues gradients() const;
  /// Returns the gradients of a backward pass that treats inputs of ReLUs as if they had the
  /// opposite sign where their magnitude is at most `closeness` times the root mean square of the
  /// layer's inputs. `from`: `gradients()`. Recomputes only samples with such inputs.
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
  // values_[i] is the input of layer i; the last element is the prediction
  std::vector<Values> values_;
  Values errors_;  // prediction minus target
};

}  // namespace parbench
