// Command line of `parbench-peers`, the part of scripts/peers that is written in C++.
#include <CLI/CLI.hpp>
#include <functional>
#include <iostream>
#include <optional>
#include <string>
#include <vector>

#include "bench/peers/comparisons.h"
#include "bench/peers/workload.h"
#include "kernels/base/error.h"
#include "kernels/machine/machine.h"
#include "reports/io/json.h"
#include "reports/model/machine_info.h"
#include "reports/statistics/statistics.h"

namespace parbench::peers {
namespace {

Json interval_json(const std::optional<report::Interval>& interval) {
  if (!interval) return nullptr;
  return {{"low", interval->low}, {"high", interval->high}, {"confidence", interval->confidence}};
}

Json ratio_json(const std::vector<double>& baseline, const std::vector<double>& ours) {
  const auto ratio = paired_ratio(baseline, ours);
  if (!ratio) return nullptr;
  return {{"value", ratio->value}, {"interval", interval_json(ratio->interval)}};
}

/// Reads {"peer": [seconds…], "ours": [seconds…]} and prints peer/ours.
Json ratio_of_input() {
  const Json input = Json::parse(std::cin);
  return ratio_json(input.at("peer").get<std::vector<double>>(),
                    input.at("ours").get<std::vector<double>>());
}

Json describe_machine() {
  report::Report empty;
  empty.machine = report::machine_info({});
  return {{"cores", open_whole_machine().front()->info().cores},
          {"machine", report::to_json(empty)["parbench"]["machine"]}};
}

struct Options {
  std::string name = "branch";
  std::int64_t batch = 24;
  std::int64_t image = 128;
  int tasks = 50;
  Effort effort;
};

void add_options(CLI::App& command, Options& options, bool training) {
  command.add_option("--batch", options.batch)->check(CLI::Range(1, 4096));
  if (training) {
    command.add_option("--image", options.image)->check(CLI::Range(32, 1024));
    return;
  }
  command.add_option("--case", options.name, "branch or resnet50");
  command.add_option("--pairs", options.effort.pairs)->check(CLI::Range(1, 1000));
  command.add_option("--sample-seconds", options.effort.sample_seconds)
      ->check(CLI::Range(0.0, 60.0));
}

int run(int count, char** words) {
  CLI::App app("Measures parbench beside what others offer; scripts/peers calls it.");
  app.require_subcommand(1);
  Options options;
  const auto print = [](const Json& json) { std::cout << json.dump() << '\n'; };

  app.add_subcommand("machine", "cores that a run uses, and the machine")->callback([&] {
    print(describe_machine());
  });
  app.add_subcommand("ratio", "ratio of pairs read from standard input")->callback([&] {
    print(ratio_of_input());
  });
  auto* convolution = app.add_subcommand("convolution", "against the bare oneDNN primitive");
  add_options(*convolution, options, false);
  convolution->callback([&] {
    print(compare_convolution(convolution_named(options.name, options.batch), options.effort));
  });
  auto* chain = app.add_subcommand("chain", "the executor against a plain loop");
  add_options(*chain, options, false);
  chain->add_option("--tasks", options.tasks)->check(CLI::Range(1, 100000));
  chain->callback([&] {
    print(compare_chain(convolution_named(options.name, options.batch), options.tasks,
                        options.effort));
  });
  auto* recording = app.add_subcommand("recording", "the executor that notes every call");
  add_options(*recording, options, false);
  recording->add_option("--tasks", options.tasks)->check(CLI::Range(1, 100000));
  recording->callback([&] {
    print(compare_recording(convolution_named(options.name, options.batch), options.tasks,
                            options.effort));
  });
  auto* training = app.add_subcommand("train", "serves training steps of ResNet-50");
  add_options(*training, options, true);
  training->callback([&] { serve_training_steps(options.batch, options.image); });

  CLI11_PARSE(app, count, words);
  return 0;
}

}  // namespace

Json to_json(const Pairs& pairs) {
  return {{"ours_seconds", pairs.ours},
          {"peer_seconds", pairs.peer},
          {"ratio", ratio_json(pairs.peer, pairs.ours)}};
}

}  // namespace parbench::peers

int main(int count, char** words) {
  parbench::prepare_process(words);
  try {
    return parbench::peers::run(count, words);
  } catch (const parbench::UsageError& error) {
    std::cerr << "parbench-peers: error: " << error.what() << '\n';
    return 2;
  } catch (const std::exception& error) {
    std::cerr << "parbench-peers: error: " << error.what() << '\n';
    return 1;
  }
}
