// The fields of every struct of a report, listed once for all visitors, such as the JSON writer and
// reader. A test compares the list with the members of the structs and with the JSON Schema.
#pragma once

#include "reports/model/field_visitor.h"
#include "reports/model/peaks.h"
#include "reports/model/plan_fields.h"
#include "reports/model/report.h"

namespace parbench::report {

void visit_fields(auto& visit, MaybeConst<Interval> auto& x) {
  visit("low", x.low);
  visit("high", x.high);
  visit("confidence", x.confidence);
}

void visit_fields(auto& visit, MaybeConst<Statistics> auto& x) {
  visit("median", x.median);
  visit.optional("median_interval", x.median_interval);
  visit("mean", x.mean);
  visit("standard_deviation", x.standard_deviation);
  visit("median_absolute_deviation", x.median_absolute_deviation);
  visit("min", x.min);
  visit("max", x.max);
}

void visit_fields(auto& visit, MaybeConst<ThreadUse> auto& x) {
  visit("core_wait", x.core_wait);
  visit("kernel", x.kernel);
  visit("page_faults", x.page_faults);
  visit.optional("denied", x.denied);
  visit.optional("others", x.others);
  visit.optional("threads", x.threads);
}

void visit_fields(auto& visit, MaybeConst<SampleCondition> auto& x) {
  visit("device", x.device);
  visit.optional("clock_mhz", x.clock_mhz);
  visit.optional("temperature_celsius", x.temperature_celsius);
  visit.optional("power_watts", x.power_watts);
  visit.optional("throttled_by", x.throttled_by);
  visit.optional("threads", x.threads);
}

void visit_fields(auto& visit, MaybeConst<Sample> auto& x) {
  visit("seconds", x.seconds);
  visit("wall_seconds", x.wall_seconds);
  visit("cpu_seconds", x.cpu_seconds);
  visit("iterations", x.iterations);
  visit("round", x.round);
  visit.optional("process", x.process);
  visit.optional("conditions", x.conditions);
  visit.optional("counters", x.counters);
  visit.optional("rank_waits", x.rank_waits);
  visit.optional("start_skew", x.start_skew);
  visit.optional("quota_lost", x.quota_lost);
}

void visit_fields(auto& visit, MaybeConst<Ratio> auto& x) {
  visit("value", x.value);
  visit.optional("interval", x.interval);
  visit("baseline", x.baseline);
}

void visit_fields(auto& visit, MaybeConst<Metric> auto& x) {
  visit("name", x.name);
  visit("value", x.value);
  visit.optional("interval", x.interval);
  visit.optional("remark", x.remark);
  visit.optional("unit", x.unit);
}

void visit_fields(auto& visit, MaybeConst<Bound> auto& x) {
  visit("seconds", x.seconds);
  visit("critical_path", x.critical_path);
  visit("busiest_lane", x.busiest_lane);
  visit("busiest_lane_name", x.busiest_lane_name);
  visit("busiest_device", x.busiest_device);
  visit("one_machine", x.one_machine);
}

void visit_fields(auto& visit, MaybeConst<Verification> auto& x) {
  visit("against", x.against);
  visit("passed", x.passed);
  visit("largest_error", x.largest_error);
  visit.optional("detail", x.detail);
}

void visit_fields(auto& visit, MaybeConst<DeviceMemory> auto& x) {
  visit("device", x.device);
  visit("bytes", x.bytes);
}

void visit_fields(auto& visit, MaybeConst<Kernel> auto& x) {
  visit("operation", x.operation);
  visit("implementation", x.implementation);
  visit("count", x.count);
  visit.optional("chosen_by", x.chosen_by);
}

void visit_fields(auto& visit, MaybeConst<CaseCondition> auto& x) {
  visit("device", x.device);
  visit.optional("min_clock_mhz", x.min_clock_mhz);
  visit.optional("median_clock_mhz", x.median_clock_mhz);
  visit.optional("max_temperature_celsius", x.max_temperature_celsius);
  visit.optional("max_power_watts", x.max_power_watts);
  visit.optional("threads", x.threads);
}

void visit_fields(auto& visit, MaybeConst<ThrottleReason> auto& x) {
  visit("device", x.device);
  visit("reason", x.reason);
  visit("samples", x.samples);
}

void visit_fields(auto& visit, MaybeConst<Throttling> auto& x) {
  visit("marked_samples", x.marked_samples);
  visit("read_samples", x.read_samples);
  visit("flagged", x.flagged);
  visit("reasons", x.reasons);
}

void visit_fields(auto& visit, MaybeConst<Losses> auto& x) {
  visit("ideal", x.ideal);
  visit("slower_calls", x.slower_calls);
  visit("imbalance", x.imbalance);
  visit("bubble", x.bubble);
  visit("copies", x.copies);
  visit("launch", x.launch);
}

void visit_fields(auto& visit, MaybeConst<Finding> auto& x) {
  visit("scenario", x.scenario);
  visit("rule", x.rule);
  visit("cases", x.cases);
  visit("text", x.text);
  visit.optional("advice", x.advice);
  visit("evidence", x.evidence);
  visit.optional("share", x.share);
}

void visit_fields(auto& visit, MaybeConst<Profile> auto& x) {
  visit("executions", x.executions);
  visit("median", x.median);
  visit.optional("deviation", x.deviation);
  visit("seconds_per_call", x.seconds_per_call);
  visit("metrics", x.metrics);
  visit.optional("timeline", x.timeline);
  visit.optional("losses", x.losses);
}

void visit_fields(auto& visit, MaybeConst<CaseResult> auto& x) {
  visit("name", x.name);
  visit("scenario", x.scenario);
  visit("strategy", x.strategy);
  visit("parameters", x.parameters);
  visit.optional("hidden_parameters", x.hidden_parameters);
  visit("dtype", x.dtype);
  visit.optional("graph", x.graph);
  visit.optional("submit", x.submit);
  visit("status", x.status);
  visit.optional("error", x.error);
  visit.optional("stopped_because", x.stopped_because);
  visit.optional("statistics", x.statistics);
  visit.optional("speedup", x.speedup);
  visit.optional("metrics", x.metrics);
  visit.optional("bound", x.bound);
  visit.optional("efficiency", x.efficiency);
  visit.optional("verification", x.verification);
  visit.optional("memory", x.memory);
  visit.optional("conditions", x.conditions);
  visit.optional("throttling", x.throttling);
  visit.optional("quota_lost", x.quota_lost);
  visit.optional("amount", x.amount);
  visit.optional("amount_unit", x.amount_unit);
  visit.optional("throughput", x.throughput);
  visit.optional("flops", x.flops);
  visit.optional("bytes", x.bytes);
  visit.optional("kernels", x.kernels);
  visit.optional("notes", x.notes);
  visit.optional("profile", x.profile);
  visit.optional("samples", x.samples);
}

void visit_fields(auto& visit, MaybeConst<Peak> auto& x) {
  visit("what", x.what);
  visit("value", x.value);
  visit("unit", x.unit);
  visit.optional("interval", x.interval);
  visit("measured_utc", x.measured_utc);
}

void visit_fields(auto& visit, MaybeConst<KnownPeaks> auto& x) {
  visit("machine", x.machine);
  visit("machine_id", x.machine_id);
  visit("peaks", x.peaks);
}

void visit_fields(auto& visit, MaybeConst<Device> auto& x) {
  visit("scenario", x.scenario);
  visit("name", x.name);
  visit("backend", x.backend);
  visit("model", x.model);
  visit("cores", x.cores);
  visit.optional("copy_cores", x.copy_cores);
  visit("memory_bytes", x.memory_bytes);
  visit.optional("facts", x.facts);
  visit.optional("peaks", x.peaks);
  visit.optional("combines", x.combines);
}

void visit_fields(auto& visit, MaybeConst<ParameterRole> auto& x) {
  visit("scenario", x.scenario);
  visit("parameter", x.parameter);
  visit("role", x.role);
  visit.optional("advised", x.advised);
}

void visit_fields(auto& visit, MaybeConst<Link> auto& x) {
  visit("scenario", x.scenario);
  visit("from", x.from);
  visit("to", x.to);
  visit("kind", x.kind);
}

void visit_fields(auto& visit, MaybeConst<CpuCache> auto& x) {
  visit("type", x.type);
  visit("level", x.level);
  visit("bytes", x.bytes);
  visit("sharing", x.sharing);
}

void visit_fields(auto& visit, MaybeConst<Machine> auto& x) {
  visit("host", x.host);
  visit("cpu_model", x.cpu_model);
  visit("cores_online", x.cores_online);
  visit("cores_allowed", x.cores_allowed);
  visit.optional("cpu_quota", x.cpu_quota);
  visit("memory_bytes", x.memory_bytes);
  visit.optional("cpu_mhz", x.cpu_mhz);
  visit.optional("governor", x.governor);
  visit.optional("caches", x.caches);
  visit.optional("load_average", x.load_average);
  visit("operating_system", x.operating_system);
  visit("kernel", x.kernel);
  visit("compiler", x.compiler);
  visit("build_type", x.build_type);
  visit("libraries", x.libraries);
  visit.optional("environment", x.environment);
  visit.optional("circumstances", x.circumstances);
  visit.optional("commit", x.commit);
  visit.optional("dirty", x.dirty);
  visit.optional("commit_subject", x.commit_subject);
  visit.optional("commit_author", x.commit_author);
}

void visit_fields(auto& visit, MaybeConst<Sampling> auto& x) {
  visit("scenario", x.scenario);
  visit("precision", x.precision);
  visit("min_samples", x.min_samples);
  visit.optional("max_seconds", x.max_seconds);
  visit.optional("total_seconds", x.total_seconds);
  visit.optional("fixed_samples", x.fixed_samples);
  visit.optional("fixed_iterations", x.fixed_iterations);
  visit("min_sample_seconds", x.min_sample_seconds);
}

void visit_fields(auto& visit, MaybeConst<Process> auto& x) {
  visit("started_utc", x.started_utc);
  visit("duration_seconds", x.duration_seconds);
  visit("exit_code", x.exit_code);
  visit.optional("error", x.error);
}

void visit_fields(auto& visit, MaybeConst<LabelledCase> auto& x) {
  visit("label", x.label);
  visit("name", x.name);
}

void visit_fields(auto& visit, MaybeConst<Recommendation> auto& x) {
  visit.optional("setting", x.setting);
  visit("candidates", x.candidates);
  visit.optional("tied", x.tied);
  visit("pays", x.pays);
  visit.optional("gaining", x.gaining);
  visit.optional("gain", x.gain);
  visit.optional("fastest_gain", x.fastest_gain);
  visit.optional("remark", x.remark);
  visit.optional("load", x.load);
  visit.optional("hiding_load", x.hiding_load);
  visit.optional("processes", x.processes);
}

void visit_fields(auto& visit, MaybeConst<Answer> auto& x) {
  visit("scenario", x.scenario);
  visit("question", x.question);
  visit("text", x.text);
  visit.optional("warnings", x.warnings);
  visit.optional("preliminary", x.preliminary);
  visit.optional("recommendations", x.recommendations);
}

void visit_fields(auto& visit, MaybeConst<Published> auto& x) {
  visit("scenario", x.scenario);
  visit("strategy", x.strategy);
  visit("parameters", x.parameters);
  visit("source", x.source);
  visit("seconds", x.seconds);
  visit("executions", x.executions);
}

void visit_fields(auto& visit, MaybeConst<FileNote> auto& x) {
  visit("what", x.what);
  visit("first", x.first);
  visit("count", x.count);
}

void visit_fields(auto& visit, MaybeConst<Report> auto& x) {
  visit("version", x.version);
  visit.optional("measured_by", x.measured_by);
  visit("started_utc", x.started_utc);
  visit("duration_seconds", x.duration_seconds);
  visit("sampling_seconds", x.sampling_seconds);
  visit("task_cost_seconds", x.task_cost_seconds);
  visit.optional("preparation_seconds", x.preparation_seconds);
  visit.optional("verification_seconds", x.verification_seconds);
  visit.optional("profiling_seconds", x.profiling_seconds);
  visit.optional("quota_lost", x.quota_lost);
  visit("complete", x.complete);
  visit("command_line", x.command_line);
  visit.optional("labels", x.labels);
  visit("options", x.options);
  visit.optional("processes", x.processes);
  visit("sampling", x.sampling);
  visit("machine", x.machine);
  visit("devices", x.devices);
  visit.optional("links", x.links);
  visit.optional("roles", x.roles);
  visit("cases", x.cases);
  visit("answers", x.answers);
  visit.optional("findings", x.findings);
  visit.optional("published", x.published);
  visit.optional("file_notes", x.file_notes);
  visit.optional("model_notes", x.model_notes);
}

}  // namespace parbench::report
