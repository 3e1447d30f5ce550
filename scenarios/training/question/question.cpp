// Implementation of TrainingQuestion.
#include "scenarios/training/question/question.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <span>

#include "kernels/base/units/units.h"
#include "scenarios/answers/memory_trade.h"
#include "scenarios/answers/time_shares.h"
#include "scenarios/answers/wording.h"
#include "scenarios/framework/all_cores.h"
#include "scenarios/models/layers/elementwise.h"
#include "scenarios/models/model_choice.h"
#include "scenarios/models/onnx/model.h"
#include "scenarios/plan/schedules/partition.h"
#include "scenarios/training/network_facts.h"
#include "scenarios/training/partition.h"
#include "scenarios/training/question/in_turn.h"
#include "scenarios/training/question/step_choice.h"
#include "scenarios/training/step/training_step.h"

namespace parbench {
namespace {

constexpr std::size_t mebibyte = std::size_t{1} << 20;

/// Returns an obstacle if kernels cannot count the samples of the batch, or the smallest
/// micro-batch has too few for batch normalisations. `replicas`: sizes of micro-batches by replica;
/// `asked`: flags of the second obstacle.
std::optional<Obstacle> obstacle_of_sizes(const Parameters& parameters, const Network& network,
                                          const std::vector<std::vector<std::int64_t>>& replicas,
                                          std::vector<std::string_view> asked) {
  const bool has_image = parameters.find("image") != nullptr;
  const std::string at_image =
      has_image ? fmt::format(" at --image {}", network.input.back()) : std::string();
  const std::int64_t batch = total_samples(parameters);
  if (batch > network.max_samples()) {
    return Obstacle{{"batch", "image"},
                    fmt::format("--batch: {} samples of {}{} are more than kernels can count; "
                                "allowed are 1 to {}{}",
                                batch, network.name, at_image, network.max_samples(),
                                has_image ? ", or a smaller --image" : "")};
  }
  std::int64_t smallest = batch;
  for (const auto& one : replicas) smallest = std::min(smallest, std::ranges::min(one));
  const std::int64_t min = network.min_samples();
  if (smallest >= min) return std::nullopt;
  const bool has_split = parameters.find("split") != nullptr;
  return Obstacle{
      std::move(asked),
      fmt::format("--batch{}: a micro-batch of {} gives batch normalisations of {}{} only one "
                  "value per channel; use micro-batches of at least {}{}{}",
                  has_split ? ", --split" : "", format_count(smallest, "sample"), network.name,
                  at_image, format_count(min, "sample"), has_split ? "" : ", by a larger --batch",
                  has_image ? " or a larger --image" : "")};
}

}  // namespace

TrainingQuestion::TrainingQuestion(Definition definition)
    : name_(definition.name),
      question_(definition.question),
      strategies_{
          {std::string(single_device), definition.whole + " on the first device"},
          {std::string(all_cores),
           definition.whole +
               " on one device with the cores of all devices (for parts of a GPU: the whole GPU)"}},
      axes_(std::move(definition.axes)),
      words_(std::move(definition.words)) {
  std::ranges::move(definition.strategies, std::back_inserter(strategies_));
}

std::vector<std::pair<std::string, std::string>> TrainingQuestion::model_notes(
    const std::vector<CaseSpec>& specs) const {
  std::vector<std::pair<std::string, std::string>> notes;
  std::set<std::string> known;
  for (const CaseSpec& spec : specs) {
    const std::string& model = spec.parameters.text("model");
    if (!model.ends_with(onnx_import::file_suffix) || !known.insert(model).second) continue;
    const Network network = network_of(spec.parameters);
    const std::size_t count = convolutions_without_normalisation(network);
    if (count == 0) continue;
    notes.emplace_back(
        network.name,
        fmt::format("{} convolution{} and no normalisation. If the model has batch normalisations, "
                    "the export has folded them, and a training step of the file takes less time "
                    "than one of the model; parbench inspect {} says how to keep them.",
                    count, count == 1 ? "" : "s", model));
  }
  return notes;
}

const Axis& TrainingQuestion::axis(std::string_view name) const {
  return *std::ranges::find(axes_, name, &Axis::name);
}

// --- requests ---

std::int64_t TrainingQuestion::usual_batch(const Request& /*request*/, const Model& model) const {
  return model.quick_batch;
}

/// Returns the parameters that all strategies have.
Parameters TrainingQuestion::parameters_of_step(const Request& request) const {
  const Parameters& asked = request.spec.parameters;
  const std::string usual_model = std::get<std::string>(axis("model").quick.front());
  const Model model = model_of(request, usual_model);
  Parameters parameters;
  add_choice(parameters, "model", model.name, usual_model);
  parameters.set("batch", asked.value_or("batch", usual_batch(request, model)));
  add_model_sizes(request, model, parameters);
  add_step_choices(axes_, asked, parameters);
  return parameters;
}

Resolution TrainingQuestion::resolve(const Request& request) const {
  CaseSpec spec = request.spec;
  spec.parameters = parameters_of_step(request);
  const Network network = network_of(spec.parameters);
  if (spec.strategy != single_device) {
    if (auto obstacle = divide(request, network, spec.parameters)) return *std::move(obstacle);
  }
  if (auto obstacle = obstacle_of_samples(request, spec, network)) return *std::move(obstacle);
  return spec;
}

std::optional<Obstacle> TrainingQuestion::obstacle_of_samples(const Request& request,
                                                              const CaseSpec& spec,
                                                              const Network& network) const {
  const bool is_preset_split = spec.parameters.find("split") != nullptr &&
                               !request.was_given("split") && !request.was_given("micro-batches");
  return obstacle_of_sizes(
      spec.parameters, network,
      micro_batches_of_replicas(spec.parameters, layout_of(spec).grid.replicas),
      is_preset_split
          ? std::vector<std::string_view>{"strategy", "split", "layout"}
          : std::vector<std::string_view>{"batch", "split", "micro-batches", "image", "layout"});
}

// --- cases ---

StepLayout TrainingQuestion::whole_layout(const CaseSpec& spec, const Network& network,
                                          Context& context) const {
  const Parameters& parameters = spec.parameters;
  StepLayout layout = layout_of(spec);
  layout.micro_batches = micro_batches_of_replicas(parameters, layout.grid.replicas);
  layout.grid.replicas = static_cast<int>(layout.micro_batches.size());
  if (spec.strategy == in_turn_strategy && layout.grid.stages == 1) {
    layout = in_turn(context, layout.micro_batches);
  }
  layout.recompute = recomputes(parameters);
  layout.schedule = parameters.text_or("schedule", layout.schedule);
  if (const Value* bucket = parameters.find("bucket")) {
    layout.exchange.bucket_bytes =
        static_cast<std::size_t>(std::get<std::int64_t>(*bucket)) * mebibyte;
  }
  if (layout.grid.stages > 1) {
    layout.partition = chosen_partition(context, network, spec, devices_of_stages(layout.grid),
                                        layout.micro_batches.front());
  }
  return layout;
}

std::unique_ptr<Case> TrainingQuestion::prepare(const CaseSpec& spec, Context& context) const {
  Network network = network_of(spec.parameters);
  StepLayout layout = whole_layout(spec, network, context);
  auto step = prepare_step(context, std::move(network),
                           {.format = spec.format(), .optimizer = optimizer_of(spec.parameters)},
                           std::move(layout));
  step->plan.submit_as(submit_of(spec));
  const std::int64_t min = step->network.min_samples();
  if (min > 1 && spec.parameters.find("split") != nullptr) {
    step->notes.emplace_back(min_micro_batch_note, format_count(min, "sample"));
  }
  return make_case(std::move(step));
}

// --- references ---

bool TrainingQuestion::compares_parts(const CaseSpec& spec) const {
  // Normalisations use statistics of the micro-batch, and dropouts depend on a sample's position in
  // the micro-batch.
  const Network network = network_of(spec.parameters);
  return std::ranges::any_of(network.layers, [&](const Layer& layer) {
    return as<RandomDropout>(layer) != nullptr ||
           layer.kind->statistics(network.input_of(layer)) > 0;
  });
}

std::optional<CaseSpec> TrainingQuestion::reference(const CaseSpec& spec) const {
  const bool is_single = spec.strategy == single_device;
  if (is_single && !recomputes(spec.parameters)) return std::nullopt;
  if (is_single || !compares_parts(spec)) {
    CaseSpec whole = with_strategy(single_of(spec), single_device, {"recompute"});
    whole.parameters.set("batch", total_samples(spec.parameters));
    return whole;
  }
  const int replicas = layout_of(spec).grid.replicas;
  CaseSpec parts =
      with_strategy(spec, in_turn_strategy,
                    {"schedule", "partition", "bucket", "recompute", "server", "zero", "prefetch"});
  if (replicas == 1) parts = with_strategy(parts, in_turn_strategy, {devices_parameter});
  if (parts.parameters.find("layout") != nullptr) {
    parts.parameters.set("layout", to_string(DeviceGrid{.replicas = replicas}));
  }
  return parts;
}

// --- answers ---

std::vector<Metric> TrainingQuestion::metrics(const CaseSpec& spec) const {
  if (spec.strategy == single_device) return {};
  const Parameters& parameters = spec.parameters;
  int devices = devices_in(parameters);
  if (!uses_all_cores(spec)) {
    const DeviceGrid grid = layout_of(spec).grid;
    const auto used = micro_batches_of_replicas(parameters, grid.replicas).size();
    if (grid.replicas > 1 && used == 1) return {};
    devices = grid.devices();
  }
  const double linear = scales_weakly(parameters) ? 1 : devices;
  return {{.name = scaling_efficiency,
           .others = {single_of(spec)},
           .value = [linear](std::span<const double> seconds, std::span<const double> /*medians*/) {
             return seconds[1] / (seconds[0] * linear);
           }}};
}

Conclusion TrainingQuestion::answer(const std::vector<CaseOutcome>& outcomes,
                                    const PossiblyFastest& possibly_fastest) const {
  const Outcomes all = all_outcomes(outcomes);
  const auto label = [&](const CaseSpec& spec) { return strategy_label(*this, all, spec, words_); };
  Conclusion made = best_strategy(*this, all, possibly_fastest, words_);
  if (!made.is_answered) return made;
  std::vector<std::string> texts{made.text};
  for (const Role traded : {Role::memory_saving, Role::schedule}) {
    const auto axis = std::ranges::find(axes_, traded, &Axis::role);
    if (axis != axes_.end()) texts.push_back(memory_trade_text(*this, *axis, all, label));
  }
  made.text = joined_sentences(texts);
  return with_time_shares(std::move(made), *this, all, label);
}

CaseSpec single_of(const CaseSpec& spec) {
  return with_strategy(spec, single_device,
                       {devices_parameter, "layout", "server", "scaling", "idle", "zero",
                        "prefetch", "bucket", "accumulate", "split", "schedule", "partition"});
}

}  // namespace parbench
