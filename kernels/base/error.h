// Errors of the kernels, as types that callers distinguish.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>
#include <utility>

namespace parbench {

/// Base of the errors that are reported to the user. Messages name the object and the value, and
/// the remedy if there is one.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Error in the request itself (a flag, a value, a file). The program exits with code 2.
class UsageError : public Error {
 public:
  using Error::Error;
};

/// A device does not support an operation, a data type or a feature such as graphs. A case that
/// needs it is skipped, with the message as the reason.
class Unsupported : public Error {
 public:
  using Error::Error;
};

/// No device of the backend can be used again before the process is restarted. The case fails, and
/// other cases on the backend are left out.
class DeviceLost : public Error {
 public:
  DeviceLost(std::string backend, const std::string& message)
      : Error(message), backend_(std::move(backend)) {}
  [[nodiscard]] const std::string& backend() const { return backend_; }

 private:
  std::string backend_;
};

/// A wait exceeded its limit. The awaited work still runs, so its memory must not be freed.
class TimedOut : public Error {
 public:
  using Error::Error;
};

/// A device or the host has too little memory left for a request.
class OutOfMemory : public Error {
 public:
  /// Constructs an error with this message; the numbers of bytes are unknown.
  explicit OutOfMemory(const std::string& message) : Error(message) {}
  OutOfMemory(const std::string& where, std::size_t asked_bytes, std::size_t available_bytes);
  [[nodiscard]] std::size_t asked_bytes() const { return asked_; }
  [[nodiscard]] std::size_t available_bytes() const { return available_; }

 private:
  std::size_t asked_ = 0;
  std::size_t available_ = 0;
};

}  // namespace parbench
