// Operators and functions for formulas over operations of a graph.
#pragma once

#include <utility>
#include <vector>

#include "scenarios/models/general/graph.h"

namespace parbench::general {

/// An operation of a graph. Functions and operators on terms append operations to the graph.
struct Term {
  Graph* graph;
  int operation;

  /// Returns the index of the operation, so that functions of Graph accept terms.
  operator int() const { return operation; }

  [[nodiscard]] Extents shape() const { return graph->shape(operation); }
  [[nodiscard]] std::size_t rank() const { return graph->shape(operation).size(); }

  [[nodiscard]] Term apply(ElementOp op) const { return {graph, graph->apply(op, operation)}; }
  [[nodiscard]] Term apply(ElementOp op, Term other) const {
    return {graph, graph->apply(op, operation, other.operation)};
  }
  [[nodiscard]] Term apply(ElementOp op, float other) const {
    return {graph, graph->apply(op, operation, other)};
  }
  [[nodiscard]] Term number(float value) const { return {graph, graph->number(value)}; }
  /// Appends a number with the shape of this term.
  [[nodiscard]] Term filled(float value) const { return {graph, graph->number(value, shape())}; }
  /// Appends a tensor with the shape of this term whose elements are their own indices in a
  /// dimension.
  [[nodiscard]] Term coordinate(std::size_t dimension) const {
    return {graph, graph->coordinate(shape(), static_cast<int>(dimension))};
  }

  [[nodiscard]] Term abs() const { return apply(ElementOp::absolute); }
  [[nodiscard]] Term exp() const { return apply(ElementOp::exponential); }
  [[nodiscard]] Term log() const { return apply(ElementOp::logarithm); }
  [[nodiscard]] Term sqrt() const { return apply(ElementOp::square_root); }
  [[nodiscard]] Term tanh() const { return apply(ElementOp::tanh); }
  [[nodiscard]] Term sign() const { return apply(ElementOp::sign); }
  [[nodiscard]] Term floor() const { return apply(ElementOp::floor); }
  [[nodiscard]] Term round() const { return apply(ElementOp::rounding); }
  [[nodiscard]] Term inverse() const { return apply(ElementOp::reciprocal); }
  [[nodiscard]] Term squared() const { return apply(ElementOp::product, *this); }
  [[nodiscard]] Term power(float exponent) const { return apply(ElementOp::power, exponent); }
  template <class Other>
  [[nodiscard]] Term min(Other other) const {
    return apply(ElementOp::minimum, other);
  }
  template <class Other>
  [[nodiscard]] Term max(Other other) const {
    return apply(ElementOp::maximum, other);
  }
  [[nodiscard]] Term clipped(float low, float high) const { return max(low).min(high); }
  /// Returns 1 where this term is less than the other one, otherwise 0.
  template <class Other>
  [[nodiscard]] Term less(Other other) const {
    return apply(ElementOp::less, other);
  }
  template <class Other>
  [[nodiscard]] Term greater(Other other) const {
    return term(other).less(*this);
  }
  template <class Other>
  [[nodiscard]] Term equal(Other other) const {
    return apply(ElementOp::equal, other);
  }
  /// Returns `a` where this term is not 0, otherwise `b`.
  template <class A, class B>
  [[nodiscard]] Term choose(A a, B b) const {
    const Term chosen = term(a);
    return {graph, graph->select(operation, chosen, term(b))};
  }
  /// Returns the same values, through which no gradient is propagated.
  [[nodiscard]] Term detached() const { return {graph, graph->detach(operation)}; }

  [[nodiscard]] Term reshape(Extents to) const {
    return {graph, graph->reshape(operation, std::move(to))};
  }
  [[nodiscard]] Term permute(Axes order) const {
    return {graph, graph->permute(operation, std::move(order))};
  }
  [[nodiscard]] Term move_axis(std::size_t from, std::size_t to) const {
    return {graph, graph->move_axis(operation, from, to)};
  }
  [[nodiscard]] Term transpose() const { return {graph, graph->transpose(operation)}; }
  [[nodiscard]] Term broadcast(const Extents& to) const {
    return {graph, graph->broadcast(operation, to)};
  }
  [[nodiscard]] Term part(std::size_t axis, std::int64_t first, std::int64_t count,
                          std::int64_t step = 1) const {
    return {graph, graph->part(operation, axis, first, count, step)};
  }
  [[nodiscard]] Term reversed(std::size_t axis) const {
    const std::int64_t count = graph->shape(operation)[axis].size;
    return part(axis, count - 1, count, -1);
  }
  /// Returns a tensor of shape `to` with the elements of this term from position `starts` on, and
  /// zeros elsewhere.
  [[nodiscard]] Term place(Axes starts, Extents to) const {
    Axes steps(starts.size(), 1);
    return {graph, graph->place(operation, std::move(starts), std::move(steps), std::move(to))};
  }
  /// Like `place` above, with the number `around` instead of zeros.
  [[nodiscard]] Term place(const Axes& starts, const Extents& to, float around) const {
    const Term placed = place(starts, to);
    if (around == 0 || to == shape()) return placed;
    return filled(1).place(starts, to).choose(placed, around);
  }
  [[nodiscard]] Term reduce(Reduction reduction, Axes axes) const {
    return {graph, graph->reduce(reduction, operation, std::move(axes))};
  }
  [[nodiscard]] Term sum(Axes axes) const {
    return {graph, graph->sum(operation, std::move(axes))};
  }
  [[nodiscard]] Term mean(const Axes& axes) const { return {graph, graph->mean(operation, axes)}; }
  [[nodiscard]] Term multiply(Term other) const {
    return {graph, graph->multiply(operation, other)};
  }
  /// Returns the rows of this table {r, width} at indices of any shape: {indices…, width}.
  [[nodiscard]] Term rows(Term indices) const {
    const Term list = indices.reshape({count_of(indices.shape())});
    return Term{graph, graph->rows(operation, list)}.reshape(
        joined({indices.shape(), {shape().back()}}));
  }

  friend Term operator-(Term a) { return a.apply(ElementOp::negation); }
  friend Term operator+(Term a, Term b) { return a.apply(ElementOp::addition, b); }
  friend Term operator+(Term a, float b) { return a.apply(ElementOp::addition, b); }
  friend Term operator+(float a, Term b) { return b + a; }
  friend Term operator-(Term a, Term b) { return a.apply(ElementOp::difference, b); }
  friend Term operator-(Term a, float b) { return a.apply(ElementOp::difference, b); }
  friend Term operator-(float a, Term b) { return b.number(a) - b; }
  friend Term operator*(Term a, Term b) { return a.apply(ElementOp::product, b); }
  friend Term operator*(Term a, float b) { return a.apply(ElementOp::product, b); }
  friend Term operator*(float a, Term b) { return b * a; }
  friend Term operator/(Term a, Term b) { return a.apply(ElementOp::quotient, b); }
  friend Term operator/(Term a, float b) { return a.apply(ElementOp::quotient, b); }
  friend Term operator/(float a, Term b) { return b.number(a) / b; }
  /// Deleted, because they would compare indices of operations; use `less` and `equal`.
  template <class Other>
  friend auto operator<=>(Term a, Other b) = delete;
  template <class Other>
  friend bool operator==(Term a, Other b) = delete;

 private:
  [[nodiscard]] static Term term(Term value) { return value; }
  [[nodiscard]] Term term(float value) const { return number(value); }
};

[[nodiscard]] inline Term concatenated(const std::vector<Term>& parts, std::int64_t axis) {
  Graph* graph = parts.at(0).graph;
  return {graph, graph->concatenate({parts.begin(), parts.end()}, axis)};
}

}  // namespace parbench::general
