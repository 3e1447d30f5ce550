// Scenario overlap: how much of the time of copies disappears behind products, and what decides it.
#include "scenarios/overlap/overlap.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "reports/units/units.h"
#include "scenarios/framework/requests.h"
#include "scenarios/overlap/overlap_plans.h"

namespace parbench {
namespace {

OverlapOrder order_of(const CaseSpec& spec) {
  if (spec.strategy == "compute") return OverlapOrder::compute;
  if (spec.strategy == "copy") return OverlapOrder::copy;
  if (spec.strategy == "sequential") return OverlapOrder::sequential;
  return OverlapOrder::overlapped;
}

HostMemory memory_of(const std::string& name) {
  if (name == "pinned") return HostMemory::pinned;
  return name == "pageable" ? HostMemory::pageable : HostMemory::fresh;
}

/// Axes that do not apply to the strategy keep their defaults.
OverlapSizes sizes_of(const CaseSpec& spec) {
  const Parameters& given = spec.parameters;
  OverlapSizes sizes;
  sizes.n = given.integer("n");
  sizes.count = given.integer("count");
  sizes.to_host = given.text("direction") == "d2h";
  if (given.find("inner") != nullptr) sizes.inner = given.integer("inner");
  if (given.find("memory") != nullptr) sizes.memory = memory_of(given.text("memory"));
  if (given.find("chunk") != nullptr) sizes.chunk = given.integer("chunk");
  if (given.find("prefetch") != nullptr) sizes.prefetch = given.integer("prefetch");
  sizes.dtype = spec.dtype;
  sizes.math = spec.math;
  return sizes;
}

// --- the parts of an overlapped case, each alone ---

CaseSpec products_of(const CaseSpec& spec) {
  return with_strategy(spec, "compute", {"memory", "chunk", "prefetch"});
}

CaseSpec copies_of(const CaseSpec& spec) {
  return with_strategy(spec, "copy", {"inner", "prefetch"});
}

constexpr std::string_view achieved_overlap = "achieved overlap";

/// How much of the shorter part is hidden: 1 all, 0 nothing, below it where overlapping costs time.
double hidden_fraction(std::span<const double> seconds, std::span<const double> medians) {
  const double overlapped = seconds[0];
  const double compute = seconds[1];
  const double copy = seconds[2];
  // The smaller of two samples is smaller than either part is: parts of like length would seem
  // hidden more than they are.
  const double shorter = medians[1] < medians[2] ? compute : copy;
  return (compute + copy - overlapped) / shorter;
}

// --- the answer ---

/// What belongs together: one size, one direction, one kind of host memory and one chunk.
struct Finding {
  std::optional<double> compute;
  std::optional<double> copy;
  std::optional<CaseOutcome> overlapped;  // the fastest depth whose overlap is known
  [[nodiscard]] bool complete() const { return compute && copy && overlapped; }
};

const CaseOutcome::Ratio* hidden_in(const CaseOutcome& overlapped) {
  const auto found = overlapped.metrics.find(achieved_overlap);
  return found == overlapped.metrics.end() ? nullptr : &found->second;
}

std::string label_of(const CaseSpec& spec) {
  std::string label =
      fmt::format("{} {}", spec.parameters.text("direction"), spec.parameters.text("memory"));
  if (spec.parameters.integer("chunk") != 0) {
    label += fmt::format(" in copies of {} rows", spec.parameters.integer("chunk"));
  }
  return label;
}

bool same(const CaseSpec& a, const CaseSpec& b) { return a.name() == b.name(); }

/// `spec` is of an overlapped case.
Finding find_for(const CaseSpec& spec, const std::vector<CaseOutcome>& outcomes) {
  const CaseSpec products = products_of(spec);
  const CaseSpec copies = copies_of(spec);
  Finding found;
  for (const CaseOutcome& outcome : outcomes) {
    const double seconds = outcome.median_seconds;
    if (same(outcome.spec, products)) found.compute = seconds;
    if (same(outcome.spec, copies)) found.copy = seconds;
    if (outcome.spec.strategy != "overlapped" || hidden_in(outcome) == nullptr) continue;
    if (!same(products_of(outcome.spec), products) || !same(copies_of(outcome.spec), copies)) {
      continue;
    }
    if (!found.overlapped || seconds < found.overlapped->median_seconds) found.overlapped = outcome;
  }
  return found;
}

/// No overlap is shown by a fraction that is not above zero, nor by an interval that holds zero.
std::string share_text(const CaseOutcome::Ratio& hidden) {
  const bool shown = hidden.interval ? hidden.above(0) : hidden.value > 0;
  if (shown) return fmt::format("{} of the shorter part is hidden", percent_text(hidden));
  return fmt::format("no overlap is shown, {} of the shorter part", percent_text(hidden));
}

std::string describe(const CaseSpec& spec, const Finding& found,
                     const std::vector<CaseOutcome>& outcomes) {
  const auto& speedup = found.overlapped->speedup;
  const std::string sizes = distinguishing_parameters(spec, {"n", "inner", "count"}, outcomes);
  std::string text = fmt::format("{}{}{}: {}", label_of(spec), sizes.empty() ? "" : ", ", sizes,
                                 share_text(*hidden_in(*found.overlapped)));
  if (speedup && speedup->below(1)) text += ", overlapping costs more than it saves";
  if (speedup) {
    text += fmt::format(", {} one after the other", ratio_text(*speedup));
  }
  using report::format_duration;
  return text + fmt::format(" (medians: computing {}, copying {}, overlapped {} at prefetch {})",
                            format_duration(*found.compute), format_duration(*found.copy),
                            format_duration(found.overlapped->median_seconds),
                            found.overlapped->spec.parameters.integer("prefetch"));
}

const std::vector<std::string> with_copies = {"copy", "sequential", "overlapped"};
const std::vector<std::string> with_products = {"compute", "sequential", "overlapped"};

const std::vector<Strategy> strategy_list = {
    {"compute", "the products alone"},
    {"copy", "the copies alone"},
    {"sequential", "one after the other: products then copies (d2h), copies then products (h2d)"},
    {"overlapped", "one matrix is copied while the next is computed, --prefetch of them ahead"},
};

const std::vector<Axis> axis_list = {
    {.name = "n",
     .description = "rows and columns of the copied matrices",
     .quick = {1024},
     .published = {4000},
     .max = 65536},
    {.name = "inner",
     .description = "multiply-adds for each element of a product: a small number brings the times "
                    "of computing and copying near each other on a CPU",
     .quick = {32},
     .published = {4000},
     .max = 65536,
     .strategies = with_products},
    {.name = "count", .description = "matrices", .quick = {16}, .published = {50}, .max = 10000},
    {.name = "direction",
     .description = "results to the host, or inputs from it",
     .kind = AxisKind::choice,
     .quick = {"d2h", "h2d"},
     .published = {"d2h", "h2d"},
     .choices = {"d2h", "h2d"}},
    {.name = "memory",
     .description = "host memory: page-locked, ordinary and used before (CUDA does not copy it "
                    "asynchronously), or ordinary and allocated anew in every execution (d2h only)",
     .kind = AxisKind::choice,
     .quick = {"pinned", "pageable", "fresh"},
     .published = {"pinned", "pageable", "fresh"},
     .choices = {"pinned", "pageable", "fresh"},
     .strategies = with_copies,
     .role = Role::host_memory,
     .advised = "pinned"},
    {.name = "chunk",
     .description = "rows that one copy moves; 0: a matrix in one copy",
     .quick = {0},
     .published = {0},
     .min = 0,
     .max = 65536,
     .strategies = with_copies},
    {.name = "prefetch",
     .description = "matrices in flight beside the one in work; 0: none, so nothing can overlap",
     .quick = {1, 4},
     .published = {0, 1, 2, 4, 49},
     .min = 0,
     .max = 10000,
     .strategies = {"overlapped"}},
};

/// Fifty products and the copies of their results, on one GPU. The published copies allocate host
/// memory as they go, which is what fresh memory is here.
std::vector<Published> published_figures() {
  const std::vector<Parameter> products{
      {"n", std::int64_t{4000}}, {"count", std::int64_t{50}}, {"direction", std::string("d2h")}};
  std::vector<Parameter> copies = products;
  copies.push_back({"memory", std::string("fresh")});
  std::vector<Parameter> overlapped = copies;
  overlapped.push_back({"prefetch", std::int64_t{1}});
  const std::string pytorch = "Dive into Deep Learning 13.3.2, PyTorch";
  const std::string mxnet = "Dive into Deep Learning 13.3.2, MXNet";
  return {{"compute", products, pytorch, 0.5019},
          {"copy", copies, pytorch, 2.7168},
          {"overlapped", overlapped, pytorch, 2.4682},
          {"compute", products, mxnet, 0.5796},
          {"copy", copies, mxnet, 3.0989},
          {"overlapped", overlapped, mxnet, 3.3488}};
}

class Overlap final : public Scenario {
 public:
  std::string_view name() const override { return "overlap"; }
  std::string_view question() const override {
    return "How much of the time of copies is hidden behind computing, in which kind of host "
           "memory "
           "and with how much ahead?";
  }
  const std::vector<Strategy>& strategies() const override { return strategy_list; }
  const std::vector<Axis>& axes() const override { return axis_list; }
  std::string_view baseline() const override { return "sequential"; }
  bool wants_copy_core() const override { return true; }
  /// Published: one run; three give an interval.
  Sampling published_sampling() const override { return {.samples = 3, .iterations = 1}; }

  std::vector<Published> published() const override { return published_figures(); }

  std::optional<CaseSpec> resolve(const Request& request) const override {
    const CaseSpec& spec = request.spec;
    const OverlapSizes sizes = sizes_of(spec);
    const bool copies = spec.strategy != "compute";
    if (copies && sizes.memory == HostMemory::fresh && !sizes.to_host) {
      return refuse(request, "memory",
                    "--memory fresh goes with --direction d2h only: an input must be in memory "
                    "before it can be copied");
    }
    // How far ahead is a question of its own, asked once in each direction.
    const bool from_preset = request.preset == Preset::quick && !request.was_given("prefetch");
    if (from_preset && sizes.prefetch > 1 && sizes.memory != HostMemory::pinned) {
      return std::nullopt;
    }
    if (sizes.chunk > sizes.n) {
      return refuse(
          request, "chunk",
          fmt::format("--chunk {} is more than the {} rows of a matrix", sizes.chunk, sizes.n));
    }
    if (spec.strategy == "overlapped" && sizes.prefetch >= sizes.count && sizes.prefetch > 0) {
      return refuse(
          request, "prefetch",
          fmt::format("--prefetch {} is not below the {} matrices", sizes.prefetch, sizes.count));
    }
    return spec;
  }

  std::unique_ptr<Case> prepare(const CaseSpec& spec, Context& context) const override {
    auto parts = std::make_unique<CaseParts>(context);
    const OverlapSizes sizes = sizes_of(spec);
    const OverlapOrder order = order_of(spec);
    plan_overlap(*parts, sizes, order);
    parts->tolerance = tolerance_of(spec.format());
    switch (order) {
      case OverlapOrder::compute:
        parts->amount = {parts->plan.graph().work().flops, "FLOP"};
        break;
      case OverlapOrder::copy:
        parts->amount = {sizes.copied_bytes(), "B"};
        break;
      case OverlapOrder::sequential:
      case OverlapOrder::overlapped:
        parts->amount = {static_cast<double>(sizes.count), "matrices"};
        break;
    }
    if (order != OverlapOrder::compute && sizes.memory == HostMemory::fresh) {
      parts->notes.emplace_back("timed",
                                "releasing the pages of the copy's host memory and first touching "
                                "the new ones, on the copy lane");
    }
    return make_case(std::move(parts));
  }

  std::optional<CaseSpec> reference(const CaseSpec& spec) const override {
    if (spec.strategy != "overlapped") return std::nullopt;
    return with_strategy(spec, "sequential", {"prefetch"});
  }

  /// Products alone and copies alone are a part of the work.
  bool comparable(const CaseSpec& spec) const override {
    return spec.strategy == "sequential" || spec.strategy == "overlapped";
  }

  std::vector<Metric> metrics(const CaseSpec& spec) const override {
    if (spec.strategy != "overlapped") return {};
    return {{.name = std::string(achieved_overlap),
             .others = {products_of(spec), copies_of(spec)},
             .value = hidden_fraction}};
  }

  std::string answer(const std::vector<CaseOutcome>& outcomes) const override {
    std::vector<std::string> texts;
    for (const CaseOutcome& outcome : outcomes) {
      if (outcome.spec.strategy != "overlapped") continue;
      const Finding found = find_for(outcome.spec, outcomes);
      if (!found.complete()) continue;
      const std::string text = describe(outcome.spec, found, outcomes);
      if (std::ranges::find(texts, text) == texts.end()) texts.push_back(text);
    }
    if (texts.empty()) {
      return "The overlap needs computing alone, copying alone and both overlapped; not all were "
             "measured, so there is no answer.";
    }
    return fmt::format("{}.", fmt::join(texts, ".\n"));
  }
};

}  // namespace

std::unique_ptr<Scenario> make_overlap() { return std::make_unique<Overlap>(); }

}  // namespace parbench
