// NVIDIA's library of collectives (NCCL), loaded at run time: it is large, is of use with several
// GPUs only, and the program starts and computes without.
#pragma once

#include <memory>
#include <string>

#include "kernels/cuda/collectives/nccl_api.h"
#include "kernels/cuda/runtime/dynamic_library.h"

namespace parbench::cuda {

class Nccl {
 public:
  /// Never throws and never returns null: without the library there is a reason.
  [[nodiscard]] static std::shared_ptr<const Nccl> load(
      const std::string& library = "libnccl.so.2");

  /// Why it cannot be used; empty when it can.
  [[nodiscard]] const std::string& absence() const { return absence_; }
  /// "2.28.9"; empty when it cannot be used.
  [[nodiscard]] const std::string& version() const { return version_; }
  /// Whether it is new enough (2.18) to join GPUs of several processes.
  [[nodiscard]] bool joins_processes() const;
  [[nodiscard]] const nccl::Functions& functions() const { return functions_; }

  /// What the library says of a failed call.
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
