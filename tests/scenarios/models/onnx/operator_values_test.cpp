// Values of ONNX operators against numbers and formulas from their definitions: functions of
// elements, reductions, normalisations, products and losses; defaults of attributes,
// other values of them, and defaults that operator sets have changed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <numbers>
#include <string>
#include <vector>

#include "tests/scenarios/models/onnx/operator_runs.h"
#include "tests/support/onnx_file.h"

namespace parbench::test {
namespace {

using general::Values;
using onnx_import::ElementType;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

Values mapped(const Values& values, const std::function<double(double)>& function) {
  Values results;
  for (const double value : values) results.push_back(function(value));
  return results;
}

struct Function {
  std::string node;
  std::function<double(double)> value;
};

std::vector<OperatorRow> rows_of(const std::vector<Function>& functions, const Values& points) {
  std::vector<OperatorRow> rows;
  for (const Function& one : functions) {
    rows.push_back({"y = " + one.node + " (x) ",
                    {row_of(points)},
                    {1, static_cast<std::int64_t>(points.size())},
                    mapped(points, one.value)});
  }
  return rows;
}

void expect_functions(const std::vector<Function>& functions, const Values& points) {
  expect_all(rows_of(functions, points));
}

double clamped(double x, double low, double high) { return std::min(std::max(x, low), high); }
double softplus(double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))); }

double elu(double x, double alpha) { return x > 0 ? x : alpha * (std::exp(x) - 1); }

TEST(OperatorValues, FunctionsOfElementsHaveTheirDefaults) {
  const Values points{-120, -3, -1, -0.75, -0.5, -0.25, 0, 0.25, 0.5, 0.75, 1, 1.5, 2.5, 120};
  expect_functions(
      {{"Abs", [](double x) { return std::abs(x); }},
       {"Asinh", [](double x) { return std::asinh(x); }},
       {"Atan", [](double x) { return std::atan(x); }},
       {"Ceil", [](double x) { return std::ceil(x); }},
       {"Celu", [](double x) { return elu(x, 1); }},
       {"Celu <alpha = 0.5>", [](double x) { return x > 0 ? x : (std::exp(2 * x) - 1) / 2; }},
       {"Cosh", [](double x) { return std::cosh(x); }},
       {"Elu", [](double x) { return elu(x, 1); }},
       {"Elu <alpha = 0.5>", [](double x) { return elu(x, 0.5); }},
       {"Gelu", [](double x) { return x / 2 * (1 + std::erf(x / std::numbers::sqrt2)); }},
       {"Gelu <approximate = \"tanh\">",
        [](double x) {
          const double inner = std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x);
          return x / 2 * (1 + std::tanh(inner));
        }},
       {"HardSigmoid", [](double x) { return clamped(0.2 * x + 0.5, 0, 1); }},
       {"HardSigmoid <alpha = 0.5, beta = 0.125>",
        [](double x) { return clamped(0.5 * x + 0.125, 0, 1); }},
       {"HardSwish", [](double x) { return x * clamped(x / 6 + 0.5, 0, 1); }},
       {"IsNaN", [](double) { return 0; }},
       {"LeakyRelu", [](double x) { return x > 0 ? x : 0.01 * x; }},
       {"LeakyRelu <alpha = -0.5>", [](double x) { return x > 0 ? x : -0.5 * x; }},
       {"Mish", [](double x) { return x * std::tanh(softplus(x)); }},
       {"Round", [](double x) { return std::nearbyint(x); }},
       {"Selu", [](double x) { return 1.0507009873554805 * elu(x, 1.6732632423543772); }},
       {"Selu <alpha = 2.0, gamma = 3.0>", [](double x) { return 3 * elu(x, 2); }},
       {"Shrink", [](double x) { return std::abs(x) > 0.5 ? x : 0; }},
       {"Shrink <lambd = 1.0, bias = 0.25>",
        [](double x) { return x < -1  ? x + 0.25
                              : x > 1 ? x - 0.25
                                      : 0; }},
       {"Sigmoid", sigmoid},
       {"Sign", [](double x) { return (x > 0) - (x < 0); }},
       {"Sinh", [](double x) { return std::sinh(x); }},
       {"Softplus", softplus},
       {"Softsign", [](double x) { return x / (1 + std::abs(x)); }},
       {"Swish", [](double x) { return x * sigmoid(x); }},
       {"Swish <alpha = 0.5>", [](double x) { return x * sigmoid(x / 2); }},
       {"Tan", [](double x) { return std::tan(x); }},
       {"ThresholdedRelu", [](double x) { return x > 1 ? x : 0; }},
       {"ThresholdedRelu <alpha = 0.25>", [](double x) { return x > 0.25 ? x : 0; }},
       {"Cast <to = 7>", [](double x) { return std::trunc(x); }},
       {"Cast <to = 9>", [](double x) { return x != 0; }},
       {"Cast <to = 11>", [](double x) { return x; }}},
      points);
  expect_functions({{"Acos", [](double x) { return std::acos(x); }},
                    {"Asin", [](double x) { return std::asin(x); }}},
                   {-1, -0.75, -0.25, 0, 0.5, 1});
  expect_functions({{"Acosh", [](double x) { return std::acosh(x); }}}, {1, 1.5, 120});
  expect_functions({{"Atanh", [](double x) { return std::atanh(x); }}}, {-0.75, 0, 0.25, 0.875});
}

/// An exponential that is not chosen must not make its gradient no number.
TEST(OperatorValues, GradientsOfSaturatedFunctionsAreFinite) {
  const auto bell = [](double x) { return std::exp(-x * x / 2) / std::sqrt(2 * std::numbers::pi); };
  expect_gradients(rows_of(
      {{"Celu <alpha = 0.5>", [](double x) { return x > 0 ? 1 : std::exp(2 * x); }},
       {"Elu <alpha = 2.0>", [](double x) { return x > 0 ? 1 : 2 * std::exp(x); }},
       {"Gelu",
        [&](double x) { return (1 + std::erf(x / std::numbers::sqrt2)) / 2 + x * bell(x); }},
       {"HardSigmoid", [](double x) { return std::abs(x) < 2.5 ? 0.2 : 0; }},
       {"LeakyRelu", [](double x) { return x > 0 ? 1 : 0.01; }},
       {"Mish",
        [](double x) {
          const double gate = std::tanh(softplus(x));
          return gate + x * (1 - gate * gate) * sigmoid(x);
        }},
       {"Selu <alpha = 2.0, gamma = 3.0>", [](double x) { return x > 0 ? 3 : 6 * std::exp(x); }},
       {"Sigmoid", [](double x) { return sigmoid(x) * (1 - sigmoid(x)); }},
       {"Softplus", sigmoid},
       {"Softsign", [](double x) { return 1 / ((1 + std::abs(x)) * (1 + std::abs(x))); }},
       {"Swish", [](double x) { return sigmoid(x) + x * sigmoid(x) * (1 - sigmoid(x)); }},
       {"Tanh", [](double x) { return 1 - std::tanh(x) * std::tanh(x); }}},
      {-1000, -30, -0.5, 0.5, 30, 1000}));
  const double larger = 1 / (1 + std::exp(-1));
  expect_gradients({{"y = ReduceLogSumExp (x) ",
                     {row_of({1000, 999, -1000})},
                     {1, 3},
                     {larger, 1 - larger, 0}}});
}

TEST(OperatorValues, TheGradientOfAProductIsTheProductOfTheOthersBesideZerosToo) {
  const Given rows{"x", {3, 3}, {2, 3, 4, 2, 0, 4, 0, 3, 0}};
  expect_gradients(
      {{"y = ReduceProd <axes = [1]> (x) ", {rows}, {3, 3}, {12, 8, 6, 0, 8, 0, 0, 0, 0}, 13},
       {"y = ReduceProd (x) ", {row_of({0})}, {1, 1}, {1}, 13},
       {"y = ReduceProd (x) ", {row_of({-2, 0.5})}, {1, 2}, {0.5, -2}, 13}});
}

TEST(OperatorValues, InfinitiesAreFoundOnTheSidesThatAreAskedFor) {
  const Given x = row_of({-infinity, -1, nan, infinity});
  expect_all(
      {{"y = IsNaN (x) ", {x}, {1, 4}, {0, 0, 1, 0}},
       {"y = IsInf (x) ", {x}, {1, 4}, {1, 0, 0, 1}},
       {"y = IsInf <detect_negative = 0> (x) ", {x}, {1, 4}, {0, 0, 0, 1}},
       {"y = IsInf <detect_positive = 0> (x) ", {x}, {1, 4}, {1, 0, 0, 0}},
       {"y = IsInf <detect_negative = 0, detect_positive = 0> (x) ", {x}, {1, 4}, {0, 0, 0, 0}}});
}

TEST(OperatorValues, FunctionsOfSeveralTensorsKeepTheirOrder) {
  const Given a{"a", {1, 4}, {7, -7, 7, -7}};
  const Given b{"b", {1, 4}, {3, 3, -3, -3}};
  const Given i{"i", {1, 4}, {7, -7, 7, -7}, ElementType::integer};
  const Given j{"j", {1, 4}, {3, 3, -3, -3}, ElementType::integer};
  const Given p{"p", {1, 4}, {0, 0, 1, 1}, ElementType::boolean};
  const Given q{"q", {1, 4}, {0, 1, 0, 1}, ElementType::boolean};
  const Given c{"c", {2, 1}, {1, 2}};
  const double third = 7.0 / 3;
  expect_all({{"y = Sub (a, b) ", {a, b}, {1, 4}, {4, -10, 10, -4}},
              {"y = Div (a, b) ", {a, b}, {1, 4}, {third, -third, -third, third}},
              {"y = Div (i, j) ", {i, j}, {1, 4}, {2, -2, -2, 2}},
              {"y = Mod (i, j) ", {i, j}, {1, 4}, {1, 2, -2, -1}},
              {"y = Mod <fmod = 1> (a, b) ", {a, b}, {1, 4}, {1, -1, 1, -1}},
              {"y = Pow (c, b) ", {c, b}, {2, 4}, {1, 1, 1, 1, 8, 8, 0.125, 0.125}},
              {"y = Max (a, b, c) ", {a, b, c}, {2, 4}, {7, 3, 7, 1, 7, 3, 7, 2}},
              {"y = Min (a, b, c) ", {a, b, c}, {2, 4}, {1, -7, -3, -7, 2, -7, -3, -7}},
              {"y = Mean (a, b, c) ",
               {a, b, c},
               {2, 4},
               {11.0 / 3, -1, 5.0 / 3, -3, 4, -2.0 / 3, 2, -8.0 / 3}},
              {"y = Sum (a, b, c) ", {a, b, c}, {2, 4}, {11, -3, 5, -9, 12, -2, 6, -8}},
              {"y = PRelu (a, c) ", {a, c}, {2, 4}, {7, -7, 7, -7, 7, -14, 7, -14}},
              {"y = And (p, q) ", {p, q}, {1, 4}, {0, 0, 0, 1}},
              {"y = Or (p, q) ", {p, q}, {1, 4}, {0, 1, 1, 1}},
              {"y = Xor (p, q) ", {p, q}, {1, 4}, {0, 1, 1, 0}},
              {"y = Not (q) ", {q}, {1, 4}, {1, 0, 1, 0}},
              {"y = Where (p, a, b) ", {p, a, b}, {1, 4}, {3, 3, 7, -7}}});
  const Given three{"x", {1, 3}, {1, 2, 3}};
  const Given twos{"t", {1, 3}, {2, 2, 2}};
  expect_all({{"y = Less (x, t) ", {three, twos}, {1, 3}, {1, 0, 0}},
              {"y = LessOrEqual (x, t) ", {three, twos}, {1, 3}, {1, 1, 0}},
              {"y = Equal (x, t) ", {three, twos}, {1, 3}, {0, 1, 0}},
              {"y = Greater (x, t) ", {three, twos}, {1, 3}, {0, 0, 1}},
              {"y = GreaterOrEqual (x, t) ", {three, twos}, {1, 3}, {0, 1, 1}}});
}

TEST(OperatorValues, ExtremesOfNoNumberAreNone) {
  const Given a{"a", {1, 3}, {nan, 1, 2}};
  const Given b{"b", {1, 3}, {1, nan, 3}};
  expect_all({{"y = Min (a, b) ", {a, b}, {1, 3}, {nan, nan, 2}},
              {"y = Max (a, b) ", {a, b}, {1, 3}, {nan, nan, 3}},
              {"y = ReduceMax (a) ", {a}, {1, 1}, {nan}},
              {"y = ReduceMin (b) ", {b}, {1, 1}, {nan}}});
}

TEST(OperatorValues, ClipsHaveEitherLimitOrBoth) {
  const Given x = row_of({-2, 0, 2});
  const std::string limits = numbers("low", "1", "-1") + numbers("high", "1", "0.5");
  expect_all({{"y = Clip (x) ", {x}, {1, 3}, {-2, 0, 2}},
              {limits + "y = Clip (x, low) ", {x}, {1, 3}, {-1, 0, 2}},
              {limits + "y = Clip (x, , high) ", {x}, {1, 3}, {-2, 0, 0.5}},
              {limits + "y = Clip (x, low, high) ", {x}, {1, 3}, {-1, 0, 0.5}},
              {limits + "y = Clip (x, high, low) ", {x}, {1, 3}, {-1, -1, -1}},
              {"y = Clip <min = -1.0> (x) ", {x}, {1, 3}, {-1, 0, 2}, 10},
              {"y = Clip <max = 0.5, min = -0.5> (x) ", {x}, {1, 3}, {-0.5, 0, 0.5}, 10}});
}

// --- reductions ---

TEST(OperatorValues, ReductionsHaveAxesAndKeepDimensions) {
  const Given x = counting({2, 3, 2});
  const Given s{"x", {2, 2}, {-1, 2, -3, 4}};
  const Given p{"x", {2, 2}, {1, 2, 3, 4}};
  const std::string one = onnx_integers("one", "1", 1);
  expect_all(
      {{one + "y = ReduceSum <keepdims = 0> (x, one) ", {x}, {2, 2}, {9, 12, 27, 30}},
       {"y = ReduceSum <axes = [0, -1]> (x) ", {x}, {1, 3, 1}, {18, 26, 34}, 11},
       {"y = ReduceSum (x) ", {x}, {1, 1, 1}, {78}},
       {"y = ReduceSum <keepdims = 0> (x) ", {x}, {}, {78}},
       {"y = ReduceSum <noop_with_empty_axes = 1> (x) ", {x}, x.shape, x.values},
       {"y = ReduceMean <axes = [-2]> (x) ", {x}, {2, 1, 2}, {3, 4, 9, 10}},
       {one + "y = ReduceMean <keepdims = 0> (x, one) ", {x}, {2, 2}, {3, 4, 9, 10}, 18},
       {"y = ReduceMax <axes = [0]> (x) ", {x}, {1, 3, 2}, {7, 8, 9, 10, 11, 12}},
       {"y = ReduceMin <axes = [2], keepdims = 0> (x) ", {x}, {2, 3}, {1, 3, 5, 7, 9, 11}},
       {"y = ReduceProd <axes = [2], keepdims = 0> (x) ", {x}, {2, 3}, {2, 12, 30, 56, 90, 132}},
       {"y = ReduceL1 <axes = [1]> (x) ", {s}, {2, 1}, {3, 7}},
       {"y = ReduceL2 <axes = [1]> (x) ", {s}, {2, 1}, {std::sqrt(5.0), 5}},
       {"y = ReduceSumSquare <axes = [0]> (x) ", {s}, {1, 2}, {10, 20}},
       {"y = ReduceLogSum <axes = [1]> (x) ", {p}, {2, 1}, {std::log(3), std::log(7)}}});
  const Given far{"x", {2, 2}, {100, 101, -100, -300}};
  expect_all({{"y = ReduceLogSumExp <axes = [1]> (x) ",
               {far},
               {2, 1},
               {101 + std::log1p(std::exp(-1)), -100}}});
}

TEST(OperatorValues, SoftmaxIsOverTheAxesOfItsOperatorSet) {
  const Given x{"x", {2, 2, 2}, mapped(counting({8}).values, [](double v) { return std::log(v); })};
  const auto over = [](const Values& sums) {
    Values values = counting({8}).values;
    for (std::size_t i = 0; i < values.size(); ++i) values[i] /= sums[i];
    return values;
  };
  const Values rows = over({3, 3, 7, 7, 11, 11, 15, 15});
  const Values columns = over({4, 6, 4, 6, 12, 14, 12, 14});
  const Values joined = over({10, 10, 10, 10, 26, 26, 26, 26});
  const auto logs = [](const Values& values) {
    return mapped(values, [](double v) { return std::log(v); });
  };
  expect_all({{"y = Softmax (x) ", {x}, {2, 2, 2}, rows, 13},
              {"y = Softmax (x) ", {x}, {2, 2, 2}, joined, 12},
              {"y = Softmax <axis = 2> (x) ", {x}, {2, 2, 2}, rows, 12},
              {"y = Softmax <axis = -2> (x) ", {x}, {2, 2, 2}, columns, 13},
              {"y = LogSoftmax (x) ", {x}, {2, 2, 2}, logs(rows), 13},
              {"y = LogSoftmax (x) ", {x}, {2, 2, 2}, logs(joined), 11},
              {"y = LogSoftmax <axis = 1> (x) ", {x}, {2, 2, 2}, logs(columns), 13}});
  const double larger = 1 / (1 + std::exp(-1));
  expect_all({{"y = Softmax (x) ", {row_of({1000, 999, -1000})}, {1, 3}, {larger, 1 - larger, 0}},
              {"y = Softmax (x) ", {row_of({-infinity, 999, 999})}, {1, 3}, {0, 0.5, 0.5}},
              {"y = LogSoftmax (x) ",
               {row_of({1000, 999, -1000})},
               {1, 3},
               {std::log(larger), std::log(larger) - 1, std::log(larger) - 2000}}});
}

TEST(OperatorValues, HardmaxNamesTheFirstOfEqualElements) {
  const Given x{"x", {1, 2, 2}, {1, 5, 5, 2}};
  expect_all({{"y = Hardmax (x) ", {x}, {1, 2, 2}, {0, 1, 1, 0}, 13},
              {"y = Hardmax (x) ", {x}, {1, 2, 2}, {0, 1, 0, 0}, 12},
              {"y = Hardmax <axis = 1> (x) ", {x}, {1, 2, 2}, {0, 1, 1, 0}, 13},
              {"y = Hardmax (x) ", {row_of({3, 7, 7})}, {1, 3}, {0, 1, 0}, 13}});
}

// --- normalisations ---

/// Subtracts its mean from each run of `run` elements and divides it by its deviation.
Values normalised(const Values& values, std::size_t run, double epsilon) {
  Values results;
  for (std::size_t first = 0; first < values.size(); first += run) {
    double mean = 0;
    double square = 0;
    for (std::size_t i = first; i < first + run; ++i) {
      mean += values[i] / static_cast<double>(run);
      square += values[i] * values[i] / static_cast<double>(run);
    }
    for (std::size_t i = first; i < first + run; ++i) {
      results.push_back((values[i] - mean) / std::sqrt(square - mean * mean + epsilon));
    }
  }
  return results;
}

/// Multiplies each run of `run` elements by a scale and adds a shift; both repeat.
Values scaled(Values values, std::size_t run, const Values& scales, const Values& shifts) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::size_t which = i / run % scales.size();
    values[i] = values[i] * scales[which] + shifts[which];
  }
  return values;
}

TEST(OperatorValues, NormalisationsAreOverTheirDimensions) {
  const Given x{"x", {1, 4, 3}, {1, 2, 4, -3, 5, 0, 0.1, 0.2, 0.05, 7, -7, 3}};
  const Given by_three{"s", {3}, {1, 2, -3}};
  const Given three_shifts{"t", {3}, {0.5, 0, 1}};
  const Given by_four{"s", {4}, {1, 2, -3, 0.5}};
  const Given four_shifts{"t", {4}, {0.5, 0, 1, -1}};
  const Given by_two{"s", {2}, {2, -3}};
  const Given two_shifts{"t", {2}, {0.5, 1}};
  const Given of_all{"s", {4, 3}, counting({12}).values};
  const Values rows = normalised(x.values, 3, 1e-5);
  Values by_all = normalised(x.values, 12, 0.25);
  for (std::size_t i = 0; i < by_all.size(); ++i) by_all[i] *= of_all.values[i];
  const auto channels = [&](const Values& values) {
    return scaled(values, 3, by_four.values, four_shifts.values);
  };
  expect_all(
      {{"y = LayerNormalization (x, s, t) ",
        {x, by_three, three_shifts},
        x.shape,
        scaled(rows, 1, by_three.values, three_shifts.values)},
       {"y = LayerNormalization <axis = 1, epsilon = 0.25> (x, s) ", {x, of_all}, x.shape, by_all},
       {"y = InstanceNormalization (x, s, t) ", {x, by_four, four_shifts}, x.shape, channels(rows)},
       {"y = InstanceNormalization <epsilon = 0.25> (x, s, t) ",
        {x, by_four, four_shifts},
        x.shape,
        channels(normalised(x.values, 3, 0.25))},
       {"y = GroupNormalization <num_groups = 2> (x, s, t) ",
        {x, by_four, four_shifts},
        x.shape,
        channels(normalised(x.values, 6, 1e-5)),
        21},
       {"y = GroupNormalization <num_groups = 2, epsilon = 0.25> (x, s, t) ",
        {x, by_two, two_shifts},
        x.shape,
        scaled(normalised(x.values, 6, 0.25), 6, by_two.values, two_shifts.values),
        18}});
}

TEST(OperatorValues, OtherNormalisationsDivideByTheirSizes) {
  const Given x{"x", {2, 2}, {3, 4, 6, 8}};
  const Given pairs{"x", {2, 2}, {1, 3, 2, 8}};
  const double mean = std::sqrt(12.5 + 1e-5);
  const auto response = [](double value, double squares, double alpha, double beta, double bias) {
    return value / std::pow(bias + alpha * squares, beta);
  };
  const Given c{"x", {1, 3, 1}, {10, 20, 30}};
  const double share = 1e-4 / 3;
  expect_all({{"y = LpNormalization (x) ", {x}, {2, 2}, {0.6, 0.8, 0.6, 0.8}},
              {"y = LpNormalization <axis = 0, p = 1> (x) ",
               {x},
               {2, 2},
               {3.0 / 9, 4.0 / 12, 6.0 / 9, 8.0 / 12}},
              {"y = MeanVarianceNormalization <axes = [1]> (x) ", {pairs}, {2, 2}, {-1, 1, -1, 1}},
              {"s = Constant <value = float[2] {1, 10}> () y = RMSNormalization (x, s) ",
               {x},
               {2, 2},
               {3 / mean, 40 / mean, 6 / std::sqrt(50 + 1e-5), 80 / std::sqrt(50 + 1e-5)},
               23},
              {"y = LRN <size = 3> (x) ",
               {c},
               {1, 3, 1},
               {response(10, 500, share, 0.75, 1), response(20, 1400, share, 0.75, 1),
                response(30, 1300, share, 0.75, 1)}},
              {"y = LRN <size = 2, alpha = 1.0, beta = 0.5, bias = 2.0> (x) ",
               {c},
               {1, 3, 1},
               {response(10, 500, 0.5, 0.5, 2), response(20, 1300, 0.5, 0.5, 2),
                response(30, 900, 0.5, 0.5, 2)}}});
}

// --- products ---

TEST(OperatorValues, ProductsTurnAndScaleTheirMatrices) {
  const Given a{"a", {2, 2}, {1, 2, 3, 4}};
  const Given b{"b", {2, 2}, {5, 6, 7, 8}};
  const Given c{"c", {2}, {1, 10}};
  const Given u{"u", {2}, {1, 2}};
  const Given v{"v", {2}, {3, 4}};
  expect_all(
      {{"y = Gemm (a, b) ", {a, b}, {2, 2}, {19, 22, 43, 50}},
       {"y = Gemm (a, b, c) ", {a, b, c}, {2, 2}, {20, 32, 44, 60}},
       {"y = Gemm <alpha = 0.5, beta = 2.0> (a, b, c) ", {a, b, c}, {2, 2}, {11.5, 31, 23.5, 45}},
       {"y = Gemm <transA = 1> (a, b) ", {a, b}, {2, 2}, {26, 30, 38, 44}},
       {"y = Gemm <transB = 1> (a, b) ", {a, b}, {2, 2}, {17, 23, 39, 53}},
       {"y = MatMul (u, b) ", {u, b}, {2}, {19, 22}},
       {"y = MatMul (a, v) ", {a, v}, {2}, {11, 25}},
       {"y = MatMul (u, v) ", {u, v}, {}, {11}}});
}

TEST(OperatorValues, EinsumNamesDimensions) {
  const Given a{"a", {2, 2}, {1, 2, 3, 4}};
  const Given b{"b", {2, 2}, {5, 6, 7, 8}};
  const auto einsum = [](const std::string& equation, const std::string& inputs) {
    return "y = Einsum <equation = \"" + equation + "\"> (" + inputs + ") ";
  };
  expect_all({{einsum("ij,jk->ki", "a, b"), {a, b}, {2, 2}, {19, 43, 22, 50}},
              {einsum("ij, jk", "a, b"), {a, b}, {2, 2}, {19, 22, 43, 50}},
              {einsum("ba", "a"), {a}, {2, 2}, {1, 3, 2, 4}},
              {einsum("ij->j", "a"), {a}, {2}, {4, 6}},
              {einsum("ij,ij->", "a, b"), {a, b}, {}, {70}},
              {einsum("ij,jk,ki->", "a, b, a"), {a, b}, {}, {19 + 66 + 86 + 200}}});
  const Given four{"x", {2, 3, 1, 1}, counting({6}).values};
  const Given row{"r", {3, 1, 1}, {1, 10, 100}};
  const Values products{1, 20, 300, 4, 50, 600};
  expect_all({{einsum("... ij, ... jk -> ... ik", "x, r"), {four, row}, {2, 3, 1, 1}, products},
              {einsum("... ij, ... jk", "x, r"), {four, row}, {2, 3, 1, 1}, products},
              {einsum("... ij", "x"), {four}, {2, 3, 1, 1}, four.values}});
}

// --- losses and quantisation ---

TEST(OperatorValues, LossesWeighClassesAndIgnoreOne) {
  const Given x{"x", {2, 3}, {-1, -2, -3, -4, -5, -6}};
  const Given t{"t", {2}, {2, 0}, ElementType::integer};
  const Given w{"w", {3}, {1, 2, 5}};
  const Given logits{"x", {2, 3}, mapped({1, 2, 5, 1, 2, 1}, [](double v) { return std::log(v); })};
  const auto loss = [](const std::string& attributes, const std::string& inputs) {
    return "y = NegativeLogLikelihoodLoss " + attributes + " (" + inputs + ") ";
  };
  expect_all({{loss("", "x, t"), {x, t}, {}, {3.5}},
              {loss("<reduction = \"sum\">", "x, t"), {x, t}, {}, {7}},
              {loss("<reduction = \"none\">", "x, t"), {x, t}, {2}, {3, 4}},
              {loss("", "x, t, w"), {x, t, w}, {}, {19.0 / 6}},
              {loss("<ignore_index = 2>", "x, t"), {x, t}, {}, {4}},
              {loss("<ignore_index = 0>", "x, t, w"), {x, t, w}, {}, {3}},
              {"y = SoftmaxCrossEntropyLoss (x, t) ",
               {logits, t},
               {},
               {-(std::log(5.0 / 8) + std::log(1.0 / 4)) / 2}},
              {"l, y = SoftmaxCrossEntropyLoss (x, t) ",
               {logits, t},
               {2, 3},
               mapped({1.0 / 8, 2.0 / 8, 5.0 / 8, 1.0 / 4, 2.0 / 4, 1.0 / 4},
                      [](double p) { return std::log(p); })}});
}

TEST(OperatorValues, LossesDoNotReadProbabilitiesOfOtherClasses) {
  const Given x{"x", {2, 3}, {-infinity, -2, -infinity, -4, -infinity, -6}};
  const Given t{"t", {2}, {1, 0}, ElementType::integer};
  const Given impossible{"t", {2}, {0, 0}, ElementType::integer};
  const Given w{"w", {3}, {2, 3, 5}};
  const std::string loss = "y = NegativeLogLikelihoodLoss ";
  expect_all({{loss + "(x, t) ", {x, t}, {}, {3}},
              {loss + "<reduction = \"none\"> (x, t, w) ", {x, t, w}, {2}, {6, 8}},
              {loss + "<ignore_index = 1> (x, t) ", {x, t}, {}, {4}},
              {loss + "(x, t) ", {x, impossible}, {}, {infinity}}});
  expect_gradients({{loss + "(x, t) ", {x, t}, {2, 3}, {0, -0.5, 0, -0.5, 0, 0}}});
  const Given logits{"x", {1, 3}, {std::log(2), -infinity, std::log(6)}};
  const Given first{"t", {1}, {0}, ElementType::integer};
  const std::string entropy = "y = SoftmaxCrossEntropyLoss (x, t) ";
  expect_all({{entropy, {logits, first}, {}, {std::log(4)}}});
  expect_gradients({{entropy, {logits, first}, {1, 3}, {-0.75, 0, 0.75}}});
}

}  // namespace
}  // namespace parbench::test
