// Finds and loads CUPTI.
#include "kernels/cuda/activity/cupti.h"

#include <fmt/format.h>

#include <cstdlib>

namespace parbench::cuda {
namespace {

/// CUPTI of CUDA 13. Other versions within CUDA 13 can be loaded too, because they only append
/// fields to the records.
constexpr const char* file_name = "libcupti.so.13";

CuptiFunctions look_up(const DynamicLibrary& library) {
  CuptiFunctions f;
  library.find(f.result_string, "cuptiGetResultString");
  library.find(f.finalize, "cuptiFinalize");
  library.find(f.subscribe, "cuptiSubscribe");
  library.find(f.unsubscribe, "cuptiUnsubscribe");
  library.find(f.enable_callback, "cuptiEnableCallback");
  library.find(f.graph_node_id, "cuptiGetGraphNodeId");
  library.find(f.register_clock, "cuptiActivityRegisterTimestampCallback");
  library.find(f.register_buffers, "cuptiActivityRegisterCallbacks");
  library.find(f.enable, "cuptiActivityEnable");
  library.find(f.disable, "cuptiActivityDisable");
  library.find(f.enable_runtime_call, "cuptiActivityEnableRuntimeApi");
  library.find(f.enable_driver_call, "cuptiActivityEnableDriverApi");
  library.find(f.flush, "cuptiActivityFlushAll");
  library.find(f.next_record, "cuptiActivityGetNextRecord");
  library.find(f.dropped_records, "cuptiActivityGetNumDroppedRecords");
  library.find(f.push_id, "cuptiActivityPushExternalCorrelationId");
  library.find(f.pop_id, "cuptiActivityPopExternalCorrelationId");
  return f;
}

bool is_whole(const CuptiFunctions& f) {
  return f.result_string != nullptr && f.finalize != nullptr && f.subscribe != nullptr &&
         f.unsubscribe != nullptr && f.enable_callback != nullptr && f.graph_node_id != nullptr &&
         f.register_clock != nullptr && f.register_buffers != nullptr && f.enable != nullptr &&
         f.disable != nullptr && f.enable_runtime_call != nullptr &&
         f.enable_driver_call != nullptr && f.flush != nullptr && f.next_record != nullptr &&
         f.dropped_records != nullptr && f.push_id != nullptr && f.pop_id != nullptr;
}

}  // namespace

std::vector<std::string> Cupti::usual_paths() {
  std::vector<std::string> paths{file_name};
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
    const char* toolkit = std::getenv(variable);
    if (toolkit != nullptr)
      paths.push_back(fmt::format("{}/extras/CUPTI/lib64/{}", toolkit, file_name));
  }
  paths.push_back(fmt::format("/usr/local/cuda/extras/CUPTI/lib64/{}", file_name));
  return paths;
}

std::shared_ptr<const Cupti> Cupti::load(const std::vector<std::string>& libraries) {
  std::vector<DynamicLibrary> tried;
  for (const std::string& name : libraries) {
    tried.emplace_back(name);
    if (tried.back().is_loaded()) return std::shared_ptr<const Cupti>(new Cupti(tried.back()));
  }
  return std::shared_ptr<const Cupti>(new Cupti(tried.front()));
}

Cupti::Cupti(const DynamicLibrary& library) : functions_(look_up(library)) {
  constexpr const char* remedy =
      "install CUPTI of CUDA 13 (the toolkit has it in extras/CUPTI/lib64, PyPI as "
      "nvidia-cuda-cupti), or name its folder in LD_LIBRARY_PATH";
  if (!library.is_loaded()) {
    absence_ = fmt::format("CUPTI cannot be loaded: {}; {}", library.error(), remedy);
  } else if (!is_whole(functions_)) {
    absence_ = fmt::format("the CUPTI that the loader finds is older than CUDA 13; {}", remedy);
    functions_ = {};
  }
}

std::string Cupti::text_of(CUptiResult result) const {
  const char* words = nullptr;
  if (functions_.result_string != nullptr &&
      functions_.result_string(result, &words) == CUPTI_SUCCESS && words != nullptr) {
    return words;
  }
  return fmt::format("CUPTI error {}", static_cast<int>(result));
}

}  // namespace parbench::cuda
