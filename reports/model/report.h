// The report of one run as plain data: the contents of the JSON file and of all tables. Independent
// of devices and scenarios. Times are in seconds and sizes in bytes, unless a name says otherwise.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/base/units/interval.h"
#include "reports/model/profile.h"
#include "reports/model/value.h"
#include "scenarios/plan/bounds.h"
#include "scenarios/plan/graph.h"
#include "scenarios/plan/role.h"
#include "scenarios/recommendation/recommendation.h"

namespace parbench::report {

/// Version of the `parbench` object; increases when an older reader would misread a new object.
inline constexpr int schema_version = 2;

struct Statistics {
  double median = 0;
  std::optional<Interval> median_interval;  // none with fewer than two samples
  double mean = 0;
  double standard_deviation = 0;
  double median_absolute_deviation = 0;
  double min = 0;
  double max = 0;
  friend bool operator==(const Statistics&, const Statistics&) = default;
};

/// Use of cores by the host threads that execute a device's streams, from counters of the operating
/// system. Shares are means over these threads.
struct ThreadUse {
  double core_wait = 0;    // share of the time: ready to run, but other threads had the core
  double kernel = 0;       // share of the time in the kernel
  double page_faults = 0;  // first accesses to memory per second, summed over the threads
  /// Share of the wanted core time that the threads did not get.
  std::optional<double> denied = {};
  /// Share of the device's cores that other programs used. May be negative for a short sample,
  /// because the system counts in clock ticks.
  std::optional<double> others = {};
  int threads = 0;  // number of these threads; 0 in reports of earlier versions
  friend bool operator==(const ThreadUse&, const ThreadUse&) = default;
};

/// Readings of a device's sensors around one sample: the larger of the values before and after.
struct SampleCondition {
  std::string device;
  std::optional<double> clock_mhz = {};
  std::optional<double> temperature_celsius = {};
  std::optional<double> power_watts = {};
  /// Reasons for throttling before, in or after the sample ("power cap", "low clock"). The sample
  /// is marked, but counts like any other.
  std::vector<std::string> throttled_by = {};
  std::optional<ThreadUse> threads = {};  // host threads that execute the device's streams
  friend bool operator==(const SampleCondition&, const SampleCondition&) = default;
};

/// One raw sample: the mean of `iterations` executions. Samples of different cases in one round
/// were taken next to each other. Rounds are numbered across all processes.
struct Sample {
  double seconds = 0;       // time from the plan's first to its last event
  double wall_seconds = 0;  // time on the host, with launch and synchronisation
  std::int64_t iterations = 1;
  int round = 0;
  int process = 0;                               // index of the process that took the sample
  std::vector<SampleCondition> conditions = {};  // readings of the plan's devices, if any
  /// CPU time of an execution, of all threads of the process
  double cpu_seconds = 0;
  NamedNumbers counters = {};  // counters requested by flags of Google Benchmark
  /// Seconds of an execution in which any thread of a rank waited for, sent or received messages;
  /// by rank, for runs over several ranks.
  std::vector<double> rank_waits = {};
  double start_skew = 0;  // seconds between the starts of the ranks; not included in `seconds`
  /// Share of the CPU time that the quota of the process's control group withheld around the
  /// sample: withheld time over the sum of used and withheld time. Nothing without a quota or
  /// readings.
  std::optional<double> quota_lost = {};
  friend bool operator==(const Sample&, const Sample&) = default;
};

/// A fraction or rate computed from the times of a case, often with those of other cases over the
/// rounds in which all these cases were sampled.
struct Metric {
  std::string name;
  double value = 0;
  std::optional<Interval> interval = {};
  std::string remark = {};  // why the value deviates from what a reader expects
  std::string unit = {};    // unit of the amount per second: "B"; empty for a fraction
  friend bool operator==(const Metric&, const Metric&) = default;
};

struct Verification {
  std::string against;  // case name of the reference, or a description of the case's own check
  bool passed = false;
  double largest_error = 0;  // relative to the tolerance; above 1: failed
  std::string detail;        // what was compared, or what was wrong
  friend bool operator==(const Verification&, const Verification&) = default;
};

struct DeviceMemory {
  std::string device;
  std::size_t bytes = 0;
  friend bool operator==(const DeviceMemory&, const DeviceMemory&) = default;
};

/// A kernel that executes operations of a case.
struct Kernel {
  std::string operation;       // "convolution_forward"
  std::string implementation;  // engine or algorithm, as the library names it
  int count = 0;               // number of such operations in one execution
  /// With --autotune: "measuring", or "heuristics" if tuning had no time or memory left. Empty
  /// without --autotune, and for operations without a choice of kernels.
  std::string chosen_by = {};
  friend bool operator==(const Kernel&, const Kernel&) = default;
};

/// The condition of a device over the samples of a case.
struct CaseCondition {
  std::string device;
  std::optional<double> min_clock_mhz;
  std::optional<double> median_clock_mhz;
  std::optional<double> max_temperature_celsius;
  std::optional<double> max_power_watts;
  std::optional<ThreadUse> threads = {};  // mean over the samples
  friend bool operator==(const CaseCondition&, const CaseCondition&) = default;
};

struct ThrottleReason {
  std::string device;
  std::string reason;
  int samples = 0;  // number of samples marked with the reason
  friend bool operator==(const ThrottleReason&, const ThrottleReason&) = default;
};

/// The samples of a case during which a device was throttled.
struct Throttling {
  int marked_samples = 0;
  int read_samples = 0;                 // samples with readings of the devices
  bool flagged = false;                 // the share of marked samples exceeds `max_throttled_share`
  std::vector<ThrottleReason> reasons;  // the most frequent first
  friend bool operator==(const Throttling&, const Throttling&) = default;
};

/// Max share of marked samples before a case is flagged: its median may be that of a slowed device.
constexpr double max_throttled_share = 0.10;

enum class CaseStatus { measured, failed, skipped, not_run };

struct CaseResult {
  std::string name;
  std::string scenario;
  std::string strategy;
  NamedValues parameters;
  NamedValues hidden_parameters;
  std::string dtype;
  bool graph = false;                // whether the run requested a captured and replayed graph
  std::optional<SubmitMode> submit;  // none if the case was not prepared
  CaseStatus status = CaseStatus::not_run;
  std::string error;  // why the case failed or was skipped
  /// "precision", "fixed count", "max-time" (of the case), "total-time" (of the run), "unfinished"
  /// (the run or process ended first), "device lost" (in another case). For a case that was not
  /// run: "total-time" if the run had no time for it, "equal plan" if an earlier case has the same
  /// plan.
  std::string stopped_because;
  std::vector<Sample> samples;
  std::optional<Statistics> statistics;  // only of measured cases
  std::optional<Ratio> speedup;
  std::vector<Metric> metrics;
  std::optional<Bound> bound;
  double efficiency = 0;  // bound over median; 0 without a bound
  std::optional<Verification> verification;
  std::vector<DeviceMemory> memory;
  std::vector<CaseCondition> conditions;
  std::optional<Throttling> throttling;  // only if samples are marked
  double quota_lost = 0;                 // share as in `Sample`, mean over the time of the samples
  double amount = 0;        // amount of work of one execution in `amount_unit`, for throughput
  std::string amount_unit;  // "images", "FLOP", "B"
  double throughput = 0;    // amount per second, by the median
  double flops = 0;         // floating-point operations of one execution
  double bytes = 0;
  std::vector<Kernel> kernels;  // one entry per kernel, in the order of first use
  NamedTexts notes;
  std::optional<Profile> profile;  // none if the case was not profiled
  friend bool operator==(const CaseResult&, const CaseResult&) = default;
};

[[nodiscard]] inline bool has_number(const CaseResult& c) {
  return c.status == CaseStatus::measured && c.statistics;
}

[[nodiscard]] inline bool has_several_processes(const CaseResult& c) {
  return std::ranges::any_of(
      c.samples, [&](const Sample& sample) { return sample.process != c.samples.front().process; });
}

/// The value of `CaseResult::stopped_because` if the time of the run was over.
inline constexpr std::string_view total_time = "total-time";

/// The text shown for a case for which the run had no time.
inline constexpr std::string_view left_out_of_time = "not measured";

/// Returns whether a case has no number only because the time of the run was over; not a failure of
/// the run.
[[nodiscard]] inline bool is_left_out_of_time(const CaseResult& c) {
  return c.status == CaseStatus::not_run && c.stopped_because == total_time;
}

/// The value of `CaseResult::stopped_because` if a case is not sampled because an earlier case has
/// the same plan.
inline constexpr std::string_view equal_plan = "equal plan";

/// Returns whether a case has no number because an earlier case has the same plan.
[[nodiscard]] inline bool has_equal_plan(const CaseResult& c) {
  return c.status == CaseStatus::not_run && c.stopped_because == equal_plan;
}

/// Returns whether a case has no number without being a failure of the run.
[[nodiscard]] inline bool is_left_out(const CaseResult& c) {
  return is_left_out_of_time(c) || has_equal_plan(c);
}

/// Returns whether resuming the run has work to do for a case: it was not measured, or its sampling
/// was cut short. False for a case with the plan of another one.
[[nodiscard]] inline bool is_unfinished(const CaseResult& c) {
  if (has_equal_plan(c)) return false;
  return c.status != CaseStatus::measured || c.stopped_because == "unfinished" ||
         c.stopped_because == "device lost" || c.stopped_because == total_time;
}

/// The best rate of a device at one kind of work, measured without other work by `parbench peaks`.
struct Peak {
  std::string what;  // one of the names in reports/model/peaks.h
  double value = 0;
  std::string unit;  // "FLOP/s", "B/s"
  std::optional<Interval> interval = {};
  std::string measured_utc;
  friend bool operator==(const Peak&, const Peak&) = default;
};

/// A device on which the cases of one scenario ran. Two scenarios of a run may use the same name
/// for different cores.
struct Device {
  std::string scenario;
  std::string name;
  std::string backend;
  std::string model;
  std::vector<int> cores;
  std::vector<int> copy_cores;
  std::size_t memory_bytes = 0;
  NamedTexts facts = {};         // further facts that affect the device's times
  std::vector<Peak> peaks = {};  // peaks known before the run
  /// Devices whose cores or GPU this device uses as a whole; they are idle while it works.
  std::vector<std::string> combines = {};
  friend bool operator==(const Device&, const Device&) = default;
};

/// The meaning of a parameter of a scenario's cases, for explanations of their times.
struct ParameterRole {
  std::string scenario;
  std::string parameter;
  Role role = Role::micro_batch_size;
  std::string advised;  // value to suggest to users; may be empty
  friend bool operator==(const ParameterRole&, const ParameterRole&) = default;
};

struct Link {
  std::string scenario;
  std::string from;
  std::string to;
  std::string kind;  // "NVLink 4.0 × 18, peer access"
  friend bool operator==(const Link&, const Link&) = default;
};

/// A cache of a core, private or shared.
struct CpuCache {
  std::string type;  // "Data", "Instruction", "Unified"
  int level = 0;
  int bytes = 0;
  int sharing = 0;  // number of cores that share the cache
  friend bool operator==(const CpuCache&, const CpuCache&) = default;
};

/// A note on a problem in a file that was read nevertheless.
struct FileNote {
  std::string what;   // "numbers that are not finite were read as missing"
  std::string first;  // the first example: "line 12, 'nan'"
  int count = 1;      // number of occurrences
  friend bool operator==(const FileNote&, const FileNote&) = default;
};

/// Adds `count` occurrences to the note with the text `what`. Adds the note, with `first` as its
/// example, if it is new.
inline void add_file_note(std::vector<FileNote>& notes, std::string_view what, std::string first,
                          int count = 1) {
  const auto known = std::ranges::find(notes, what, &FileNote::what);
  if (known == notes.end()) {
    notes.push_back({std::string(what), std::move(first), count});
  } else {
    known->count += count;
  }
}

/// The model of a processor that another program did not record.
inline constexpr std::string_view unknown_cpu = "unknown CPU";

struct Machine {
  std::string host;
  std::string cpu_model;
  int cores_online = 0;
  std::vector<int> cores_allowed;  // empty: unknown
  /// Number of cores that the CPU quota of the process's control group grants, such as 0.5; only if
  /// below the number of allowed cores.
  std::optional<double> cpu_quota;
  std::size_t memory_bytes = 0;
  std::optional<double> cpu_mhz;  // mean clock of the cores at the start, as the kernel reports it
  std::optional<std::string> governor;
  std::vector<CpuCache> caches;      // caches of the first core
  std::vector<double> load_average;  // means over 1, 5 and 15 minutes, at the start
  std::string operating_system;
  std::string kernel;
  std::string compiler;
  std::string build_type;
  NamedTexts libraries;
  NamedTexts environment;  // variables that kernel libraries read, by name
  /// Values in the context of a Google Benchmark file, by its keys: "library_build_type",
  /// "cpu_scaling_enabled", "aslr_enabled".
  NamedTexts circumstances = {};
  std::optional<std::string> commit;
  std::optional<bool> dirty;
  std::optional<std::string> commit_subject;
  std::optional<std::string> commit_author;
  friend bool operator==(const Machine&, const Machine&) = default;
};

/// The sampling options of one scenario, from flags and preset. With several processes, each has an
/// equal share of the times; the numbers of samples and executions apply to each.
struct Sampling {
  std::string scenario;
  double precision = 0;  // wanted half-width of the median's 95% interval, relative to the median
  int min_samples = 0;   // number of samples before precision may end a case
  std::optional<double> max_seconds;    // time limit of a case; none: no limit
  std::optional<double> total_seconds;  // time limit of the whole run; none: no limit
  /// Number of samples of each case; 0: depends on precision and time.
  int fixed_samples = 0;
  int fixed_iterations = 0;  // executions per sample; 0: enough for `min_sample_seconds`
  double min_sample_seconds = 0;
  friend bool operator==(const Sampling&, const Sampling&) = default;
};

/// One of the processes over which a run was spread.
struct Process {
  std::string started_utc;  // ISO 8601
  double duration_seconds = 0;
  int exit_code = 0;  // 128 + the signal number if a signal ended it
  std::string error;  // how the process ended early, with its last output; else empty
  friend bool operator==(const Process&, const Process&) = default;
};

/// The answer of one scenario of the run.
struct Answer {
  std::string scenario;
  std::string question;
  std::string text = {};
  /// Limits of the answer, one sentence each: few samples, busy cores, throttled devices.
  std::vector<std::string> warnings = {};
  /// Whether there are too few samples or processes for intervals of `wanted_confidence`.
  bool preliminary = false;
  std::vector<Recommendation> recommendations = {};  // one for each kind of work measured
  friend bool operator==(const Answer&, const Answer&) = default;
};

/// An explanation of the times of cases, with evidence: the result of a rule of reports/findings.
struct Finding {
  std::string scenario;
  std::string rule;  // "saturated", "launch-bound", …
  std::vector<std::string> cases;
  std::string text;
  std::string advice = {};  // a suggestion; may be empty
  NamedValues evidence = {};
  /// Share of the first case's time that the finding explains; for a gain, share of the baseline's
  /// time. 0: neither.
  double share = 0;
  friend bool operator==(const Finding&, const Finding&) = default;
};

/// A figure of the publication that a scenario follows, for orientation: it is from other hardware.
struct Published {
  std::string scenario;
  std::string strategy;
  NamedValues parameters;  // parameters of the case to which the figure belongs
  std::string source;      // authors and hardware
  double seconds = 0;      // total of `executions` executions
  int executions = 1;
  friend bool operator==(const Published&, const Published&) = default;
};

/// Max ratio of a bound to the measured time; a higher bound is invalid. A valid one may exceed the
/// time a little: tasks measured alone are sometimes disturbed, and caches help tasks in sequence.
constexpr double max_credible_efficiency = 1.05;

struct Report {
  std::string version;      // version of parbench, or of the other program if known
  std::string measured_by;  // "Google Benchmark 1.9.0"; empty if parbench measured
  std::string started_utc;  // ISO 8601; empty if another program did not record it
  double duration_seconds = 0;
  double sampling_seconds = 0;   // part of the duration: samples and their warm-up
  double task_cost_seconds = 0;  // part of the duration: single tasks, for the bounds
  /// Further parts of the duration: planning, memory and initial data; references and comparisons
  /// with them; the profiling pass. 0 in reports of earlier versions.
  double preparation_seconds = 0;
  double verification_seconds = 0;
  double profiling_seconds = 0;
  double quota_lost = 0;  // share as in `Sample`, over the whole duration
  bool complete = false;  // every case is sampled to the end or left out (`is_left_out`)
  std::vector<std::string> command_line;
  NamedTexts labels;               // facts about the measured project, given by the user
  NamedValues options;             // flags that repeat the measurement
  std::vector<Process> processes;  // processes that have ended; empty if the run has only one
  std::vector<Sampling> sampling;
  Machine machine;
  std::vector<Device> devices;
  std::vector<Link> links;
  std::vector<ParameterRole> roles;
  std::vector<CaseResult> cases;
  std::vector<Answer> answers;
  std::vector<Finding> findings;
  std::vector<Published> published;       // only with the preset `published`
  std::vector<FileNote> file_notes = {};  // notes on the files that were read
  NamedTexts model_notes = {};            // notes on models from files, by model name
  friend bool operator==(const Report&, const Report&) = default;
};

/// Returns "parbench 0.1.0", or the other program that measured the cases.
[[nodiscard]] inline std::string program_of(const Report& report) {
  return report.measured_by.empty() ? "parbench " + report.version : report.measured_by;
}

/// Returns whether the run was for a profiler (--for-profiler): three executions of each case,
/// which are not comparable.
[[nodiscard]] inline bool is_profile(const Report& report) {
  return std::ranges::any_of(report.options, [](const auto& option) {
    return option.first == "for-profiler" && option.second == Value("true");
  });
}

}  // namespace parbench::report
