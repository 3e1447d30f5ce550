// Recurrent operators, position by position. Sequences are {positions, samples, values}, or with
// `layout` 1 {samples, positions, values}.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <functional>

#include "scenarios/models/layers/sequences.h"
#include "scenarios/models/onnx/general/indexing.h"
#include "scenarios/models/onnx/translator.h"

namespace parbench::onnx_import {
namespace {

using general::Extent;
using general::Extents;
using general::Graph;
using Function = std::function<int(Graph& graph, int x)>;
using enum ElementOp;

std::string in_lower_case(std::string name) {
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::tolower(c); });
  return name;
}

Function function_named(const std::string& given) {
  const std::string name = in_lower_case(given);
  if (name == "sigmoid") return sigmoid;
  if (name == "tanh") return [](Graph& graph, int x) { return graph.apply(tanh, x); };
  if (name == "relu") return [](Graph& graph, int x) { return graph.apply(maximum, x, 0.0F); };
  throw CannotTranslate("its function " + name + " is not supported");
}

/// The weights of one direction, transposed for products with rows.
struct Direction {
  int inputs = 0;      // {values, gates·hidden}
  int recurrent = 0;   // {hidden, gates·hidden}
  int input_bias = 0;  // {gates·hidden}
  int recurrent_bias = 0;
  int peepholes = -1;  // {3·hidden}
  std::vector<Function> functions;
};

/// State of a cell between positions.
struct State {
  int hidden = 0;
  int cell = 0;
};

class Recurrence {
 public:
  Recurrence(Arguments& arguments, std::int64_t gates, std::vector<std::string> functions)
      : arguments_(arguments),
        graph_(arguments.graph()),
        gates_(gates),
        samples_first_(arguments.integer("layout", 0) == 1),
        direction_(arguments.attribute("direction", std::string("forward"))) {
    for (const char* name : {"clip", "activation_alpha", "activation_beta"}) {
      if (arguments.has_attribute(name)) throw CannotTranslate(fmt::format("it has {}", name));
    }
    if (arguments.has(4)) throw CannotTranslate("it has lengths of sequences");
    x_ = arguments.operand(0);
    if (samples_first_) x_ = graph_.permute(x_, {1, 0, 2});
    hidden_ = arguments.integer("hidden_size", 0);
    const std::string given = arguments.attribute("activations", std::string());
    if (!given.empty()) functions = divided(given);
    count_ = direction_ == "bidirectional" ? 2 : 1;
    if (functions.size() < count_ * functions_of_one()) {
      const std::vector<std::string> one = functions;
      functions.insert(functions.end(), one.begin(), one.end());
    }
    functions_ = std::move(functions);
    check_shapes();
  }

  /// `step`: computes the state after a position from the previous state and the position's values.
  template <class Step>
  Outputs run(bool has_cell, Step step) {
    std::vector<std::vector<int>> hidden;  // by direction and position
    std::vector<State> last;
    for (std::size_t d = 0; d < count_; ++d) {
      const bool reverse = direction_ == "reverse" || d == 1;
      const Direction weights = direction(d, has_cell);
      State state{.hidden = first_state(5, d), .cell = has_cell ? first_state(6, d) : 0};
      const int products = graph_.multiply(x_, weights.inputs);  // for all positions
      const std::int64_t positions = graph_.shape(x_)[0].size;
      std::vector<int> states(static_cast<std::size_t>(positions));
      for (std::int64_t i = 0; i < positions; ++i) {
        const std::int64_t position = reverse ? positions - 1 - i : i;
        const int row = run_of(graph_, products, 0, position, 1);
        const int values = graph_.apply(addition, without_first(row), weights.input_bias);
        state = step(*this, weights, values, state);
        states[static_cast<std::size_t>(position)] = state.hidden;
      }
      hidden.push_back(std::move(states));
      last.push_back(state);
    }
    return outputs(hidden, last, has_cell);
  }

  /// Returns the columns of a gate.
  [[nodiscard]] int gate(int values, std::int64_t which) const {
    return run_of(graph_, values, graph_.shape(values).size() - 1, which * hidden_, hidden_);
  }
  [[nodiscard]] int recurrent(const Direction& weights, int hidden) const {
    return graph_.apply(addition, graph_.multiply(hidden, weights.recurrent),
                        weights.recurrent_bias);
  }
  [[nodiscard]] Graph& graph() const { return graph_; }
  [[nodiscard]] Arguments& arguments() const { return arguments_; }

 private:
  void check_shapes() const {
    const Extents& rows = graph_.shape(x_);
    if (rows.size() != 3 || rows[0].samples) {
      throw CannotTranslate(fmt::format("its input {} is not of positions, samples and values",
                                        general::to_string(rows)));
    }
    const auto directions = static_cast<std::int64_t>(count_);
    const std::int64_t width = gates_ * hidden_;
    check_shape(1, "weights", {directions, width, rows[2].size});
    check_shape(2, "recurrent weights", {directions, width, hidden_});
    if (arguments_.has(3)) check_shape(3, "biases", {directions, 2 * width});
    for (const std::size_t which : {5, 6}) {
      if (!arguments_.has(which)) continue;
      const Extents state = arguments_.shape(which);
      if (state.size() == 3 && state[samples_first_ ? 1 : 0].size == directions &&
          state[2].size == hidden_) {
        continue;
      }
      throw CannotTranslate(fmt::format("its first state {} is not of {} directions and {} values",
                                        general::to_string(state), directions, hidden_));
    }
  }

  void check_shape(std::size_t which, std::string_view what, const Shape& wanted) const {
    const Shape shape = general::shape_at(arguments_.shape(which), 1);
    if (shape == wanted) return;
    throw CannotTranslate(
        fmt::format("its {} are {}, not {}", what, to_string(shape), to_string(wanted)));
  }

  [[nodiscard]] std::size_t functions_of_one() const {
    return gates_ == 4 ? 3 : gates_ == 3 ? 2 : 1;
  }

  [[nodiscard]] static std::vector<std::string> divided(const std::string& names) {
    std::vector<std::string> all(1);
    for (const char c : names) {
      if (c == ',') {
        all.emplace_back();
      } else {
        all.back() += c;
      }
    }
    return all;
  }

  [[nodiscard]] int without_first(int x) const {
    const Extents& shape = graph_.shape(x);
    return graph_.reshape(x, {shape.begin() + 1, shape.end()});
  }

  [[nodiscard]] int of_direction(std::size_t which, std::size_t d) const {
    return without_first(
        run_of(graph_, arguments_.operand(which), 0, static_cast<std::int64_t>(d), 1));
  }

  [[nodiscard]] Direction direction(std::size_t d, bool has_cell) const {
    Direction weights;
    weights.inputs = graph_.permute(of_direction(1, d), {1, 0});
    weights.recurrent = graph_.permute(of_direction(2, d), {1, 0});
    const std::int64_t width = gates_ * hidden_;
    if (arguments_.has(3)) {
      const int both = of_direction(3, d);
      weights.input_bias = run_of(graph_, both, 0, 0, width);
      weights.recurrent_bias = run_of(graph_, both, 0, width, width);
    } else {
      weights.input_bias = weights.recurrent_bias = graph_.number(0, {{.size = width}});
    }
    if (has_cell && arguments_.has(7)) weights.peepholes = of_direction(7, d);
    for (std::size_t i = 0; i < functions_of_one(); ++i) {
      weights.functions.push_back(function_named(functions_.at(d * functions_of_one() + i)));
    }
    return weights;
  }

  /// {samples, hidden}
  [[nodiscard]] int first_state(std::size_t which, std::size_t d) const {
    const auto is_zero = [&] {  // exporters write zero states explicitly
      const std::vector<double> values = arguments_.numbers(which);
      return std::ranges::all_of(values, [](double value) { return value == 0; });
    };
    if (!arguments_.has(which) || (arguments_.is_constant(which) && is_zero())) {
      return graph_.number(0, {graph_.shape(x_)[1], {.size = hidden_}});
    }
    int state = arguments_.operand(which);
    if (samples_first_) state = graph_.permute(state, {1, 0, 2});
    state = without_first(run_of(graph_, state, 0, static_cast<std::int64_t>(d), 1));
    const Extents wanted{graph_.shape(x_)[1], {.size = hidden_}};
    if (graph_.shape(state) == wanted) return state;
    return graph_.broadcast(run_of(graph_, state, 0, 0, 1), wanted);  // for the samples of the file
  }

  /// Outputs {positions, directions, samples, hidden} and the last states {directions, samples,
  /// hidden}.
  [[nodiscard]] Outputs outputs(const std::vector<std::vector<int>>& hidden,
                                const std::vector<State>& last, bool has_cell) const {
    const Extents one{{}, {}, graph_.shape(x_)[1], {.size = hidden_}};
    std::vector<int> positions;
    for (std::size_t i = 0; i < hidden.front().size(); ++i) {
      std::vector<int> both;
      for (const std::vector<int>& states : hidden) both.push_back(graph_.reshape(states[i], one));
      positions.push_back(graph_.concatenate(std::move(both), 1));
    }
    int all = graph_.concatenate(std::move(positions), 0);
    if (samples_first_) all = graph_.permute(all, {2, 0, 1, 3});
    Outputs found{all};
    for (const bool of_cell : {false, true}) {
      if (of_cell && !has_cell) continue;
      std::vector<int> both;
      for (const State& state : last) {
        both.push_back(graph_.reshape(of_cell ? state.cell : state.hidden,
                                      {{}, graph_.shape(x_)[1], {.size = hidden_}}));
      }
      const int joined = graph_.concatenate(std::move(both), 0);
      found.push_back(samples_first_ ? graph_.permute(joined, {1, 0, 2}) : joined);
    }
    return found;
  }

  Arguments& arguments_;
  Graph& graph_;
  std::int64_t gates_;
  bool samples_first_;
  std::string direction_;
  int x_ = 0;
  std::int64_t hidden_ = 0;
  std::size_t count_ = 1;
  std::vector<std::string> functions_;
};

/// Gates in ONNX's order: input, output, forget, cell.
State lstm_step(const Recurrence& of, const Direction& weights, int values, const State& state) {
  Graph& graph = of.graph();
  const int sums = graph.apply(addition, values, of.recurrent(weights, state.hidden));
  const auto seen = [&](int gate, std::int64_t which, int cell) {
    if (weights.peepholes < 0) return gate;
    return graph.apply(addition, gate,
                       graph.apply(product, of.gate(weights.peepholes, which), cell));
  };
  const Function& gate_function = weights.functions[0];
  const int in = gate_function(graph, seen(of.gate(sums, 0), 0, state.cell));
  int forget = gate_function(graph, seen(of.gate(sums, 2), 2, state.cell));
  if (of.arguments().flag("input_forget", false)) {
    forget = graph.apply(difference, graph.number(1), in);
  }
  const int candidate = weights.functions[1](graph, of.gate(sums, 3));
  const int cell = graph.apply(addition, graph.apply(product, forget, state.cell),
                               graph.apply(product, in, candidate));
  const int out = gate_function(graph, seen(of.gate(sums, 1), 1, cell));
  return {.hidden = graph.apply(product, out, weights.functions[2](graph, cell)), .cell = cell};
}

/// Gates in ONNX's order: update, reset, hidden.
State gru_step(const Recurrence& of, const Direction& weights, int values, const State& state) {
  Graph& graph = of.graph();
  const int sums = of.recurrent(weights, state.hidden);
  const auto gate = [&](std::int64_t which) {
    return weights.functions[0](
        graph, graph.apply(addition, of.gate(values, which), of.gate(sums, which)));
  };
  const int update = gate(0);
  const int reset = gate(1);
  int candidate = 0;
  if (of.arguments().flag("linear_before_reset", false)) {
    candidate = graph.apply(product, reset, of.gate(sums, 2));
  } else {
    const int kept = graph.apply(product, reset, state.hidden);
    candidate = graph.apply(addition, graph.multiply(kept, of.gate(weights.recurrent, 2)),
                            of.gate(weights.recurrent_bias, 2));
  }
  candidate = weights.functions[1](graph, graph.apply(addition, of.gate(values, 2), candidate));
  const int fresh =
      graph.apply(product, graph.apply(difference, graph.number(1), update), candidate);
  return {.hidden = graph.apply(addition, fresh, graph.apply(product, update, state.hidden))};
}

State rnn_step(const Recurrence& of, const Direction& weights, int values, const State& state) {
  Graph& graph = of.graph();
  const int sum = graph.apply(addition, values, of.recurrent(weights, state.hidden));
  return {.hidden = weights.functions[0](graph, sum)};
}

/// Returns whether an initial state is zero.
bool is_zero_state(Arguments& arguments, std::size_t which) {
  if (!arguments.has(which)) return true;
  if (!arguments.is_constant(which)) {
    const general::Operation& state = arguments.graph().at(arguments.tensor(which).operation);
    return state.kind == general::OpKind::element && state.element == number && state.number == 0;
  }
  const std::vector<double> values = arguments.numbers(which);
  return std::ranges::all_of(values, [](double value) { return value == 0; });
}

/// Returns whether a node computes what the layer does: default functions, zero initial states, and
/// no reader of the last cell states.
bool is_usual_lstm(Arguments& arguments) {
  const Node& node = arguments.node();
  for (const char* other :
       {"activations", "activation_alpha", "activation_beta", "clip", "input_forget"}) {
    if (arguments.has_attribute(other)) {
      const std::string given =
          in_lower_case(arguments.attribute("activations", std::string("sigmoid,tanh,tanh")));
      if (std::string_view(other) != "activations" ||
          (given != "sigmoid,tanh,tanh" && given != "sigmoid,tanh,tanh,sigmoid,tanh,tanh")) {
        return false;
      }
    }
  }
  const bool reads_cells =
      node.outputs.size() > 2 && arguments.translator().is_read(node.outputs[2]);
  return arguments.is_network() && arguments.is_weight(1) && arguments.is_weight(2) &&
         (!arguments.has(3) || arguments.is_weight(3)) && !arguments.has(4) &&
         is_zero_state(arguments, 5) && is_zero_state(arguments, 6) && !arguments.has(7) &&
         !reads_cells;
}

/// Reorders the gates of one direction from ONNX's order (input, output, forget, cell) to the
/// layer's (input, forget, cell, output): rows from `first` on of {1, rows, …}.
int gates_of(Graph& constants, int weights, std::int64_t direction, std::int64_t first,
             std::int64_t hidden) {
  const int own = run_of(constants, weights, 0, direction, 1);
  Extents shape = constants.shape(own);
  std::vector<int> gates;
  for (const std::int64_t gate : {0, 2, 3, 1}) {
    gates.push_back(run_of(constants, own, 1, first + gate * hidden, hidden));
  }
  const int all = constants.concatenate(std::move(gates), 1);
  shape = constants.shape(all);
  return constants.reshape(all, {shape.begin() + 1, shape.end()});
}

/// Translates to layers over the whole sequence, one per direction.
std::optional<Outputs> lstm_layers(Arguments& arguments) {
  if (!is_usual_lstm(arguments)) return std::nullopt;
  Graph& graph = arguments.graph();
  Graph& constants = arguments.translator().constants();
  const bool samples_first = arguments.integer("layout", 0) == 1;
  const int x = arguments.operand(0);
  if (graph.shape(x).size() != 3) return std::nullopt;
  const int rows = samples_first ? x : graph.permute(x, {1, 0, 2});
  const Extents shape = graph.shape(rows);
  const auto direction = arguments.attribute("direction", std::string("forward"));
  const std::int64_t hidden = arguments.integer("hidden_size", 0);
  const std::int64_t count = direction == "bidirectional" ? 2 : 1;
  const Extents gates{{.size = count}, {.size = 4 * hidden}};
  const auto with = [&](const Extent& last) { return Extents{gates[0], gates[1], last}; };
  if (!starts_with_samples(shape) || shape[1].samples || hidden < 1 ||
      arguments.shape(1) != with(shape[2]) || arguments.shape(2) != with({.size = hidden}) ||
      (arguments.has(3) && arguments.shape(3) != Extents{gates[0], {.size = 8 * hidden}})) {
    return std::nullopt;
  }
  const std::int64_t positions = shape[1].size;
  std::vector<int> all;
  std::vector<int> last;
  for (std::int64_t d = 0; d < count; ++d) {
    const bool is_reverse = direction == "reverse" || d == 1;
    const int source = is_reverse ? run_of(graph, rows, 1, positions - 1, positions, -1) : rows;
    std::vector<std::pair<std::string, int>> parameters{
        {"weights", gates_of(constants, arguments.constant(1, "weights"), d, 0, hidden)},
        {"recurrent_weights",
         gates_of(constants, arguments.constant(2, "recurrent weights"), d, 0, hidden)}};
    if (arguments.has(3)) {
      const int biases = arguments.constant(3, "biases");
      parameters.emplace_back("bias",
                              constants.apply(addition, gates_of(constants, biases, d, 0, hidden),
                                              gates_of(constants, biases, d, 4 * hidden, hidden)));
    }
    const int made = arguments.translator().add_layer(
        arguments.node(), std::make_shared<const Lstm>(hidden, arguments.has(3)), {source},
        std::move(parameters), -1);
    last.push_back(run_of(graph, made, 1, positions - 1, 1));
    all.push_back(is_reverse ? run_of(graph, made, 1, positions - 1, positions, -1) : made);
  }
  const Extents states{{1, true}, shape[1], {}, {.size = hidden}};
  for (int& one : all) one = graph.reshape(one, states);
  const int hidden_states = graph.concatenate(std::move(all), 2);  // {N, positions, directions, …}
  const int last_states = graph.concatenate(std::move(last), 1);   // {N, directions, hidden}
  if (samples_first) return Outputs{hidden_states, last_states, -1};
  return Outputs{graph.permute(hidden_states, {1, 2, 0, 3}), graph.permute(last_states, {1, 0, 2}),
                 -1};
}

Outputs lstm(Arguments& arguments) {
  if (auto made = lstm_layers(arguments)) return *made;
  return Recurrence(arguments, 4, {"sigmoid", "tanh", "tanh"}).run(true, lstm_step);
}
Outputs gru(Arguments& arguments) {
  return Recurrence(arguments, 3, {"sigmoid", "tanh"}).run(false, gru_step);
}
Outputs rnn(Arguments& arguments) {
  return Recurrence(arguments, 1, {"tanh"}).run(false, rnn_step);
}

}  // namespace

OperatorTable recurrent_operators() { return {{"GRU", gru}, {"LSTM", lstm}, {"RNN", rnn}}; }

}  // namespace parbench::onnx_import
