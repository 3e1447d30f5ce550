// Recurrent language models.
#include <fmt/format.h>

#include "scenarios/models/layers/elementwise.h"
#include "scenarios/models/layers/linear.h"
#include "scenarios/models/layers/sequences.h"
#include "scenarios/models/models.h"

namespace parbench {

Network rnn_lm(const RnnLmSizes& sizes) {
  // standard deviation of embeddings, about that of uniform numbers within ±0.05
  constexpr float deviation = 0.03F;
  constexpr float probability = 0.5F;
  Network net;
  net.name = fmt::format("rnn-lm of {} layers of {} on {}, {} tokens of {}", sizes.layers,
                         sizes.hidden, sizes.embedding, sizes.sequence, sizes.vocabulary);
  net.input = {sizes.sequence};
  net.vocabulary = sizes.vocabulary;
  net.min_length = sizes.sequence / 2 + 1;
  net.loss = Loss::cross_entropy;
  net.one_hot_target = false;
  net.unit("embedding");
  int x = net.add("embedding", Embedding(sizes.vocabulary, sizes.embedding, deviation),
                  {network_input});
  x = net.add("dropout", RandomDropout(probability, 0), {x});
  for (std::int64_t i = 0; i < sizes.layers; ++i) {
    const std::string name = fmt::format("lstm.{}", i);
    net.unit(name);
    x = net.add(name, Lstm(sizes.hidden), {x});
    x = net.add(name + ".dropout", RandomDropout(probability, static_cast<std::uint64_t>(i) + 1),
                {x});
  }
  net.unit("head");
  net.add("projection", Linear(sizes.vocabulary), {x});
  return net;
}

}  // namespace parbench
