// Formulas over operations of a graph, written as in C++.
#pragma once

#include "scenarios/models/general/graph.h"

namespace parbench::general {

/// An operation of a graph. Operators on terms append operations to the graph.
struct Term {
  Graph* graph;
  int operation;

  [[nodiscard]] Term apply(ElementOp op) const { return {graph, graph->apply(op, operation)}; }
  [[nodiscard]] Term apply(ElementOp op, Term other) const {
    return {graph, graph->apply(op, operation, other.operation)};
  }
  [[nodiscard]] Term apply(ElementOp op, float other) const {
    return {graph, graph->apply(op, operation, other)};
  }
  /// A number of any shape.
  [[nodiscard]] Term number(float value) const { return {graph, graph->number(value)}; }
  /// A number of this term's shape.
  [[nodiscard]] Term filled(float value) const {
    return {graph, graph->number(value, graph->shape(operation))};
  }

  [[nodiscard]] Term abs() const { return apply(ElementOp::absolute); }
  [[nodiscard]] Term exp() const { return apply(ElementOp::exponential); }
  [[nodiscard]] Term log() const { return apply(ElementOp::logarithm); }
  [[nodiscard]] Term sqrt() const { return apply(ElementOp::square_root); }
  [[nodiscard]] Term tanh() const { return apply(ElementOp::tanh); }
  [[nodiscard]] Term sign() const { return apply(ElementOp::sign); }
  [[nodiscard]] Term floor() const { return apply(ElementOp::floor); }
  [[nodiscard]] Term inverse() const { return apply(ElementOp::reciprocal); }
  template <class Other>
  [[nodiscard]] Term min(Other other) const {
    return apply(ElementOp::minimum, other);
  }
  template <class Other>
  [[nodiscard]] Term max(Other other) const {
    return apply(ElementOp::maximum, other);
  }
  /// Return 1 where this term is less than, or equal to, the other one; otherwise 0.
  template <class Other>
  [[nodiscard]] Term less(Other other) const {
    return apply(ElementOp::less, other);
  }
  template <class Other>
  [[nodiscard]] Term equal(Other other) const {
    return apply(ElementOp::equal, other);
  }
  /// Returns `a` where this condition holds, otherwise `b`.
  [[nodiscard]] Term choose(Term a, Term b) const {
    return {graph, graph->select(operation, a.operation, b.operation)};
  }

  friend Term operator-(Term a) { return a.apply(ElementOp::negation); }
  friend Term operator+(Term a, Term b) { return a.apply(ElementOp::addition, b); }
  friend Term operator+(Term a, float b) { return a.apply(ElementOp::addition, b); }
  friend Term operator-(Term a, Term b) { return a.apply(ElementOp::difference, b); }
  friend Term operator-(Term a, float b) { return a.apply(ElementOp::difference, b); }
  friend Term operator-(float a, Term b) { return b.number(a) - b; }
  friend Term operator*(Term a, Term b) { return a.apply(ElementOp::product, b); }
  friend Term operator*(Term a, float b) { return a.apply(ElementOp::product, b); }
  friend Term operator/(Term a, Term b) { return a.apply(ElementOp::quotient, b); }
};

}  // namespace parbench::general
