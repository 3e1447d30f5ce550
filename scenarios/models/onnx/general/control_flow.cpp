// Branches and loops. A condition that is known when the file is read selects one branch; loops
// with a known number of iterations are unrolled.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <memory>

#include "scenarios/models/onnx/general/indexing.h"
#include "scenarios/models/onnx/translator.h"

namespace parbench::onnx_import {
namespace {

using general::dimension_of;
using NestedGraph = onnx_import::Graph;

const NestedGraph& nested(const Arguments& arguments, std::string_view name) {
  const auto found = arguments.node().attributes.find(name);
  if (found != arguments.node().attributes.end()) {
    if (const auto* graph = std::get_if<std::shared_ptr<const NestedGraph>>(&found->second)) {
      return **graph;
    }
  }
  throw CannotTranslate(fmt::format("it has no {}", name));
}

// --- branches ---

std::vector<Tensor> results_of(Arguments& arguments, const NestedGraph& branch) {
  Translator& translator = arguments.translator();
  translator.translate_nested(branch);
  refuse_if(branch.outputs.size() < arguments.node().outputs.size(),
            "its branches have fewer outputs than the node");
  std::vector<Tensor> results;
  for (const std::string& name : branch.outputs) results.push_back(translator.get(name));
  return results;
}

/// Reshapes a condition, with one value for all samples or one per sample, for broadcasting to a
/// tensor of shape `chosen`.
int as_mask(general::Graph& graph, int condition, const Extents& chosen) {
  const Extent count = general::count_of(graph.shape(condition));
  refuse_if(count.size != 1, "its condition must be a single value, or one per sample");
  Extents to(chosen.size());
  const auto samples = std::ranges::find_if(chosen, &Extent::samples);
  refuse_if(count.samples && samples == chosen.end(),
            "its condition has one value per sample, but its results have no batch dimension");
  if (count.samples) to[static_cast<std::size_t>(samples - chosen.begin())] = count;
  return graph.reshape(condition, to);
}

/// Selects between the results of two branches, both computed, by a condition computed at run time.
Tensor chosen(Arguments& arguments, const Tensor& first, const Tensor& second) {
  Translator& translator = arguments.translator();
  general::Graph& graph = translator.network();
  const int a = translator.in_network(first);
  const int b = translator.in_network(second);
  const Extents shape =
      std::ranges::any_of(graph.shape(a), &Extent::samples) ? graph.shape(a) : graph.shape(b);
  const int mask = as_mask(graph, translator.in_network(arguments.tensor(0)), shape);
  return {.is_constant = false,
          .operation = graph.select(mask, a, b),
          .type = first.type,
          .range = first.range};
}

void branch(Arguments& arguments) {
  std::vector<Tensor> results;
  if (arguments.is_constant(0)) {
    const bool holds = arguments.number(0, 0) != 0;
    results = results_of(arguments, nested(arguments, holds ? "then_branch" : "else_branch"));
  } else {
    const std::vector<Tensor> first = results_of(arguments, nested(arguments, "then_branch"));
    const std::vector<Tensor> second = results_of(arguments, nested(arguments, "else_branch"));
    for (std::size_t i = 0; i < std::min(first.size(), second.size()); ++i) {
      results.push_back(chosen(arguments, first[i], second[i]));
    }
  }
  for (std::size_t i = 0; i < arguments.node().outputs.size(); ++i) {
    arguments.translator().set(arguments.node().outputs[i], results.at(i));
  }
}

// --- loops ---

/// Stacks the results of iterations in a new dimension.
Tensor stacked(Translator& translator, std::vector<Tensor> parts, std::int64_t axis,
               bool is_reversed) {
  refuse_if(parts.empty(), "it has no iterations");
  if (is_reversed) std::ranges::reverse(parts);
  const bool is_constant = std::ranges::all_of(parts, &Tensor::is_constant);
  general::Graph& graph = is_constant ? translator.constants() : translator.network();
  std::vector<Term> terms;
  for (const Tensor& one : parts) {
    const Term term{&graph, is_constant ? one.operation : translator.in_network(one)};
    const std::size_t dimension = dimension_of(axis, term.rank() + 1);
    terms.push_back(term.reshape(with_dimension(term.shape(), dimension)));
    refuse_if(terms.back().rank() != terms.front().rank(),
              "its iterations have results of different ranks");
  }
  const std::int64_t dimension = signed_size(dimension_of(axis, terms.front().rank()));
  return {.is_constant = is_constant,
          .operation = general::concatenated(terms, dimension),
          .type = parts.front().type,
          .range = parts.front().range};
}

void check_size(Translator& translator, std::int64_t iteration) {
  constexpr std::int64_t max_iterations = 4096;
  constexpr std::size_t max_operations = 500'000;
  refuse_if(iteration >= max_iterations,
            fmt::format("it has more than {} iterations", max_iterations));
  refuse_if(translator.network().operations().size() > max_operations ||
                translator.constants().operations().size() > max_operations,
            "its iterations have too many operations");
}

std::int64_t number_of(const Arguments& arguments, std::string_view name, std::size_t which) {
  const auto values = arguments.integer_list(name, {});
  return which < values.size() ? values[which] : 0;
}

/// The tensors that an iteration passes on to the next one: index of the first among the inputs of
/// the node and of the body, index of the first among the body's outputs, and their number.
struct Carried {
  std::size_t input;
  std::size_t output;
  std::size_t count;
};

/// Unrolls a loop and sets the node's outputs: the last state (`carried`), then the stacked results
/// of the iterations, which are the body's outputs after the state. `begin(i)`: sets the other
/// inputs of iteration i; returns false after the last one.
template <class Begin>
void iterate(Arguments& arguments, const NestedGraph& body, const Carried& carried, Begin begin) {
  Translator& translator = arguments.translator();
  std::vector<Tensor> state;
  for (std::size_t s = 0; s < carried.count; ++s) {
    state.push_back(arguments.tensor(carried.input + s));
  }
  std::vector<std::vector<Tensor>> made(body.outputs.size() - carried.output - carried.count);
  for (std::int64_t i = 0; begin(i); ++i) {
    check_size(translator, i);
    for (std::size_t s = 0; s < carried.count; ++s) {
      translator.set(body.inputs[carried.input + s].name, state[s]);
    }
    translator.translate_nested(body);
    const auto output = [&](std::size_t k) {
      return translator.get(body.outputs[carried.output + k]);
    };
    for (std::size_t s = 0; s < carried.count; ++s) state[s] = output(s);
    for (std::size_t k = 0; k < made.size(); ++k) made[k].push_back(output(carried.count + k));
  }
  const std::vector<std::string>& names = arguments.node().outputs;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i].empty()) continue;
    const std::size_t k = i - std::min(i, carried.count);
    translator.set(
        names[i], i < carried.count
                      ? state[i]
                      : stacked(translator, made.at(k), number_of(arguments, "scan_output_axes", k),
                                number_of(arguments, "scan_output_directions", k) == 1));
  }
}

std::int64_t iterations_of(const Arguments& arguments) {
  if (!arguments.has(0)) return std::numeric_limits<std::int64_t>::max();
  refuse_if(!arguments.is_constant(0), "its number of iterations must be constant");
  const double count = arguments.number(0, 0);
  const auto limited = static_cast<std::int64_t>(std::clamp(count, 0.0, 9e15));
  refuse_if(limited > 0 && limited % samples_prime == 0, "it has an iteration for each sample");
  return limited;
}

bool known_condition(Translator& translator, const Tensor& condition) {
  refuse_if(!condition.is_constant, "its end condition must be constant");
  const std::vector<double> values = translator.values_of(condition.operation);
  refuse_if(values.size() != 1, "its condition is not a single value");
  return values.front() != 0;
}

void loop(Arguments& arguments) {
  Translator& translator = arguments.translator();
  const NestedGraph& body = nested(arguments, "body");
  refuse_if(body.inputs.size() < 2 || arguments.count() < body.inputs.size() ||
                body.outputs.size() + 1 < body.inputs.size() ||
                arguments.node().outputs.size() + 1 > body.outputs.size(),
            "its body does not fit its inputs and outputs");
  const std::int64_t count = iterations_of(arguments);
  bool goes_on = !arguments.has(1) || known_condition(translator, arguments.tensor(1));
  iterate(arguments, body, {.input = 2, .output = 1, .count = body.inputs.size() - 2},
          [&](std::int64_t i) {
            if (i > 0) goes_on = known_condition(translator, translator.get(body.outputs[0]));
            translator.add_constant(body.inputs[0].name, {}, {static_cast<double>(i)},
                                    ElementType::integer);
            translator.add_constant(body.inputs[1].name, {}, {1}, ElementType::boolean);
            return goes_on && i < count;
          });
}

/// Returns element `index` of a dimension, without that dimension.
Tensor element_of(Translator& translator, const Tensor& tensor, std::size_t axis,
                  std::int64_t index) {
  general::Graph& graph = tensor.is_constant ? translator.constants() : translator.network();
  const Term x{&graph, tensor.operation};
  return {.is_constant = tensor.is_constant,
          .operation = x.part(axis, index, 1).reshape(without_dimension(x.shape(), axis)),
          .type = tensor.type,
          .range = tensor.range};
}

struct Scanned {
  Tensor tensor;
  std::size_t axis = 0;
  std::int64_t count = 0;
  bool is_reversed = false;
};

std::vector<Scanned> scanned_by(const Arguments& arguments, std::size_t states, std::size_t count) {
  std::vector<Scanned> all;
  for (std::size_t i = 0; i < count; ++i) {
    Scanned one{.tensor = arguments.tensor(states + i)};
    const Extents shape = arguments.shape(states + i);
    one.axis = dimension_of(number_of(arguments, "scan_input_axes", i), shape.size());
    refuse_if(shape[one.axis].samples, "it has an iteration for each sample");
    one.count = shape[one.axis].size;
    one.is_reversed = number_of(arguments, "scan_input_directions", i) == 1;
    all.push_back(one);
    refuse_if(one.count != all.front().count, "its scan inputs have different lengths");
  }
  return all;
}

void scan(Arguments& arguments) {
  constexpr std::int64_t since = 9;  // earlier versions have an additional dimension of samples
  Translator& translator = arguments.translator();
  const NestedGraph& body = nested(arguments, "body");
  const std::int64_t given = arguments.integer("num_scan_inputs", 0);
  refuse_if(translator.opset() < since || given < 1 ||
                std::cmp_greater(given, body.inputs.size()) ||
                arguments.count() < body.inputs.size() ||
                arguments.node().outputs.size() > body.outputs.size() ||
                body.outputs.size() + static_cast<std::size_t>(given) < body.inputs.size(),
            "its body does not fit its inputs and outputs");
  const std::size_t states = body.inputs.size() - static_cast<std::size_t>(given);
  const std::vector<Scanned> inputs =
      scanned_by(arguments, states, static_cast<std::size_t>(given));
  iterate(arguments, body, {.input = 0, .output = 0, .count = states}, [&](std::int64_t i) {
    if (i >= inputs.front().count) return false;
    for (std::size_t k = 0; k < inputs.size(); ++k) {
      const Scanned& one = inputs[k];
      const std::int64_t index = one.is_reversed ? one.count - 1 - i : i;
      translator.set(body.inputs[states + k].name,
                     element_of(translator, one.tensor, one.axis, index));
    }
    return true;
  });
}

}  // namespace

const std::map<std::string_view, ControlFlow>& control_flow_operators() {
  static const std::map<std::string_view, ControlFlow> table{
      {"If", branch}, {"Loop", loop}, {"Scan", scan}};
  return table;
}

}  // namespace parbench::onnx_import
