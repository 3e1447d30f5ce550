// Optimisers and clipping as parameters of a case.
#include "scenarios/training/step_choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "scenarios/framework/requests.h"
#include "scenarios/models/model_choice.h"

namespace parbench {
namespace {

constexpr std::string_view default_optimizer = "sgd";

/// 0: gradients are not clipped.
double clip_of(const Parameters& parameters) {
  const Value* clip = parameters.find("clip");
  return clip != nullptr ? std::get<double>(*clip) : 0;
}

}  // namespace

Axis schedule_axis(std::vector<std::string> strategies) {
  return {.name = "schedule",
          .description = "order of the micro-batches: GPipe, or one forward one backward",
          .kind = AxisKind::choice,
          .quick = {std::string(default_schedule)},
          .published = {std::string(default_schedule)},
          .choices = {"gpipe", "1f1b"},
          .strategies = std::move(strategies),
          .role = Role::schedule,
          .advised = "1f1b"};
}

std::vector<std::int64_t> sizes_in(const std::string& text) {
  std::vector<std::int64_t> sizes;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('+', begin), text.size());
    sizes.push_back(std::stoll(text.substr(begin, end - begin)));
    begin = end + 1;
  }
  return sizes;
}

std::vector<std::int64_t> micro_batches_of(std::int64_t batch, const Value& split) {
  if (const auto* text = std::get_if<std::string>(&split)) return sizes_in(*text);
  const std::int64_t size = std::get<std::int64_t>(split);
  std::vector<std::int64_t> micro_batches(static_cast<std::size_t>(batch / size), size);
  if (batch % size != 0) micro_batches.push_back(batch % size);
  return micro_batches;
}

Axis optimizer_axis() {
  return {.name = "optimizer",
          .description = "what updates the parameters: SGD, with momentum 0.9, Adam, or AdamW",
          .kind = AxisKind::choice,
          .quick = {std::string(default_optimizer)},
          .published = {std::string(default_optimizer)},
          .choices = {"sgd", "momentum", "adam", "adamw"}};
}

Axis clip_axis() {
  return {.name = "clip",
          .description = "norm that all gradients together are scaled down to; 0: off",
          .kind = AxisKind::real,
          .quick = {0.0},
          .published = {0.0},
          .min = 0,
          .max = 1e6};
}

void add_optimizer_choice(const Parameters& asked, Parameters& parameters) {
  add_choice(parameters, "optimizer", asked_or(asked, "optimizer", default_optimizer),
             default_optimizer);
}

void add_clip_choice(const Parameters& asked, Parameters& parameters) {
  const double clip = clip_of(asked);
  if (clip > 0) {
    parameters.set("clip", clip);
  } else {
    parameters.imply("clip", clip);
  }
}

Metric scaling_efficiency(const CaseSpec& baseline, std::int64_t devices) {
  return {.name = "scaling efficiency",
          .others = {baseline},
          .value = [devices](std::span<const double> seconds, std::span<const double>) {
            return seconds[1] / (seconds[0] * static_cast<double>(devices));
          }};
}

std::string needs_alike_devices(const Scenario::Request& request) {
  if (request.device_count < 2) return too_few_devices(request);
  return fmt::format(
      "--strategy {} needs devices of one kind, and those of this run are of several; name others "
      "with --devices",
      request.spec.strategy);
}

Optimizer optimizer_of(const Parameters& parameters) {
  return {.kind = optimizer_named(asked_or(parameters, "optimizer", default_optimizer)),
          .max_norm = static_cast<float>(clip_of(parameters))};
}

}  // namespace parbench
