// Writes events of the trace, one per line, in the order of the cases.
#include "reports/io/chrome_trace.h"

#include <algorithm>
#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>
#include <string_view>

namespace parbench::report {
namespace {

using Json = nlohmann::ordered_json;

/// Returns a colour name of chrome://tracing's palette; Perfetto derives colours from names.
std::string_view colour_of(TaskKind kind) {
  constexpr std::array<std::string_view, task_kinds.size()> colours{
      "thread_state_running", "thread_state_iowait", "thread_state_runnable"};
  return colours.at(static_cast<std::size_t>(kind));
}

double microseconds(Nanoseconds time) { return static_cast<double>(time) / 1000; }

/// Adds the work of a call or task and its rates to the arguments of a slice.
Json with_work(Json args, const TimedCall& call) {
  const double seconds = seconds_of(call.ran.length());
  const auto add = [&](const std::string& name, double amount) {
    if (!(amount > 0)) return;
    args[name] = amount;
    if (seconds > 0) args[name + "_per_second"] = amount / seconds;
  };
  add("flops", call.work.flops);
  add("bytes", call.work.bytes);
  return args;
}

/// The place of a slice: a process and thread of the trace.
struct Track {
  std::size_t process = 0;
  std::size_t thread = 0;
};

class TraceWriter {
 public:
  explicit TraceWriter(std::ostream& out) : out_(out) {
    out_ << R"({"displayTimeUnit":"ns","traceEvents":[)";
  }
  ~TraceWriter() { out_ << "\n]}\n"; }
  TraceWriter(const TraceWriter&) = delete;
  TraceWriter& operator=(const TraceWriter&) = delete;

  void write(const Json& event) {
    out_ << (std::exchange(is_first_, false) ? "\n" : ",\n")
         << event.dump(-1, ' ', false, Json::error_handler_t::replace);
  }

  void name_process(std::size_t process, const std::string& name) {
    write({{"ph", "M"}, {"name", "process_name"}, {"pid", process}, {"args", {{"name", name}}}});
    write({{"ph", "M"},
           {"name", "process_sort_index"},
           {"pid", process},
           {"args", {{"sort_index", process}}}});
  }

  void name_thread(const Track& track, const std::string& name) {
    for (const auto& [what, args] :
         {std::pair("thread_name", Json{{"name", name}}),
          std::pair("thread_sort_index", Json{{"sort_index", track.thread}})}) {
      write({{"ph", "M"},
             {"name", what},
             {"pid", track.process},
             {"tid", track.thread},
             {"args", args}});
    }
  }

  void slice(const Track& track, const std::string& name, std::string_view category,
             std::string_view colour, const TimeSpan& span, Json args) {
    write({{"ph", "X"},
           {"name", name},
           {"cat", category},
           {"cname", colour},
           {"pid", track.process},
           {"tid", track.thread},
           {"ts", microseconds(span.begin)},
           {"dur", microseconds(span.length())},
           {"args", std::move(args)}});
  }

  /// Writes an arrow from the end of `leaves` to the time `enters`. The arrow starts at `enters` if
  /// that is before the end, because work may begin before the call that enqueued it returns.
  /// Writes none if `enters` is before the begin of `leaves`, which different clocks of two devices
  /// may cause.
  void arrow(std::string_view name, const Track& from, const TimeSpan& leaves, const Track& to,
             Nanoseconds enters) {
    if (enters < leaves.begin) return;
    const std::size_t id = ++arrows_;
    const Nanoseconds inside = std::max(leaves.begin, leaves.end - 1);
    write(arrow_end("s", name, id, from, std::min(inside, enters)));
    Json end = arrow_end("f", name, id, to, enters);
    end["bp"] = "e";
    write(end);
  }

  /// Marks an instant of a whole process.
  void mark(std::size_t process, std::string_view name, Nanoseconds time) {
    write({{"ph", "i"},
           {"s", "p"},
           {"name", name},
           {"pid", process},
           {"tid", 1},
           {"ts", microseconds(time)}});
  }

  void counter(std::size_t process, std::string_view name, Nanoseconds time, const Json& values) {
    write({{"ph", "C"},
           {"name", name},
           {"pid", process},
           {"ts", microseconds(time)},
           {"args", values}});
  }

 private:
  static Json arrow_end(std::string_view phase, std::string_view name, std::size_t id,
                        const Track& track, Nanoseconds time) {
    return {{"ph", phase},
            {"name", name},
            {"cat", name},
            {"id", id},
            {"pid", track.process},
            {"tid", track.thread},
            {"ts", microseconds(time)}};
  }

  std::ostream& out_;
  bool is_first_ = true;
  std::size_t arrows_ = 0;
};

class CaseWriter {
 public:
  CaseWriter(TraceWriter& writer, const TracedCase& traced, std::size_t first_process)
      : writer_(writer),
        traced_(traced),
        timeline_(*traced.timeline),
        host_(first_process),
        tasks_(merge_calls(timeline_).calls),
        devices_(graph().devices()) {
    for (const TimedCall& call : timeline_.calls) {
      first_enqueued_.try_emplace({call.task, call.lane}, call.enqueued);
    }
  }

  [[nodiscard]] std::size_t next_process() const { return host_ + 1 + devices_.size(); }

  void write() {
    name_tracks();
    writer_.mark(host_, "measured time begins", timeline_.begin);
    write_host();
    write_parts();
    write_calls();
    write_dependencies();
    write_busy_lanes();
    write_memory();
  }

 private:
  [[nodiscard]] const PlanGraph& graph() const { return timeline_.graph; }
  [[nodiscard]] bool has_thread_per_lane() const {
    return graph().submit == SubmitMode::thread_per_lane;
  }

  [[nodiscard]] Track track_of(LaneId lane) const {
    const auto device = std::ranges::find(devices_, graph().lane(lane).device);
    return {host_ + 1 + static_cast<std::size_t>(device - devices_.begin()),
            static_cast<std::size_t>(lane) + 1};
  }

  [[nodiscard]] Track host_track_of(LaneId lane) const {
    return {host_, has_thread_per_lane() ? static_cast<std::size_t>(lane) + 1 : 1};
  }

  void name_tracks() {
    writer_.name_process(host_, traced_.name + " · host");
    for (std::size_t i = 0; i < devices_.size(); ++i) {
      writer_.name_process(host_ + 1 + i, traced_.name + " · " + devices_[i]);
    }
    for (LaneId lane = 0; lane < static_cast<LaneId>(graph().lanes.size()); ++lane) {
      writer_.name_thread(track_of(lane), graph().lane(lane).name);
      if (has_thread_per_lane()) {
        writer_.name_thread(host_track_of(lane), "enqueues " + graph().lane(lane).name);
      }
    }
    if (!has_thread_per_lane()) writer_.name_thread({host_, 1}, "enqueues");
  }

  /// Writes when the host enqueued the tasks: a slice for each task, also if it is on several
  /// lanes, or one for a whole graph.
  void write_host() {
    if (graph().submit == SubmitMode::graph) {
      if (tasks_.empty()) return;
      writer_.slice(host_track_of(0), "graph launch", "enqueue", "grey", tasks_.front().enqueued,
                    {{"tasks", graph().tasks.size()}});
      return;
    }
    for (const TimedCall& part : tasks_) {
      const Task& task = graph().task(part.task);
      if (part.lane != task.lanes.front()) continue;
      writer_.slice(host_track_of(part.lane), task.name, "enqueue", "grey", part.enqueued,
                    {{"task", part.task}});
    }
  }

  void write_parts() {
    for (const TimedCall& part : tasks_) {
      const Task& task = graph().task(part.task);
      writer_.slice(
          track_of(part.lane), task.name, "task", colour_of(task.kind), part.ran,
          with_work({{"task", part.task}, {"kind", name_of(task.kind)}, {"after", task.after}},
                    part));
      writer_.arrow("launch", host_track_of(task.lanes.front()), first_enqueued(part),
                    track_of(part.lane), part.ran.begin);
    }
  }

  /// Returns the time in which the host enqueued the first call of a part. The part may begin
  /// before its other calls are enqueued.
  [[nodiscard]] TimeSpan first_enqueued(const TimedCall& part) const {
    return first_enqueued_.at({part.task, part.lane});
  }

  void write_calls() {
    for (const TimedCall& call : timeline_.calls) {
      const Task& task = graph().task(call.task);
      writer_.slice(track_of(call.lane),
                    call.layer.empty() ? call.name : call.name + " · " + call.layer,
                    name_of(task.kind), colour_of(task.kind), call.ran, args_of(call));
    }
  }

  static Json args_of(const TimedCall& call) {
    Json args{{"task", call.task}, {"enqueued_us", microseconds(call.enqueued.end)}};
    if (!call.layer.empty()) args["layer"] = call.layer;
    if (!call.tensors.empty()) args["tensors"] = call.tensors;
    if (!call.kernel.empty()) args["kernel"] = call.kernel;
    if (call.team_waiting > 0) args["team_waiting_us"] = microseconds(call.team_waiting);
    return with_work(std::move(args), call);
  }

  /// Returns the part of each task that ended last, over its lanes.
  [[nodiscard]] std::map<TaskId, const TimedCall*> last_parts() const {
    std::map<TaskId, const TimedCall*> last;
    for (const TimedCall& part : tasks_) {
      const auto [known, is_new] = last.try_emplace(part.task, &part);
      if (!is_new && part.ran.end > known->second->ran.end) known->second = &part;
    }
    return last;
  }

  void write_dependencies() {
    const std::map<TaskId, const TimedCall*> last = last_parts();
    for (const TimedCall& part : tasks_) {
      for (const TaskId before : graph().task(part.task).after) {
        const auto found = last.find(before);
        if (found == last.end() || found->second->lane == part.lane) continue;
        const TimedCall* cause = found->second;
        writer_.arrow("dependency", track_of(cause->lane), cause->ran, track_of(part.lane),
                      part.ran.begin);
      }
    }
  }

  /// Writes the number of lanes that are executing a task.
  void write_busy_lanes() {
    std::map<Nanoseconds, int> changes{{0, 0}, {timeline_.end, 0}};
    for (const TimedCall& part : tasks_) {
      ++changes[part.ran.begin];
      --changes[part.ran.end];
    }
    int busy = 0;
    std::optional<int> shown;
    for (const auto& [time, change] : changes) {
      busy += change;
      if (shown == busy) continue;
      shown = busy;
      writer_.counter(host_, "busy lanes", time, {{"lanes", busy}});
    }
  }

  void write_memory() {
    for (const auto& [device, bytes] : traced_.memory) {
      const auto found = std::ranges::find(devices_, device);
      if (found == devices_.end()) continue;
      const std::size_t process = host_ + 1 + static_cast<std::size_t>(found - devices_.begin());
      for (const Nanoseconds time : {Nanoseconds{0}, timeline_.end}) {
        writer_.counter(process, "memory", time, {{"bytes", bytes}});
      }
    }
  }

  TraceWriter& writer_;
  const TracedCase& traced_;
  const Timeline& timeline_;
  std::size_t host_;              // number of the host's process; the devices follow
  std::vector<TimedCall> tasks_;  // parts: the merged calls of a task on a lane
  std::map<std::pair<TaskId, LaneId>, TimeSpan> first_enqueued_;  // the first call of each part
  std::vector<std::string> devices_;
};

}  // namespace

void write_chrome_trace(std::ostream& out, std::span<const TracedCase> cases) {
  TraceWriter writer(out);
  std::size_t process = 1;
  for (const TracedCase& traced : cases) {
    CaseWriter one(writer, traced, process);
    one.write();
    process = one.next_process();
  }
}

}  // namespace parbench::report
