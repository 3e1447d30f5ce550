// What the stand-in of CUPTI answers, and what it was asked, by its symbol `cupti_script`.
#pragma once

#include <cupti_activity.h>
#include <cupti_callbacks.h>

#include <cstdint>
#include <cstring>
#include <set>
#include <vector>

namespace parbench::test {

struct CuptiScript {
  CUptiResult subscribe = CUPTI_SUCCESS;
  CUptiResult flush = CUPTI_SUCCESS;
  CUpti_ActivityKind failing_kind = CUPTI_ACTIVITY_KIND_INVALID;  // cannot be enabled
  std::size_t dropped = 0;                                        // until it is asked
  std::vector<std::uint8_t> records;                              // handed over by the next flush

  int subscribers = 0;
  bool attached = false;         // since a client subscribed
  bool flushed = false;          // nothing was traced since the last flush
  int unsafe_finalizations = 0;  // with a client, with kinds enabled or without a flush before
  int finalizations = 0;
  std::set<CUpti_ActivityKind> kinds;  // enabled now
  std::set<CUpti_CallbackId> callbacks;
  CUpti_TimestampCallbackFunc clock = nullptr;
  bool enabled_without_clock = false;
  std::vector<std::uint64_t> pushed;  // ids so far
  int open_ids = 0;
  int flushes = 0;

  template <class Record>
  void add(const Record& record) {
    const std::size_t end = records.size();
    records.resize(end + sizeof record);
    std::memcpy(records.data() + end, &record, sizeof record);
  }
};

/// Its symbol `cupti_announce_node`: a node with this number was made, or, with an original,
/// cloned.
using AnnounceNode = void (*)(std::uint64_t node, std::uint64_t original);

}  // namespace parbench::test
