// Progress of a session through its cases.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "bench/output/progress.h"
#include "bench/sampling/sampler.h"

namespace parbench {

/// Reports the progress of a session. The arguments must outlive it.
class SessionProgress {
 public:
  SessionProgress(Progress& progress, const RunPart& part, const std::function<double()>& now);

  /// Completed cases and all cases of a phase.
  struct Count {
    std::size_t done = 0;
    std::size_t cases = 0;
  };

  /// Sets the expected time of the recordings after sampling, in seconds.
  void expect_recording(double seconds) { recording_seconds_ = seconds; }

  /// `max_seconds_left`: the remaining time limit, shown because there is no estimate yet.
  void preparing(const std::string& case_name, Count count, double max_seconds_left);
  /// `index`: index of the case in the sampler.
  void sampling(const std::string& case_name, Count count, const Sampler& sampler,
                std::size_t index);
  void recording(const std::string& case_name, Count count);

 private:
  [[nodiscard]] ProgressState state(const std::string& phase, const std::string& case_name,
                                    Count count) const;
  double fraction_of_run(double seconds_left);

  Progress& progress_;
  const RunPart& part_;
  const std::function<double()>& now_;
  double begin_;
  double recording_seconds_ = 0;
  double fraction_ = 0;  // completed fraction of the session, as shown
  double latest_;        // when `fraction_` was computed
};

}  // namespace parbench
