// The elements of a constant, shared by all graphs and planned operations that use them.
#pragma once

#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace parbench::general {

/// Elements in canonical order: in double precision for computing with constants, and in f32 for
/// devices.
class Constant {
 public:
  /// Returns a constant with these values. While a large constant is in use, requests for bitwise
  /// equal values return the same object. Thread-safe.
  [[nodiscard]] static std::shared_ptr<const Constant> of(std::vector<double> values);

  explicit Constant(std::vector<double> values) : values_(std::move(values)) {}

  [[nodiscard]] const std::vector<double>& values() const { return values_; }
  /// Returns the elements in f32, converted at the first call; every call returns the same memory.
  /// Thread-safe.
  [[nodiscard]] const std::shared_ptr<const std::vector<float>>& elements() const;

 private:
  std::vector<double> values_;
  mutable std::once_flag converted_;
  mutable std::shared_ptr<const std::vector<float>> elements_;
};

}  // namespace parbench::general
