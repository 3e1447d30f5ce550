// States of the progress bar.
#include "bench/sampling/session/session_progress.h"

#include <algorithm>

namespace parbench {

SessionProgress::SessionProgress(Progress& progress, const RunPart& part,
                                 const std::function<double()>& now)
    : progress_(progress), part_(part), now_(now), begin_(now()), latest_(begin_) {}

ProgressState SessionProgress::state(const std::string& phase, const std::string& case_name,
                                     Count count) const {
  ProgressState state;
  state.phase = phase;
  state.case_name = case_name;
  state.cases_done = count.done;
  state.cases = count.cases;
  state.part = part_;
  return state;
}

void SessionProgress::preparing(const std::string& case_name, Count count,
                                double max_seconds_left) {
  ProgressState shown = state("preparing", case_name, count);
  shown.seconds_left = std::max(0.0, max_seconds_left);
  shown.left_is_limit = true;
  progress_.update(shown);
}

void SessionProgress::sampling(const std::string& case_name, Count count, const Sampler& sampler,
                               std::size_t index) {
  ProgressState shown = state("sampling", case_name, count);
  shown.samples = sampler.samples(index).size();
  shown.reached_precision = sampler.reached_precision(index);
  shown.seconds_left = sampler.seconds_left() + recording_seconds_;
  shown.fraction = fraction_of_run(*shown.seconds_left);
  progress_.update(shown);
}

void SessionProgress::recording(const std::string& case_name, Count count) {
  ProgressState shown = state("recording", case_name, count);
  const double done = static_cast<double>(count.done) / static_cast<double>(count.cases);
  shown.seconds_left = recording_seconds_ * (1 - done);
  shown.fraction = fraction_of_run(*shown.seconds_left);
  progress_.update(shown);
}

/// Returns the completed fraction of the run by time, including preparation. If the estimate of the
/// remaining time grows, the fraction does not fall: it continues from its latest value, in
/// proportion to the time passed since then and the time left.
double SessionProgress::fraction_of_run(double seconds_left) {
  constexpr double max = 0.99;  // work remains as long as progress is shown
  const double time = now_();
  const auto share = [&](double since) {
    return time > since ? (time - since) / (time - since + seconds_left) : 0.0;
  };
  const double paced = fraction_ + (1 - fraction_) * share(latest_);
  fraction_ = std::min(max, std::max(paced, share(begin_)));
  latest_ = time;
  return (static_cast<double>(part_.index) + fraction_) / static_cast<double>(part_.count);
}

}  // namespace parbench
