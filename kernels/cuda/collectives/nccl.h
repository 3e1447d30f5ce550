// NVIDIA's library of collectives (NCCL), loaded at run time: it is large, is needed for several
// GPUs only, and the program starts and computes without it.
#pragma once

#include <memory>
#include <string>

#include "kernels/cuda/collectives/nccl_api.h"
#include "kernels/cuda/runtime/dynamic_library.h"

namespace parbench::cuda {

class Nccl {
 public:
  /// Never throws and never returns null: without the library, `absence` is the reason.
  [[nodiscard]] static std::shared_ptr<const Nccl> load(
      const std::string& library = "libnccl.so.2");

  /// Returns why NCCL cannot be used; empty if it can.
  [[nodiscard]] const std::string& absence() const { return absence_; }
  /// Returns the version, such as "2.28.9"; empty if NCCL cannot be used.
  [[nodiscard]] const std::string& version() const { return version_; }
  /// Returns whether the version (at least 2.18) can join GPUs of several processes.
  [[nodiscard]] bool joins_processes() const;
  [[nodiscard]] const nccl::Functions& functions() const { return functions_; }

  /// Returns the library's message for a failed call.
  [[nodiscard]] std::string text_of(nccl::Result result) const;

 private:
  explicit Nccl(const std::string& library);
  [[nodiscard]] std::string find_absence(const std::string& library);

  DynamicLibrary library_;
  nccl::Functions functions_;
  std::string version_;
  std::string absence_;
};

}  // namespace parbench::cuda
