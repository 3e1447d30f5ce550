// State of each case between rounds, and the rules for starting and ending its sampling.
#include "bench/sampling/sampler.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <utility>

#include "reports/statistics/statistics.h"

namespace parbench {
namespace {

constexpr std::int64_t max_iterations = 1'000'000;
/// Limits the growth per warm-up, because first executions of a case are slower than later ones.
constexpr std::int64_t largest_growth = 100;
constexpr int max_warm_ups = 6;
constexpr double first_execution_margin = 5;

std::optional<double> precision_of(const std::vector<report::Sample>& samples) {
  const std::vector<double> seconds = seconds_of(samples);
  const auto interval = median_interval(seconds);
  if (!interval || is_low(interval)) return std::nullopt;
  return relative_half_width(*interval, median(seconds));
}

/// Interpolates linearly between sorted values at the index `share` * (size - 1).
double quantile(const std::vector<double>& sorted, double share) {
  const double position = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return std::lerp(sorted[below], sorted[above], position - static_cast<double>(below));
}

/// Returns the relative standard deviation of samples, estimated from the quartiles of a normal
/// distribution, which a few disturbed samples do not change; nothing for fewer than two samples.
std::optional<double> deviation_of(const std::vector<report::Sample>& samples) {
  constexpr double range_in_deviations = 1.349;  // interquartile range / σ
  constexpr double few_values = 1.6;             // quartiles of n values are closer by 1 + 1.6/n
  if (samples.size() < 2) return std::nullopt;
  std::vector<double> seconds = seconds_of(samples);
  const double middle = median(seconds);
  if (!(middle > 0)) return std::nullopt;
  std::ranges::sort(seconds);
  const double range = quantile(seconds, 0.75) - quantile(seconds, 0.25);
  const double correction = 1 + few_values / static_cast<double>(seconds.size());
  return correction * range / range_in_deviations / middle;
}

/// Returns the number of executions that together last about `seconds`.
std::int64_t iterations_lasting(double seconds, double execution_seconds) {
  if (execution_seconds <= 0) return max_iterations;
  const double wanted = std::ceil(seconds / execution_seconds);
  return static_cast<std::int64_t>(std::clamp(wanted, 1.0, static_cast<double>(max_iterations)));
}

}  // namespace

Sampler::Sampler(SamplerOptions options, const Budget& budget,
                 const std::vector<SamplerCase>& cases)
    : options_(options), budget_(budget) {
  for (const SamplerCase& one : cases) {
    State state;
    state.execution_seconds = one.execution_seconds;
    state.spent = one.warm_up_seconds;
    state.compared_with = one.compared_with;
    if (one.samples.empty()) {
      settle_iterations(state);
    } else {
      go_on_from(state, one);
    }
    states_.push_back(std::move(state));
  }
  note_common_deviation();
}

void Sampler::go_on_from(State& state, const SamplerCase& earlier) {
  state.samples = earlier.samples;
  state.stopped_because = earlier.stopped_because;
  state.iterations = state.samples.back().iterations;
  for (const report::Sample& sample : state.samples) {
    state.sample_cost = sample.wall_seconds * static_cast<double>(sample.iterations);
    state.spent += state.sample_cost;
    other_seconds_ -= state.sample_cost;
    round_ = std::max(round_, sample.round);
  }
  note_spread(state);
  end_if_done(state);
}

void Sampler::note_spread(State& state) {
  state.precision = precision_of(state.samples);
  state.deviation = deviation_of(state.samples);
}

void Sampler::note_common_deviation() {
  std::vector<double> known;
  for (const State& state : states_) {
    if (state.deviation) known.push_back(*state.deviation);
  }
  if (!known.empty()) common_deviation_ = median(known);
}

void Sampler::settle_iterations(State& state) const {
  // A first execution includes starting threads, page faults and loading code, so its time is
  // trusted only if it is long compared with these.
  const double trusted = state.warm_ups == 0 ? first_execution_margin : 1;
  if (options_.fixed_iterations > 0) {
    state.iterations = options_.fixed_iterations;
  } else if (state.execution_seconds >= trusted * options_.min_sample_seconds ||
             state.warm_ups >= max_warm_ups) {
    state.iterations = iterations_lasting(options_.min_sample_seconds, state.execution_seconds);
  }
}

std::optional<Measurement> Sampler::next_warm_up() const {
  for (std::size_t i = 0; i < states_.size(); ++i) {
    const State& state = states_[i];
    if (ended(state) || state.iterations > 0) continue;
    std::int64_t growth = 1;
    for (int number = 0; number <= state.warm_ups && growth < max_iterations; ++number) {
      growth *= largest_growth;
    }
    const auto wanted = iterations_lasting(options_.min_sample_seconds, state.execution_seconds);
    return Measurement{MeasurementKind::warm_up, i, std::min(wanted, growth), 0};
  }
  return std::nullopt;
}

std::optional<Measurement> Sampler::next() {
  if (auto warm_up = next_warm_up()) return warm_up;
  while (true) {
    if (order_.empty()) begin_round();
    if (order_.empty()) return std::nullopt;
    const std::size_t index = order_.back();
    order_.pop_back();
    State& state = states_[index];
    if (state.dropped) continue;
    const bool fits = expected_cost(state) + cost_of_partner(index) <= total_left();
    const bool is_needed = !has_samples() || completes_pair(index);
    if (!lacks_partner(state) && (fits || is_needed)) {
      return Measurement{MeasurementKind::sample, index, state.iterations, round_};
    }
    if (!ended(state)) state.stopped_because = "total-time";
  }
}

void Sampler::record(const Measurement& measurement, const report::Sample& sample,
                     double wall_seconds) {
  State& state = states_.at(measurement.index);
  state.spent += wall_seconds;
  if (measurement.kind == MeasurementKind::warm_up) {
    ++state.warm_ups;
    // The host's clock counts too, because launching and waiting can take many times as long as a
    // short plan.
    state.execution_seconds = std::max(sample.seconds, sample.wall_seconds);
    const bool long_enough =
        state.execution_seconds * static_cast<double>(measurement.iterations) >=
        0.5 * options_.min_sample_seconds;
    if (long_enough || measurement.iterations == max_iterations) {
      state.iterations = iterations_lasting(options_.min_sample_seconds, state.execution_seconds);
    }
    settle_iterations(state);
    return;
  }
  state.sample_cost = wall_seconds;
  state.samples.push_back(sample);
  note_spread(state);
  note_common_deviation();
  end_if_done(state);
}

void Sampler::end_if_done(State& state) const {
  if (ended(state)) return;
  const int count = static_cast<int>(state.samples.size());
  if (options_.fixed_samples > 0) {
    if (count >= options_.fixed_samples) state.stopped_because = "fixed count";
  } else if (count >= options_.min_samples && state.precision &&
             *state.precision <= options_.precision) {
    state.stopped_because = "precision";
  }
}

std::vector<std::size_t> Sampler::partners_of(std::size_t index) const {
  std::vector<std::size_t> partners;
  for (std::size_t i = 0; i < states_.size(); ++i) {
    const std::vector<std::size_t>& others = states_[i].compared_with;
    if (std::ranges::find(others, index) != others.end()) partners.push_back(i);
  }
  return partners;
}

bool Sampler::lacks_partner(const State& state) const {
  if (!state.samples.empty() || state.compared_with.empty() || !has_samples()) return false;
  const State& baseline = states_[state.compared_with.front()];
  return baseline.samples.empty() && baseline.stopped_because == "total-time";
}

double Sampler::cost_of_partner(std::size_t index) const {
  if (!states_[index].samples.empty()) return 0;
  std::optional<double> cost;
  for (const std::size_t partner : partners_of(index)) {
    const State& state = states_[partner];
    if (!state.samples.empty()) return 0;
    if (ended(state)) continue;
    cost = std::min(cost.value_or(expected_cost(state)), expected_cost(state));
  }
  return cost.value_or(0);
}

bool Sampler::completes_pair(std::size_t index) const {
  const State& state = states_[index];
  const auto is_sampled = [this](std::size_t i) { return !states_[i].samples.empty(); };
  if (!state.samples.empty() || state.compared_with.empty()) return false;
  return std::ranges::all_of(state.compared_with, is_sampled) &&
         std::ranges::none_of(partners_of(state.compared_with.front()), is_sampled);
}

double Sampler::expected_cost(const State& state) const {
  if (state.sample_cost > 0) return state.sample_cost;
  return state.execution_seconds * static_cast<double>(std::max<std::int64_t>(1, state.iterations));
}

bool Sampler::out_of_time(const State& state) const {
  if (state.spent + expected_cost(state) <= options_.max_seconds) return false;
  const auto count = static_cast<int>(state.samples.size());
  if (count >= options_.floor_samples) return true;
  return count > 0 && state.spent + expected_cost(state) > 2 * options_.max_seconds;
}

void Sampler::end_what_time_forbids() {
  for (State& state : states_) {
    if (!ended(state) && out_of_time(state)) state.stopped_because = "max-time";
  }
  const bool all_have_samples = std::ranges::none_of(
      states_, [this](const State& state) { return !ended(state) && state.samples.empty(); });
  if (!all_have_samples || round_cost() <= total_left()) return;
  for (State& state : states_) {
    if (!ended(state)) state.stopped_because = "total-time";
  }
}

bool Sampler::has_samples() const {
  return std::ranges::any_of(states_, [](const State& state) { return !state.samples.empty(); });
}

double Sampler::total_left() const {
  if (std::isinf(budget_.total_seconds)) return budget_.total_seconds;
  const bool lacks_samples = std::ranges::any_of(states_, [this](const State& state) {
    return !ended(state) && std::ssize(state.samples) < options_.min_samples;
  });
  const double margin = lacks_samples ? budget_.margin_seconds : 0;
  return budget_.total_seconds + margin - spent_seconds() - other_seconds_;
}

bool Sampler::has_time_for(double wall_seconds, int samples) const {
  double needed = wall_seconds;
  for (const State& state : states_) {
    const int missing = samples - static_cast<int>(state.samples.size());
    if (!ended(state) && missing > 0) needed += missing * expected_cost(state);
  }
  return needed <= total_left();
}

double Sampler::round_cost() const {
  double cost = 0;
  for (std::size_t i = 0; i < states_.size(); ++i) {
    if (is_due(i)) cost += expected_cost(states_[i]);
  }
  return cost;
}

bool Sampler::is_due(std::size_t index) const {
  return !ended(states_[index]) || samples_for_others(index) > 0;
}

double Sampler::samples_for_others(std::size_t index) const {
  const State& state = states_[index];
  if (state.dropped || options_.fixed_samples > 0 || out_of_time(state)) return 0;
  double max = 0;
  for (const State& other : states_) {
    const bool compared =
        std::ranges::find(other.compared_with, index) != other.compared_with.end();
    if (compared) max = std::max(max, samples_left(other));
  }
  return max;
}

void Sampler::begin_round() {
  end_what_time_forbids();
  for (std::size_t i = 0; i < states_.size(); ++i) {
    if (is_due(i)) order_.push_back(i);
  }
  if (order_.empty()) return;
  ++round_;
  std::seed_seq seed{options_.seed, static_cast<std::uint64_t>(round_)};
  std::mt19937_64 generator(seed);
  std::ranges::shuffle(order_, generator);
  std::ranges::stable_partition(order_,
                                [this](std::size_t i) { return !states_[i].samples.empty(); });
  constexpr double margin = 2;  // first samples are often slower than expected
  if (margin * round_cost() > total_left()) put_compared_first();
}

/// Puts each case without samples directly after those that it is compared with, and all other
/// cases last.
void Sampler::put_compared_first() {
  std::vector<std::size_t> sequence;
  const auto add = [&](std::size_t index) {
    if (std::ranges::find(sequence, index) == sequence.end()) sequence.push_back(index);
  };
  for (auto next = order_.rbegin(); next != order_.rend(); ++next) {
    if (states_[*next].compared_with.empty() || !states_[*next].samples.empty()) continue;
    for (const std::size_t other : states_[*next].compared_with) {
      const bool waits = std::ranges::find(order_, other) != order_.end();
      if (waits && states_[other].samples.empty()) add(other);
    }
    add(*next);
  }
  std::for_each(order_.rbegin(), order_.rend(), add);
  std::ranges::copy(sequence, order_.rbegin());
}

bool Sampler::ended(const State& state) const {
  return state.dropped || !state.stopped_because.empty();
}

void Sampler::fail(std::size_t index) {
  states_.at(index).dropped = true;
  states_[index].stopped_because.clear();
}

void Sampler::withdraw(std::size_t index) {
  State& state = states_.at(index);
  state.dropped = true;
  if (state.stopped_because.empty()) state.stopped_because = "device lost";
}

void Sampler::interrupt() {
  order_.clear();
  for (State& state : states_) {
    if (!ended(state)) state.stopped_because = "unfinished";
  }
}

const std::vector<report::Sample>& Sampler::samples(std::size_t index) const {
  return states_.at(index).samples;
}

const std::string& Sampler::stopped_because(std::size_t index) const {
  return states_.at(index).stopped_because;
}

std::int64_t Sampler::iterations(std::size_t index) const { return states_.at(index).iterations; }

std::size_t Sampler::ended_cases() const {
  return static_cast<std::size_t>(
      std::ranges::count_if(states_, [this](const State& state) { return ended(state); }));
}

std::optional<double> Sampler::reached_precision(std::size_t index) const {
  return states_.at(index).precision;
}

double Sampler::spent_seconds() const {
  double spent = 0;
  for (const State& state : states_) spent += state.spent;
  return spent;
}

/// A disturbed sample multiplies the spread of few samples. Therefore the common deviation of all
/// cases is used first, and later weighted like `samples_of_others` samples.
std::optional<double> Sampler::expected_deviation(const State& state) const {
  constexpr std::size_t own_samples = 6;
  constexpr double samples_of_others = 8;
  constexpr double max_factor = 4;
  if (!state.deviation || state.samples.size() < own_samples) return common_deviation_;
  const double own = *state.deviation;
  if (!(own > 0)) return own;
  const double common = std::clamp(*common_deviation_, own / max_factor, own * max_factor);
  const double freedom = static_cast<double>(state.samples.size()) - 1;
  return own * std::pow(common / own, samples_of_others / (samples_of_others + freedom));
}

double Sampler::samples_wanted(const State& state) const {
  constexpr double half_width_in_deviations = 1.96 * 1.2533;  // × σ/√n, of a median
  if (options_.fixed_samples > 0) return options_.fixed_samples;
  if (options_.precision <= 0) return std::numeric_limits<double>::infinity();
  const double min = std::max(options_.min_samples, 6);
  const std::optional<double> deviation = expected_deviation(state);
  if (!deviation) return min;
  const double ratio = half_width_in_deviations * *deviation / options_.precision;
  return std::max(min, ratio * ratio);
}

double Sampler::samples_left(const State& state) const {
  if (ended(state)) return 0;
  const double wanted = samples_wanted(state);
  const auto count = static_cast<double>(state.samples.size());
  // A case without enough time ends only when the next round begins, so it gets at least one sample
  // until then.
  const double affordable = time_left(state) / expected_cost(state);
  return std::max(1.0, std::min(wanted - count, affordable));
}

double Sampler::time_left(const State& state) const {
  return std::max(0.0, options_.max_seconds - state.spent);
}

double Sampler::seconds_left(std::size_t index) const {
  const State& state = states_[index];
  const double samples = std::max(samples_left(state), samples_for_others(index));
  return std::min(samples * expected_cost(state), time_left(state));
}

double Sampler::seconds_left() const {
  double left = 0;
  for (std::size_t i = 0; i < states_.size(); ++i) left += seconds_left(i);
  left *= 1 + budget_.other_share;
  return std::min(left, std::max(0.0, total_left()));
}

}  // namespace parbench
