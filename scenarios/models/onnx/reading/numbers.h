// Converts elements of a file's tensors to numbers, independent of their type.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "scenarios/models/onnx/reading/graph.h"

// Declared here because this header is installed, and the library's own header is only used in
// sources.
namespace onnx {
class TensorProto;
}  // namespace onnx

namespace parbench::onnx_import {

/// Returns whether a type of the file, as numbered by TensorProto, is floating-point.
[[nodiscard]] bool is_floating(int type);
/// Returns whether a type is a supported type of numbers.
[[nodiscard]] bool is_number(int type);
[[nodiscard]] ElementType element_type(int type);
/// Returns the size of an element in an external file, in bytes; 4 for types that are not
/// supported.
[[nodiscard]] std::size_t bytes_of_type(int type);

/// Returns all values of a tensor whose type is `Value`: float, double, std::int32_t or
/// std::int64_t. Throws std::invalid_argument unless it has `count` values.
template <class Value>
[[nodiscard]] std::vector<Value> values_of(const onnx::TensorProto& tensor, std::int64_t count);

/// Returns all values of a tensor whose data is in the model. Throws std::exception for unsupported
/// types, and unless it has `count` values.
[[nodiscard]] std::vector<double> numbers_of(const onnx::TensorProto& tensor, std::int64_t count);

}  // namespace parbench::onnx_import
