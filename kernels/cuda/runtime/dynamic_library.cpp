// Loads libraries through the system's loader.
#include "kernels/cuda/runtime/dynamic_library.h"

#include <dlfcn.h>

namespace parbench::cuda {

DynamicLibrary::DynamicLibrary(const std::string& name)
    : handle_(dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL)) {
  // NOLINT(concurrency-mt-unsafe): dlerror returns the error of the calling thread
  if (handle_ == nullptr) error_ = dlerror();
}

void* DynamicLibrary::address_of(const char* name) const {
  return handle_ != nullptr ? dlsym(handle_, name) : nullptr;
}

}  // namespace parbench::cuda
