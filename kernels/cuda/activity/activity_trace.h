// Fills the logs of CUDA streams from the activity records of CUPTI. CUPTI supports one client per
// process, so all streams share one trace.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "kernels/core/activity.h"
#include "kernels/cuda/activity/activity_join.h"
#include "kernels/cuda/activity/cupti.h"

namespace parbench::cuda {

class TracedStream;

using LoadCupti = std::function<std::shared_ptr<const Cupti>()>;

/// The trace of all streams, active as long as a TracedStream exists. Traced streams are made and
/// destroyed by one thread at a time.
class ActivityTrace {
 public:
  /// `load` is called when the first stream is traced or checked.
  explicit ActivityTrace(LoadCupti load = [] { return Cupti::load(); }) : load_(std::move(load)) {}
  ActivityTrace(const ActivityTrace&) = delete;
  ActivityTrace& operator=(const ActivityTrace&) = delete;

  /// Throws Unsupported, with the stream's name, if CUPTI is not available. Does not start tracing.
  void check(const std::string& name);

  /// Detaches CUPTI from the process if it has been used, so that untraced work runs as fast as
  /// before; the next traced stream attaches it again. Does nothing while streams are traced or
  /// after the GPUs were lost. No work may be queued on any GPU.
  void detach() noexcept;

 private:
  friend class TracedStream;

  /// Adds a stream; the first one starts the trace. Throws Unsupported, with the stream's name, if
  /// the trace cannot start.
  [[nodiscard]] LogId open(TracedStream& stream);
  void close(LogId log) noexcept;

  void start(const std::string& name);
  void enable(const std::string& name);
  void stop() noexcept;
  /// Moves the recorded activities into the logs if all traced streams are idle.
  void deliver();
  [[nodiscard]] JoinedActivities read();

  static void hand_out_buffer(std::uint8_t** buffer, std::size_t* bytes, std::size_t* max_records);
  static void take_buffer(CUcontext context, std::uint32_t stream, std::uint8_t* buffer,
                          std::size_t bytes, std::size_t valid_bytes);
  static void on_resource(void* trace, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                          const void* data);
  void add_records(std::uint8_t* buffer, std::size_t bytes);
  void add_record(const CUpti_Activity& record);
  void add_node(CUpti_CallbackId id, const CUpti_GraphData& graph);

  LoadCupti load_;
  std::shared_ptr<const Cupti> cupti_;
  CUpti_SubscriberHandle subscriber_ = nullptr;
  bool attached_ = false;
  std::uint64_t session_ = 0;
  LogId latest_log_ = 0;
  std::map<LogId, TracedStream*> streams_;
  std::mutex mutex_;  // protects join_, because a thread of CUPTI adds records
  ActivityJoin join_;
};

/// Scope in which work that the calling thread enqueues is attributed to one call.
class TracedCall {
 public:
  /// Constructs an object without effect.
  TracedCall() = default;
  TracedCall(const Cupti& cupti, const ActivityOwner& owner);
  ~TracedCall();
  TracedCall(const TracedCall&) = delete;
  TracedCall& operator=(const TracedCall&) = delete;

 private:
  const Cupti* cupti_ = nullptr;
};

/// A stream that is traced during the lifetime of this object.
class TracedStream {
 public:
  struct Description {
    std::string name;
    std::uint32_t device = 0;  // ordinal of the stream's GPU
    std::function<bool()> is_idle;
  };

  /// Begins to trace the stream. Throws Unsupported with the reason if CUPTI cannot be used.
  TracedStream(std::shared_ptr<ActivityTrace> trace, Description description, ActivityLog& log);
  ~TracedStream();
  TracedStream(const TracedStream&) = delete;
  TracedStream& operator=(const TracedStream&) = delete;

  /// Writes later activities to `log`.
  void redirect(ActivityLog& log) { log_ = &log; }

  [[nodiscard]] TracedCall enqueue(ActivityTag tag) const { return call({log_id_, tag}); }
  /// Like `enqueue`, for a call on streams of several devices including this one: each log gets the
  /// work on its device. The streams have joined the call.
  [[nodiscard]] TracedCall enqueue_collective(ActivityTag tag) const {
    return call({log_of_its_device, tag});
  }
  void join_collective(ActivityTag tag) const;

  /// Completes the logs of all traced streams if they are all idle. Must be called whenever this
  /// stream has become idle.
  void settle() { trace_->deliver(); }

  /// Returns the number of the current tracing session, from 1. A session is a period of
  /// uninterrupted tracing; nodes of graphs captured in another session are unknown.
  [[nodiscard]] std::uint64_t session() const { return trace_->session_; }

 private:
  friend class ActivityTrace;

  [[nodiscard]] TracedCall call(const ActivityOwner& owner) const;

  std::shared_ptr<ActivityTrace> trace_;
  Description description_;
  ActivityLog* log_;
  LogId log_id_;
};

}  // namespace parbench::cuda
