// All decisions depend on values of rank 0, or on values combined from all ranks.
#include "bench/ranks/rank_session.h"

#include <fmt/format.h>

#include "bench/output/standard_streams.h"
#include "bench/ranks/control/watchdog.h"
#include "bench/ranks/rank_runner.h"

namespace parbench {

std::unique_ptr<RankTeam> join_ranks() {
  const std::optional<Launched> launched = launched_ranks();
  if (!launched) return nullptr;
  if (launched->rank > 0) {
    name_errors(fmt::format("[{} rank {}] ", host_name(), launched->rank));
  }
  try {
    const ControlChannel::Seconds limit = rank_patience().value_or(default_rank_patience);
    Watchdog watchdog;
    watchdog.start(
        limit, fmt::format("rank {} ({}): not all {} ranks connected within {:g} s; if starting "
                           "them takes longer, raise the limit with "
                           "PARBENCH_RANK_PATIENCE=SECONDS",
                           launched->rank, host_name(), launched->size, limit.count()));
    return std::make_unique<RankTeam>(load_rank_link());
  } catch (const Error& error) {
    throw RankSetupError(error.what());
  }
}

void spread_over(RankTeam& team, SessionEnvironment& environment) {
  environment.make_runner = [&team](const Plan& plan, SubmitMode mode) {
    return make_rank_runner(team, plan, mode);
  };
  environment.interrupted = [&team] { return team.interrupted(); };
  environment.together = [&team](const std::function<void()>& work) { team.together(work); };
  environment.common_now = [&team] { return team.now(); };
}

SessionEnvironment following_environment(RankTeam& team, Progress& progress, LostBackends& lost,
                                         bool profiles) {
  SessionEnvironment environment{.progress = progress, .lost = lost, .now = {}};
  if (profiles) environment.on_timeline = [](const report::CaseResult&, const Timeline&) {};
  spread_over(team, environment);
  return environment;
}

}  // namespace parbench
