// NVIDIA's library of collectives (NCCL), loaded at run time: it is large and used only with
// several GPUs, which also compute without it.
#pragma once

#include <memory>
#include <string>

#include "kernels/cuda/collectives/nccl_api.h"
#include "kernels/cuda/runtime/dynamic_library.h"

namespace parbench::cuda {

class Nccl {
 public:
  /// Loads the library. Never throws or returns null; `absence` returns why loading failed.
  [[nodiscard]] static std::shared_ptr<const Nccl> load(
      const std::string& library = "libnccl.so.2");

  /// Returns why NCCL cannot be used; empty if it can.
  [[nodiscard]] const std::string& absence() const { return absence_; }
  /// Returns the version, such as "2.28.9"; empty if NCCL cannot be used.
  [[nodiscard]] const std::string& version() const { return version_; }
  /// Returns whether NCCL can be used and has the functions (all since 2.18) that join GPUs of
  /// several processes.
  [[nodiscard]] bool joins_processes() const;
  [[nodiscard]] const nccl::Functions& functions() const { return functions_; }

  /// Returns a message for a failed call: the library's texts, its version and a remedy.
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
