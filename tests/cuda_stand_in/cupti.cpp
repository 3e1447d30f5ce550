// CUPTI: activity records of the work of streams and of calls, and callbacks for the nodes of
// graphs.
#include <cupti_activity.h>
#include <cupti_callbacks.h>

#include <algorithm>
#include <cstring>
#include <string_view>
#include <variant>

#include "tests/cuda_stand_in/libraries.h"
#include "tests/cuda_stand_in/objects.h"

namespace parbench::stand_in {
namespace {

using AnyRecord =
    std::variant<CUpti_ActivityKernel10, CUpti_ActivityMemcpy6, CUpti_ActivityMemcpyPtoP4,
                 CUpti_ActivityMemset4, CUpti_ActivityExternalCorrelation>;

/// Bytes of each record in a buffer, as cuptiActivityGetNextRecord knows them.
constexpr std::size_t stride = sizeof(CUpti_ActivityKernel10);  // the largest

/// A record that no flush has delivered.
struct Pending {
  AnyRecord record;
  bool complete = true;
};

/// Streams inside graphs are not those of the capture: their numbers begin here.
constexpr std::uint32_t graph_streams = 1000;

/// What the one client of the library has set. Protected by the lock of the state.
struct Client {
  CUpti_CallbackFunc callback = nullptr;
  void* data = nullptr;
  std::set<CUpti_CallbackId> callbacks;
  CUpti_TimestampCallbackFunc clock = nullptr;
  std::set<CUpti_ActivityKind> kinds;  // that are enabled
  CUpti_BuffersCallbackRequestFunc request = nullptr;
  CUpti_BuffersCallbackCompleteFunc complete = nullptr;
  std::vector<std::shared_ptr<Pending>> records;
  std::size_t dropped = 0;
};

Client& client() {
  static Client& one = *new Client;
  return one;
}

thread_local std::map<CUpti_ExternalCorrelationKind, std::vector<std::uint64_t>> external_ids;

template <class Record>
AnyRecord work_record(CUpti_ActivityKind kind, const CUstream_st& stream, std::uint64_t node) {
  Record record{};
  record.kind = kind;
  record.deviceId = static_cast<std::uint32_t>(stream.context->device);
  record.contextId = stream.context->number;
  record.streamId = node == 0 ? stream.number : graph_streams + static_cast<std::uint32_t>(node);
  record.correlationId = this_thread().correlation;
  record.graphNodeId = node;
  if constexpr (std::is_same_v<Record, CUpti_ActivityKernel10>) record.name = "stand_in_kernel";
  return record;
}

AnyRecord work_record(Work work, const CUstream_st& stream, std::uint64_t node) {
  switch (work) {
    case Work::copy:
      return work_record<CUpti_ActivityMemcpy6>(CUPTI_ACTIVITY_KIND_MEMCPY, stream, node);
    case Work::peer_copy:
      return work_record<CUpti_ActivityMemcpyPtoP4>(CUPTI_ACTIVITY_KIND_MEMCPY2, stream, node);
    case Work::fill:
      return work_record<CUpti_ActivityMemset4>(CUPTI_ACTIVITY_KIND_MEMSET, stream, node);
    default:
      return work_record<CUpti_ActivityKernel10>(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, stream,
                                                 node);
  }
}

void complete(Pending& pending, std::uint64_t start, std::uint64_t end) {
  const std::lock_guard lock(state().mutex);
  pending.complete = true;
  const auto set = [&](auto& record) {
    if constexpr (requires { record.streamId; }) {
      record.start = start;
      record.end = end;
    }
  };
  std::visit(set, pending.record);
}

/// Fills buffers of the client with the records.
void deliver(const std::vector<std::shared_ptr<Pending>>& records, const Client& to) {
  std::uint8_t* buffer = nullptr;
  std::size_t bytes = 0;
  std::size_t used = 0;
  const auto hand_over = [&] {
    if (buffer != nullptr) to.complete(nullptr, 0, buffer, bytes, used);
    buffer = nullptr;
  };
  for (const std::shared_ptr<Pending>& pending : records) {
    if (buffer == nullptr || used + stride > bytes) {
      hand_over();
      std::size_t max_records = 0;
      used = 0;
      to.request(&buffer, &bytes, &max_records);
      if (max_records != 0) refuse("cuptiActivityFlushAll", "a limit of records in a buffer");
    }
    if (buffer == nullptr || stride > bytes) {
      const std::lock_guard lock(state().mutex);
      ++client().dropped;
      continue;
    }
    const auto write = [&](const auto& one) {
      static_assert(sizeof one <= stride);
      std::memcpy(buffer + used, &one, sizeof one);
    };
    std::visit(write, pending->record);
    used += stride;
  }
  hand_over();
}

}  // namespace

Task recorded(const CUstream_st& stream, Task task, Work work, std::uint64_t node) {
  if (work == Work::none) return task;
  const AnyRecord record = work_record(work, stream, node);
  const CUpti_ActivityKind kind = std::visit([](const auto& one) { return one.kind; }, record);
  if (!client().kinds.contains(kind)) return task;
  const auto pending = std::make_shared<Pending>(Pending{record, false});
  client().records.push_back(pending);
  return [task = std::move(task), pending, clock = client().clock] {
    const std::uint64_t start = clock();
    task();
    complete(*pending, start, clock());
  };
}

/// Calls themselves have no records here, but as the library says, external ids belong to calls of
/// a kind that is recorded.
void record_call(std::string_view name) {
  constexpr auto external = CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION;
  const auto& kinds = client().kinds;
  const bool is_recorded = kinds.contains(name.starts_with("cuda") ? CUPTI_ACTIVITY_KIND_RUNTIME
                                                                   : CUPTI_ACTIVITY_KIND_DRIVER);
  if (!is_recorded || !kinds.contains(external)) return;
  for (const auto& [owner, ids] : external_ids) {
    if (ids.empty()) continue;
    const CUpti_ActivityExternalCorrelation link{.kind = external,
                                                 .externalKind = owner,
                                                 .externalId = ids.back(),
                                                 .correlationId = this_thread().correlation,
                                                 .reserved = 0};
    client().records.push_back(std::make_shared<Pending>(Pending{link}));
  }
}

void announce_node(std::uint64_t node, std::uint64_t original) {
  const CUpti_CallbackId id =
      original == 0 ? CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED : CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED;
  if (!client().callbacks.contains(id)) return;
  CUpti_GraphData graph{};
  // NOLINTBEGIN(performance-no-int-to-ptr): only cuptiGetGraphNodeId reads them
  graph.node = reinterpret_cast<CUgraphNode>(node);
  graph.originalNode = reinterpret_cast<CUgraphNode>(original);
  // NOLINTEND(performance-no-int-to-ptr)
  CUpti_ResourceData resource{};
  resource.resourceDescriptor = &graph;
  client().callback(client().data, CUPTI_CB_DOMAIN_RESOURCE, id, &resource);
}

// clang-format off
#define PARBENCH_CUPTI(add) \
  add(cuptiGetResultString) add(cuptiFinalize) add(cuptiSubscribe) add(cuptiUnsubscribe) \
  add(cuptiEnableCallback) add(cuptiGetGraphNodeId) add(cuptiActivityRegisterTimestampCallback) \
  add(cuptiActivityRegisterCallbacks) add(cuptiActivityEnable) add(cuptiActivityDisable) \
  add(cuptiActivityEnableRuntimeApi) add(cuptiActivityEnableDriverApi) \
  add(cuptiActivityFlushAll) add(cuptiActivityGetNextRecord) \
  add(cuptiActivityGetNumDroppedRecords) add(cuptiActivityPushExternalCorrelationId) \
  add(cuptiActivityPopExternalCorrelationId)
// clang-format on

Functions cupti_functions() { return {PARBENCH_CUPTI(PARBENCH_ENTRY)}; }

}  // namespace parbench::stand_in

using namespace parbench::stand_in;  // NOLINT(google-build-using-namespace): the vendor's functions

CUptiResult cuptiGetResultString(CUptiResult result, const char** text) {
  *text = result == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED
              ? "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED"
              : "CUPTI_ERROR of the stand-in";
  return CUPTI_SUCCESS;
}

CUptiResult cuptiSubscribe(CUpti_SubscriberHandle* subscriber, CUpti_CallbackFunc callback,
                           void* data) {
  const std::lock_guard lock(state().mutex);
  if (client().callback != nullptr) return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
  client().callback = callback;
  client().data = data;
  *subscriber = reinterpret_cast<CUpti_SubscriberHandle>(&client());
  return CUPTI_SUCCESS;
}

CUptiResult cuptiUnsubscribe(CUpti_SubscriberHandle subscriber) {
  const std::lock_guard lock(state().mutex);
  if (subscriber == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  client().callback = nullptr;
  client().callbacks.clear();
  return CUPTI_SUCCESS;
}

/// "required CUDA synchronization and CUPTI activity buffer flush is done before calling the API"
CUptiResult cuptiFinalize() {
  const std::lock_guard lock(state().mutex);
  if (client().callback != nullptr || !client().kinds.empty() || !client().records.empty()) {
    refuse(__func__, "a client is subscribed, or records were not flushed");
  }
  for (const auto& object : state().objects) {
    const auto* stream = dynamic_cast<const CUstream_st*>(object.get());
    const bool runs = stream != nullptr && !stream->is_idle() && state().lost == cudaSuccess;
    if (runs) refuse(__func__, "a stream has work");
  }
  client() = {};
  return CUPTI_SUCCESS;
}

CUptiResult cuptiEnableCallback(std::uint32_t enable, CUpti_SubscriberHandle /*subscriber*/,
                                CUpti_CallbackDomain domain, CUpti_CallbackId id) {
  const std::lock_guard lock(state().mutex);
  if (client().callback == nullptr || domain != CUPTI_CB_DOMAIN_RESOURCE || enable != 1) {
    return CUPTI_ERROR_INVALID_PARAMETER;
  }
  client().callbacks.insert(id);
  return CUPTI_SUCCESS;
}

/// Called by callbacks, which have the lock.
CUptiResult cuptiGetGraphNodeId(CUgraphNode node, std::uint64_t* number) {
  *number = reinterpret_cast<std::uint64_t>(node);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityRegisterTimestampCallback(CUpti_TimestampCallbackFunc clock) {
  const std::lock_guard lock(state().mutex);
  client().clock = clock;
  return clock != nullptr ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}

CUptiResult cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc request,
                                           CUpti_BuffersCallbackCompleteFunc complete) {
  const std::lock_guard lock(state().mutex);
  client().request = request;
  client().complete = complete;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityEnable(CUpti_ActivityKind kind) {
  const std::lock_guard lock(state().mutex);
  if (client().clock == nullptr) refuse(__func__, "the clock must be registered before");
  client().kinds.insert(kind);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityDisable(CUpti_ActivityKind kind) {
  const std::lock_guard lock(state().mutex);
  client().kinds.erase(kind);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityEnableRuntimeApi(CUpti_CallbackId /*id*/, std::uint8_t enable) {
  return enable == 0 ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}
CUptiResult cuptiActivityEnableDriverApi(CUpti_CallbackId id, std::uint8_t enable) {
  return cuptiActivityEnableRuntimeApi(id, enable);
}

/// Work that has not ended is delivered by a forced flush only, without times. A thread of the
/// library calls the client.
CUptiResult cuptiActivityFlushAll(std::uint32_t flag) {
  std::vector<std::shared_ptr<Pending>> records;
  Client to;
  {
    const std::lock_guard lock(state().mutex);
    if (client().complete == nullptr) return CUPTI_ERROR_INVALID_OPERATION;
    const bool forced = (flag & CUPTI_ACTIVITY_FLAG_FLUSH_FORCED) != 0;
    const auto is_complete = [](const auto& one) { return one->complete; };
    if (!forced && !std::ranges::all_of(client().records, is_complete)) return CUPTI_SUCCESS;
    for (const auto& one : std::exchange(client().records, {})) {
      records.push_back(one->complete ? one : std::make_shared<Pending>(*one));
    }
    to.request = client().request;
    to.complete = client().complete;
  }
  std::thread([&] { deliver(records, to); }).join();
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityGetNextRecord(std::uint8_t* buffer, std::size_t bytes,
                                       CUpti_Activity** record) {
  auto* next = reinterpret_cast<std::uint8_t*>(*record);
  next = next == nullptr ? buffer : next + stride;
  if (next >= buffer + bytes) return CUPTI_ERROR_MAX_LIMIT_REACHED;
  *record = reinterpret_cast<CUpti_Activity*>(next);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityGetNumDroppedRecords(CUcontext /*context*/, std::uint32_t /*stream*/,
                                              std::size_t* dropped) {
  const std::lock_guard lock(state().mutex);
  *dropped = std::exchange(client().dropped, 0);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityPushExternalCorrelationId(CUpti_ExternalCorrelationKind kind,
                                                   std::uint64_t id) {
  external_ids[kind].push_back(id);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityPopExternalCorrelationId(CUpti_ExternalCorrelationKind kind,
                                                  std::uint64_t* last) {
  std::vector<std::uint64_t>& ids = external_ids[kind];
  if (ids.empty()) return CUPTI_ERROR_QUEUE_EMPTY;
  if (last != nullptr) *last = ids.back();
  ids.pop_back();
  return CUPTI_SUCCESS;
}
