// A scenario: a question, the strategies that answer it, and a plan for each.
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

/// One point of a sweep, resolved.
struct CaseSpec {
  std::string scenario;
  std::string strategy;
  Parameters parameters;  // identity, defaults included; the name shows what is not implied
  Parameters hidden;      // axes without identity
  DType dtype = DType::f32;
  MathMode math = MathMode::strict;
  bool graph = false;  // captured and replayed, under any strategy

  [[nodiscard]] NumberFormat format() const { return {dtype, math}; }

  /// "<scenario>/<strategy>/<axis>:<value>/…"; a format other than f32 is shown behind the axes as
  /// "dtype", and behind it "graph:true" for a case that is captured.
  [[nodiscard]] std::string name() const;
  friend bool operator==(const CaseSpec&, const CaseSpec&) = default;
};

/// Why a combination of values makes no case.
struct Obstacle {
  /// A user who gave one of these flags ("strategy", names of axes) asked for the combination,
  /// which is then an error. Without any of them the combination is left out.
  std::vector<std::string_view> flags;
  std::string message = {};  // of the error
  bool is_error = false;     // whatever the user gave
};

/// The case of a combination, or why there is none.
using Resolution = std::variant<CaseSpec, Obstacle>;

/// The values of the axes that the user does not give: for an answer within minutes, or those of
/// the published experiments.
enum class Preset { quick, published };

/// One result tensor of a run, read to the host in canonical order as f32.
struct Output {
  std::string name;
  std::function<std::vector<float>()> read;
};

/// The amount of work in one run of a case, for throughput: 48 "images", 2.1e9 "FLOP", 4e6 "B".
struct Amount {
  double value = 0;
  std::string unit;
};

/// A prepared case: planned, its memory borrowed. Everything it points to in the Context outlives
/// it.
class Case {
 public:
  virtual ~Case() = default;

  [[nodiscard]] virtual const Plan& plan() const = 0;

  /// Fills inputs and parameters with their initial content, after `Context::commit` and whenever
  /// another case may have run since. Synchronous; not timed.
  virtual void reset() = 0;

  /// Lets the next `reset` do what the first did, so that results of earlier runs are not taken for
  /// those of the next one.
  virtual void forget() {}

  /// Makes the case ready for a run whose values do not matter (a timing sample) after another case
  /// may have used the borrowed memory. Cheaper than `reset` where everything that a run reads is
  /// shared or written by the run itself.
  virtual void refresh() { reset(); }

  /// Returns the results of the run since `reset`, for the comparison with the reference.
  [[nodiscard]] virtual std::vector<Output> outputs() = 0;
  [[nodiscard]] virtual Tolerance tolerance() const { return {}; }

  /// A check beside the comparison (naive spot checks, counters). Returns what is wrong, or
  /// nothing. Runs after `outputs` of the same run.
  [[nodiscard]] virtual std::optional<std::string> check() { return std::nullopt; }

  /// What `check` examines, in words for the report: "loss recomputed from the predictions". Empty:
  /// there is no check, and only a reference can verify the case.
  [[nodiscard]] virtual std::string checked() const { return {}; }

  [[nodiscard]] virtual Amount amount() const = 0;

  /// Facts for the report in addition to the numbers: chosen partition, layer costs.
  [[nodiscard]] virtual std::vector<std::pair<std::string, std::string>> notes() const {
    return {};
  }
};

/// A metric computed from the times of several cases, such as how much of a copy is hidden.
struct Metric {
  std::string name;
  std::vector<CaseSpec> others;  // whose times it needs; without one of them there is no number
  /// From the seconds of one execution in one round: the case's own, then those of the others in
  /// their order. `medians`, in the same order, are over all these rounds: what is chosen by them
  /// is the same in every round, so that the choice does not follow the noise of single samples.
  std::function<double(std::span<const double> seconds, std::span<const double> medians)> value;
  /// Explains a value that readers would not expect, from the medians over the rounds in which all
  /// of the cases were sampled; empty of any other. May be null.
  std::function<std::string(double value, std::span<const double> medians)> remark = {};
  std::string unit = {};  // of which the value is so many a second: "B"; empty: a fraction
};

/// Shares of the time of a profiled execution, means over its devices.
struct TimeShares {
  double compute = 0;
  double exposed = 0;  // copies and communication while the device computes nothing
  double idle = 0;     // the rest: it waits for other devices, for the host or for nothing
};

/// The results of a case that the scenario's answer needs.
struct CaseOutcome {
  CaseSpec spec;
  double median_seconds = 0;
  std::optional<Interval> interval = {};  // of the median
  std::optional<Ratio> speedup = {};      // over its baseline case, from paired rounds
  double efficiency = 0;                  // bound over measured; 0: there is no bound
  std::vector<double> memory = {};        // bytes that each device holds; empty: not known
  std::map<std::string, Ratio, std::less<>> metrics = {};  // by name, from paired rounds
  double critical_path = 0;  // seconds of its longest chain of dependencies; 0: there is no bound
  std::optional<TimeShares> shares = {};  // where it was profiled
  /// Cores of the host on which its devices compute; 0: not known, or devices that are no cores.
  std::size_t cores = 0;
  /// Share of the core time that it wanted and other programs had; 0 where that is not known.
  double load = 0;
  /// The speedup if other programs cost the baseline as much time as its records allow, and this
  /// case none; and the other way round. Nothing where the load is too small to matter.
  std::optional<Ratio> min_speedup = {};
  std::optional<Ratio> max_speedup = {};
  int processes = 0;  // that took its samples, if there were several
};

/// Returns those of some outcomes that cannot be distinguished from the fastest of them, in their
/// order, at least one: the truly fastest is among them with a probability of at least 95%, if the
/// rounds in which they were sampled are independent.
using PossiblyFastest =
    std::function<std::vector<const CaseOutcome*>(const std::vector<const CaseOutcome*>&)>;

/// What a scenario concludes: at most three lines of 100 columns, and the settings to use.
struct Conclusion {
  std::string text;
  std::vector<Recommendation> recommendations = {};
  /// Whether the question is answered. It is not where nothing could be compared, and no number of
  /// samples changes that.
  bool is_answered = true;
};

struct Strategy {
  std::string name;
  std::string description;
};

/// A figure of the write-up that a scenario follows, for readers of a report that is made with the
/// published settings; never an expected value, for its hardware is another.
struct Published {
  std::string strategy;
  std::vector<Parameter> parameters;  // that its case has, beside any others
  std::string source;                 // by whom, with what
  double seconds = 0;                 // of so many executions of the plan together
  int executions = 1;

  [[nodiscard]] bool belongs_to(const CaseSpec& spec) const;
};

/// How the published preset samples: the published number of repetitions.
struct Sampling {
  int samples = 0;     // 0: adaptive
  int iterations = 0;  // executions of the plan in one sample; 0: as many as give a steady time
};

class Scenario {
 public:
  virtual ~Scenario() = default;

  [[nodiscard]] virtual std::string_view name() const = 0;
  [[nodiscard]] virtual std::string_view question() const = 0;
  [[nodiscard]] virtual const std::vector<Strategy>& strategies() const = 0;
  [[nodiscard]] virtual const std::vector<Axis>& axes() const = 0;

  /// The strategy that speedups are measured against; empty: none.
  [[nodiscard]] virtual std::string_view baseline() const = 0;
  /// Whether `candidate` is the case that the speedup of `spec` is measured against. By default:
  /// the baseline strategy at the same values of every parameter that it has.
  [[nodiscard]] virtual bool is_baseline_of(const CaseSpec& candidate, const CaseSpec& spec) const;
  /// The strategy of that case, also where no such case is part of the run.
  [[nodiscard]] virtual std::string_view baseline_strategy_of(
      [[maybe_unused]] const CaseSpec& spec) const {
    return baseline();
  }
  /// Devices that a run of this scenario opens when `--devices` is not given.
  [[nodiscard]] virtual int default_devices() const { return 1; }
  /// The fewest devices with which it can answer its question.
  [[nodiscard]] virtual int min_devices() const { return 1; }
  /// Whether its copy lanes want a core or engine that no compute stream uses.
  [[nodiscard]] virtual bool wants_copy_core() const { return false; }
  /// Whether its plans may be spread over the devices of several ranks (MPI).
  [[nodiscard]] virtual bool runs_over_ranks() const { return false; }
  [[nodiscard]] virtual Sampling published_sampling() const { return {}; }
  /// The time limit of a run of the quick preset.
  [[nodiscard]] virtual double quick_seconds() const { return 150; }

  [[nodiscard]] virtual std::vector<Published> published() const { return {}; }

  /// One combination of axis values, and the devices of its run.
  struct Request {
    CaseSpec spec = {};
    int device_count = 1;
    bool devices_alike = true;        // whether all compute with the same kernels
    bool devices_over_ranks = false;  // whether they belong to several processes (MPI)
    bool ranks_share_memory = false;  // whether all of these processes run on one machine
    bool devices_are_cpus = false;    // all of them
    /// Whether one device can have the cores of all of them (Backend::open_whole).
    bool has_all_cores = false;
    /// Whether all but the last one do, and that is a CPU device.
    bool last_serves = false;
    Preset preset = Preset::quick;
    /// Flags by which the user chose this combination: "strategy", names of axes.
    std::vector<std::string> given = {};
    std::string more_devices = "give --devices 2 or more";  // how to give the run more of them

    [[nodiscard]] bool was_given(std::string_view flag) const {
      return std::find(given.begin(), given.end(), flag) != given.end();
    }
  };
  /// Completes and checks one combination of axis values; by default it is accepted as it is.
  /// Called for every combination of values of the axes that apply to the strategy. Returns an
  /// obstacle for a combination that makes no sense, such as more streams than branches.
  [[nodiscard]] virtual Resolution resolve(const Request& request) const { return request.spec; }

  /// Plans a case. Borrows memory and prepares operations; computes nothing beside numbers that the
  /// plan depends on (Context::measured), and those only where the context's options allow it.
  [[nodiscard]] virtual std::unique_ptr<Case> prepare(const CaseSpec& spec,
                                                      Context& context) const = 0;

  /// The case whose outputs this one's must equal; nothing, as by default, when `Case::check` alone
  /// verifies it. A case with neither fails. The reference need not be part of the sweep.
  [[nodiscard]] virtual std::optional<CaseSpec> reference(
      [[maybe_unused]] const CaseSpec& spec) const {
    return std::nullopt;
  }

  /// Returns the case of the baseline that does the work of a case of strategy all-cores. By
  /// default it has the same parameters without the number of devices.
  [[nodiscard]] virtual CaseSpec undivided(const CaseSpec& spec) const;

  /// Returns whether a speedup of this case over its baseline is meaningful: not if it does only a
  /// part of the baseline's work.
  [[nodiscard]] virtual bool comparable([[maybe_unused]] const CaseSpec& spec) const {
    return true;
  }

  /// Returns the metrics to compute from the times of this case and others.
  [[nodiscard]] virtual std::vector<Metric> metrics([[maybe_unused]] const CaseSpec& spec) const {
    return {};
  }

  /// Returns whether cases do the same if their tasks, calls and dependencies are equal, and the
  /// parameters that all strategies have: of such cases only the first is measured. Not where other
  /// parameters act on what a plan does not show, such as a kind of memory.
  [[nodiscard]] virtual bool plans_show_all() const { return false; }

  /// Returns what the readers of a run of these cases have to know of models from files: the name
  /// of the file, and a sentence.
  [[nodiscard]] virtual std::vector<std::pair<std::string, std::string>> model_notes(
      [[maybe_unused]] const std::vector<CaseSpec>& specs) const {
    return {};
  }

  /// The answer of the scenario to its question.
  [[nodiscard]] virtual Conclusion answer(const std::vector<CaseOutcome>& outcomes,
                                          const PossiblyFastest& possibly_fastest) const = 0;
};

/// Returns the case to compare a case with: the scenario's reference, without a graph, so that a
/// replay has to equal a direct execution. A captured case that has none is compared with
/// itself as it is without a graph. Nothing where that is the case itself.
[[nodiscard]] std::optional<CaseSpec> reference_of(const Scenario& scenario, const CaseSpec& spec);

/// The scenarios of a program, in the order of `list` and of `--scenario all`.
using ScenarioList = std::vector<std::unique_ptr<Scenario>>;

/// Makes the scenarios of parbench itself; a program may append its own.
[[nodiscard]] ScenarioList built_in_scenarios();

}  // namespace parbench
