// The fields of the structs of scenarios/plan that a report contains: plans, timelines, metrics.
#pragma once

#include "reports/model/field_visitor.h"
#include "scenarios/plan/graph.h"
#include "scenarios/plan/metrics.h"
#include "scenarios/plan/timeline.h"

namespace parbench::report {

void visit_fields(auto& visit, MaybeConst<Work> auto& x) {
  visit.optional("flops", x.flops);
  visit.optional("bytes", x.bytes);
  visit.optional("seconds", x.seconds);
}

void visit_fields(auto& visit, MaybeConst<Lane> auto& x) {
  visit("name", x.name);
  visit("device", x.device);
  visit("kind", x.kind);
  visit("threads", x.threads);
  visit.optional("device_cores", x.device_cores);
}

void visit_fields(auto& visit, MaybeConst<Task> auto& x) {
  visit("name", x.name);
  visit("kind", x.kind);
  visit("lanes", x.lanes);
  visit.optional("after", x.after);
  visit.optional("cost_key", x.cost_key);
  visit.optional("phase", x.phase);
  visit.optional("micro_batch", x.micro_batch);
  visit.optional("work", x.work);
  visit.optional("sent", x.sent);
}

void visit_fields(auto& visit, MaybeConst<PlanGraph> auto& x) {
  visit("submit", x.submit);
  visit("lanes", x.lanes);
  visit("tasks", x.tasks);
}

void visit_fields(auto& visit, MaybeConst<TimeSpan> auto& x) {
  visit("begin_ns", x.begin);
  visit("end_ns", x.end);
}

void visit_fields(auto& visit, MaybeConst<TimedCall> auto& x) {
  visit("task", x.task);
  visit("lane", x.lane);
  visit.optional("name", x.name);
  visit("enqueued", x.enqueued);
  visit("ran", x.ran);
  visit.optional("work", x.work);
  visit.optional("layer", x.layer);
  visit.optional("tensors", x.tensors);
  visit.optional("kernel", x.kernel);
  visit.optional("reference", x.reference);
  visit.optional("team_waiting_ns", x.team_waiting);
}

void visit_fields(auto& visit, MaybeConst<Timeline> auto& x) {
  visit("graph", x.graph);
  visit("calls", x.calls);
  visit("begin_ns", x.begin);
  visit("end_ns", x.end);
  visit("clock_error_ns", x.clock_error);
}

void visit_fields(auto& visit, MaybeConst<Waits> auto& x) {
  visit("dependency", x.dependency);
  visit("host", x.host);
  visit("queue", x.queue);
}

void visit_fields(auto& visit, MaybeConst<DeviceMetrics> auto& x) {
  visit("device", x.device);
  visit("busy", x.busy);
  visit("idle", x.idle);
  visit("bubble", x.bubble);
  visit("waits", x.waits);
  visit("compute", x.compute);
  visit("copy", x.copy);
  visit("communication", x.communication);
  visit("exposed_copy", x.exposed_copy);
  visit("exposed_communication", x.exposed_communication);
  visit("overlapped", x.overlapped);
}

void visit_fields(auto& visit, MaybeConst<LaneMetrics> auto& x) {
  visit("name", x.name);
  visit("device", x.device);
  visit("waits", x.waits);
}

void visit_fields(auto& visit, MaybeConst<CriticalPath> auto& x) {
  visit("compute", x.compute);
  visit("copy", x.copy);
  visit("communication", x.communication);
  visit("host", x.host);
  visit("queue", x.queue);
}

void visit_fields(auto& visit, MaybeConst<CallMetrics> auto& x) {
  visit("name", x.name);
  visit("kind", x.kind);
  visit.optional("layer", x.layer);
  visit.optional("tensors", x.tensors);
  visit.optional("kernel", x.kernel);
  visit.optional("reference", x.reference);
  visit("count", x.count);
  visit("seconds", x.seconds);
  visit("enqueueing", x.enqueueing);
  visit.optional("team_waiting", x.team_waiting);
  visit("flops", x.flops);
  visit("bytes", x.bytes);
}

void visit_fields(auto& visit, MaybeConst<BubbleRatio> auto& x) {
  visit("of_total", x.of_total);
  visit("of_busy", x.of_busy);
}

void visit_fields(auto& visit, MaybeConst<TimelineMetrics> auto& x) {
  visit("span", x.span);
  visit("clock_error", x.clock_error);
  visit("devices", x.devices);
  visit("bubble_ratio", x.bubble_ratio);
  visit("streams_busy", x.streams_busy);
  visit("lanes", x.lanes);
  visit("critical_path", x.critical_path);
  visit("calls", x.calls);
  visit.optional("bus_bandwidth", x.bus_bandwidth);
}

}  // namespace parbench::report
