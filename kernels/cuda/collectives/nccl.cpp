// Loads NCCL and checks its version.
#include "kernels/cuda/collectives/nccl.h"

#include <fmt/format.h>

namespace parbench::cuda {
namespace {

nccl::Functions look_up(const DynamicLibrary& library) {
  nccl::Functions f;
  library.find(f.get_version, "ncclGetVersion");
  library.find(f.get_error_string, "ncclGetErrorString");
  library.find(f.get_last_error, "ncclGetLastError");
  library.find(f.comm_init_all, "ncclCommInitAll");
  library.find(f.get_unique_id, "ncclGetUniqueId");
  library.find(f.comm_init_rank_config, "ncclCommInitRankConfig");
  library.find(f.comm_split, "ncclCommSplit");
  library.find(f.comm_destroy, "ncclCommDestroy");
  library.find(f.comm_abort, "ncclCommAbort");
  library.find(f.comm_get_async_error, "ncclCommGetAsyncError");
  library.find(f.group_start, "ncclGroupStart");
  library.find(f.group_end, "ncclGroupEnd");
  library.find(f.all_reduce, "ncclAllReduce");
  library.find(f.all_gather, "ncclAllGather");
  library.find(f.reduce_scatter, "ncclReduceScatter");
  library.find(f.broadcast, "ncclBroadcast");
  library.find(f.reduce, "ncclReduce");
  library.find(f.send, "ncclSend");
  library.find(f.receive, "ncclRecv");
  return f;
}

bool is_whole(const nccl::Functions& f) {
  return f.get_version != nullptr && f.get_error_string != nullptr && f.get_last_error != nullptr &&
         f.comm_init_all != nullptr && f.comm_destroy != nullptr && f.comm_abort != nullptr &&
         f.comm_get_async_error != nullptr && f.group_start != nullptr && f.group_end != nullptr &&
         f.all_reduce != nullptr && f.all_gather != nullptr && f.reduce_scatter != nullptr &&
         f.broadcast != nullptr && f.reduce != nullptr && f.send != nullptr && f.receive != nullptr;
}

/// Oldest supported version, 2.13: the first with ncclGetLastError. Versions before 2.9 are encoded
/// as smaller numbers (see version_text).
constexpr int oldest = 21300;

/// Returns "2.28.9" for 22809 and "2.8.3" for 2803, the encodings of NCCL_VERSION.
std::string version_text(int number) {
  if (number < 10000) {
    return fmt::format("{}.{}.{}", number / 1000, number / 100 % 10, number % 100);
  }
  return fmt::format("{}.{}.{}", number / 10000, number / 100 % 100, number % 100);
}

}  // namespace

std::shared_ptr<const Nccl> Nccl::load(const std::string& library) {
  return std::shared_ptr<const Nccl>(new Nccl(library));
}

Nccl::Nccl(const std::string& library) : library_(library), functions_(look_up(library_)) {
  absence_ = find_absence(library);
  if (!absence_.empty()) functions_ = {};
}

std::string Nccl::find_absence(const std::string& library) {
  if (!library_.is_loaded()) {
    return fmt::format(
        "cannot be loaded: {}; install NCCL 2.13 or newer, or name its folder in LD_LIBRARY_PATH",
        library_.error());
  }
  int number = 0;
  if (functions_.get_version == nullptr || functions_.get_version(&number) != nccl::success) {
    return fmt::format("{} has no version number; install NCCL 2.13 or newer", library);
  }
  if (number < oldest || !is_whole(functions_)) {
    return fmt::format("{} is version {}; install 2.13 or newer", library, version_text(number));
  }
  version_ = version_text(number);
  return {};
}

bool Nccl::joins_processes() const {
  return functions_.get_unique_id != nullptr && functions_.comm_init_rank_config != nullptr &&
         functions_.comm_split != nullptr;
}

std::string Nccl::text_of(nccl::Result result) const {
  const char* details = functions_.get_last_error(nullptr);
  return fmt::format("{}: {} (NCCL {}; set NCCL_DEBUG=INFO for details)",
                     functions_.get_error_string(result),
                     details != nullptr && *details != '\0' ? details : "no details", version_);
}

}  // namespace parbench::cuda
