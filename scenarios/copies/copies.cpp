// Scenario copies: pieces of an array are copied to a device, in turn or on two streams at once.
#include "scenarios/copies/copies.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "scenarios/answers/best_strategy.h"
#include "scenarios/framework/prepared_case.h"

namespace parbench {
namespace {

constexpr int only_device = 0;

const std::vector<Strategy> copying_strategies = {
    {"one-stream", "one stream copies all pieces"},
    {"two-streams", "two streams copy every other piece each"},
};

const std::vector<Axis> copying_axes = {
    {.name = "numbers",
     .description = "numbers of a piece",
     .quick = {1 << 20},
     .published = {1 << 24},
     .max = 1 << 30},
    {.name = "pieces",
     .description = "pieces of the array",
     .quick = {2, 16},
     .published = {2, 16},
     .min = 2,
     .max = 1000},
};

/// Adds the memory and the copy of a piece, and a check that it has arrived.
void add_piece(CaseParts& parts, LaneId lane, std::int64_t numbers, std::int64_t index,
               DType dtype) {
  const TensorDesc desc = canonical({numbers}, dtype);
  const Tensor source = parts.data.tensor(only_device, desc, MemoryKind::pinned);
  const Tensor copied = parts.data.tensor(only_device, desc);
  parts.data.fill(source, static_cast<std::uint64_t>(index));
  parts.data.poison(copied);
  parts.plan.add({.name = fmt::format("copy {}", index), .kind = TaskKind::copy, .lanes = {lane}},
                 {CopyCall{.destination = copied.view, .source = source.view}});
  parts.checks.push_back(
      {"pieces equal to their sources", [&parts, source, copied, index]() -> CheckResult {
         if (parts.data.read(copied) == parts.data.read(source)) return std::nullopt;
         return fmt::format("piece {} differs from its source", index);
       }});
}

class Copies final : public Scenario {
 public:
  std::string_view name() const override { return "copies"; }
  std::string_view question() const override {
    return "Do two streams copy an array to a device faster than one?";
  }
  const std::vector<Strategy>& strategies() const override { return copying_strategies; }
  const std::vector<Axis>& axes() const override { return copying_axes; }
  std::string_view baseline() const override { return "one-stream"; }
  bool wants_copy_core() const override { return true; }

  std::unique_ptr<Case> prepare(const CaseSpec& spec, Context& context) const override {
    auto parts = std::make_unique<CaseParts>(context);
    const int count = spec.strategy == "two-streams" ? 2 : 1;
    std::vector<LaneId> lanes;
    for (int i = 0; i < count; ++i) {
      lanes.push_back(add_lane(*parts, only_device, StreamKind::copy, i, count));
    }
    const std::int64_t numbers = spec.parameters.integer("numbers");
    const std::int64_t pieces = spec.parameters.integer("pieces");
    for (std::int64_t i = 0; i < pieces; ++i) {
      add_piece(*parts, lanes[static_cast<std::size_t>(i) % lanes.size()], numbers, i, spec.dtype);
    }
    parts->amount = {
        static_cast<double>(numbers * pieces) * static_cast<double>(size_of(spec.dtype)), "B"};
    return make_case(std::move(parts));
  }

  Conclusion answer(const std::vector<CaseOutcome>& outcomes,
                    const PossiblyFastest& possibly_fastest) const override {
    return best_strategy(*this, outcomes, possibly_fastest);
  }
};

}  // namespace

std::unique_ptr<Scenario> make_copies() { return std::make_unique<Copies>(); }

}  // namespace parbench
