// Plain loops of operations of language models, in double precision like those of naive.cpp.
#include "tests/kernels/ops/naive_language.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace parbench::test {
namespace {

const Values& values_of(const Tensors& inputs, std::string_view role) {
  return inputs.find(role)->second;
}

std::size_t row_of(const Values& indices, std::int64_t position) {
  return static_cast<std::size_t>(indices[static_cast<std::size_t>(position)]);
}

/// Replaces scores by their softmax; returns log Σ exp(scores).
double soften(Values& scores) {
  const double max = *std::ranges::max_element(scores);
  double sum = 0;
  for (double& score : scores) sum += score = std::exp(score - max);
  for (double& score : scores) score /= sum;
  return max + std::log(sum);
}

double dot(const Values& a, std::size_t at_a, const Values& b, std::size_t at_b,
           std::size_t count) {
  double sum = 0;
  for (std::size_t i = 0; i < count; ++i) sum += a[at_a + i] * b[at_b + i];
  return sum;
}

/// to[at_to …] += factor · from[at_from …].
void add_scaled(Values& to, std::size_t at_to, double factor, const Values& from,
                std::size_t at_from, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) to[at_to + i] += factor * from[at_from + i];
}

/// Where the vectors of attention begin, of one sample and head at a position.
template <class Desc>
struct Vectors {
  explicit Vectors(const Desc& desc)
      : batch(static_cast<std::size_t>(desc.batch)),
        sequence(static_cast<std::size_t>(desc.sequence)),
        heads(static_cast<std::size_t>(desc.heads)),
        size(static_cast<std::size_t>(desc.head_size)),
        causal(desc.causal),
        scale(1 / std::sqrt(static_cast<double>(desc.head_size))) {}

  [[nodiscard]] std::size_t output(std::size_t sample, std::size_t head,
                                   std::size_t position) const {
    return ((sample * sequence + position) * heads + head) * size;
  }
  /// Part 0: queries, 1: keys, 2: values.
  [[nodiscard]] std::size_t projection(std::size_t part, std::size_t sample, std::size_t head,
                                       std::size_t position) const {
    return (((sample * sequence + position) * 3 + part) * heads + head) * size;
  }

  /// Calls function(sample, head, position) for each query.
  template <class Function>
  void for_each_query(const Function& function) const {
    for (std::size_t sample = 0; sample < batch; ++sample)
      for (std::size_t head = 0; head < heads; ++head)
        for (std::size_t position = 0; position < sequence; ++position) {
          function(sample, head, position);
        }
  }

  [[nodiscard]] Values probabilities(const Values& projections, std::size_t sample,
                                     std::size_t head, std::size_t query) const {
    Values scores;
    const std::size_t keys = causal ? query + 1 : sequence;
    for (std::size_t key = 0; key < keys; ++key) {
      scores.push_back(scale * dot(projections, projection(0, sample, head, query), projections,
                                   projection(1, sample, head, key), size));
    }
    (void)soften(scores);
    return scores;
  }

  std::size_t batch;
  std::size_t sequence;
  std::size_t heads;
  std::size_t size;
  bool causal;
  double scale;
};

}  // namespace

Tensors compute(const EmbeddingForward& desc, const Tensors& inputs) {
  const auto width = static_cast<std::size_t>(desc.width);
  const Values& weights = values_of(inputs, "weights");
  Values destination;
  for (std::int64_t i = 0; i < desc.count; ++i) {
    const std::size_t row = row_of(values_of(inputs, "indices"), i);
    for (std::size_t j = 0; j < width; ++j) destination.push_back(weights[row * width + j]);
  }
  return {{"destination", destination}};
}

Tensors compute(const EmbeddingBackward& desc, const Tensors& inputs) {
  const auto width = static_cast<std::size_t>(desc.width);
  Values gradient(static_cast<std::size_t>(desc.vocabulary) * width, 0.0);
  if (desc.accumulate) gradient = values_of(inputs, "diff_weights");
  for (std::int64_t i = 0; i < desc.count; ++i) {
    const std::size_t row = row_of(values_of(inputs, "indices"), i);
    add_scaled(gradient, row * width, 1, values_of(inputs, "diff_destination"),
               static_cast<std::size_t>(i) * width, width);
  }
  return {{"diff_weights", gradient}};
}

Tensors compute(const SoftmaxCrossEntropy& desc, const Tensors& inputs) {
  const Values& logits = values_of(inputs, "logits");
  const Values& targets = values_of(inputs, "target");
  const auto total = static_cast<double>(desc.total);
  double loss = desc.accumulate ? values_of(inputs, "loss")[0] : 0;
  Values diff;
  for (std::int64_t row = 0; row < desc.rows; ++row) {
    const auto first = logits.begin() + row * desc.classes;
    Values probabilities(first, first + desc.classes);
    const double log_sum = soften(probabilities);
    if (targets[static_cast<std::size_t>(row)] == desc.ignored) {
      std::ranges::fill(probabilities, 0.0);
    } else {
      const std::size_t target = row_of(targets, row);
      loss += (log_sum - first[static_cast<std::ptrdiff_t>(target)]) / total;
      probabilities[target] -= 1;
    }
    for (const double probability : probabilities) diff.push_back(probability / total);
  }
  return {{"loss", {loss}}, {"diff_logits", diff}};
}

Tensors compute(const AttentionForward& desc, const Tensors& inputs) {
  const Vectors at(desc);
  const Values& projections = values_of(inputs, "projections");
  Values destination(projections.size() / 3, 0.0);
  at.for_each_query([&](std::size_t sample, std::size_t head, std::size_t query) {
    const Values probabilities = at.probabilities(projections, sample, head, query);
    for (std::size_t key = 0; key < probabilities.size(); ++key) {
      add_scaled(destination, at.output(sample, head, query), probabilities[key], projections,
                 at.projection(2, sample, head, key), at.size);
    }
  });
  return {{"destination", destination}};
}

Tensors compute(const AttentionBackward& desc, const Tensors& inputs) {
  const Vectors at(desc);
  const Values& projections = values_of(inputs, "projections");
  const Values& seed = values_of(inputs, "diff_destination");
  Values gradient(projections.size(), 0.0);
  at.for_each_query([&](std::size_t sample, std::size_t head, std::size_t query) {
    const Values probabilities = at.probabilities(projections, sample, head, query);
    const std::size_t incoming = at.output(sample, head, query);
    Values diff;  // of the probabilities
    double mean = 0;
    for (std::size_t key = 0; key < probabilities.size(); ++key) {
      const std::size_t value = at.projection(2, sample, head, key);
      diff.push_back(dot(seed, incoming, projections, value, at.size));
      mean += probabilities[key] * diff[key];
      add_scaled(gradient, value, probabilities[key], seed, incoming, at.size);
    }
    const std::size_t own = at.projection(0, sample, head, query);
    for (std::size_t key = 0; key < probabilities.size(); ++key) {
      const double score = at.scale * probabilities[key] * (diff[key] - mean);
      const std::size_t other = at.projection(1, sample, head, key);
      add_scaled(gradient, own, score, projections, other, at.size);
      add_scaled(gradient, other, score, projections, own, at.size);
    }
  });
  return {{"diff_projections", gradient}};
}

}  // namespace parbench::test
