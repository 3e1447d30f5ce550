// A scenario outside of parbench: is copying an array to a device and scaling it there faster with
// two streams? docs/guide/own-scenario.md explains how to build and run it.
#include <algorithm>

#include "bench/program.h"
#include "kernels/machine/machine.h"
#include "scenarios/answers/best_strategy.h"
#include "scenarios/framework/prepared_case.h"

namespace {

using namespace parbench;

constexpr int device = 0;
constexpr std::int64_t columns = 1024;

const std::vector<Strategy> strategy_list = {
    {"one-stream", "one stream copies and scales a piece, then the next"},
    {"two-streams", "one stream copies pieces, another scales those that have arrived"},
};

const std::vector<Axis> axis_list = {
    {.name = "rows", .description = "rows of 1024 numbers", .quick = {8192}, .published = {65536}},
    {.name = "pieces", .description = "parts of equal size", .quick = {2, 16}, .published = {16}},
};

/// Adds memory, tasks and a check for one piece. The sum of a piece and itself is twice the piece.
void add_piece(CaseParts& parts, LaneId copying, LaneId scaling, Op& sum, std::int64_t number) {
  const TensorDesc& desc = sum.tensor("destination");
  const Tensor source = parts.data.tensor(device, desc, MemoryKind::pinned);
  const Tensor copied = parts.data.tensor(device, desc);
  const Tensor scaled = parts.data.tensor(device, desc);
  parts.data.fill(source, number);  // each piece has its own random numbers
  parts.data.poison(copied);        // so that results of other cases fail the check
  parts.data.poison(scaled);

  const std::string name = std::to_string(number);
  const TaskId copy =
      parts.plan.add({.name = "copy " + name, .kind = TaskKind::copy, .lanes = {copying}},
                     {CopyCall{copied.view, source.view}});
  parts.plan.add(
      {.name = "scale " + name, .lanes = {scaling}, .after = {copy}},
      {bind(sum, {{"a", copied.view}, {"b", copied.view}, {"destination", scaled.view}})});

  const auto check = [&parts, source, scaled, name]() -> std::optional<std::string> {
    const auto is_twice = [](float result, float value) { return result == 2 * value; };
    if (std::ranges::equal(parts.data.read(scaled), parts.data.read(source), is_twice)) return {};
    return "piece " + name + " is not twice its source";
  };
  parts.checks.push_back({"every result compared with twice its source", check});
}

class TwoStreams final : public Scenario {
 public:
  std::string_view name() const override { return "two-streams"; }
  std::string_view question() const override {
    return "Do two streams pay for copying an array to a device and scaling it there?";
  }
  const std::vector<Strategy>& strategies() const override { return strategy_list; }
  const std::vector<Axis>& axes() const override { return axis_list; }
  std::string_view baseline() const override { return "one-stream"; }
  bool wants_copy_core() const override { return true; }

  Resolution resolve(const Request& request) const override {
    const std::int64_t pieces = request.spec.parameters.integer("pieces");
    if (request.spec.parameters.integer("rows") % pieces == 0) return request.spec;
    return Obstacle{{"pieces"}, "--pieces " + std::to_string(pieces) + " must divide --rows"};
  }

  std::unique_ptr<Case> prepare(const CaseSpec& spec, Context& context) const override {
    auto parts = std::make_unique<CaseParts>(context);
    const LaneId scaling = add_lane(*parts, device, StreamKind::compute);
    const LaneId copying =
        spec.strategy == "one-stream" ? scaling : add_lane(*parts, device, StreamKind::copy);
    const std::int64_t rows = spec.parameters.integer("rows");
    const std::int64_t pieces = spec.parameters.integer("pieces");
    const Add sum{.shape = {rows / pieces, columns}, .dtype = spec.dtype};
    Op& op = parts->ops.prepare(stream_of(*parts, scaling), sum);
    for (std::int64_t i = 0; i < pieces; ++i) add_piece(*parts, copying, scaling, op, i);
    parts->amount = {static_cast<double>(rows * columns * size_of(spec.dtype)), "B"};
    return make_case(std::move(parts));
  }

  Conclusion answer(const std::vector<CaseOutcome>& outcomes,
                    const PossiblyFastest& possibly_fastest) const override {
    return best_strategy(*this, outcomes, possibly_fastest);
  }
};

}  // namespace

int main(int count, char** words) {
  prepare_process(words);
  ScenarioList scenarios = built_in_scenarios();
  scenarios.push_back(std::make_unique<TwoStreams>());
  return run_program({words, words + count}, scenarios);
}
