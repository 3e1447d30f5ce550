// The elements of tensors of files as numbers, whatever their type.
#pragma once

#include <onnx/onnx_pb.h>

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <utility>
#include <vector>

#include <onnx/defs/tensor_proto_util.h>

#include "scenarios/models/onnx/reading/graph.h"

namespace parbench::onnx_import {

/// Whether a type of the file, as TensorProto numbers them, is of floating-point numbers.
[[nodiscard]] bool is_floating(int type);
[[nodiscard]] ElementType element_type(int type);
/// Bytes of an element in a file beside the model.
[[nodiscard]] std::size_t bytes_of_type(int type);

/// All values of a small tensor. The library copies raw data of any size into as many values as
/// fit.
template <class Value>
[[nodiscard]] std::vector<Value> values_of(const onnx::TensorProto& tensor, std::int64_t count) {
  const auto bytes = static_cast<std::size_t>(count) * sizeof(Value);
  const bool is_whole = !tensor.has_raw_data() || tensor.raw_data().size() == bytes;
  const std::vector<Value> values =
      is_whole ? onnx::ParseData<Value>(&tensor) : std::vector<Value>();
  if (!is_whole || std::cmp_not_equal(values.size(), count)) {
    throw std::invalid_argument(tensor.name() +
                                " has another number of values than its shape says");
  }
  return values;
}

/// All values of a tensor whose data lies in the model. Throws std::exception.
[[nodiscard]] std::vector<double> numbers_of(const onnx::TensorProto& tensor, std::int64_t count);

}  // namespace parbench::onnx_import
