// Values of recurrent operators, attention and rotary positions of ONNX against loops over single
// numbers.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "tests/scenarios/models/onnx/operator_runs.h"
#include "tests/support/onnx_file.h"

namespace parbench::test {
namespace {

using general::Values;
using onnx_import::ElementType;

// --- recurrences of one sample, one value and one element of state ---

/// Inputs of a recurrent operator, whose weights all differ.
struct Recurrent {
  Recurrent(std::int64_t gate_count, std::int64_t directions) : gates(gate_count) {
    const auto numbers = [&](std::int64_t count, double first) {
      Values values;
      for (std::int64_t i = 0; i < count; ++i) {
        values.push_back(first + std::fmod(0.618 * static_cast<double>(i), 1.0));
      }
      return values;
    };
    x = {"x", {3, 1, 1}, {0.5, -1.5, 2}};
    w = {"w", {directions, gates, 1}, numbers(directions * gates, -0.3)};
    r = {"r", {directions, gates, 1}, numbers(directions * gates, -0.6)};
    b = {"b", {directions, 2 * gates}, numbers(directions * gates * 2, -0.5)};
    h = {"h", {directions, 1, 1}, numbers(directions, 0.25)};
    c = {"c", {directions, 1, 1}, numbers(directions, -0.75)};
    p = {"p", {directions, 3}, numbers(directions * 3, -0.2)};
  }

  [[nodiscard]] std::size_t at(std::size_t direction, std::size_t gate) const {
    return direction * static_cast<std::size_t>(gates) + gate;
  }
  /// The weighted input with its bias.
  [[nodiscard]] double from_input(std::size_t d, std::size_t gate, double value) const {
    return w.values[at(d, gate)] * value + b.values[2 * at(d, 0) + gate];
  }
  [[nodiscard]] double from_state(std::size_t d, std::size_t gate, double state) const {
    const auto width = static_cast<std::size_t>(gates);
    return r.values[at(d, gate)] * state + b.values[2 * at(d, 0) + width + gate];
  }

  std::int64_t gates;
  Given x, w, r, b, h, c, p;
};

/// Hidden states by position, and the last hidden state and cell.
struct States {
  Values hidden;
  double last = 0;
  double cell = 0;
};

template <class Step>
States run(const Recurrent& of, std::size_t d, bool reverse, Step step) {
  States found{
      .hidden = Values(of.x.values.size()), .last = of.h.values[d], .cell = of.c.values[d]};
  for (std::size_t i = 0; i < found.hidden.size(); ++i) {
    const std::size_t position = reverse ? found.hidden.size() - 1 - i : i;
    step(d, of.x.values[position], found.last, found.cell);
    found.hidden[position] = found.last;
  }
  return found;
}

struct LstmOptions {
  bool has_peepholes = false;
  bool couples = false;  // input_forget
};

States lstm(const Recurrent& of, std::size_t d, bool reverse, const LstmOptions& options = {}) {
  return run(of, d, reverse, [&](std::size_t, double value, double& hidden, double& cell) {
    const auto sum = [&](std::size_t gate, double seen) {
      const double peephole = options.has_peepholes && gate < 3 ? of.p.values[3 * d + gate] : 0;
      return of.from_input(d, gate, value) + of.from_state(d, gate, hidden) + peephole * seen;
    };
    const double in = sigmoid(sum(0, cell));
    const double forget = options.couples ? 1 - in : sigmoid(sum(2, cell));
    const double next = forget * cell + in * std::tanh(sum(3, 0));
    hidden = sigmoid(sum(1, next)) * std::tanh(next);
    cell = next;
  });
}

TEST(OperatorSequences, LstmsCarryTheirStates) {
  const Recurrent one(4, 1);
  const std::vector<Given> all{one.x, one.w, one.r, one.b, one.h, one.c, one.p};
  const auto row = [&](const std::string& outputs, const std::string& attributes,
                       const std::string& more, const Values& values) {
    const auto count = static_cast<std::int64_t>(values.size());
    const Shape shape = count == 1 ? Shape{1, 1, 1} : Shape{count, 1, 1, 1};
    return OperatorRow{
        outputs + " = LSTM <hidden_size = 1" + attributes + "> (x, w, r, b, , h, c" + more + ") ",
        all, shape, values};
  };
  const States plain = lstm(one, 0, false);
  const States reversed = lstm(one, 0, true);
  expect_all({row("y", "", "", plain.hidden), row("a, y", "", "", {plain.last}),
              row("a, k, y", "", "", {plain.cell}),
              row("y", ", direction = \"reverse\"", "", reversed.hidden),
              row("a, y", ", direction = \"reverse\"", "", {reversed.last}),
              row("y", "", ", p", lstm(one, 0, false, {.has_peepholes = true}).hidden),
              row("y", ", input_forget = 1", "", lstm(one, 0, false, {.couples = true}).hidden)});
  const auto number = [](const std::string& name, double value) {
    return numbers(name, "1, 1, 1", fmt::format("{}", value));
  };
  expect_all({{number("h", one.h.values[0]) + number("c", one.c.values[0]) +
                   "y = LSTM <hidden_size = 1> (x, w, r, b, , h, c) ",
               {one.x, one.w, one.r, one.b},
               {3, 1, 1, 1},
               plain.hidden}});
}

TEST(OperatorSequences, BothDirectionsHaveWeightsOfTheirOwn) {
  const Recurrent two(4, 2);
  const States forward = lstm(two, 0, false);
  const States backward = lstm(two, 1, true);
  Values joined;
  for (std::size_t i = 0; i < 3; ++i) {
    joined.insert(joined.end(), {forward.hidden[i], backward.hidden[i]});
  }
  const std::vector<Given> all{two.x, two.w, two.r, two.b, two.h, two.c};
  const std::string node =
      " = LSTM <hidden_size = 1, direction = \"bidirectional\"> (x, w, r, b, , h, c) ";
  expect_all({{"y" + node, all, {3, 2, 1, 1}, joined},
              {"a, y" + node, all, {2, 1, 1}, {forward.last, backward.last}},
              {"a, k, y" + node, all, {2, 1, 1}, {forward.cell, backward.cell}}});
}

TEST(OperatorSequences, GrusResetBeforeOrBehindTheProduct) {
  const Recurrent of(3, 1);
  for (const bool is_behind : {false, true}) {
    const States wanted =
        run(of, 0, false, [&](std::size_t d, double value, double& hidden, double&) {
          const auto gate = [&](std::size_t which) {
            return sigmoid(of.from_input(d, which, value) + of.from_state(d, which, hidden));
          };
          const double update = gate(0);
          const double reset = gate(1);
          const double kept =
              is_behind ? reset * of.from_state(d, 2, hidden) : of.from_state(d, 2, reset * hidden);
          hidden = (1 - update) * std::tanh(of.from_input(d, 2, value) + kept) + update * hidden;
        });
    const std::string attribute = is_behind ? ", linear_before_reset = 1" : "";
    expect_all({{"y = GRU <hidden_size = 1" + attribute + "> (x, w, r, b, , h) ",
                 {of.x, of.w, of.r, of.b, of.h},
                 {3, 1, 1, 1},
                 wanted.hidden}});
  }
}

TEST(OperatorSequences, RecurrencesHaveTheirFunctionsAndLayouts) {
  const Recurrent of(1, 1);
  const auto wanted = [&](auto function) {
    return run(of, 0, false,
               [&](std::size_t d, double value, double& hidden, double&) {
                 hidden = function(of.from_input(d, 0, value) + of.from_state(d, 0, hidden));
               })
        .hidden;
  };
  const Values by_tanh = wanted([](double x) { return std::tanh(x); });
  const Values by_relu = wanted([](double x) { return std::max(x, 0.0); });
  const std::vector<Given> all{of.x, of.w, of.r, of.b, of.h};
  Given samples_first = of.x;
  samples_first.shape = {1, 3, 1};
  expect_all({{"y = RNN <hidden_size = 1> (x, w, r, b, , h) ", all, {3, 1, 1, 1}, by_tanh},
              {"y = RNN <hidden_size = 1, activations = [\"Relu\"]> (x, w, r, b, , h) ",
               all,
               {3, 1, 1, 1},
               by_relu},
              {"y = RNN <hidden_size = 1, layout = 1> (x, w, r, b, , h) ",
               {samples_first, of.w, of.r, of.b, of.h},
               {1, 3, 1, 1},
               by_tanh}});
}

// --- attention ---

/// Two heads of queries of two positions, one of keys and values of three.
struct Attended {
  Given q{"q", {1, 2, 2, 4}, {}};
  Given k{"k", {1, 1, 3, 4}, {}};
  Given v{"v", {1, 1, 3, 1}, {1, 10, 100}};
  double scale = 0.5;  // 1/sqrt(4)
  double cap = 0;
  std::vector<double> added = std::vector<double>(6, 0);  // by query and key

  Attended() {
    for (int i = 0; i < 16; ++i) q.values.push_back(std::fmod(0.618 * i, 1.0) * 4 - 2);
    for (int i = 0; i < 12; ++i) k.values.push_back(std::fmod(0.41 * i, 1.0) * 4 - 2);
  }

  [[nodiscard]] Values wanted() const {
    Values results;
    for (std::size_t row = 0; row < 4; ++row) {  // heads, then positions
      double sum = 0;
      double weighted = 0;
      for (std::size_t key = 0; key < 3; ++key) {
        double score = 0;
        for (std::size_t i = 0; i < 4; ++i) {
          score += scale * q.values[4 * row + i] * k.values[4 * key + i];
        }
        if (cap != 0) score = cap * std::tanh(score / cap);
        const double weight = std::exp(score + added[row % 2 * 3 + key]);
        sum += weight;
        weighted += weight * v.values[key];
      }
      results.push_back(weighted / sum);
    }
    return results;
  }
};

constexpr double hidden = -1e30;

TEST(OperatorSequences, AttentionWeighsKeysByScoresAndMasks) {
  const Attended plain;
  Attended scaled;
  scaled.scale = 0.125;
  Attended capped;
  capped.cap = 1.5;
  Attended causal;
  causal.added = {0, hidden, hidden, 0, 0, hidden};
  Attended added;
  added.added = {0, 1, -2, 0.5, 0, 3};
  Attended seen;
  seen.added = {0, hidden, 0, hidden, 0, 0};
  Attended capped_and_added = added;  // the cap is of scores, not of the mask
  capped_and_added.cap = 1.5;
  Attended capped_and_seen = seen;
  capped_and_seen.cap = 1.5;
  const Given mask{"m", {2, 3}, added.added};
  const Given keys_seen{"m", {2, 3}, {1, 0, 1, 0, 1, 1}, ElementType::boolean};
  const auto row = [](const Attended& of, const std::string& attributes, const Given* more) {
    std::vector<Given> inputs{of.q, of.k, of.v};
    if (more != nullptr) inputs.push_back(*more);
    return OperatorRow{
        "y = Attention " + attributes + " (q, k, v" + (more == nullptr ? "" : ", m") + ") ",
        inputs,
        {1, 2, 2, 1},
        of.wanted(),
        23};
  };
  expect_all({row(plain, "", nullptr), row(scaled, "<scale = 0.125>", nullptr),
              row(capped, "<softcap = 1.5>", nullptr), row(causal, "<is_causal = 1>", nullptr),
              row(added, "", &mask), row(seen, "", &keys_seen),
              row(capped_and_added, "<softcap = 1.5>", &mask),
              row(capped_and_seen, "<softcap = 1.5>", &keys_seen)});
}

TEST(OperatorSequences, AttentionReadsPastPositionsInFront) {
  Attended whole;
  whole.added = {0, 0, hidden, 0, 0, 0};  // the queries are positions 1 and 2
  Given old_keys{"pk", {1, 1, 1, 4}, {whole.k.values.begin(), whole.k.values.begin() + 4}};
  Given old_values{"pv", {1, 1, 1, 1}, {1}};
  Given keys{"k", {1, 1, 2, 4}, {whole.k.values.begin() + 4, whole.k.values.end()}};
  Given values{"v", {1, 1, 2, 1}, {10, 100}};
  const std::string node = " = Attention <is_causal = 1> (q, k, v, , pk, pv) ";
  const std::vector<Given> inputs{whole.q, keys, values, old_keys, old_values};
  expect_all({{"y" + node, inputs, {1, 2, 2, 1}, whole.wanted(), 23},
              {"a, y" + node, inputs, {1, 1, 3, 4}, whole.k.values, 23},
              {"a, b, y" + node, inputs, {1, 1, 3, 1}, whole.v.values, 23}});
}

TEST(OperatorSequences, HeadsLieSideBySideInRows) {
  const Given q{"q", {1, 1, 2}, {1, 2}};
  const Given k{"k", {1, 2, 2}, {1, 0, 0, 1}};
  const Given v{"v", {1, 2, 2}, {1, 10, 100, 1000}};
  const double first = 1 / (1 + std::exp(-1));  // of scores 1 and 0
  const double second = 1 / (1 + std::exp(2));  // of scores 0 and 2
  expect_all({{"y = Attention <q_num_heads = 2, kv_num_heads = 2> (q, k, v) ",
               {q, k, v},
               {1, 1, 2},
               {first + 100 * (1 - first), 10 * second + 1000 * (1 - second)},
               23}});
  EXPECT_EQ(computed("y = Attention <q_num_heads = 3, kv_num_heads = 2> (q, k, v) ", {q, k, v}, 23)
                .problem,
            "3 heads do not divide its input {1, 1, 2}");
}

TEST(OperatorSequences, RotaryPositionsTurnPairs) {
  const Given x{"x", {1, 1, 1, 6}, {1, 2, 3, 4, 5, 6}};
  const auto table = [](const std::string& name, const Values& last) {
    Values values(last.size(), 9);  // of position 0
    values.insert(values.end(), last.begin(), last.end());
    return Given{name, {2, static_cast<std::int64_t>(last.size())}, values};
  };
  const Values cosines{0.5, 2, 3};
  const Values sines{-1, 4, 0.25};
  const Given position{"i", {1, 1}, {1}, ElementType::integer};
  const auto row = [&](const std::string& attributes, std::size_t pairs, const Values& wanted) {
    const auto count = static_cast<std::ptrdiff_t>(pairs);
    return OperatorRow{"y = RotaryEmbedding " + attributes + " (x, c, s, i) ",
                       {x, table("c", {cosines.begin(), cosines.begin() + count}),
                        table("s", {sines.begin(), sines.begin() + count}), position},
                       {1, 1, 1, 6},
                       wanted,
                       23};
  };
  expect_all({row("", 3, {0.5 + 4, 4 - 20, 9 - 1.5, -1 + 2, 8 + 10, 0.75 + 18}),
              row("<interleaved = 1>", 3, {0.5 + 2, -1 + 1, 6 - 16, 12 + 8, 15 - 1.5, 1.25 + 18}),
              row("<rotary_embedding_dim = 4>", 2, {0.5 + 3, 4 - 16, -1 + 1.5, 8 + 8, 5, 6})});
}

}  // namespace
}  // namespace parbench::test
