// Recurrent operators. Usual LSTMs (is_usual_lstm) become layers; all others are computed position
// by position. Sequences are {positions, samples, values}, or with `layout` 1 {samples, positions,
// values}.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "scenarios/models/layers/sequences.h"
#include "scenarios/models/onnx/general/indexing.h"
#include "scenarios/models/onnx/translator.h"

namespace parbench::onnx_import {
namespace {

using Function = Term (*)(Term x);
using enum ElementOp;

std::string in_lower_case(std::string name) {
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::tolower(c); });
  return name;
}

Function function_named(const std::string& given) {
  const std::string name = in_lower_case(given);
  if (name == "sigmoid") return sigmoid;
  if (name == "tanh") return [](Term x) { return x.tanh(); };
  if (name == "relu") return [](Term x) { return x.max(0.0F); };
  throw CannotTranslate("its function " + name + " is not supported");
}

/// Attributes that all recurrent operators have.
struct Sequences {
  explicit Sequences(const Arguments& arguments)
      : samples_first(arguments.integer("layout", 0) == 1),
        direction(arguments.text("direction", "forward")),
        count(direction == "bidirectional" ? 2 : 1),
        hidden(arguments.integer("hidden_size", 0)) {}

  [[nodiscard]] bool is_reverse(std::int64_t which) const {
    return direction == "reverse" || which == 1;
  }

  bool samples_first;
  std::string direction;
  std::int64_t count;  // number of directions
  std::int64_t hidden;
};

/// Returns an element of the first dimension, without this dimension.
Term element_of(Term x, std::int64_t which) {
  return x.part(0, which, 1).reshape(without_dimension(x.shape(), 0));
}

/// Weights of one direction, transposed for products with rows, and activation functions.
struct Direction {
  Term inputs;      // {values, gates·hidden}
  Term recurrent;   // {hidden, gates·hidden}
  Term input_bias;  // {gates·hidden}
  Term recurrent_bias;
  std::optional<Term> peepholes = {};  // {3·hidden}
  std::vector<Function> functions = {};
};

/// State between positions. `cell` is used only by an LSTM.
struct State {
  Term hidden;
  Term cell;
};

/// Returns whether an initial state is omitted or zero; exporters write zero states explicitly.
bool is_zero_state(Arguments& arguments, std::size_t which) {
  if (!arguments.has(which)) return true;
  if (!arguments.is_constant(which)) {
    return arguments.graph().number_of(arguments.tensor(which).operation) == 0;
  }
  const std::vector<double> values = arguments.numbers(which);
  return std::ranges::all_of(values, [](double value) { return value == 0; });
}

class Recurrence {
 public:
  Recurrence(Arguments& arguments, std::int64_t gates, std::vector<std::string> functions)
      : arguments_(arguments), of_(arguments), gates_(gates), x_(arguments.operand(0)) {
    for (const char* name : {"clip", "activation_alpha", "activation_beta"}) {
      refuse_if(arguments.has_attribute(name), fmt::format("it has {}", name));
    }
    refuse_if(arguments.has(4), "lengths of sequences are not supported");
    if (of_.samples_first) x_ = x_.permute({1, 0, 2});
    const auto given = arguments.attribute("activations", functions);
    if (!given.empty()) functions = given;
    if (functions.size() < static_cast<std::size_t>(of_.count) * functions_of_one()) {
      const std::vector<std::string> one = functions;
      functions.insert(functions.end(), one.begin(), one.end());
    }
    functions_ = std::move(functions);
    check_shapes();
  }

  /// Returns the outputs. `step`: computes the next state from the state and a position's values.
  template <class Step>
  Outputs run(bool has_cell, Step step) {
    std::vector<std::vector<Term>> hidden;  // by direction and position
    std::vector<State> last;
    for (std::int64_t d = 0; d < of_.count; ++d) {
      const Direction weights = direction(d, has_cell);
      const Term first = first_state(5, d);
      State state{.hidden = first, .cell = has_cell ? first_state(6, d) : first};
      const Term products = x_.multiply(weights.inputs);  // for all positions
      const std::int64_t positions = x_.shape()[0].size;
      std::vector<Term> states(static_cast<std::size_t>(positions), first);
      for (std::int64_t i = 0; i < positions; ++i) {
        const std::int64_t position = of_.is_reverse(d) ? positions - 1 - i : i;
        const Term values = element_of(products, position) + weights.input_bias;
        state = step(*this, weights, values, state);
        states[static_cast<std::size_t>(position)] = state.hidden;
      }
      hidden.push_back(std::move(states));
      last.push_back(state);
    }
    return outputs(hidden, last, has_cell);
  }

  /// Returns the columns of a gate.
  [[nodiscard]] Term gate(Term values, std::int64_t which) const {
    return values.part(values.rank() - 1, which * of_.hidden, of_.hidden);
  }
  [[nodiscard]] static Term recurrent(const Direction& weights, Term hidden) {
    return hidden.multiply(weights.recurrent) + weights.recurrent_bias;
  }
  [[nodiscard]] Arguments& arguments() const { return arguments_; }

 private:
  void check_shapes() const {
    const Extents rows = x_.shape();
    refuse_if(rows.size() != 3 || rows[0].samples,
              fmt::format("its input {} must have the dimensions positions, samples and values",
                          to_string(rows)));
    const std::int64_t width = gates_ * of_.hidden;
    check_shape(1, "weights", {of_.count, width, rows[2].size});
    check_shape(2, "recurrent weights", {of_.count, width, of_.hidden});
    if (arguments_.has(3)) check_shape(3, "biases", {of_.count, 2 * width});
    for (const std::size_t which : {5, 6}) {
      if (!arguments_.has(which)) continue;
      const Extents state = arguments_.shape(which);
      refuse_if(state.size() != 3 || state[of_.samples_first ? 1 : 0].size != of_.count ||
                    state[2].size != of_.hidden,
                fmt::format("its initial state {} must have {} directions and {} values",
                            to_string(state), of_.count, of_.hidden));
    }
  }

  void check_shape(std::size_t which, std::string_view what, const Shape& wanted) const {
    const Shape shape = general::shape_at(arguments_.shape(which), 1);
    refuse_if(shape != wanted,
              fmt::format("its {} are {}, not {}", what, to_string(shape), to_string(wanted)));
  }

  [[nodiscard]] std::size_t functions_of_one() const {
    return gates_ == 4 ? 3 : gates_ == 3 ? 2 : 1;
  }

  [[nodiscard]] Direction direction(std::int64_t d, bool has_cell) const {
    const std::int64_t width = gates_ * of_.hidden;
    const auto own = [&](std::size_t which) { return element_of(arguments_.operand(which), d); };
    const Term inputs = own(1).permute({1, 0});
    const Term recurrent = own(2).permute({1, 0});
    const Term biases = arguments_.has(3) ? own(3) : arguments_.filled(0, {{.size = 2 * width}});
    Direction weights{.inputs = inputs,
                      .recurrent = recurrent,
                      .input_bias = biases.part(0, 0, width),
                      .recurrent_bias = biases.part(0, width, width)};
    if (has_cell && arguments_.has(7)) weights.peepholes = own(7);
    const std::size_t first = static_cast<std::size_t>(d) * functions_of_one();
    for (std::size_t i = 0; i < functions_of_one(); ++i) {
      weights.functions.push_back(function_named(functions_.at(first + i)));
    }
    return weights;
  }

  /// Returns the initial state of a direction, {samples, hidden}.
  [[nodiscard]] Term first_state(std::size_t which, std::int64_t d) const {
    const Extents wanted{x_.shape()[1], {.size = of_.hidden}};
    if (is_zero_state(arguments_, which)) return arguments_.filled(0, wanted);
    Term state = arguments_.operand(which);
    if (of_.samples_first) state = state.permute({1, 0, 2});
    state = element_of(state, d);
    if (state.shape() == wanted) return state;
    return state.part(0, 0, 1).broadcast(wanted);  // the first sample's state for all samples
  }

  /// Returns the outputs: hidden values {positions, directions, samples, hidden}, and the last
  /// states {directions, samples, hidden}. With `layout` 1, the samples are the first dimension.
  [[nodiscard]] Outputs outputs(const std::vector<std::vector<Term>>& hidden,
                                const std::vector<State>& last, bool has_cell) const {
    const Extents one{{}, x_.shape()[1], {.size = of_.hidden}};
    std::vector<Term> positions;
    for (std::size_t i = 0; i < hidden.front().size(); ++i) {
      std::vector<Term> both;
      for (const std::vector<Term>& states : hidden) {
        both.push_back(states[i].reshape(with_dimension(one, 0)));
      }
      positions.push_back(general::concatenated(both, 1));
    }
    const Term all = general::concatenated(positions, 0);
    Outputs found{of_.samples_first ? all.permute({2, 0, 1, 3}) : all};
    for (const bool of_cell : {false, true}) {
      if (of_cell && !has_cell) continue;
      std::vector<Term> both;
      for (const State& state : last) {
        both.push_back((of_cell ? state.cell : state.hidden).reshape(one));
      }
      const Term joined = general::concatenated(both, 0);
      found.push_back(of_.samples_first ? joined.permute({1, 0, 2}) : joined);
    }
    return found;
  }

  Arguments& arguments_;
  Sequences of_;
  std::int64_t gates_;
  Term x_;
  std::vector<std::string> functions_;
};

/// Gates in ONNX's order: input, output, forget, cell.
State lstm_step(const Recurrence& of, const Direction& weights, Term values, const State& state) {
  const Term sums = values + of.recurrent(weights, state.hidden);
  const auto gate = [&](std::int64_t which, Term cell) {
    Term sum = of.gate(sums, which);
    if (weights.peepholes) sum = sum + of.gate(*weights.peepholes, which) * cell;
    return weights.functions[0](sum);
  };
  const Term in = gate(0, state.cell);
  const bool is_joined = of.arguments().flag("input_forget", false);
  const Term forget = is_joined ? 1.0F - in : gate(2, state.cell);
  const Term candidate = weights.functions[1](of.gate(sums, 3));
  const Term kept = forget * state.cell;
  const Term cell = kept + in * candidate;
  const Term out = gate(1, cell);
  return {.hidden = out * weights.functions[2](cell), .cell = cell};
}

/// Gates in ONNX's order: update, reset, hidden.
State gru_step(const Recurrence& of, const Direction& weights, Term values, const State& state) {
  const Term sums = of.recurrent(weights, state.hidden);
  const auto gate = [&](std::int64_t which) {
    const Term value = of.gate(values, which);
    return weights.functions[0](value + of.gate(sums, which));
  };
  const Term update = gate(0);
  const Term reset = gate(1);
  Term candidate = reset;
  if (of.arguments().flag("linear_before_reset", false)) {
    candidate = reset * of.gate(sums, 2);
  } else {
    candidate = (reset * state.hidden).multiply(of.gate(weights.recurrent, 2)) +
                of.gate(weights.recurrent_bias, 2);
  }
  candidate = weights.functions[1](of.gate(values, 2) + candidate);
  const Term fresh = (1.0F - update) * candidate;
  const Term hidden = fresh + update * state.hidden;
  return {.hidden = hidden, .cell = hidden};
}

State rnn_step(const Recurrence& of, const Direction& weights, Term values, const State& state) {
  const Term hidden = weights.functions[0](values + of.recurrent(weights, state.hidden));
  return {.hidden = hidden, .cell = hidden};
}

/// Returns whether Lstm layers can compute a node whose shapes fit: constant weights, default
/// functions, zero initial states, no peepholes, lengths of sequences or other options, and no
/// reader of the last cell states.
bool is_usual_lstm(Arguments& arguments) {
  const Node& node = arguments.node();
  constexpr std::array others{"activation_alpha", "activation_beta", "clip", "input_forget"};
  const bool has_others =
      std::ranges::any_of(others, [&](auto name) { return arguments.has_attribute(name); });
  const std::vector<std::string> usual{"sigmoid", "tanh", "tanh"};
  const auto functions = arguments.attribute("activations", usual);
  bool has_usual = functions.size() == usual.size() || functions.size() == 2 * usual.size();
  for (std::size_t i = 0; i < functions.size() && has_usual; ++i) {
    has_usual = in_lower_case(functions[i]) == usual[i % usual.size()];
  }
  const bool reads_cells =
      node.outputs.size() > 2 && arguments.translator().is_read(node.outputs[2]);
  return !has_others && has_usual && arguments.is_network() && arguments.is_weight(1) &&
         arguments.is_weight(2) && (!arguments.has(3) || arguments.is_weight(3)) &&
         !arguments.has(4) && is_zero_state(arguments, 5) && is_zero_state(arguments, 6) &&
         !arguments.has(7) && !reads_cells;
}

/// Returns the weights of one direction's gates, rows of {directions, rows, …} from `first` on,
/// reordered from ONNX's order (input, output, forget, cell) to that of layer Lstm (input, forget,
/// cell, output).
Term gates_of(Term weights, std::int64_t direction, std::int64_t first, std::int64_t hidden) {
  const Term own = element_of(weights, direction);
  std::vector<Term> gates;
  for (const std::int64_t gate : {0, 2, 3, 1}) {
    gates.push_back(own.part(0, first + gate * hidden, hidden));
  }
  return general::concatenated(gates, 0);
}

/// Translates an LSTM to a layer per direction over the whole sequence; nothing if such layers
/// cannot compute it (is_usual_lstm).
std::optional<Outputs> lstm_layers(Arguments& arguments) {
  if (!is_usual_lstm(arguments)) return std::nullopt;
  const Sequences of(arguments);
  const std::int64_t hidden = of.hidden;
  const Term x = arguments.operand(0);
  if (x.rank() != 3) return std::nullopt;
  const Term rows = of.samples_first ? x : x.permute({1, 0, 2});
  const Extents shape = rows.shape();
  const Extents gates{{.size = of.count}, {.size = 4 * hidden}};
  const auto with = [&](const Extent& last) { return Extents{gates[0], gates[1], last}; };
  if (!starts_with_samples(shape) || shape[1].samples || hidden < 1 ||
      arguments.shape(1) != with(shape[2]) || arguments.shape(2) != with({.size = hidden}) ||
      (arguments.has(3) && arguments.shape(3) != Extents{gates[0], {.size = 8 * hidden}})) {
    return std::nullopt;
  }
  const auto constant = [&](std::size_t which, std::string_view what) {
    return Term{&arguments.translator().constants(), arguments.constant(which, what)};
  };
  const Extents states{{1, true}, shape[1], {}, {.size = hidden}};
  std::vector<Term> all;
  std::vector<Term> last;
  for (std::int64_t d = 0; d < of.count; ++d) {
    const Term source = of.is_reverse(d) ? rows.reversed(1) : rows;
    std::vector<std::pair<std::string, int>> parameters{
        {"weights", gates_of(constant(1, "weights"), d, 0, hidden)},
        {"recurrent_weights", gates_of(constant(2, "recurrent weights"), d, 0, hidden)}};
    if (arguments.has(3)) {
      const Term of_inputs = gates_of(constant(3, "biases"), d, 0, hidden);
      parameters.emplace_back("bias",
                              of_inputs + gates_of(constant(3, "biases"), d, 4 * hidden, hidden));
    }
    const Term made = arguments.add_layer(std::make_shared<const Lstm>(hidden, arguments.has(3)),
                                          {source}, std::move(parameters));
    last.push_back(made.part(1, shape[1].size - 1, 1));
    all.push_back((of.is_reverse(d) ? made.reversed(1) : made).reshape(states));
  }
  const Term hidden_states = general::concatenated(all, 2);  // {N, positions, directions, …}
  const Term last_states = general::concatenated(last, 1);   // {N, directions, hidden}
  if (of.samples_first) return Outputs{hidden_states, last_states, -1};
  return Outputs{hidden_states.permute({1, 2, 0, 3}), last_states.permute({1, 0, 2}), -1};
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
