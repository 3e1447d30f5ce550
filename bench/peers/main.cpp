// Command line of `parbench-peers`, the C++ part of scripts/peers.
#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench/peers/comparisons.h"
#include "bench/peers/served_case.h"
#include "bench/peers/workload.h"
#include "kernels/base/error.h"
#include "kernels/machine/machine.h"
#include "reports/io/json.h"
#include "reports/model/machine_info.h"
#include "reports/statistics/statistics.h"

namespace parbench::peers {
namespace {

Json interval_json(const std::optional<Interval>& interval) {
  if (!interval) return nullptr;
  return {{"low", interval->low}, {"high", interval->high}, {"confidence", interval->confidence}};
}

Json ratio_json(const std::vector<double>& baseline, const std::vector<double>& ours) {
  const auto ratio = paired_ratio(baseline, ours);
  if (!ratio) return nullptr;
  return {{"value", ratio->value}, {"interval", interval_json(ratio->interval)}};
}

/// Reads {"peer": [seconds…], "ours": [seconds…]} and returns the ratio peer/ours.
Json ratio_of_input() {
  const Json input = Json::parse(std::cin);
  return ratio_json(input.at("peer").get<std::vector<double>>(),
                    input.at("ours").get<std::vector<double>>());
}

/// Returns whether the processor supports products of bf16 numbers.
bool has_bf16(Device& device) {
  try {
    (void)device.prepare(Gemm{.m = 16, .n = 16, .k = 16, .dtype = DType::bf16}, 1);
    return true;
  } catch (const Unsupported&) {
    return false;
  }
}

Json describe_machine() {
  report::Report empty;
  empty.machine = report::machine_info({});
  const std::unique_ptr<Device> device = std::move(open_whole_machine().front());
  return {{"cores", device->info().cores},
          {"has_bf16", has_bf16(*device)},
          {"machine", report::to_json(empty)["parbench"]["machine"]}};
}

struct Options {
  std::string name = "branch";
  std::int64_t batch = 24;
  int tasks = 50;
  Effort effort;
  ServedModel model;
  ServedExchange exchange;
};

void add_model_options(CLI::App& command, ServedModel& model) {
  command.add_option("--model", model.name, "as --model of a run");
  command.add_option("--batch", model.batch)->check(CLI::Range(1, 4096));
  command.add_option("--image", model.image)->check(CLI::Range(32, 1024));
  command
      .add_option_function<std::string>("--dtype",
                                        [&model](const std::string& name) {
                                          model.dtype = name == "bf16" ? DType::bf16 : DType::f32;
                                        })
      ->check(CLI::IsMember({"f32", "bf16"}));
  command.add_option("--executions", model.executions, "of each request")
      ->check(CLI::Range(1, 1000));
}

void add_devices_option(CLI::App& command, int& devices) {
  command.add_option("--devices", devices, "equal shares of the cores")->check(CLI::Range(1, 64));
}

void add_options(CLI::App& command, Options& options) {
  command.add_option("--batch", options.batch)->check(CLI::Range(1, 4096));
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
  add_options(*convolution, options);
  convolution->callback([&] {
    print(compare_convolution(convolution_named(options.name, options.batch), options.effort));
  });
  const auto add_chain = [&](const char* name, const char* description, auto compare) {
    auto* chain = app.add_subcommand(name, description);
    add_options(*chain, options);
    chain->add_option("--tasks", options.tasks)->check(CLI::Range(1, 100000));
    chain->callback([&, compare] {
      print(compare(convolution_named(options.name, options.batch), options.tasks, options.effort));
    });
  };
  add_chain("chain", "the executor against a plain loop", compare_chain);
  add_chain("recording", "the executor that notes every call", compare_recording);
  auto* training = app.add_subcommand("train", "serves training steps of a model");
  add_model_options(*training, options.model);
  add_devices_option(*training, options.model.devices);
  training->callback([&] { serve_training_steps(options.model); });
  auto* inference = app.add_subcommand("infer", "serves forward passes of a model");
  add_model_options(*inference, options.model);
  inference->callback([&] { serve_forward_passes(options.model); });
  auto* exchange = app.add_subcommand("all-reduce", "serves all-reduces between devices");
  exchange->add_option("--bytes", options.exchange.bytes, "on each device")
      ->check(CLI::Range(std::int64_t{4}, std::int64_t{1} << 32));
  exchange->add_option("--calls", options.exchange.calls, "in a row in each step")
      ->check(CLI::Range(1, 1 << 16));
  exchange->add_option("--executions", options.exchange.executions, "of each request")
      ->check(CLI::Range(1, 1000));
  add_devices_option(*exchange, options.exchange.devices);
  exchange->callback([&] { serve_all_reduces(options.exchange); });
  auto* model = app.add_subcommand("model", "parameters of a model, and lengths of its samples");
  add_model_options(*model, options.model);
  model->callback([&] { print(describe_model(options.model)); });

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
