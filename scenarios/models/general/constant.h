// The elements of a constant, which all graphs and planned operations that have them share.
#pragma once

#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace parbench::general {

/// Elements in canonical order: in double precision, as constants are computed with, and in f32, as
/// devices read them.
class Constant {
 public:
  /// Constants of more than a few elements that are equal bit by bit are one object as long as it
  /// is in use. Thread-safe.
  [[nodiscard]] static std::shared_ptr<const Constant> of(std::vector<double> values);

  explicit Constant(std::vector<double> values) : values_(std::move(values)) {}

  [[nodiscard]] const std::vector<double>& values() const { return values_; }
  /// Converted at the first call; every call returns the same memory. Thread-safe.
  [[nodiscard]] const std::shared_ptr<const std::vector<float>>& elements() const;

 private:
  std::vector<double> values_;
  mutable std::once_flag converted_;
  mutable std::shared_ptr<const std::vector<float>> elements_;
};

}  // namespace parbench::general
