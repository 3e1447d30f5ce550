// Use of CUPTI: its callbacks, buffers and records.
#include "kernels/cuda/activity/activity_trace.h"

#include <cupti_driver_cbid.h>
#include <cupti_runtime_cbid.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <ranges>
#include <utility>

#include "kernels/base/error.h"
#include "kernels/cuda/runtime/error.h"

namespace parbench::cuda {
namespace {

/// Kinds of records that are enabled. CUPTI adds external ids only to recorded CUDA calls. Calls of
/// both the runtime and the driver are recorded, because libraries launch through either.
constexpr std::array kinds{CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION,
                           CUPTI_ACTIVITY_KIND_RUNTIME,
                           CUPTI_ACTIVITY_KIND_DRIVER,
                           CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
                           CUPTI_ACTIVITY_KIND_MEMCPY,
                           CUPTI_ACTIVITY_KIND_MEMCPY2,
                           CUPTI_ACTIVITY_KIND_MEMSET};

constexpr std::array node_callbacks{CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED,
                                    CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED};

constexpr auto our_ids = CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0;

constexpr std::size_t buffer_bytes = std::size_t{1} << 20U;
constexpr std::size_t buffer_alignment = 8;  // required by CUPTI's records

/// External id of the call that this thread enqueues; 0 for none. Used for nodes of graphs, which
/// have no correlation id.
thread_local std::uint64_t enqueued_id = 0;

/// The trace that receives CUPTI's records. The callback for records has no user argument, and may
/// run while the process ends, so this object is never destroyed.
struct Receiver {
  std::mutex mutex;
  ActivityTrace* trace = nullptr;
};

Receiver& receiver() {
  static auto* const one = new Receiver;
  return *one;
}

std::uint64_t host_clock() {
  const auto time = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(time).count());
}

template <class Record>
WorkRecord work_of(const CUpti_Activity& activity) {
  const auto& record = reinterpret_cast<const Record&>(activity);
  return {.correlation = record.correlationId,
          .graph_node = record.graphNodeId,
          .device = record.deviceId,
          .begin = record.start,
          .end = record.end};
}

[[noreturn]] void refuse(const std::string& name, const std::string& reason) {
  throw Unsupported(fmt::format("{} cannot record when its calls run: {}", name, reason));
}

std::string reason_of(const Cupti& cupti, const char* call, CUptiResult result) {
  const std::string words = cupti.text_of(result);
  if (result == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED) {
    return fmt::format(
        "another tool traces this process ({}); run without Nsight Systems, Nsight Compute, "
        "Compute "
        "Sanitizer and debuggers",
        words);
  }
  return fmt::format(
      "{} failed: {}; update the driver if it is older than CUPTI, or run with --no-timeline", call,
      words);
}

}  // namespace

// --- one call ----------------------------------------------------------------------------------

TracedCall::TracedCall(const Cupti& cupti, const ActivityOwner& owner) : cupti_(&cupti) {
  const std::uint64_t id = external_id(owner);
  const CUptiResult result = cupti.functions().push_id(our_ids, id);
  if (result != CUPTI_SUCCESS) {
    throw Error("cuptiActivityPushExternalCorrelationId fails: " + cupti.text_of(result));
  }
  enqueued_id = id;
}

TracedCall::~TracedCall() {
  if (cupti_ == nullptr) return;
  enqueued_id = 0;
  (void)cupti_->functions().pop_id(our_ids, nullptr);
}

// --- one stream --------------------------------------------------------------------------------

TracedStream::TracedStream(std::shared_ptr<ActivityTrace> trace, Description description,
                           ActivityLog& log)
    : trace_(std::move(trace)),
      description_(std::move(description)),
      log_(&log),
      log_id_(trace_->open(*this)) {}

TracedStream::~TracedStream() { trace_->close(log_id_); }

TracedCall TracedStream::call(const ActivityOwner& owner) const {
  if (owner.tag == 0) return {};
  return {*trace_->cupti_, owner};
}

void TracedStream::join_collective(ActivityTag tag) const {
  const std::lock_guard lock(trace_->mutex_);
  trace_->join_.add_member(tag, description_.device, log_id_);
}

// --- the trace of all streams ------------------------------------------------------------------

LogId ActivityTrace::open(TracedStream& stream) {
  if (streams_.empty()) start(stream.description_.name);
  const LogId log = ++latest_log_;
  streams_[log] = &stream;
  return log;
}

void ActivityTrace::close(LogId log) noexcept {
  streams_.erase(log);
  {
    const std::lock_guard lock(mutex_);
    join_.remove_log(log);
  }
  if (streams_.empty()) stop();
}

void ActivityTrace::check(const std::string& name) {
  if (!cupti_) cupti_ = load_();
  if (!cupti_->absence().empty()) refuse(name, cupti_->absence());
}

void ActivityTrace::start(const std::string& name) {
  check(name);
  const CUptiResult result = cupti_->functions().subscribe(&subscriber_, on_resource, this);
  if (result != CUPTI_SUCCESS) refuse(name, reason_of(*cupti_, "cuptiSubscribe", result));
  // Not set if subscribing fails: another tool may be using CUPTI, and must not be detached.
  attached_ = true;
  ++session_;
  {
    const std::lock_guard lock(receiver().mutex);
    receiver().trace = this;
  }
  try {
    enable(name);
  } catch (...) {
    stop();
    throw;
  }
}

/// Registers the clock first: a kind of record has the times of the clock that is registered when
/// the kind is enabled.
void ActivityTrace::enable(const std::string& name) {
  const CuptiFunctions& f = cupti_->functions();
  const auto check = [&](const char* call, CUptiResult result) {
    if (result != CUPTI_SUCCESS) refuse(name, reason_of(*cupti_, call, result));
  };
  check("cuptiActivityRegisterTimestampCallback", f.register_clock(host_clock));
  check("cuptiActivityRegisterCallbacks", f.register_buffers(hand_out_buffer, take_buffer));
  for (const auto id : node_callbacks) {
    check("cuptiEnableCallback", f.enable_callback(1, subscriber_, CUPTI_CB_DOMAIN_RESOURCE, id));
  }
  for (const CUpti_ActivityKind kind : kinds) check("cuptiActivityEnable", f.enable(kind));
  // Excludes stream queries: waits repeat them, and their records are not needed.
  (void)f.enable_runtime_call(CUPTI_RUNTIME_TRACE_CBID_cudaStreamQuery_v3020, 0);
  (void)f.enable_driver_call(CUPTI_DRIVER_TRACE_CBID_cuStreamQuery, 0);
}

/// CUPTI stays attached until `detach`: the next case is usually traced as well, and attaching
/// takes long.
void ActivityTrace::stop() noexcept {
  const CuptiFunctions& f = cupti_->functions();
  for (const CUpti_ActivityKind kind : kinds) (void)f.disable(kind);
  (void)f.flush(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);  // the remaining records belong to no log
  {
    const std::lock_guard lock(receiver().mutex);
    receiver().trace = nullptr;
  }
  (void)f.unsubscribe(subscriber_);
  join_ = {};
}

/// cupti_activity.h requires synchronised GPUs and flushed buffers if cuptiFinalize is not called
/// from the exit of a CUDA call; `stop` has flushed the buffers. Graphs made while CUPTI was
/// attached may be used afterwards from CUDA 12.6 on (PyTorch's pull request 146604); the library
/// is that of CUDA 13.
void ActivityTrace::detach() noexcept {
  if (!attached_ || !streams_.empty() || is_lost()) return;
  (void)cupti_->functions().finalize();
  attached_ = false;
}

void ActivityTrace::deliver() {
  const auto is_idle = [](const auto& open) { return open.second->description_.is_idle(); };
  if (!std::ranges::all_of(streams_, is_idle)) return;
  const JoinedActivities joined = read();
  for (const JoinedActivity& one : joined.activities) {
    const auto stream = streams_.find(one.log);
    if (stream != streams_.end()) stream->second->log_->add(one.activity);
  }
  // Lost records are counted in an arbitrary log, because their stream is not always known.
  streams_.begin()->second->log_->lose(joined.lost);
}

/// Forces the flush, because a normal one leaves buffers with unfinished work, which untraced
/// streams may have. All traced work has ended.
JoinedActivities ActivityTrace::read() {
  const CuptiFunctions& f = cupti_->functions();
  const CUptiResult result = f.flush(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
  if (result != CUPTI_SUCCESS) {
    throw Error("cuptiActivityFlushAll fails: " + cupti_->text_of(result));
  }
  std::size_t dropped = 0;
  (void)f.dropped_records(nullptr, 0, &dropped);
  const std::lock_guard lock(mutex_);
  JoinedActivities joined = join_.take();
  joined.lost += dropped;
  return joined;
}

// --- callbacks of CUPTI ------------------------------------------------------------------------

void ActivityTrace::hand_out_buffer(std::uint8_t** buffer, std::size_t* bytes,
                                    std::size_t* max_records) {
  *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(buffer_alignment, buffer_bytes));
  // without a buffer, CUPTI drops records and counts them
  *bytes = *buffer != nullptr ? buffer_bytes : 0;
  *max_records = 0;  // 0: as many as fit the buffer
}

void ActivityTrace::take_buffer(CUcontext /*context*/, std::uint32_t /*stream*/,
                                std::uint8_t* buffer, std::size_t /*bytes*/,
                                std::size_t valid_bytes) {
  {
    const std::lock_guard lock(receiver().mutex);
    if (receiver().trace != nullptr) receiver().trace->add_records(buffer, valid_bytes);
  }
  std::free(buffer);
}

void ActivityTrace::add_records(std::uint8_t* buffer, std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  CUpti_Activity* record = nullptr;
  while (cupti_->functions().next_record(buffer, bytes, &record) == CUPTI_SUCCESS) {
    add_record(*record);
  }
}

void ActivityTrace::add_record(const CUpti_Activity& record) {
  switch (record.kind) {
    case CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION: {
      const auto& link = reinterpret_cast<const CUpti_ActivityExternalCorrelation&>(record);
      if (link.externalKind == our_ids) join_.add_correlation(link.correlationId, link.externalId);
      break;
    }
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
      join_.add_work(work_of<CUpti_ActivityKernel10>(record));
      break;
    case CUPTI_ACTIVITY_KIND_MEMCPY:
      join_.add_work(work_of<CUpti_ActivityMemcpy6>(record));
      break;
    case CUPTI_ACTIVITY_KIND_MEMCPY2:
      join_.add_work(work_of<CUpti_ActivityMemcpyPtoP4>(record));
      break;
    case CUPTI_ACTIVITY_KIND_MEMSET:
      join_.add_work(work_of<CUpti_ActivityMemset4>(record));
      break;
    default:
      break;
  }
}

void ActivityTrace::on_resource(void* trace, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                                const void* data) {
  if (domain != CUPTI_CB_DOMAIN_RESOURCE) return;
  const auto* resource = static_cast<const CUpti_ResourceData*>(data);
  static_cast<ActivityTrace*>(trace)->add_node(
      id, *static_cast<const CUpti_GraphData*>(resource->resourceDescriptor));
}

/// A captured node belongs to the call being enqueued, and a cloned node, as in an instantiated
/// graph, to the owner of its original. Records may contain the number of either.
void ActivityTrace::add_node(CUpti_CallbackId id, const CUpti_GraphData& graph) {
  const auto number_of = [this](CUgraphNode node) {
    std::uint64_t number = 0;
    (void)cupti_->functions().graph_node_id(node, &number);
    return number;
  };
  if (id == CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED) {
    const std::uint64_t node = number_of(graph.node);
    const std::uint64_t original = number_of(graph.originalNode);
    const std::lock_guard lock(mutex_);
    join_.clone_node(node, original);
  } else if (id == CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED && enqueued_id != 0) {
    const std::uint64_t node = number_of(graph.node);
    const std::lock_guard lock(mutex_);
    join_.add_node(node, owner_of(enqueued_id));
  }
}

}  // namespace parbench::cuda
