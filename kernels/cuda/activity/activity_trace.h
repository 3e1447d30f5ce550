// Notes in the logs of CUDA streams what the GPUs did for them, by the activity records that CUPTI
// hands out. CUPTI serves one client in a process, so all streams share one trace.
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

/// Traces while there is a TracedStream. They come and go in one thread at a time.
class ActivityTrace {
 public:
  /// CUPTI is loaded when the first stream is traced or asks for it.
  explicit ActivityTrace(LoadCupti load = [] { return Cupti::load(); }) : load_(std::move(load)) {}
  ActivityTrace(const ActivityTrace&) = delete;
  ActivityTrace& operator=(const ActivityTrace&) = delete;

  /// Throws Unsupported in a stream's name where there is no CUPTI. Does not begin to trace.
  void check(const std::string& name);

  /// Detaches CUPTI from the process if it has been used, so that work that is not traced runs as
  /// fast as before; the next stream that is traced attaches it again. Does nothing while streams
  /// are traced or after the GPUs were lost. No work may be queued on any GPU.
  void detach() noexcept;

 private:
  friend class TracedStream;

  /// Throws Unsupported in the stream's name.
  [[nodiscard]] LogId open(TracedStream& stream);
  void close(LogId log) noexcept;

  void start(const std::string& name);
  void enable(const std::string& name);
  void stop() noexcept;
  /// When all streams are idle, moves what they did into their logs.
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
  std::mutex mutex_;  // of the join, which CUPTI's thread adds to
  ActivityJoin join_;
};

/// While it lives, what the calling thread enqueues is recorded as one call's.
class TracedCall {
 public:
  /// Records nothing.
  TracedCall() = default;
  TracedCall(const Cupti& cupti, const ActivityOwner& owner);
  ~TracedCall();
  TracedCall(const TracedCall&) = delete;
  TracedCall& operator=(const TracedCall&) = delete;

 private:
  const Cupti* cupti_ = nullptr;
};

/// A stream that is traced as long as this lives.
class TracedStream {
 public:
  struct Description {
    std::string name;
    cudaStream_t handle = nullptr;
    std::uint32_t device = 0;  // its ordinal
    std::function<bool()> is_idle;
  };

  /// Throws Unsupported where CUPTI cannot be used, with the reason.
  TracedStream(std::shared_ptr<ActivityTrace> trace, Description description, ActivityLog& log);
  ~TracedStream();
  TracedStream(const TracedStream&) = delete;
  TracedStream& operator=(const TracedStream&) = delete;

  /// What is noted from now on goes there.
  void redirect(ActivityLog& log) { log_ = &log; }

  [[nodiscard]] TracedCall enqueue(ActivityTag tag) const { return call({log_id_, tag}); }
  /// The same for a call on several streams, of which this is one: each log gets what runs on its
  /// stream.
  [[nodiscard]] TracedCall enqueue_collective(ActivityTag tag) const {
    return call({log_of_its_stream, tag});
  }

  /// To be called when the stream has become idle. As soon as all traced streams are, their logs
  /// are complete.
  void settle() { trace_->deliver(); }

  /// The number of the time for which tracing is on without a break, from 1: nodes of graphs that
  /// were captured in another one are unknown.
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
