// What every test of a session needs: the scripted scenario, an environment, and where it reports.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "bench/sampling/session/session.h"
#include "tests/bench/fake_scenario.h"
#include "tests/bench/sampling/session_reports.h"

namespace parbench::fake {

class SessionTest : public testing::Test {
 protected:
  SessionResult run(const std::vector<CaseSpec>& specs) {
    if (devices.empty()) devices = make_devices(backends);
    const auto context = make_context(std::move(devices));
    devices.clear();
    SessionResult result =
        run_session(scenario, *context, specs, options,
                    {.progress = progress,
                     .lost = lost,
                     .part = run_part,
                     .make_runner = scenario.runners(),
                     .profile = [this](bool) { profile_marks.push_back(scenario.log.size()); },
                     .on_timeline = on_timeline,
                     .system_root = system_root,
                     .resumed = resumed,
                     .interrupted = interrupted,
                     .checkpoint =
                         [this](const SessionResult& known) {
                           keep_for_validation(known.cases);
                           checkpoints.push_back(known);
                         },
                     .on_timeout = on_timeout,
                     .now = scenario.now(),
                     .common_now = common_now});
    keep_for_validation(result.cases);
    return result;
  }

  FakeScenario scenario;
  std::vector<std::unique_ptr<Device>> devices;  // of the next run; none: one of each backend
  RecordingProgress progress;
  LostBackends lost;
  std::vector<std::string> backends = {"fake"};
  RunPart run_part;
  SamplerOptions options;
  KeepTimeline on_timeline;
  std::filesystem::path system_root = "/";
  const std::vector<report::CaseResult>* resumed = nullptr;
  std::function<bool()> interrupted = [] { return false; };
  std::function<double()> common_now;  // not set: the same as the scenario's clock
  std::function<void(const SessionResult&, const TimedOut&)> on_timeout = [](const SessionResult&,
                                                                             const TimedOut&) {};
  std::vector<SessionResult> checkpoints;
  std::vector<std::size_t> profile_marks;  // length of the log at each mark for profilers
};

}  // namespace parbench::fake
