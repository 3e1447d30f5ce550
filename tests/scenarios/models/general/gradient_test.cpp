// Gradients of general operations against central differences, and shapes that do not fit.
#include "scenarios/models/general/gradient.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "scenarios/models/general/evaluate.h"

namespace parbench::general {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pointwise;

constexpr std::int64_t samples = 2;
const Extent n{1, true};

/// Numbers without ties, of both signs unless `lowest` is positive.
Values numbers(const Extents& shape, double lowest) {
  Values values(static_cast<std::size_t>(element_count(shape_at(shape, samples))));
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = lowest + std::fmod(0.37 + 0.618 * static_cast<double>(i), 1.0) * 1.7;
  }
  return values;
}

/// A function of graph inputs of those shapes.
struct Case {
  std::string name;
  std::vector<Extents> inputs;
  std::function<int(Graph& graph, const std::vector<int>& inputs)> build;
  double lowest = -0.8;
};

/// Σ weight · output, where weights differ from element to element.
double weighted(const Values& output) {
  double sum = 0;
  for (std::size_t i = 0; i < output.size(); ++i) {
    sum += output[i] * (0.5 + std::fmod(0.3 * static_cast<double>(i), 1.0));
  }
  return sum;
}

std::vector<Case> cases();

class GradientTest : public testing::TestWithParam<Case> {};

TEST_P(GradientTest, IsThatOfCentralDifferences) {
  constexpr double step = 1e-6;
  Graph graph;
  std::vector<int> inputs;
  std::vector<Values> values;
  for (const Extents& shape : GetParam().inputs) {
    inputs.push_back(graph.input(shape));
    values.push_back(numbers(shape, GetParam().lowest + 0.11 * static_cast<double>(values.size())));
  }
  const int output = GetParam().build(graph, inputs);
  const int upstream = graph.input(graph.shape(output));
  const std::map<int, int> gradients = add_gradients(graph, output, upstream, inputs);

  Values weights(static_cast<std::size_t>(element_count(shape_at(graph.shape(output), samples))));
  for (std::size_t i = 0; i < weights.size(); ++i) {
    weights[i] = 0.5 + std::fmod(0.3 * static_cast<double>(i), 1.0);
  }
  std::vector<Values> with_upstream = values;
  with_upstream.push_back(weights);
  for (std::size_t which = 0; which < inputs.size(); ++which) {
    Values expected;
    for (double& value : values[which]) {
      const double before = value;
      value = before + step;
      const double above = weighted(evaluate(graph, {output}, values, {}, samples).front());
      value = before - step;
      const double below = weighted(evaluate(graph, {output}, values, {}, samples).front());
      value = before;
      expected.push_back((above - below) / (2 * step));
    }
    const auto found = gradients.find(inputs[which]);
    Values computed(expected.size(), 0);
    if (found != gradients.end()) {
      computed = evaluate(graph, {found->second}, with_upstream, {}, samples).front();
    }
    EXPECT_THAT(computed, Pointwise(DoubleNear(1e-6), expected)) << "input " << which;
  }
}

INSTANTIATE_TEST_SUITE_P(Operations, GradientTest, testing::ValuesIn(cases()),
                         [](const auto& one) { return one.param.name; });

Case of_one(std::string name, ElementOp op, double lowest = -0.8) {
  return {std::move(name),
          {{n, {3}}},
          [op](Graph& graph, const std::vector<int>& in) { return graph.apply(op, in[0]); },
          lowest};
}

Case of_two(std::string name, ElementOp op, double lowest = -0.8) {
  return {std::move(name),
          {{n, {3}, {2}}, {{3}, {1}}},
          [op](Graph& graph, const std::vector<int>& in) { return graph.apply(op, in[0], in[1]); },
          lowest};
}

Case reduced(std::string name, Reduction reduction, const std::vector<std::int64_t>& axes) {
  return {std::move(name),
          {{n, {3}, {2}}},
          [=](Graph& graph, const std::vector<int>& in) {
            const int result = graph.reduce(reduction, in[0], axes);
            return graph.apply(ElementOp::product, result, result);
          },
          0.2};
}

std::vector<Case> moving_cases() {
  return {
      {"permutation",
       {{n, {3}, {2}}},
       [](Graph& graph, const std::vector<int>& in) {
         return graph.permute(in[0], {2, 0, -2});
       }},
      {"reshape",
       {{n, {3}, {2}}},
       [](Graph& graph, const std::vector<int>& in) {
         return graph.reshape(in[0], {{3, true}, {2}});
       }},
      {"expansion",
       {{n, {1}, {2}}},
       [](Graph& graph, const std::vector<int>& in) {
         return graph.broadcast(in[0], {{4}, n, {3}, {2}});
       }},
      {"slice",
       {{n, {7}}},
       [](Graph& graph, const std::vector<int>& in) {
         return graph.slice(in[0], {0, 6}, {1, -2}, {n, {3}});
       }},
      {"parts",
       {{n, {7}}},
       [](Graph& graph, const std::vector<int>& in) {
         const int front = graph.slice(in[0], {0, 0}, {1, 1}, {n, {4}});
         const int back = graph.slice(in[0], {0, 4}, {1, 1}, {n, {3}});
         return graph.concatenate({graph.apply(ElementOp::tanh, back), front}, 1);
       }},
      {"overlapping_parts",
       {{n, {7}}},
       [](Graph& graph, const std::vector<int>& in) {
         const int front = graph.slice(in[0], {0, 0}, {1, 1}, {n, {4}});
         const int back = graph.slice(in[0], {0, 3}, {1, 1}, {n, {4}});
         return graph.apply(ElementOp::product, back, front);
       }},
      {"overlapping_parts_as_long_as_all",
       {{n, {7}}},
       [](Graph& graph, const std::vector<int>& in) {
         const int front = graph.slice(in[0], {0, 0}, {1, 1}, {n, {4}});
         const int middle = graph.slice(in[0], {0, 3}, {1, 1}, {n, {3}});
         return graph.concatenate({graph.apply(ElementOp::tanh, middle), front}, 1);
       }},
      {"front_part",
       {{n, {7}}},
       [](Graph& graph, const std::vector<int>& in) {
         return graph.slice(in[0], {0, 0}, {1, 1}, {n, {4}});
       }},
      {"parts_with_steps",
       {{n, {7}}},
       [](Graph& graph, const std::vector<int>& in) {
         const int even = graph.slice(in[0], {0, 0}, {1, 2}, {n, {4}});
         const int back = graph.slice(in[0], {0, 4}, {1, 1}, {n, {3}});
         return graph.concatenate({graph.apply(ElementOp::tanh, back), even}, 1);
       }},
      {"reversed_parts",
       {{{2}, {7}}},
       [](Graph& graph, const std::vector<int>& in) {
         const int front = graph.slice(in[0], {1, 0}, {-1, 1}, {{2}, {4}});
         const int back = graph.slice(in[0], {1, 4}, {-1, 1}, {{2}, {3}});
         return graph.concatenate({graph.apply(ElementOp::tanh, back), front}, 1);
       }},
      {"permutations",
       {{{2}, {3}, {4}}},
       [](Graph& graph, const std::vector<int>& in) {
         return graph.permute(graph.permute(in[0], {1, 2, 0}), {0, 2, 1});
       }},
      {"placement",
       {{n, {3}}},
       [](Graph& graph, const std::vector<int>& in) {
         return graph.place(in[0], {0, 1}, {1, 2}, {n, {7}});
       }},
      {"concatenation",
       {{n, {3}}, {n, {2}}, {n, {1}}},
       [](Graph& graph, const std::vector<int>& in) {
         return graph.concatenate({in[0], in[2], in[0], in[1]}, -1);
       }},
  };
}

std::vector<Case> product_cases() {
  return {
      {"product",
       {{n, {2}, {3}, {4}}, {{2}, {4}, {5}}},
       [](Graph& graph, const std::vector<int>& in) { return graph.multiply(in[0], in[1]); }},
      {"product_with_one_matrix",
       {{n, {2}, {3}, {4}}, {{4}, {5}}},
       [](Graph& graph, const std::vector<int>& in) { return graph.multiply(in[0], in[1]); }},
      {"product_with_itself",
       {{n, {3}, {3}}},
       [](Graph& graph, const std::vector<int>& in) { return graph.multiply(in[0], in[0]); }},
      {"rows",
       {{{5}, {2}}},
       [](Graph& graph, const std::vector<int>& in) {
         return graph.rows(in[0], graph.constant({4}, {3, 0, 3, 1}));
       }},
      {"scattered_rows",
       {{{4}, {2}}},
       [](Graph& graph, const std::vector<int>& in) {
         return graph.scatter_rows(in[0], graph.constant({4}, {3, 0, 3, 1}), {5});
       }},
      {"mean_over_samples",
       {{n, {3}}},
       [](Graph& graph, const std::vector<int>& in) {
         const int mean = graph.mean(in[0], {0});
         return graph.apply(ElementOp::product, mean, in[0]);
       }},
      {"softmax",
       {{n, {4}}},
       [](Graph& graph, const std::vector<int>& in) {
         const int shifted = graph.apply(ElementOp::difference, in[0],
                                         graph.reduce(Reduction::maximum, in[0], {-1}));
         const int powers = graph.apply(ElementOp::exponential, shifted);
         return graph.apply(ElementOp::quotient, powers, graph.sum(powers, {-1}));
       }},
  };
}

std::vector<Case> cases() {
  using enum ElementOp;
  std::vector<Case> all{of_one("absolute", absolute),
                        of_one("ceiling", ceiling),
                        of_one("cosine", cosine),
                        of_one("error_function", error_function),
                        of_one("exponential", exponential),
                        of_one("floor", floor),
                        of_one("logarithm", logarithm, 0.1),
                        of_one("negation", negation),
                        of_one("reciprocal", reciprocal, 0.3),
                        of_one("rounding", rounding),
                        of_one("sign", sign),
                        of_one("sine", sine),
                        of_one("square_root", square_root, 0.1),
                        of_one("tanh", tanh),
                        of_two("addition", addition),
                        of_two("difference", difference),
                        of_two("product_of_elements", product),
                        of_two("quotient", quotient, 0.4),
                        of_two("power", power, 0.2),
                        of_two("minimum", minimum),
                        of_two("maximum", maximum),
                        of_two("remainder", remainder, 0.4),
                        of_two("less", less),
                        of_two("equal", equal),
                        reduced("sum", Reduction::sum, {1}),
                        reduced("sum_of_samples", Reduction::sum, {0, 2}),
                        reduced("sum_of_all", Reduction::sum, {}),
                        reduced("maximum_of_rows", Reduction::maximum, {-1}),
                        reduced("minimum_of_columns", Reduction::minimum, {1}),
                        reduced("product_of_rows", Reduction::product, {1, 2})};
  all.push_back(
      {"selection", {{n, {3}}, {{3}}, {n, {1}}}, [](Graph& graph, const std::vector<int>& in) {
         const int positive = graph.apply(less, graph.number(0), in[0]);
         return graph.select(positive, in[1], in[2]);
       }});
  for (auto* more : {&moving_cases, &product_cases}) {
    for (Case& one : more()) all.push_back(std::move(one));
  }
  return all;
}

TEST(Gradient, SharesThatOfAMaximumAmongTies) {
  Graph graph;
  const int input = graph.input({n, {3}});
  const int output = graph.reduce(Reduction::maximum, input, {1});
  const int upstream = graph.input(graph.shape(output));
  const int gradient = add_gradients(graph, output, upstream, {input}).at(input);
  EXPECT_THAT(evaluate(graph, {gradient}, {{1, 4, 4}, {6}}, {}, 1).front(), ElementsAre(0, 3, 3));
}

TEST(Gradient, OfTiesBelongsToTheSecondInput) {
  for (const ElementOp op : {ElementOp::minimum, ElementOp::maximum}) {
    Graph graph;
    const int a = graph.input({n, {3}});
    const int b = graph.input({n, {3}});
    const int upstream = graph.input({n, {3}});
    const auto gradients = add_gradients(graph, graph.apply(op, a, b), upstream, {a, b});
    const std::vector<Values> found = evaluate(graph, {gradients.at(a), gradients.at(b)},
                                               {{1, 2, 3}, {3, 2, 1}, {10, 10, 10}}, {}, 1);
    const bool is_first = op == ElementOp::minimum;  // the first of a is the smaller one
    EXPECT_THAT(found[0], ElementsAre(is_first ? 10 : 0, 0, is_first ? 0 : 10));
    EXPECT_THAT(found[1], ElementsAre(is_first ? 0 : 10, 10, is_first ? 10 : 0));
  }
}

TEST(Gradient, OfAPowerOfZeroIsFinite) {
  Graph graph;
  const int base = graph.input({n, {2}});
  const int exponent = graph.input({n, {2}});
  const int output = graph.apply(ElementOp::power, base, exponent);
  const auto gradients = add_gradients(graph, output, graph.input({n, {2}}), {base, exponent});
  const std::vector<Values> found = evaluate(graph, {gradients.at(base), gradients.at(exponent)},
                                             {{0, 0}, {1, 2}, {5, 5}}, {}, 1);
  EXPECT_THAT(found[0], ElementsAre(5, 0));
  EXPECT_THAT(found[1], ElementsAre(0, 0));
}

TEST(Gradient, StopsAtWhatIsDetached) {
  Graph graph;
  const int input = graph.input({n, {3}});
  const int output = graph.apply(ElementOp::product, graph.detach(input), input);
  const int gradient = add_gradients(graph, output, graph.input({n, {3}}), {input}).at(input);
  EXPECT_THAT(evaluate(graph, {gradient}, {{2, 3, 4}, {1, 1, 10}}, {}, 1).front(),
              ElementsAre(2, 3, 40));
}

TEST(Gradient, OfWhatTheOutputDoesNotDependOnIsNone) {
  Graph graph;
  const int input = graph.input({n, {3}});
  const int other = graph.input({n, {3}});
  const int output = graph.apply(ElementOp::tanh, input);
  EXPECT_THAT(add_gradients(graph, output, graph.input({n, {3}}), {other}), testing::IsEmpty());
}

TEST(Graph, PlacingAllElementsInReverseIsASlice) {
  Graph graph;
  const int input = graph.input({n, {3}});
  const int reversed = graph.place(input, {0, 2}, {1, -1}, {n, {3}});
  EXPECT_EQ(graph.at(reversed).kind, OpKind::slice);
  EXPECT_THAT(evaluate(graph, {reversed}, {{1, 4, 6}}, {}, 1).front(), ElementsAre(6, 4, 1));
}

TEST(Graph, ComputesWhatDependsOnConstantsAlone) {
  Graph graph;
  const int sum = graph.apply(ElementOp::addition, graph.constant({2, 1}, {1, 2}),
                              graph.constant({2}, {10, 20}));
  ASSERT_EQ(graph.at(sum).kind, OpKind::constant);
  EXPECT_THAT(graph.at(sum).values->values(), ElementsAre(11, 21, 12, 22));
}

TEST(Graph, LeavesOutNumbersThatChangeNothing) {
  Graph graph;
  const int x = graph.input({n, {3}});
  const auto values = [&](int index) {
    return evaluate(graph, {index}, {{1, 2, 4}}, {}, 1).front();
  };
  EXPECT_EQ(graph.apply(ElementOp::addition, x, 0.0F), x);
  EXPECT_EQ(graph.apply(ElementOp::addition, graph.number(0), x), x);
  EXPECT_EQ(graph.apply(ElementOp::product, graph.number(1), x), x);
  EXPECT_EQ(graph.apply(ElementOp::difference, x, 0.0F), x);
  EXPECT_EQ(graph.apply(ElementOp::quotient, x, 1.0F), x);
  EXPECT_THAT(values(graph.apply(ElementOp::difference, graph.number(0), x)),
              ElementsAre(-1, -2, -4));
  EXPECT_THAT(values(graph.apply(ElementOp::quotient, graph.number(1), x)),
              ElementsAre(1, 0.5, 0.25));
  EXPECT_THAT(values(graph.apply(ElementOp::power, x, 1.0F)), ElementsAre(1, 2, 4));
  EXPECT_THAT(values(graph.apply(ElementOp::maximum, x, 0.0F)), ElementsAre(1, 2, 4));
}

/// What a graph says of inputs that do not fit.
std::string refusal(const std::function<void(Graph& graph, int a)>& build) {
  Graph graph;
  const int a = graph.input({n, {3}, {2}});
  try {
    build(graph, a);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "";
}

TEST(Graph, RefusesShapesThatDoNotFit) {
  EXPECT_THAT(refusal([](Graph& graph, int a) {
                graph.apply(ElementOp::addition, a, graph.input({{4}, {2}}));
              }),
              HasSubstr("{N, 3, 2} and {4, 2}"));
  EXPECT_THAT(refusal([](Graph& graph, int a) {
                graph.reshape(a, {n, {5}});
              }),
              HasSubstr("{N, 3, 2} and {N, 5}"));
  EXPECT_THAT(refusal([](Graph& graph, int a) {
                graph.permute(a, {0, 1, 1});
              }),
              HasSubstr("(0, 1, 1)"));
  EXPECT_THAT(refusal([](Graph& graph, int a) {
                graph.sum(a, {1, -2});
              }),
              HasSubstr("not distinct"));
  EXPECT_THAT(refusal([](Graph& graph, int a) { graph.sum(a, {3}); }), HasSubstr("axis 3"));
  EXPECT_THAT(refusal([](Graph& graph, int a) {
                graph.slice(a, {0, 1, 0}, {1, 1, 1}, {n, {3}, {2}});
              }),
              HasSubstr("slice"));
  EXPECT_THAT(refusal([](Graph& graph, int a) {
                graph.slice(a, {0, 1, 0}, {1, -1, 1}, {n, {3}, {2}});
              }),
              HasSubstr("slice"));
  EXPECT_THAT(refusal([](Graph& graph, int a) { graph.multiply(a, a); }),
              HasSubstr("multiplied as matrices"));
  EXPECT_THAT(refusal([](Graph& graph, int a) {
                graph.concatenate({a, a}, 0);
              }),
              HasSubstr("concatenated"));
  EXPECT_THAT(refusal([](Graph& graph, int a) {
                graph.multiply(graph.permute(a, {1, 0, 2}), graph.permute(a, {1, 2, 0}));
              }),
              HasSubstr("two dimensions of {3, N, N} have samples"));
}

}  // namespace
}  // namespace parbench::general
