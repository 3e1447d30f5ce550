// The report of one run as plain data: what the JSON file holds, the table shows and later readers
// get. It does not depend on devices or scenarios; times are seconds, sizes bytes, unless a name
// says otherwise.
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

/// Version of the `parbench` object; raised when a reader of the old one would misread the new one.
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

/// What the operating system did with the host threads that execute a device's streams. Shares are
/// means over these threads.
struct ThreadUse {
  double core_wait = 0;    // share of the time: ready to run, while other threads had the core
  double kernel = 0;       // share of the time: in the kernel
  double page_faults = 0;  // of all of them per second: memory is touched for the first time
  /// Of the time that the threads wanted a core, the share for which they had none.
  std::optional<double> denied = {};
  /// Cores that other programs used, over those of the device. In a short sample it may be below 0:
  /// the system counts in clock ticks.
  std::optional<double> others = {};
  int threads = 0;  // number of these threads; 0 in reports of earlier versions
  friend bool operator==(const ThreadUse&, const ThreadUse&) = default;
};

/// A device around one sample, as far as it has sensors: the larger of the readings before and
/// after.
struct SampleCondition {
  std::string device;
  std::optional<double> clock_mhz = {};
  std::optional<double> temperature_celsius = {};
  std::optional<double> power_watts = {};
  /// Reasons for throttling before, in or after the sample ("power cap", "low clock"); such a
  /// sample is marked, but counts like any other.
  std::vector<std::string> throttled_by = {};
  std::optional<ThreadUse> threads = {};  // of the host, where they execute the device's streams
  friend bool operator==(const SampleCondition&, const SampleCondition&) = default;
};

/// One raw sample: the mean of `iterations` executions. Samples of different cases in one round
/// were taken next to each other; it is counted through all processes.
struct Sample {
  double seconds = 0;       // between the plan's first and last event
  double wall_seconds = 0;  // on the host, launch and synchronisation included
  std::int64_t iterations = 1;
  int round = 0;
  int process = 0;                               // index of the process that took it
  std::vector<SampleCondition> conditions = {};  // of the devices of its plan, if they were read
  double cpu_seconds = 0;                        // of all threads of the process
  NamedNumbers counters = {};                    // requested by flags of Google Benchmark
  /// Of a run over several ranks, by rank: the seconds of an execution in which any of its threads
  /// waited for, sent or received messages.
  std::vector<double> rank_waits = {};
  double start_skew = 0;  // seconds by which ranks began apart; no part of `seconds`
  /// Of the CPU time that the control group of the process wanted around the sample, used and
  /// withheld, the share that its CPU quota withheld; nothing without a quota or readings.
  std::optional<double> quota_lost = {};
  friend bool operator==(const Sample&, const Sample&) = default;
};

/// A fraction or a rate computed from the times of a case and of others, over the rounds in which
/// all were sampled.
struct Metric {
  std::string name;
  double value = 0;
  std::optional<Interval> interval = {};
  std::string remark = {};  // why it is not what a reader expects of it
  std::string unit = {};    // of which it is so many a second: "B"; empty: it is a fraction
  friend bool operator==(const Metric&, const Metric&) = default;
};

struct Verification {
  std::string against;  // case name of the reference, or a description of the case's own check
  bool passed = false;
  double largest_error = 0;  // relative to the tolerance: above 1 is a failure
  std::string detail;        // what was compared, or what was wrong
  friend bool operator==(const Verification&, const Verification&) = default;
};

struct DeviceMemory {
  std::string device;
  std::size_t bytes = 0;
  friend bool operator==(const DeviceMemory&, const DeviceMemory&) = default;
};

/// A kernel that operations of a case run on.
struct Kernel {
  std::string operation;       // "convolution_forward"
  std::string implementation;  // its engine or algorithm, as the library names it
  int count = 0;               // number of such operations in one execution
  /// Under --autotune: "measuring", or "heuristics" where tuning had no time or memory left for it;
  /// empty without --autotune and without a choice of kernels.
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
  int samples = 0;  // number of samples marked with it
  friend bool operator==(const ThrottleReason&, const ThrottleReason&) = default;
};

/// The marked samples of a case.
struct Throttling {
  int marked_samples = 0;
  int read_samples = 0;                 // with readings of the devices
  bool flagged = false;                 // more of them are marked than `max_throttled_share`
  std::vector<ThrottleReason> reasons;  // the most frequent first
  friend bool operator==(const Throttling&, const Throttling&) = default;
};

/// A case with a larger share of marked samples is flagged: its median may be that of a slower
/// device.
constexpr double max_throttled_share = 0.10;

enum class CaseStatus { measured, failed, skipped, not_run };

struct CaseResult {
  std::string name;
  std::string scenario;
  std::string strategy;
  NamedValues parameters;
  NamedValues hidden_parameters;
  std::string dtype;
  bool graph = false;                // captured and replayed because the run asked for it
  std::optional<SubmitMode> submit;  // how the host submits it; none: it was not prepared
  CaseStatus status = CaseStatus::not_run;
  std::string error;  // why it failed or was skipped
  /// "precision", "fixed count", "max-time" (of the case), "total-time" (of the run),
  /// "unfinished" (its run or process ended first), "device lost" (in another case). A case that is
  /// not run has "total-time" where the time of the run did not suffice for it, and "equal plan"
  /// where a case before it does the same.
  std::string stopped_because;
  std::vector<Sample> samples;
  std::optional<Statistics> statistics;  // of measured cases only
  std::optional<Ratio> speedup;
  std::vector<Metric> metrics;
  std::optional<Bound> bound;
  double efficiency = 0;  // bound over median; 0: there is no bound
  std::optional<Verification> verification;
  std::vector<DeviceMemory> memory;
  std::vector<CaseCondition> conditions;
  std::optional<Throttling> throttling;  // only if samples are marked
  double quota_lost = 0;                 // mean of the samples' over their time
  double amount = 0;                     // of `amount_unit` in one execution, for throughput
  std::string amount_unit;               // "images", "FLOP", "B"
  double throughput = 0;                 // amount_unit per second, by the median
  double flops = 0;                      // of one execution
  double bytes = 0;
  std::vector<Kernel> kernels;  // in the order in which they first run; each once
  NamedTexts notes;
  std::optional<Profile> profile;  // unless profiling was off
  friend bool operator==(const CaseResult&, const CaseResult&) = default;
};

[[nodiscard]] inline bool has_number(const CaseResult& c) {
  return c.status == CaseStatus::measured && c.statistics;
}

/// Returns whether several processes have sampled the case.
[[nodiscard]] inline bool has_several_processes(const CaseResult& c) {
  return std::ranges::any_of(
      c.samples, [&](const Sample& sample) { return sample.process != c.samples.front().process; });
}

/// Why sampling stopped, where the time of the whole run was over.
inline constexpr std::string_view total_time = "total-time";

/// What is shown of a case for which the time of the run did not suffice.
inline constexpr std::string_view left_out_of_time = "not measured";

/// Returns whether a case has no number only because the time of the run was over, which is no
/// failure of the run.
[[nodiscard]] inline bool is_left_out_of_time(const CaseResult& c) {
  return c.status == CaseStatus::not_run && c.stopped_because == total_time;
}

/// Why a case is not sampled that does the same as another one.
inline constexpr std::string_view equal_plan = "equal plan";

/// Returns whether a case has no number because a case before it does the same.
[[nodiscard]] inline bool has_equal_plan(const CaseResult& c) {
  return c.status == CaseStatus::not_run && c.stopped_because == equal_plan;
}

/// Returns whether a case has no number and is no failure of the run.
[[nodiscard]] inline bool is_left_out(const CaseResult& c) {
  return is_left_out_of_time(c) || has_equal_plan(c);
}

/// Returns whether a run that is resumed has more to do for a case: it has no number, or its
/// sampling was ended from outside.
[[nodiscard]] inline bool is_unfinished(const CaseResult& c) {
  if (has_equal_plan(c)) return false;
  return c.status != CaseStatus::measured || c.stopped_because == "unfinished" ||
         c.stopped_because == "device lost" || c.stopped_because == total_time;
}

/// The best rate of a device at one kind of work alone, as measured by `parbench peaks`.
struct Peak {
  std::string what;  // reports/model/peaks.h has the words
  double value = 0;
  std::string unit;  // "FLOP/s", "B/s"
  std::optional<Interval> interval = {};
  std::string measured_utc;
  friend bool operator==(const Peak&, const Peak&) = default;
};

/// A device on which the cases of one scenario ran. Two scenarios of a run may divide the cores
/// differently under the same names.
struct Device {
  std::string scenario;
  std::string name;
  std::string backend;
  std::string model;
  std::vector<int> cores;
  std::vector<int> copy_cores;
  std::size_t memory_bytes = 0;
  NamedTexts facts = {};         // further facts on which its times depend
  std::vector<Peak> peaks = {};  // if they were known before the run
  /// Devices whose cores it has all, or of which it is the GPU; they are idle while it works.
  std::vector<std::string> combines = {};
  friend bool operator==(const Device&, const Device&) = default;
};

/// What a parameter of a scenario's cases sets, for explanations of their times.
struct ParameterRole {
  std::string scenario;
  std::string parameter;
  Role role = Role::micro_batch_size;
  std::string advised;  // its value for those who look for a better one; may be empty
  friend bool operator==(const ParameterRole&, const ParameterRole&) = default;
};

/// The link between two devices of a scenario.
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
  int sharing = 0;  // number of cores that share it
  friend bool operator==(const CpuCache&, const CpuCache&) = default;
};

/// A note on a file that was read although something in it is wrong.
struct FileNote {
  std::string what;   // "numbers that are not finite were read as missing"
  std::string first;  // the first example: "line 12, 'nan'"
  int count = 1;      // number of examples
  friend bool operator==(const FileNote&, const FileNote&) = default;
};

/// Adds an example to the note that says `what`, or such a note.
inline void add_file_note(std::vector<FileNote>& notes, std::string_view what, std::string first,
                          int count = 1) {
  const auto known = std::ranges::find(notes, what, &FileNote::what);
  if (known == notes.end()) {
    notes.push_back({std::string(what), std::move(first), count});
  } else {
    known->count += count;
  }
}

/// The processor's model where another program did not record what is needed to name it.
inline constexpr std::string_view unknown_cpu = "unknown CPU";

struct Machine {
  std::string host;
  std::string cpu_model;
  int cores_online = 0;
  std::vector<int> cores_allowed;  // empty: unknown
  /// Cores that the CPU quota of its control group grants the process, 0.5 for half of one; only if
  /// it grants fewer than the allowed ones.
  std::optional<double> cpu_quota;
  std::size_t memory_bytes = 0;
  std::optional<double> cpu_mhz;  // as the kernel reports it at the start
  std::optional<std::string> governor;
  std::vector<CpuCache> caches;      // of the first core
  std::vector<double> load_average;  // over 1, 5 and 15 minutes, at the start
  std::string operating_system;
  std::string kernel;
  std::string compiler;
  std::string build_type;
  NamedTexts libraries;
  NamedTexts environment;  // variables that libraries of kernels read, by name
  /// What Google Benchmark records of the circumstances, under its keys: "library_build_type",
  /// "cpu_scaling_enabled", "aslr_enabled".
  NamedTexts circumstances = {};
  std::optional<std::string> commit;
  std::optional<bool> dirty;
  std::optional<std::string> commit_subject;
  std::optional<std::string> commit_author;
  friend bool operator==(const Machine&, const Machine&) = default;
};

/// The sampling options of one scenario, from flags and preset. Each of several processes gets its
/// share of the times and the full counts.
struct Sampling {
  std::string scenario;
  double precision = 0;                 // half-width of the median's 95% interval over the median
  int min_samples = 0;                  // before precision may end a case
  std::optional<double> max_seconds;    // of a case; none: no limit
  std::optional<double> total_seconds;  // of the whole run; none: no limit
  int fixed_samples = 0;                // 0: as many as precision and time ask for
  int fixed_iterations = 0;             // of a sample; 0: as many as make it long enough
  double min_sample_seconds = 0;
  friend bool operator==(const Sampling&, const Sampling&) = default;
};

/// One of the processes over which a run was spread.
struct Process {
  std::string started_utc;  // ISO 8601
  double duration_seconds = 0;
  int exit_code = 0;  // 128 + the signal where one ended it
  std::string error;  // how it ended early, with its last output; empty: it did not
  friend bool operator==(const Process&, const Process&) = default;
};

/// The answer of one scenario of the run.
struct Answer {
  std::string scenario;
  std::string question;
  std::string text = {};
  /// What limits the answer, a sentence each: few samples, busy cores, throttled devices.
  std::vector<std::string> warnings = {};
  /// From fewer samples, or processes, than intervals of the wanted confidence need.
  bool preliminary = false;
  std::vector<Recommendation> recommendations = {};  // one for each kind of work that was measured
  friend bool operator==(const Answer&, const Answer&) = default;
};

/// An explanation of the times of cases: a rule of reports/findings with its evidence.
struct Finding {
  std::string scenario;
  std::string rule;                // "saturated", "launch-bound", …
  std::vector<std::string> cases;  // names
  std::string text;
  std::string advice = {};  // a suggestion; may be empty
  NamedValues evidence = {};
  double share = 0;  // of the first case's time that it explains; 0 for what costs no time
  friend bool operator==(const Finding&, const Finding&) = default;
};

/// A figure of the write-up that a scenario follows, shown for orientation: its hardware is
/// another.
struct Published {
  std::string scenario;
  std::string strategy;
  NamedValues parameters;  // of the case that it belongs to
  std::string source;      // by whom, with what
  double seconds = 0;      // of `executions` executions together
  int executions = 1;
  friend bool operator==(const Published&, const Published&) = default;
};

/// A bound that exceeds the measured time by more than this factor is invalid: tasks measured alone
/// are sometimes disturbed, and caches help tasks in sequence.
constexpr double max_credible_efficiency = 1.05;

struct Report {
  std::string version;      // of parbench; of another program as far as it is known
  std::string measured_by;  // the program, unless it was parbench: "Google Benchmark 1.9.0"
  std::string started_utc;  // ISO 8601; empty where another program did not record it
  double duration_seconds = 0;
  double sampling_seconds = 0;   // part of it in samples and their warm-up
  double task_cost_seconds = 0;  // part of it in measurements of single tasks, for the bounds
  /// Further parts of it, not in reports of earlier versions: planning, memory and initial data;
  /// references and comparisons with them; the profiling pass.
  double preparation_seconds = 0;
  double verification_seconds = 0;
  double profiling_seconds = 0;
  double quota_lost = 0;  // as of a sample, over the whole duration
  bool complete = false;  // every case was measured that the time of the run sufficed for
  std::vector<std::string> command_line;
  NamedTexts labels;               // what the user says of the project that is measured
  NamedValues options;             // the flags that repeat the measurement
  std::vector<Process> processes;  // so far; empty where the run was a single process
  std::vector<Sampling> sampling;
  Machine machine;
  std::vector<Device> devices;
  std::vector<Link> links;
  std::vector<ParameterRole> roles;
  std::vector<CaseResult> cases;
  std::vector<Answer> answers;
  std::vector<Finding> findings;
  std::vector<Published> published;       // only with the published settings
  std::vector<FileNote> file_notes = {};  // on the file of another program
  NamedTexts model_notes = {};            // what to know of models from files, by their names
  friend bool operator==(const Report&, const Report&) = default;
};

/// "parbench 0.1.0", or the other program that measured the cases.
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
