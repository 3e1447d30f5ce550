// A library that is loaded at run time, so that the program also starts without it.
#pragma once

#include <string>

namespace parbench::cuda {

/// The library stays loaded until the process ends: its threads, such as those of NCCL, may still
/// run when the last object that uses it is destroyed.
class DynamicLibrary {
 public:
  /// Loads the library with that name or path (dlopen). Sets `error` if this fails; does not throw.
  explicit DynamicLibrary(const std::string& name);

  [[nodiscard]] bool is_loaded() const { return handle_ != nullptr; }
  /// Returns the loader's message; empty if the library is loaded.
  [[nodiscard]] const std::string& error() const { return error_; }

  /// Sets `function` if it is null and the library has a function of that name.
  template <typename Function>
  void find(Function& function, const char* name) const {
    if (function == nullptr) function = reinterpret_cast<Function>(address_of(name));
  }

 private:
  [[nodiscard]] void* address_of(const char* name) const;

  void* handle_;
  std::string error_;
};

}  // namespace parbench::cuda
