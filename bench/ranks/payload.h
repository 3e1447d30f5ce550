// Values as bytes for other ranks, which have the same byte order.
#pragma once

#include <cstddef>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "kernels/base/error.h"

namespace parbench {

/// Writes values to bytes, or reads them from bytes in the same order. A struct that is not
/// trivially copyable lists its members in a member function `void fields(Archive& archive)` or in
/// a function `void fields(Archive& archive, Struct& value)`.
class Archive {
 public:
  /// Appends to these bytes.
  explicit Archive(std::string& bytes) : written_(&bytes) {}
  /// Reads these bytes from their beginning.
  explicit Archive(const std::string& bytes) : read_(&bytes) {}

  /// Throws Error if there are too few bytes to read.
  template <class... Values>
  void operator()(Values&... values) {
    (visit(values), ...);
  }

 private:
  void visit(std::string& text) {
    text.resize(size(text.size()));
    transfer(text.data(), text.size());
  }
  template <class Value>
  void visit(std::vector<Value>& values) {
    values.resize(size(values.size()));
    for (Value& value : values) visit(value);
  }
  template <class First, class Second>
  void visit(std::pair<First, Second>& both) {
    visit(both.first);
    visit(both.second);
  }
  template <class Value>
  void visit(Value& value) {
    if constexpr (requires { value.fields(*this); }) {
      value.fields(*this);
    } else if constexpr (std::is_trivially_copyable_v<Value>) {
      transfer(&value, sizeof(value));
    } else {
      fields(*this, value);
    }
  }

  /// Writes the size of the next value, or reads it and checks that at least as many bytes are
  /// left.
  [[nodiscard]] std::size_t size(std::size_t size) {
    transfer(&size, sizeof(size));
    if (read_ != nullptr) require(size);
    return size;
  }
  void transfer(void* value, std::size_t bytes) {
    if (written_ != nullptr) {
      written_->append(static_cast<const char*>(value), bytes);
      return;
    }
    require(bytes);
    position_ += read_->copy(static_cast<char*>(value), bytes, position_);
  }
  void require(std::size_t bytes) const {
    if (bytes > read_->size() - position_) {
      throw Error("a rank has sent too few bytes");
    }
  }

  std::string* written_ = nullptr;
  const std::string* read_ = nullptr;
  std::size_t position_ = 0;
};

template <class Value>
[[nodiscard]] std::string packed(Value value) {
  std::string bytes;
  Archive archive(bytes);
  archive(value);
  return bytes;
}

/// Throws Error if there are too few bytes.
template <class Value>
[[nodiscard]] Value unpacked(const std::string& bytes) {
  Archive archive(bytes);
  Value value{};
  archive(value);
  return value;
}

}  // namespace parbench
