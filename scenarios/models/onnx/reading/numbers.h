// The elements of tensors of files as numbers, whatever their type.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "scenarios/models/onnx/reading/graph.h"

// The library's own header is for sources alone: this one is installed with the others.
namespace onnx {
class TensorProto;
}  // namespace onnx

namespace parbench::onnx_import {

/// Whether a type of the file, as TensorProto numbers them, is of floating-point numbers.
[[nodiscard]] bool is_floating(int type);
/// Whether its elements are numbers of a type that is known.
[[nodiscard]] bool is_number(int type);
[[nodiscard]] ElementType element_type(int type);
/// Bytes of an element in a file beside the model.
[[nodiscard]] std::size_t bytes_of_type(int type);

/// All values of a tensor of that type: float, double, std::int32_t or std::int64_t. Throws
/// std::invalid_argument where it has another number of them.
template <class Value>
[[nodiscard]] std::vector<Value> values_of(const onnx::TensorProto& tensor, std::int64_t count);

/// All values of a tensor whose data lies in the model. Throws std::exception.
[[nodiscard]] std::vector<double> numbers_of(const onnx::TensorProto& tensor, std::int64_t count);

}  // namespace parbench::onnx_import
