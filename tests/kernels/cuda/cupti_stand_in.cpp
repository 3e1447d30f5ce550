// Stands in for libcupti.so.13: notes what it is asked and answers by a script. CUPTI_STAND_IN_OLD
// leaves out functions that came late.
#include "tests/kernels/cuda/cupti_stand_in.h"

using parbench::test::CuptiScript;

namespace {

CUpti_BuffersCallbackRequestFunc request_buffer = nullptr;
CUpti_BuffersCallbackCompleteFunc complete_buffer = nullptr;
CUpti_CallbackFunc subscribed_callback = nullptr;
void* subscribed_data = nullptr;

std::size_t size_of(CUpti_ActivityKind kind) {
  switch (kind) {
    case CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION:
      return sizeof(CUpti_ActivityExternalCorrelation);
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
      return sizeof(CUpti_ActivityKernel10);
    case CUPTI_ACTIVITY_KIND_MEMCPY:
      return sizeof(CUpti_ActivityMemcpy6);
    case CUPTI_ACTIVITY_KIND_MEMCPY2:
      return sizeof(CUpti_ActivityMemcpyPtoP4);
    case CUPTI_ACTIVITY_KIND_MEMSET:
      return sizeof(CUpti_ActivityMemset4);
    default:
      return sizeof(CUpti_ActivityAPI);
  }
}

CUgraphNode node_of(std::uint64_t number) {
  // NOLINTNEXTLINE(performance-no-int-to-ptr): never followed
  return reinterpret_cast<CUgraphNode>(number);
}

}  // namespace

extern "C" {

CuptiScript cupti_script;

void cupti_announce_node(std::uint64_t node, std::uint64_t original) {
  CUpti_GraphData graph{};
  graph.node = node_of(node);
  graph.originalNode = node_of(original);
  CUpti_ResourceData resource{};
  resource.resourceDescriptor = &graph;
  const auto id =
      original != 0 ? CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED : CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED;
  if (cupti_script.callbacks.contains(id)) {
    subscribed_callback(subscribed_data, CUPTI_CB_DOMAIN_RESOURCE, id, &resource);
  }
}

CUptiResult cuptiGetResultString(CUptiResult result, const char** text) {
  *text = result == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED ? "CUPTI_ERROR_MULTIPLE"
                                                                   : "CUPTI_ERROR_OTHER";
  return CUPTI_SUCCESS;
}

CUptiResult cuptiSubscribe(CUpti_SubscriberHandle* subscriber, CUpti_CallbackFunc callback,
                           void* data) {
  if (cupti_script.subscribe != CUPTI_SUCCESS) return cupti_script.subscribe;
  *subscriber = reinterpret_cast<CUpti_SubscriberHandle>(&cupti_script);
  subscribed_callback = callback;
  subscribed_data = data;
  ++cupti_script.subscribers;
  cupti_script.attached = true;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiFinalize() {
  ++cupti_script.finalizations;
  const bool safe = cupti_script.subscribers == 0 && cupti_script.kinds.empty() &&
                    cupti_script.flushed && cupti_script.attached;
  if (!safe) ++cupti_script.unsafe_finalizations;
  cupti_script.attached = false;
  cupti_script.clock = nullptr;
  request_buffer = nullptr;
  complete_buffer = nullptr;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiUnsubscribe(CUpti_SubscriberHandle /*subscriber*/) {
  --cupti_script.subscribers;
  cupti_script.callbacks.clear();
  return CUPTI_SUCCESS;
}

CUptiResult cuptiEnableCallback(std::uint32_t /*enable*/, CUpti_SubscriberHandle /*subscriber*/,
                                CUpti_CallbackDomain /*domain*/, CUpti_CallbackId id) {
  cupti_script.callbacks.insert(id);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiGetGraphNodeId(CUgraphNode node, std::uint64_t* number) {
  *number = reinterpret_cast<std::uint64_t>(node);
  return CUPTI_SUCCESS;
}

#ifndef CUPTI_STAND_IN_OLD
CUptiResult cuptiActivityRegisterTimestampCallback(CUpti_TimestampCallbackFunc clock) {
  cupti_script.clock = clock;
  return CUPTI_SUCCESS;
}
#endif

CUptiResult cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc request,
                                           CUpti_BuffersCallbackCompleteFunc complete) {
  request_buffer = request;
  complete_buffer = complete;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityEnable(CUpti_ActivityKind kind) {
  if (kind == cupti_script.failing_kind) return CUPTI_ERROR_NOT_COMPATIBLE;
  if (cupti_script.clock == nullptr) cupti_script.enabled_without_clock = true;
  cupti_script.kinds.insert(kind);
  cupti_script.flushed = false;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityDisable(CUpti_ActivityKind kind) {
  cupti_script.kinds.erase(kind);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityEnableRuntimeApi(CUpti_CallbackId /*id*/, std::uint8_t /*enable*/) {
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityEnableDriverApi(CUpti_CallbackId /*id*/, std::uint8_t /*enable*/) {
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityFlushAll(std::uint32_t /*flag*/) {
  if (cupti_script.flush != CUPTI_SUCCESS) return cupti_script.flush;
  ++cupti_script.flushes;
  cupti_script.flushed = true;
  std::vector<std::uint8_t>& records = cupti_script.records;
  if (records.empty()) return CUPTI_SUCCESS;
  std::uint8_t* buffer = nullptr;
  std::size_t bytes = 0;
  std::size_t max_records = 0;
  request_buffer(&buffer, &bytes, &max_records);
  if (bytes < records.size()) return CUPTI_ERROR_UNKNOWN;
  std::memcpy(buffer, records.data(), records.size());
  complete_buffer(nullptr, 0, buffer, bytes, records.size());
  records.clear();
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityGetNextRecord(std::uint8_t* buffer, std::size_t bytes,
                                       CUpti_Activity** record) {
  auto* next = reinterpret_cast<std::uint8_t*>(*record);
  next = next == nullptr ? buffer : next + size_of((*record)->kind);
  if (next >= buffer + bytes) return CUPTI_ERROR_MAX_LIMIT_REACHED;
  *record = reinterpret_cast<CUpti_Activity*>(next);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityGetNumDroppedRecords(CUcontext /*context*/, std::uint32_t /*stream*/,
                                              std::size_t* dropped) {
  *dropped = cupti_script.dropped;
  cupti_script.dropped = 0;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityPushExternalCorrelationId(CUpti_ExternalCorrelationKind /*kind*/,
                                                   std::uint64_t id) {
  cupti_script.pushed.push_back(id);
  ++cupti_script.open_ids;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityPopExternalCorrelationId(CUpti_ExternalCorrelationKind /*kind*/,
                                                  std::uint64_t* /*last*/) {
  --cupti_script.open_ids;
  return CUPTI_SUCCESS;
}

}  // extern "C"
