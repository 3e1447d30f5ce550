// NVIDIA's profiling library (CUPTI), loaded at run time: only timelines need it, and the program
// starts without it.
#pragma once

#include <cupti_activity.h>
#include <cupti_callbacks.h>

#include <memory>
#include <string>
#include <vector>

#include "kernels/cuda/runtime/dynamic_library.h"

namespace parbench::cuda {

/// Functions of the library. All are null if the library is missing or lacks one of them.
struct CuptiFunctions {
  decltype(&cuptiGetResultString) result_string = nullptr;

  decltype(&cuptiFinalize) finalize = nullptr;
  decltype(&cuptiSubscribe) subscribe = nullptr;
  decltype(&cuptiUnsubscribe) unsubscribe = nullptr;
  decltype(&cuptiEnableCallback) enable_callback = nullptr;
  decltype(&cuptiGetGraphNodeId) graph_node_id = nullptr;

  decltype(&cuptiActivityRegisterTimestampCallback) register_clock = nullptr;
  decltype(&cuptiActivityRegisterCallbacks) register_buffers = nullptr;
  decltype(&cuptiActivityEnable) enable = nullptr;
  decltype(&cuptiActivityDisable) disable = nullptr;
  decltype(&cuptiActivityEnableRuntimeApi) enable_runtime_call = nullptr;
  decltype(&cuptiActivityEnableDriverApi) enable_driver_call = nullptr;
  decltype(&cuptiActivityFlushAll) flush = nullptr;
  decltype(&cuptiActivityGetNextRecord) next_record = nullptr;
  decltype(&cuptiActivityGetNumDroppedRecords) dropped_records = nullptr;
  decltype(&cuptiActivityPushExternalCorrelationId) push_id = nullptr;
  decltype(&cuptiActivityPopExternalCorrelationId) pop_id = nullptr;
};

class Cupti {
 public:
  /// Returns names under which to load the library: first its file name, for the loader's search
  /// path, then paths in the toolkit's folder of CUPTI, which loaders do not search.
  [[nodiscard]] static std::vector<std::string> usual_paths();

  /// Loads the first of `libraries` (at least one) that can be loaded. Never throws or returns
  /// null; `absence` returns why loading failed.
  [[nodiscard]] static std::shared_ptr<const Cupti> load(
      const std::vector<std::string>& libraries = usual_paths());

  /// Returns why CUPTI cannot be used, with the remedy; empty if it can.
  [[nodiscard]] const std::string& absence() const { return absence_; }
  [[nodiscard]] const CuptiFunctions& functions() const { return functions_; }

  /// Returns the name of a result, such as "CUPTI_ERROR_NOT_INITIALIZED".
  [[nodiscard]] std::string text_of(CUptiResult result) const;

 private:
  explicit Cupti(const DynamicLibrary& library);

  CuptiFunctions functions_;
  std::string absence_;
};

}  // namespace parbench::cuda
