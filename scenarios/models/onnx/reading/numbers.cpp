// Conversions for each type of the file.
#include "scenarios/models/onnx/reading/numbers.h"

#include <onnx/onnx_pb.h>

#include <onnx/defs/tensor_proto_util.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>

#include "kernels/base/bfloat16.h"

namespace parbench::onnx_import {

namespace {

void check_count(const onnx::TensorProto& tensor, std::size_t found, std::int64_t wanted) {
  if (std::cmp_equal(found, wanted)) return;
  throw std::invalid_argument(tensor.name() + " has another number of values than its shape says");
}

}  // namespace

/// Checks the size of raw data, because the library copies as many values as fit.
template <class Value>
std::vector<Value> values_of(const onnx::TensorProto& tensor, std::int64_t count) {
  if (tensor.has_raw_data()) {
    check_count(tensor, tensor.raw_data().size(), count * static_cast<std::int64_t>(sizeof(Value)));
  }
  std::vector<Value> values = onnx::ParseData<Value>(&tensor);
  check_count(tensor, values.size(), count);
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

double bf16_to_double(std::uint16_t bits) { return from_bf16(bits); }

template <class Value>
double same(Value value) {
  return static_cast<double>(value);
}

/// Returns elements of 8 or 16 bits, or of bool, which are stored as raw data or one per int32.
template <class Value, auto convert>
std::vector<double> small_elements(const onnx::TensorProto& tensor, std::int64_t count) {
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
  check_count(tensor, values.size(), count);
  return values;
}

template <class Value>
std::vector<double> widened(const onnx::TensorProto& tensor, std::int64_t count) {
  const std::vector<Value> values = values_of<Value>(tensor, count);
  return {values.begin(), values.end()};
}

/// A supported type of numbers. `bytes`: size of an element in an external file.
struct NumberType {
  int type;
  std::size_t bytes;
  bool is_floating;
  std::vector<double> (*read)(const onnx::TensorProto& tensor, std::int64_t count);
};

constexpr std::array number_types{
    NumberType{onnx::TensorProto::FLOAT, 4, true, widened<float>},
    NumberType{onnx::TensorProto::DOUBLE, 8, true, widened<double>},
    NumberType{onnx::TensorProto::FLOAT16, 2, true, small_elements<std::uint16_t, half_to_float>},
    NumberType{onnx::TensorProto::BFLOAT16, 2, true, small_elements<std::uint16_t, bf16_to_double>},
    NumberType{onnx::TensorProto::INT64, 8, false, widened<std::int64_t>},
    NumberType{onnx::TensorProto::INT32, 4, false, widened<std::int32_t>},
    NumberType{onnx::TensorProto::INT16, 2, false,
               small_elements<std::int16_t, same<std::int16_t>>},
    NumberType{onnx::TensorProto::UINT16, 2, false,
               small_elements<std::uint16_t, same<std::uint16_t>>},
    NumberType{onnx::TensorProto::INT8, 1, false, small_elements<std::int8_t, same<std::int8_t>>},
    NumberType{onnx::TensorProto::UINT8, 1, false,
               small_elements<std::uint8_t, same<std::uint8_t>>},
    NumberType{onnx::TensorProto::BOOL, 1, false,
               small_elements<std::uint8_t, same<std::uint8_t>>}};

/// Returns the description of a type of TensorProto; null if it is not supported.
const NumberType* number_type(int type) {
  const auto* found = std::ranges::find(number_types, type, &NumberType::type);
  return found == number_types.end() ? nullptr : found;
}

}  // namespace

bool is_floating(int type) {
  const NumberType* found = number_type(type);
  return found != nullptr && found->is_floating;
}

bool is_number(int type) { return number_type(type) != nullptr; }

ElementType element_type(int type) {
  if (type == onnx::TensorProto::BOOL) return ElementType::boolean;
  return is_floating(type) ? ElementType::floating : ElementType::integer;
}

std::size_t bytes_of_type(int type) {
  const NumberType* found = number_type(type);
  return found == nullptr ? 4 : found->bytes;
}

std::vector<double> numbers_of(const onnx::TensorProto& tensor, std::int64_t count) {
  if (const NumberType* type = number_type(tensor.data_type())) return type->read(tensor, count);
  throw std::invalid_argument(tensor.name() + " has elements of a type that is not known");
}

}  // namespace parbench::onnx_import
