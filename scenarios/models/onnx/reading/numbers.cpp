// Conversions for each type of the file.
#include "scenarios/models/onnx/reading/numbers.h"

#include <onnx/onnx_pb.h>

#include <onnx/defs/tensor_proto_util.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>

#include "kernels/base/bfloat16.h"

namespace parbench::onnx_import {

/// The library copies as many values as fit, whatever the size of the raw data.
template <class Value>
std::vector<Value> values_of(const onnx::TensorProto& tensor, std::int64_t count) {
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

template std::vector<float> values_of(const onnx::TensorProto& tensor, std::int64_t count);
template std::vector<double> values_of(const onnx::TensorProto& tensor, std::int64_t count);
template std::vector<std::int32_t> values_of(const onnx::TensorProto& tensor, std::int64_t count);
template std::vector<std::int64_t> values_of(const onnx::TensorProto& tensor, std::int64_t count);

namespace {

float half_to_float(std::uint32_t half) {
  const float sign = (half & 0x8000U) != 0 ? -1.0F : 1.0F;
  const auto exponent = static_cast<int>(half >> 10U & 0x1FU);
  const auto mantissa = static_cast<float>(half & 0x3FFU);
  constexpr int bias = 15;
  constexpr int bits = 10;
  constexpr int special = 31;
  if (exponent == special) {
    return mantissa != 0 ? std::numeric_limits<float>::quiet_NaN()
                         : sign * std::numeric_limits<float>::infinity();
  }
  if (exponent == 0) return sign * std::ldexp(mantissa, 1 - bias - bits);
  return sign * std::ldexp(1024.0F + mantissa, exponent - bias - bits);
}

/// Elements of 8 or 16 bits, or of bool: raw data, or one element per integer.
template <class Value, class Convert>
std::vector<double> small_elements(const onnx::TensorProto& tensor, std::int64_t count,
                                   Convert convert) {
  std::vector<double> values;
  for (const std::int32_t one : tensor.int32_data()) {
    values.push_back(convert(static_cast<Value>(one)));
  }
  const std::string& bytes = tensor.raw_data();
  for (std::size_t i = 0; i + sizeof(Value) <= bytes.size(); i += sizeof(Value)) {
    Value one{};
    std::memcpy(&one, bytes.data() + i, sizeof(Value));
    values.push_back(convert(one));
  }
  if (std::cmp_not_equal(values.size(), count)) {
    throw std::invalid_argument(tensor.name() +
                                " has another number of values than its shape says");
  }
  return values;
}

template <class Value>
std::vector<double> widened(const onnx::TensorProto& tensor, std::int64_t count) {
  const std::vector<Value> values = values_of<Value>(tensor, count);
  return {values.begin(), values.end()};
}

}  // namespace

bool is_floating(int type) {
  return type == onnx::TensorProto::FLOAT || type == onnx::TensorProto::FLOAT16 ||
         type == onnx::TensorProto::BFLOAT16 || type == onnx::TensorProto::DOUBLE;
}

bool is_number(int type) {
  return is_floating(type) || type == onnx::TensorProto::INT64 ||
         type == onnx::TensorProto::INT32 || type == onnx::TensorProto::INT16 ||
         type == onnx::TensorProto::INT8 || type == onnx::TensorProto::UINT16 ||
         type == onnx::TensorProto::UINT8 || type == onnx::TensorProto::BOOL;
}

ElementType element_type(int type) {
  if (type == onnx::TensorProto::BOOL) return ElementType::boolean;
  return is_floating(type) ? ElementType::floating : ElementType::integer;
}

std::size_t bytes_of_type(int type) {
  switch (type) {
    case onnx::TensorProto::DOUBLE:
    case onnx::TensorProto::INT64:
      return 8;
    case onnx::TensorProto::FLOAT16:
    case onnx::TensorProto::BFLOAT16:
    case onnx::TensorProto::INT16:
    case onnx::TensorProto::UINT16:
      return 2;
    case onnx::TensorProto::INT8:
    case onnx::TensorProto::UINT8:
    case onnx::TensorProto::BOOL:
      return 1;
    default:
      return 4;
  }
}

std::vector<double> numbers_of(const onnx::TensorProto& tensor, std::int64_t count) {
  const auto same = [](auto value) { return static_cast<double>(value); };
  switch (tensor.data_type()) {
    case onnx::TensorProto::FLOAT:
      return widened<float>(tensor, count);
    case onnx::TensorProto::DOUBLE:
      return widened<double>(tensor, count);
    case onnx::TensorProto::INT64:
      return widened<std::int64_t>(tensor, count);
    case onnx::TensorProto::INT32:
      return widened<std::int32_t>(tensor, count);
    case onnx::TensorProto::FLOAT16:
      return small_elements<std::uint16_t>(tensor, count,
                                           [](auto half) { return half_to_float(half); });
    case onnx::TensorProto::BFLOAT16:
      return small_elements<std::uint16_t>(tensor, count,
                                           [](auto half) { return from_bf16(half); });
    case onnx::TensorProto::INT16:
      return small_elements<std::int16_t>(tensor, count, same);
    case onnx::TensorProto::UINT16:
      return small_elements<std::uint16_t>(tensor, count, same);
    case onnx::TensorProto::INT8:
      return small_elements<std::int8_t>(tensor, count, same);
    case onnx::TensorProto::UINT8:
    case onnx::TensorProto::BOOL:
      return small_elements<std::uint8_t>(tensor, count, same);
    default:
      throw std::invalid_argument(tensor.name() + " has elements of a type that is not known");
  }
}

}  // namespace parbench::onnx_import
