// Loads the stand-in's libraries by the names of the vendor's; all others by the system's loader.
#include "tests/cuda_stand_in/libraries.h"

#include <dlfcn.h>

#include "kernels/cuda/runtime/dynamic_library.h"

namespace parbench::stand_in {

const std::map<std::string, Functions>& libraries() {
  static const std::map<std::string, Functions> all{{"libcupti.so", cupti_functions()},
                                                    {"libnccl.so", nccl_functions()},
                                                    {"libnvidia-ml.so", nvml_functions()}};
  return all;
}

}  // namespace parbench::stand_in

namespace parbench::cuda {
namespace {

const stand_in::Functions* replacement_of(const std::string& name) {
  for (const auto& [beginning, functions] : stand_in::libraries()) {
    if (name.starts_with(beginning)) return &functions;
  }
  return nullptr;
}

const stand_in::Functions* replacement_of(const void* handle) {
  for (const auto& [beginning, functions] : stand_in::libraries()) {
    if (handle == &functions) return &functions;
  }
  return nullptr;
}

}  // namespace

DynamicLibrary::DynamicLibrary(const std::string& name)
    : handle_(const_cast<stand_in::Functions*>(replacement_of(name))) {
  if (handle_ == nullptr) handle_ = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  // NOLINT(concurrency-mt-unsafe): dlerror returns the error of the calling thread
  if (handle_ == nullptr) error_ = dlerror();
}

void* DynamicLibrary::address_of(const char* name) const {
  const stand_in::Functions* functions = replacement_of(handle_);
  if (functions == nullptr) return handle_ != nullptr ? dlsym(handle_, name) : nullptr;
  const auto found = functions->find(name);
  return found != functions->end() ? found->second : nullptr;
}

}  // namespace parbench::cuda
