// Cases of the data-parallel scenario, their references and metrics.
#include "scenarios/data_parallel/data_parallel.h"

#include "scenarios/data_parallel/answer.h"
#include "scenarios/data_parallel/choices.h"
#include "scenarios/data_parallel/strategies.h"
#include "scenarios/framework/all_cores.h"
#include "scenarios/framework/requests.h"
#include "scenarios/models/model_choice.h"
#include "scenarios/training/in_turn.h"
#include "scenarios/training/step/training_step.h"
#include "scenarios/training/step_choice.h"

namespace parbench {
namespace {

/// Reference for models whose results depend on how the batch is divided: the same parts one after
/// the other. Not offered to users.
constexpr std::string_view parts_in_turn = "parts-in-turn";

constexpr std::size_t mebibyte = std::size_t{1} << 20;

class DataParallel final : public Scenario {
 public:
  [[nodiscard]] std::string_view name() const override { return "data-parallel"; }
  [[nodiscard]] std::string_view question() const override {
    return "Does dividing the batch over devices pay, and how should gradients be combined?";
  }
  [[nodiscard]] const std::vector<Strategy>& strategies() const override { return strategies_; }
  [[nodiscard]] const std::vector<Axis>& axes() const override { return axes_; }
  [[nodiscard]] std::string_view baseline() const override { return single_device; }
  [[nodiscard]] int default_devices() const override { return 2; }
  [[nodiscard]] bool runs_over_ranks() const override { return true; }
  [[nodiscard]] int min_devices() const override { return 2; }

  [[nodiscard]] std::optional<CaseSpec> resolve(const Request& request) const override {
    return resolved_division(request);
  }
  [[nodiscard]] std::unique_ptr<Case> prepare(const CaseSpec& spec,
                                              Context& context) const override;
  [[nodiscard]] std::optional<CaseSpec> reference(const CaseSpec& spec) const override;
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> model_notes(
      const std::vector<CaseSpec>& specs) const override {
    return notes_on_trained_models(specs);
  }
  /// Not comparable: more samples on more devices, and one device alone.
  [[nodiscard]] bool comparable(const CaseSpec& spec) const override {
    return !scales_weakly(spec) && !is_undivided(spec);
  }
  [[nodiscard]] std::vector<Metric> metrics(const CaseSpec& spec) const override {
    if (spec.strategy == single_device || is_undivided(spec)) return {};
    // With a fixed share per device, linear scaling means that all devices are as fast as one with
    // its share.
    return {scaling_efficiency(single_of(spec),
                               scales_weakly(spec) ? 1 : spec.parameters.integer("devices"))};
  }
  [[nodiscard]] bool plans_show_all() const override { return true; }
  [[nodiscard]] Conclusion answer(const std::vector<CaseOutcome>& outcomes,
                                  const PossiblyFastest& possibly_fastest) const override {
    return answer_of_data_parallel(*this, outcomes, possibly_fastest);
  }

 private:
  std::vector<Strategy> strategies_ = {
      {std::string(single_device), "the whole batch on the first device"},
      {std::string(all_cores),
       "the whole batch on one device that has the cores of all devices (for parts of a GPU: the "
       "whole GPU)"},
      {std::string(one_all_reduce),
       "a part of the batch on each device, one all-reduce of the gradients after the backward "
       "pass, an update on each"},
      {std::string(bucketed_all_reduce),
       "the same, all-reducing buckets of gradients during the rest of the backward pass "
       "(DistributedDataParallel)"},
      {std::string(tower),
       "gradients added, clipped and applied on the first device, parameters copied back (towers, "
       "parallel_do)"},
      {std::string(replicate),
       "parameters and samples from the first device in every step, loss and update there "
       "(DataParallel)"},
      {std::string(parameter_server),
       "parameters and the optimiser's state on a server, which gets all gradients: a CPU device "
       "other than those that compute, if there is one, else the first of them"},
      {std::string(sharded),
       "each device updates a part of the parameters, and keeps no more than that part of the "
       "optimiser's state, from --zero 2 on of gradients, with --zero 3 of parameters (ZeRO)"}};
  std::vector<Axis> axes_ = axes_of_data_parallel();
};

std::optional<CaseSpec> DataParallel::reference(const CaseSpec& spec) const {
  if (spec.strategy == single_device) return std::nullopt;
  if (!depends_on_division(network_of(spec.parameters))) return whole_batch_of(spec);
  return with_strategy(spec, parts_in_turn, {"bucket", "server", "zero", "prefetch"});
}

std::size_t bucket_bytes_of(const Parameters& parameters) {
  return static_cast<std::size_t>(parameters.integer("bucket")) * mebibyte;
}

Exchange exchange_of(const CaseSpec& spec, const Context& context) {
  const Parameters& parameters = spec.parameters;
  if (spec.strategy == parameter_server) {
    return {.kind = Exchange::Kind::server,
            .server = has_server_device(parameters) ? context.device_count() - 1 : 0};
  }
  if (is_undivided(spec)) return {};
  if (spec.strategy == tower) return {.kind = Exchange::Kind::first_device};
  if (spec.strategy == replicate) return {.kind = Exchange::Kind::fed_from_first};
  if (spec.strategy == bucketed_all_reduce) return {.bucket_bytes = bucket_bytes_of(parameters)};
  if (spec.strategy != sharded) return {};
  Exchange exchange{.kind = Exchange::Kind::zero,
                    .bucket_bytes = bucket_bytes_of(parameters),
                    .zero_level = static_cast<int>(parameters.integer("zero"))};
  if (exchange.divides_parameters()) {
    exchange.prefetch = static_cast<int>(parameters.integer("prefetch"));
  }
  return exchange;
}

std::unique_ptr<Case> DataParallel::prepare(const CaseSpec& spec, Context& context) const {
  auto micro_batches = micro_batches_of(spec.parameters);
  StepLayout layout;
  if (spec.strategy == parts_in_turn) {
    layout = in_turn(context, all_micro_batches(micro_batches));
  } else {
    layout.grid.replicas = static_cast<int>(micro_batches.size());
    layout.micro_batches = std::move(micro_batches);
    layout.exchange = exchange_of(spec, context);
  }
  return make_case(prepare_step(
      context, network_of(spec.parameters),
      {.format = spec.format(), .optimizer = optimizer_of(spec.parameters)}, std::move(layout)));
}

}  // namespace

std::unique_ptr<Scenario> make_data_parallel() { return std::make_unique<DataParallel>(); }

}  // namespace parbench
