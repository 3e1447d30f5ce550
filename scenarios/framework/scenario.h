// A scenario: a question, the strategies that answer it, and a plan for each case.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "scenarios/framework/checks/agreement.h"
#include "scenarios/framework/context.h"
#include "scenarios/framework/parameters.h"
#include "scenarios/framework/plan.h"
#include "scenarios/recommendation/recommendation.h"

namespace parbench {

/// A case of a sweep: a strategy and a value for every axis.
struct CaseSpec {
  std::string scenario;
  std::string strategy;
  Parameters parameters;  // identify the case; its name omits the implied ones
  Parameters hidden;      // values of axes that are not part of the identity
  DType dtype = DType::f32;
  MathMode math = MathMode::strict;
  bool graph = false;  // whether the plan is captured once and replayed (--graph)

  [[nodiscard]] NumberFormat format() const { return {dtype, math}; }

  /// Returns "<scenario>/<strategy>/<axis>:<value>/…". Implied parameters are omitted, and files
  /// are named without their folder. A number format other than strict f32 follows as "dtype", and
  /// "graph:true" for a captured case.
  [[nodiscard]] std::string name() const;
  friend bool operator==(const CaseSpec&, const CaseSpec&) = default;
};

/// Reason why a combination of values is not a case.
struct Obstacle {
  /// Flags ("strategy", names of axes) by which a user requests the combination. If the user gave
  /// one of them, the combination is an error; otherwise it is omitted, unless `is_error`.
  std::vector<std::string_view> flags;
  std::string message = {};  // message of the error
  bool is_error = false;     // whether it is an error without any of these flags
};

/// Case of a combination, or the reason why there is none.
using Resolution = std::variant<CaseSpec, Obstacle>;

/// Selects the values of axes that the user does not set: `quick` for an answer within minutes,
/// `published` for the settings of the published experiments.
enum class Preset { quick, published };

/// A result tensor of a run, read to the host in canonical order as f32.
struct Output {
  std::string name;
  std::function<std::vector<float>()> read;
};

/// The amount of work in one run of a case, for throughput: 48 "images", 2.1e9 "FLOP", 4e6 "B".
struct Amount {
  double value = 0;
  std::string unit;
};

/// A planned case with memory borrowed from its Context. The context must outlive the case.
class Case {
 public:
  virtual ~Case() = default;

  [[nodiscard]] virtual const Plan& plan() const = 0;

  /// Fills inputs and parameters with their initial content. Called after `Context::commit`, and
  /// again before a run if another case may have run since. Synchronous; not timed.
  virtual void reset() = 0;

  /// Makes the next `reset` behave like the first one, so that results of earlier runs are not
  /// taken for those of the next one.
  virtual void forget() {}

  /// Prepares a run whose values do not matter (a timing sample) after another case may have used
  /// the borrowed memory. Cheaper than `reset` if everything that a run reads is shared or written
  /// by the run itself.
  virtual void refresh() { reset(); }

  /// Returns the results of the run since `reset`, for the comparison with the reference.
  [[nodiscard]] virtual std::vector<Output> outputs() = 0;
  [[nodiscard]] virtual Tolerance tolerance() const { return {}; }

  /// Runs checks in addition to the comparison (naive spot checks, counters). Returns an error
  /// message, or nothing. Called after a run, and after `outputs` if they are read too.
  [[nodiscard]] virtual std::optional<std::string> check() { return std::nullopt; }

  /// Returns what `check` examines, for the report: "loss recomputed from the predictions". Empty:
  /// there is no check, so only a reference can verify the case.
  [[nodiscard]] virtual std::string checked() const { return {}; }

  [[nodiscard]] virtual Amount amount() const = 0;

  /// Returns further facts for the report: chosen partition, layer costs.
  [[nodiscard]] virtual std::vector<std::pair<std::string, std::string>> notes() const {
    return {};
  }
};

/// A metric computed from the times of several cases, such as how much of a copy is hidden.
struct Metric {
  std::string name;
  // other cases whose times the metric needs; if one was not measured, the metric has no value
  std::vector<CaseSpec> others;
  /// Computes the value of one round from the times of one execution of the case itself, then of
  /// `others` in order. `medians`: the medians of these times over all rounds in which all of these
  /// cases were sampled; for choices between cases, which should not follow the noise of samples.
  std::function<double(std::span<const double> seconds, std::span<const double> medians)> value;
  /// Explains an unexpected value, from the medians over the rounds in which all of the cases were
  /// sampled; empty for other values. May be null.
  std::function<std::string(double value, std::span<const double> medians)> remark = {};
  std::string unit = {};  // unit of a rate per second: "B"; empty: the value is a fraction
};

/// Shares of the time of a profiled execution, means over its devices.
struct TimeShares {
  double compute = 0;
  double exposed = 0;  // copies and communication while the device does not compute
  double idle = 0;     // the rest: waiting for other devices or for the host, or no work
};

/// Results of a case for the scenario's answer.
struct CaseOutcome {
  CaseSpec spec;
  double median_seconds = 0;
  std::optional<Interval> interval = {};  // confidence interval of the median
  std::optional<Ratio> speedup = {};      // speedup over its baseline case, from paired rounds
  double efficiency = 0;                  // bound over measured median; 0: no credible bound
  std::vector<double> memory = {};        // bytes per device; empty: unknown
  std::map<std::string, Ratio, std::less<>> metrics = {};  // by name, from paired rounds
  double critical_path = 0;  // seconds of its longest chain of dependencies; 0: no credible bound
  std::optional<TimeShares> shares = {};  // nothing if it was not profiled
  /// Number of host cores on which its devices compute; 0: unknown, or the devices are not cores.
  std::size_t cores = 0;
  /// Share of the wanted core time that other programs had, in this case or its baseline case,
  /// whichever is larger; 0 if unknown.
  double load = 0;
  /// Limits of the speedup without other programs. The minimum assumes that other programs cost the
  /// baseline as much time as its records allow, and this case none; the maximum assumes the
  /// opposite. Nothing if the assumed cost is too small to matter.
  std::optional<Ratio> min_speedup = {};
  std::optional<Ratio> max_speedup = {};
  int processes = 0;  // number of processes that took its samples, if several

  /// Returns the metric of that name; null if it is unknown.
  [[nodiscard]] const Ratio* metric(std::string_view metric_name) const {
    const auto found = metrics.find(metric_name);
    return found == metrics.end() ? nullptr : &found->second;
  }
};

/// Returns those of the outcomes that cannot be distinguished from the fastest, in the given order;
/// at least one. If the rounds in which they were sampled are independent, the truly fastest is
/// among them with a probability of at least 95%.
using PossiblyFastest =
    std::function<std::vector<const CaseOutcome*>(const std::vector<const CaseOutcome*>&)>;

/// Conclusion of a scenario: at most three lines of 100 columns, and the recommended settings.
struct Conclusion {
  std::string text;
  std::vector<Recommendation> recommendations = {};
  /// Whether the question is answered. False if there was nothing to compare, which more samples
  /// would not change.
  bool is_answered = true;
};

struct Strategy {
  std::string name;
  std::string description;
};

/// A published figure for the experiment that a scenario follows, added to reports that have a case
/// with the published settings (`belongs_to`). It was measured on other hardware, so it is not an
/// expected value.
struct Published {
  std::string strategy;
  std::vector<Parameter> parameters;  // parameters that its case must have; others may differ
  std::string source;                 // author and hardware
  double seconds = 0;                 // total time of `executions` executions of the plan
  int executions = 1;

  [[nodiscard]] bool belongs_to(const CaseSpec& spec) const;
};

/// Sampling of the published preset: the published number of repetitions.
struct Sampling {
  int samples = 0;     // 0: adaptive
  int iterations = 0;  // executions of the plan per sample; 0: chosen for a stable time
};

class Scenario {
 public:
  virtual ~Scenario() = default;

  [[nodiscard]] virtual std::string_view name() const = 0;
  [[nodiscard]] virtual std::string_view question() const = 0;
  [[nodiscard]] virtual const std::vector<Strategy>& strategies() const = 0;
  [[nodiscard]] virtual const std::vector<Axis>& axes() const = 0;

  /// The strategy against which speedups are measured; empty: none.
  [[nodiscard]] virtual std::string_view baseline() const = 0;
  /// Returns whether `candidate` is the baseline case for the speedup of `spec`. By default, it is
  /// if it has the baseline strategy and `spec` does not, both have the same number format and
  /// capture, and all parameters of `candidate` have the same values in `spec`.
  [[nodiscard]] virtual bool is_baseline_of(const CaseSpec& candidate, const CaseSpec& spec) const;
  /// Returns the strategy of the baseline case, even if no such case is part of the run.
  [[nodiscard]] virtual std::string_view baseline_strategy_of(
      [[maybe_unused]] const CaseSpec& spec) const {
    return baseline();
  }
  /// Number of devices that a run of this scenario opens without `--devices`.
  [[nodiscard]] virtual int default_devices() const { return 1; }
  /// Minimum number of devices that its question requires.
  [[nodiscard]] virtual int min_devices() const { return 1; }
  /// Whether its copy lanes should get a core or engine that no compute stream uses.
  [[nodiscard]] virtual bool wants_copy_core() const { return false; }
  /// Whether its plans may be distributed over the devices of several ranks (MPI).
  [[nodiscard]] virtual bool runs_over_ranks() const { return false; }
  [[nodiscard]] virtual Sampling published_sampling() const { return {}; }
  /// Seconds that this scenario adds to the default time limit of a run of the quick preset.
  [[nodiscard]] virtual double quick_seconds() const { return 150; }

  [[nodiscard]] virtual std::vector<Published> published() const { return {}; }

  /// A combination of axis values to resolve, and the devices of the run.
  struct Request {
    CaseSpec spec = {};
    int device_count = 1;
    bool devices_alike = true;        // whether all devices compute with the same kernels
    bool devices_over_ranks = false;  // whether devices belong to several processes (MPI)
    /// Ways in which all ranks together can all-reduce a few bytes; empty without ranks.
    std::vector<RankAllReduce> rank_all_reduces = {};
    bool devices_are_cpus = false;  // whether all devices are CPUs
    /// Whether one device can have the cores of all devices (Backend::open_whole).
    bool has_all_cores = false;
    /// Whether the last device is a CPU device of another kind than the other devices, and these
    /// all compute with the same kernels.
    bool last_serves = false;
    Preset preset = Preset::quick;
    /// Flags by which the user requested this combination: "strategy", names of axes.
    std::vector<std::string> given = {};
    std::string more_devices = "give --devices 2 or more";  // remedy for too few devices

    [[nodiscard]] bool was_given(std::string_view flag) const {
      return std::find(given.begin(), given.end(), flag) != given.end();
    }
  };
  /// Completes and checks one combination of axis values; the default implementation accepts it
  /// unchanged. Called for every combination of values of the axes that apply to the strategy.
  /// Returns an obstacle for an invalid combination, such as more streams than branches.
  [[nodiscard]] virtual Resolution resolve(const Request& request) const { return request.spec; }

  /// Plans a case: borrows memory and prepares operations. Computes nothing except numbers on which
  /// the plan depends (Context::measured), and these only if the context's options allow it.
  [[nodiscard]] virtual std::unique_ptr<Case> prepare(const CaseSpec& spec,
                                                      Context& context) const = 0;

  /// Returns the case with whose outputs those of this case must agree. By default nothing:
  /// `Case::check` alone verifies the case. A case with neither fails. The reference need not be
  /// part of the sweep.
  [[nodiscard]] virtual std::optional<CaseSpec> reference(
      [[maybe_unused]] const CaseSpec& spec) const {
    return std::nullopt;
  }

  /// Returns the baseline case that does the same work as a case of strategy all-cores. By default
  /// it has the same parameters without the number of devices.
  [[nodiscard]] virtual CaseSpec undivided(const CaseSpec& spec) const;

  /// Returns whether a speedup of this case over its baseline is meaningful. It is not if the case
  /// does only a part of the baseline's work.
  [[nodiscard]] virtual bool comparable([[maybe_unused]] const CaseSpec& spec) const {
    return true;
  }

  /// Returns the metrics to compute from the times of this case and others.
  [[nodiscard]] virtual std::vector<Metric> metrics([[maybe_unused]] const CaseSpec& spec) const {
    return {};
  }

  /// Returns whether plans describe cases completely: cases with equal tasks, calls and
  /// dependencies, and equal values of the parameters that all strategies have, do the same, and
  /// only the first of them is measured. False if other parameters affect properties that a plan
  /// does not show, such as the kind of memory.
  [[nodiscard]] virtual bool plans_show_all() const { return false; }

  /// Returns notes about the models that these cases read from files, as pairs of file name and
  /// sentence.
  [[nodiscard]] virtual std::vector<std::pair<std::string, std::string>> model_notes(
      [[maybe_unused]] const std::vector<CaseSpec>& specs) const {
    return {};
  }

  [[nodiscard]] virtual Conclusion answer(const std::vector<CaseOutcome>& outcomes,
                                          const PossiblyFastest& possibly_fastest) const = 0;
};

/// Returns the case with whose results those of `spec` are compared: the scenario's reference, or
/// `spec` itself if there is none, in either case without capture. For a case of all-cores, its
/// undivided case takes the place of `spec`. Nothing if the result would be `spec`.
[[nodiscard]] std::optional<CaseSpec> reference_of(const Scenario& scenario, const CaseSpec& spec);

/// The scenarios of a program, in the order of `list` and of `--scenario all`.
using ScenarioList = std::vector<std::unique_ptr<Scenario>>;

/// Makes parbench's own scenarios; a program may append others.
[[nodiscard]] ScenarioList built_in_scenarios();

}  // namespace parbench
