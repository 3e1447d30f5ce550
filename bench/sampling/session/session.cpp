// Takes each case of a session from its preparation to its result.
#include "bench/sampling/session/session.h"

#include <fmt/format.h>

#include <exception>
#include <set>
#include <utility>

#include "bench/execution/clock.h"
#include "bench/execution/interrupt.h"
#include "bench/execution/profiler_window.h"
#include "bench/sampling/google_benchmark.h"
#include "bench/sampling/session/session_in_progress.h"
#include "reports/statistics/statistics.h"
#include "scenarios/framework/all_cores.h"
#include "scenarios/plan/bounds.h"

namespace parbench {
namespace {

/// In samples with at least this number of executions, an additional untimed one before them costs
/// little; it restores caches that another case has evicted.
constexpr std::int64_t rewarmed_iterations = 4;

}  // namespace

Session::Session(const Scenario& scenario, Context& context, const std::vector<CaseSpec>& specs,
                 const SamplerOptions& options, SessionEnvironment environment)
    : scenario_(scenario),
      context_(context),
      specs_(specs),
      options_(options),
      environment_(std::move(environment)),
      comparisons_(comparisons_of(scenario, specs)),
      equal_cases_(scenario, specs, comparisons_),
      earlier_(environment_.resumed, specs, comparisons_, environment_.on_timeline != nullptr) {
  if (!environment_.now) environment_.now = steady_seconds;
  if (!environment_.common_now) environment_.common_now = environment_.now;
  for (const CaseSpec& spec : specs_) {
    cases_.push_back(described(spec));
    entries_.push_back({RangeName(cases_.back().name)});
  }
  progress_.emplace(environment_.progress, environment_.part, environment_.now);
  time_.emplace(environment_.common_now, options_.total_seconds);
  checkpoint_times_.written();
}

SessionResult Session::run() {
  prepare_all();
  if (!interrupted_) {
    leave_out_lone_cases();
    make_sampler();
    sample_all();
    profile_all();
  }
  environment_.progress.finish();
  return answered();
}

void Session::prepare_all() {
  const auto check_end = [this] {
    if (environment_.interrupted()) throw Interrupted();
    if (time_->left_to_prepare() <= 0) throw OutOfTime();
  };
  Preparation preparation(scenario_, context_, specs_, environment_.make_runner, environment_.now,
                          check_end);
  // Prepares cases with a common baseline together, and cases without comparison last: if time is
  // short, some settings are compared rather than none.
  std::set<std::size_t> baselines;
  for (const auto& comparison : comparisons_) {
    if (comparison.baseline) baselines.insert(*comparison.baseline);
  }
  preparation.sort_groups_by([&](std::size_t index) {
    const std::size_t group = comparisons_[index].baseline.value_or(index);
    return baselines.contains(group) ? group : specs_.size() + group;
  });
  preparation.sort_by([this](std::size_t index) { return earlier_.order_key(index); });
  std::size_t done = 0;
  for (const std::size_t index : preparation.order()) {
    interrupted_ = environment_.interrupted();
    if (interrupted_) return;
    progress_->preparing(cases_[index].name, {done++, cases_.size()}, time_->left());
    if (!earlier_.is_final(index)) prepare_if_possible(index, preparation);
    preparation.release_reference(index);
    checkpoint(CheckpointTimes::preparation_period);
  }
}

void Session::prepare_if_possible(std::size_t index, Preparation& preparation) {
  if (const auto reason = environment_.lost.reason(context_)) {
    leave_out(index, *reason);
  } else if (time_->has_time_for_another()) {
    prepare(index, preparation);
  } else {
    leave_out_of_time(index);
  }
}

void Session::prepare(std::size_t index, Preparation& preparation) {
  Entry& entry = entries_[index];
  const Range of_case(entry.range);
  const double begin = environment_.common_now();
  const double known = times_.sum();
  guarded(index, [&] {
    const Range range(ranges_.prepare);
    entry.prepared = preparation.prepare(index);
    latest_ = index;
    times_.sampling += entry.prepared->warm_up_seconds;
    times_.verification += entry.prepared->verification_seconds;
    describe_prepared(*entry.prepared, specs_[index], context_of(specs_[index], context_),
                      cases_[index]);
    if (const auto other = earlier_.forget_if_cut_elsewhere(index, cases_[index]); !other.empty()) {
      environment_.progress.note(fmt::format("{} sampled again: {}", cases_[index].name, other));
    }
    const report::Verification verification = entry.prepared->verification;
    if (!verification.passed) {
      give_up(index, report::CaseStatus::failed, "wrong result: " + verification.detail);
    } else if (const auto other = equal_case(index)) {
      leave_out_as_equal(index, *other);
    } else if (measures_tasks_first(*entry.prepared)) {
      measure_tasks(index);
    }
  });
  const double seconds = environment_.common_now() - begin;
  times_.preparation += seconds - (times_.sum() - known);
  if (!entry.prepared) return;
  time_->add_case(seconds,
                  std::max(entry.prepared->execution_seconds, options_.min_sample_seconds));
}

/// Measures each task of a case alone and adds a round of costs.
void Session::measure_tasks(std::size_t index) {
  Entry& entry = entries_[index];
  const Range range(ranges_.task_costs);
  const double common_begin = environment_.common_now();
  const double begin = environment_.now();
  latest_.reset();
  auto costs = costs_in_time(*entry.prepared->runner, environment_.interrupted, [this] {
    return (sampler_ ? time_->left() : time_->left_to_prepare()) > 0;
  });
  entry.prepared->subject->reset();  // tasks ran out of order, and some many times
  latest_ = index;
  if (!sampler_ && costs) {
    entry.prepared->execution_seconds = warm_seconds(entry.prepared->execution_seconds, *costs);
  }
  const double seconds = environment_.common_now() - common_begin;
  if (costs) entry.cost_rounds.add(seconds, *std::move(costs));
  if (sampler_) sampler_->spend(seconds);
  times_.task_costs += environment_.now() - begin;
}

/// Runs some work of one case. Its exceptions end the case, and only Interrupted and TimedOut end
/// the session. Returns whether the work succeeded.
template <typename Work>
bool Session::guarded(std::size_t index, Work&& work) {
  try {
    environment_.together([&] { work(); });
    return true;
  } catch (const Interrupted&) {
    interrupted_ = true;
  } catch (const OutOfTime&) {
    leave_out_of_time(index);
  } catch (const TimedOut& error) {
    abandon(index, error);
    throw;
  } catch (const DeviceLost& error) {
    lose_device(index, error);
  } catch (...) {
    const CaseEnd end = end_of(std::current_exception());
    give_up(index, end.status, end.reason);
  }
  return false;
}

void Session::give_up(std::size_t index, report::CaseStatus status, const std::string& reason) {
  report::CaseResult& result = cases_[index];
  result.status = status;
  result.error = reason;
  drop(index);
  environment_.progress.note(
      fmt::format("{} {}: {}", result.name,
                  status == report::CaseStatus::failed ? "failed" : "skipped", reason));
}

void Session::drop(std::size_t index) {
  Entry& entry = entries_[index];
  if (entry.sampler_index) sampler_->fail(*entry.sampler_index);
  entry.prepared.reset();
  entry.cost_rounds = {};
  latest_.reset();
}

/// Handles a lost device. The first case that meets the loss fails. Prepared cases of the same
/// backend are left out now, other cases when they need devices of the backend.
void Session::lose_device(std::size_t index, const DeviceLost& error) {
  LostBackends& lost = environment_.lost;
  if (const auto known = lost.reason(error.backend())) {
    leave_out(index, *known);
    return;
  }
  give_up(index, report::CaseStatus::failed, error.what());
  lost.add(cases_[index].name, error);
  leave_out_lost();
}

void Session::leave_out_lost() {
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    if (!entries_[i].prepared) continue;
    const auto reason = environment_.lost.reason(entries_[i].prepared->subject->plan());
    if (reason) leave_out(i, *reason);
  }
}

/// Leaves out a case whose device was lost; it keeps its samples if it has any.
void Session::leave_out(std::size_t index, const std::string& reason) {
  const std::optional<std::size_t> in_sampler = entries_[index].sampler_index;
  if (in_sampler && !sampler_->samples(*in_sampler).empty()) {
    sampler_->withdraw(*in_sampler);
  } else {
    cases_[index].error = reason;
    drop(index);
  }
}

/// Leaves out a case for lack of time, which is not a failure.
void Session::leave_out_of_time(std::size_t index) {
  report::CaseResult& result = cases_[index];
  result.stopped_because = report::total_time;
  result.error = OutOfTime().what();
  drop(index);
  if (earlier_.is_finished(index)) return;
  const bool is_known = earlier_.find(index) != nullptr;
  const std::string_view what = is_known ? "not resumed" : report::left_out_of_time;
  environment_.progress.note(fmt::format("{} {}: {}", result.name, what, result.error));
}

/// Returns a prepared case with the same work.
std::optional<std::size_t> Session::equal_case(std::size_t index) const {
  if (options_.measures_equal_plans || earlier_.find(index) != nullptr) return std::nullopt;
  return equal_cases_.equal_to(index, [this](std::size_t i) {
    const auto& prepared = entries_[i].prepared;
    return prepared ? &prepared->subject->plan() : nullptr;
  });
}

void Session::leave_out_as_equal(std::size_t index, std::size_t other) {
  report::CaseResult& result = cases_[index];
  result.stopped_because = report::equal_plan;
  result.error = fmt::format("it has the same plan as {}, which is measured", cases_[other].name);
  drop(index);
  environment_.progress.note(
      fmt::format("{} {}: {}", result.name, report::left_out_of_time, result.error));
}

/// Keeps a case alive whose execution timed out, because a stream still uses it.
void Session::abandon(std::size_t index, const TimedOut& error) {
  abandoned_ = std::move(entries_[index].prepared);
  give_up(index, report::CaseStatus::failed, error.what());
  environment_.on_timeout(answered(), error);
}

/// Returns whether a prepared case without an earlier result has partners (its baseline, or cases
/// of which it is the baseline) and all partners were left out for lack of time.
bool Session::is_lone(std::size_t index) const {
  if (!entries_[index].prepared || earlier_.find(index) != nullptr) return false;
  const auto baseline_of = [this](std::size_t i) { return comparisons_[i].baseline; };
  bool has_partners = false;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    const bool is_partner = i != index && (baseline_of(i) == index || baseline_of(index) == i);
    if (!is_partner) continue;
    if (!report::is_left_out_of_time(cases_[i])) return false;
    has_partners = true;
  }
  return has_partners;
}

/// Leaves out cases that cannot be compared, if others can use their time: cases of this session,
/// or the next sessions.
void Session::leave_out_lone_cases() {
  std::vector<std::size_t> lone;
  bool has_others = environment_.part.index + 1 < environment_.part.count;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    if (is_lone(i)) {
      lone.push_back(i);
    } else if (entries_[i].prepared) {
      has_others = true;
    }
  }
  if (!has_others) return;
  for (const std::size_t index : lone) leave_out_of_time(index);
}

void Session::make_sampler() {
  std::vector<SamplerCase> cases;
  double warm_up_seconds = 0;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    if (!entries_[i].prepared) continue;
    entries_[i].sampler_index = sampled_.size();
    sampled_.push_back(i);
    const PreparedCase& prepared = *entries_[i].prepared;
    checkpoint_times_.expect_work(prepared.execution_seconds);
    warm_up_seconds += prepared.warm_up_seconds;
    cases.push_back(sampler_case(prepared, earlier_.find(i)));
    profiling_.expect(prepared);
  }
  const auto is_sampled = [&](std::size_t i) { return entries_[i].sampler_index.has_value(); };
  for (std::size_t i = 0; i < sampled_.size(); ++i) {
    for (const std::size_t other : compared_with(comparisons_[sampled_[i]], is_sampled)) {
      cases[i].compared_with.push_back(*entries_[other].sampler_index);
    }
  }
  const Budget budget = budget_of({.left = time_->left(),
                                   .warm_up = warm_up_seconds,
                                   .floor = options_.floor_samples * time_->round(),
                                   .profiling = profiling_.seconds_left()});
  if (!budget.leaves_profiling) profiling_.expect_none();
  progress_->expect_recording(profiling_.seconds_left());
  sampler_.emplace(options_, budget, cases);
}

void Session::sample_all() {
  if (sampled_.empty()) return;
  const ProfilerWindow window(environment_.profile);
  while (!interrupted_) {
    interrupted_ = environment_.interrupted();
    if (interrupted_) break;
    const std::optional<Measurement> measurement = sampler_->next();
    if (!measurement) break;
    progress_->sampling(cases_[sampled_[measurement->index]].name,
                        {sampler_->ended_cases(), sampled_.size()}, *sampler_, measurement->index);
    const double begin = environment_.common_now();
    guarded(sampled_[measurement->index], [&] { take(*measurement); });
    const double end = environment_.common_now();
    checkpoint_times_.expect_work(end - begin);
    checkpoint(CheckpointTimes::sampling_period);
    sampler_->spend(environment_.common_now() - end);
  }
  sampler_->interrupt();
  for (const std::size_t index : sampled_) {
    const std::size_t in_sampler = *entries_[index].sampler_index;
    if (!sampler_->samples(in_sampler).empty()) continue;
    if (sampler_->stopped_because(in_sampler) == report::total_time) leave_out_of_time(index);
  }
}

void Session::take(const Measurement& measurement) {
  const std::size_t index = sampled_[measurement.index];
  Entry& entry = entries_[index];
  const Range of_case(entry.range);
  const double common_begin = environment_.common_now();
  const double begin = environment_.now();
  const bool restored = latest_ != index;
  if (restored) entry.prepared->subject->refresh();
  latest_ = index;
  const bool is_sample = measurement.kind == MeasurementKind::sample;
  if (is_sample) watch_.before(entry.prepared->subject->plan());
  const double common_warm = environment_.common_now();
  const double warm = environment_.now();
  if (restored && is_sample && measurement.iterations >= rewarmed_iterations) {
    const Range range(ranges_.warm_up);
    (void)entry.prepared->runner->run();
  }
  report::Sample sample = execute(entry, measurement);
  const double end = environment_.now();
  const double common_end = environment_.common_now();
  if (is_sample) watch_.after(sample);
  times_.preparation += warm - begin;
  times_.sampling += end - warm;
  sampler_->record(measurement, sample, common_end - common_begin);
  if (!is_sample || (options_.for_profiler && !entry.cost_rounds.empty())) return;
  if (!entry.cost_rounds.due_after(common_end - common_warm, sample.seconds)) return;
  if (has_time_for_tasks(entry, sample.seconds)) measure_tasks(index);
}

/// Returns whether there is time to measure tasks and take the required samples. For a first bound,
/// `floor_samples` are required, for a better bound `min_samples`.
bool Session::has_time_for_tasks(const Entry& entry, double execution) const {
  const int samples = entry.cost_rounds.empty() ? options_.floor_samples : options_.min_samples;
  const std::size_t lanes = entry.prepared->subject->plan().streams().size();
  return sampler_->has_time_for(entry.cost_rounds.expected_seconds(execution, lanes), samples);
}

report::Sample Session::execute(Entry& entry, const Measurement& measurement) {
  const auto execution = [&] {
    if (environment_.interrupted()) throw Interrupted();
    return entry.prepared->runner->run();
  };
  const Range range(measurement.kind == MeasurementKind::sample ? ranges_.sample : ranges_.warm_up,
                    measurement.round);
  return measurement.kind == MeasurementKind::sample
             ? sample_with_google_benchmark(measurement.iterations, measurement.round, execution)
             : sample_for_warm_up(measurement.iterations, execution);
}

/// Profiles all cases, after sampling so that no sample is affected.
void Session::profile_all() {
  if (!profiling_.wanted()) return;
  profiling_.expect_none();
  for (const Entry& entry : entries_) {
    if (entry.prepared) profiling_.expect(*entry.prepared);
  }
  std::size_t done = 0;
  const SessionResult sampled = answered();
  for (const std::size_t index : profiling_order(sampled.cases, sampled.answer)) {
    if (!entries_[index].prepared) continue;
    progress_->recording(cases_[index].name, {done++, sampled_.size()});
    profile(index);
    checkpoint(CheckpointTimes::sampling_period);
  }
}

/// Profiles a case, or notes the reason for not doing so.
void Session::profile(std::size_t index) {
  Entry& entry = entries_[index];
  const auto skip = [&](std::string_view reason) {
    profiling_.withdraw(*entry.prepared);
    ProfilingPass::note(cases_[index], reason);
  };
  if (interrupted_) return skip("interrupted");
  if (profiling_seconds(entry.prepared->execution_seconds) > time_->left()) {
    return skip(OutOfTime().what());
  }
  if (const auto lost = environment_.lost.reason(entry.prepared->subject->plan())) {
    return skip(*lost);
  }
  const Range of_case(entry.range);
  const bool restored = std::exchange(latest_, std::nullopt) == index;
  const double begin = environment_.now();
  try {
    const std::vector<report::Sample>& samples = sampler_->samples(*entry.sampler_index);
    const ProfilingPass::Subject subject{cases_[index], *entry.prepared, samples, restored,
                                         time_->left()};
    environment_.together([&] { profiling_.profile(subject); });
  } catch (const Interrupted&) {
    interrupted_ = true;
  } catch (const TimedOut& error) {
    environment_.on_timeout(answered(), error);
    abandoned_ = std::move(entry.prepared);
    throw;
  } catch (const DeviceLost& error) {
    environment_.lost.add(cases_[index].name, error);
    leave_out_lost();
  }
  times_.profiling += environment_.now() - begin;
}

void Session::add_samples(std::size_t index, report::CaseResult& result) const {
  const Entry& entry = entries_[index];
  if (!entry.prepared || !entry.sampler_index || !sampler_) {
    result = earlier_.kept(index, std::move(result));
    return;
  }
  result.samples = sampler_->samples(*entry.sampler_index);
  if (result.samples.empty()) return;
  result.stopped_because = sampler_->stopped_because(*entry.sampler_index);
  // Results of a case that is still sampled are read only if the run does not complete.
  if (result.stopped_because.empty()) result.stopped_because = "unfinished";
  if (!entry.cost_rounds.empty()) {
    const auto costs = entry.cost_rounds.costs(median(seconds_of(result.samples)));
    if (costs) result.bound = bound_of(entry.prepared->subject->plan(), *costs);
  }
  earlier_.complete(index, result.bound && entry.cost_rounds.any_beside_samples(), result);
  summarise_case(result);
}

SessionResult Session::result() const {
  SessionResult result{.cases = cases_, .answer = {}, .times = times_, .interrupted = interrupted_};
  for (std::size_t i = 0; i < cases_.size(); ++i) add_samples(i, result.cases[i]);
  compare_cases(comparisons_, result.cases);
  return result;
}

SessionResult Session::answered() const {
  SessionResult answered = result();
  answered.answer =
      answer_of(scenario_, specs_, answered.cases,
                {.for_profiler = options_.for_profiler, .devices = devices_of(context_)});
  return answered;
}

void Session::checkpoint(double period) {
  if (!checkpoint_times_.is_due(period)) return;
  environment_.checkpoint(result());
  checkpoint_times_.written();
}

SessionResult run_session(const Scenario& scenario, Context& context,
                          const std::vector<CaseSpec>& specs, const SamplerOptions& options,
                          SessionEnvironment environment) {
  return Session(scenario, context, specs, options, std::move(environment)).run();
}

}  // namespace parbench
