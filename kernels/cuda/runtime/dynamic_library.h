// A library that is looked for when the program runs, so that it starts without.
#pragma once

#include <string>

namespace parbench::cuda {

/// Stays loaded until the process ends: threads of the library, such as NCCL's, may still run in it
/// when the last object that uses it is gone.
class DynamicLibrary {
 public:
  /// Does not throw: without the library there is an error. `name`: as for dlopen.
  explicit DynamicLibrary(const std::string& name);

  [[nodiscard]] bool is_loaded() const { return handle_ != nullptr; }
  /// The loader's words; empty where it is loaded.
  [[nodiscard]] const std::string& error() const { return error_; }

  /// Sets `function` where it has none yet and the library has one of that name.
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
