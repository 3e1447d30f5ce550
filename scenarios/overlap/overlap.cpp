// Scenario overlap: how much of the time of copies is hidden by products, and what determines it.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "kernels/base/units/units.h"
#include "scenarios/answers/recommend.h"
#include "scenarios/answers/wording.h"
#include "scenarios/framework/built_in.h"
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

/// Returns the sizes of a case, with defaults for axes that do not apply to its strategy.
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

// --- cases with which an overlapped case is compared ---

CaseSpec products_of(const CaseSpec& spec) {
  return with_strategy(spec, "compute", {"memory", "chunk", "prefetch"});
}

CaseSpec sequence_of(const CaseSpec& spec) {
  return with_strategy(spec, "sequential", {"prefetch"});
}

CaseSpec copies_of(const CaseSpec& spec) {
  return with_strategy(spec, "copy", {"inner", "prefetch"});
}

/// Returns the fraction of the shorter part that is hidden: 1 for all, 0 for nothing, negative if
/// overlapping costs time. `seconds`: times of the overlapped case, of its products, of its copies,
/// and of both in turn.
double hidden_fraction(std::span<const double> seconds, std::span<const double> medians) {
  // Selects the shorter part by medians. The minimum of two samples would be below both parts if
  // they have similar lengths, and the hidden fraction too large.
  const double shorter = medians[1] < medians[2] ? seconds[1] : seconds[2];
  return (seconds[3] - seconds[0]) / shorter;
}

/// Maximum ratio of the median time of strategy sequential to the sum of the medians of its parts
/// alone. Above this ratio, the parts slow each other down even one after the other, and a case
/// that avoids this would seem to overlap more.
constexpr double slow_in_turn = 1.05;

/// Explains a hidden fraction that is outside of 0 to 1, or that includes other effects than
/// overlap; empty for other fractions. The text has no figures: the fraction is a median over
/// rounds, and does not follow from the medians of the times.
std::string hidden_remark(double fraction, std::span<const double> medians) {
  constexpr std::string_view not_in_medians =
      "in half of the rounds or more; the medians of the times do not show it";
  const double overlapped = medians[0];
  const double longer_part = std::max(medians[1], medians[2]);
  const double parts = medians[1] + medians[2];
  const double in_turn = medians[3];
  if (fraction < 0) {
    if (overlapped <= in_turn) return fmt::format("below 0% {}", not_in_medians);
    return "below 0%: overlapped takes longer than one after the other";
  }
  if (fraction <= 1) {
    return in_turn > slow_in_turn * parts
               ? "not only overlap, as one after the other takes longer than both parts alone"
               : "";
  }
  const double slower = in_turn - parts;
  const double faster = longer_part - overlapped;
  if (std::max(slower, faster) <= 0) return fmt::format("above 100% {}", not_in_medians);
  return slower >= faster ? "above 100%: one after the other takes longer than both parts alone"
                          : "above 100%: overlapped takes less than the longer part alone";
}

const std::vector<std::string> with_copies = {"copy", "sequential", "overlapped"};
const std::vector<std::string> with_products = {"compute", "sequential", "overlapped"};

const std::vector<Strategy> overlap_strategies = {
    {"compute", "the products alone"},
    {"copy", "the copies alone"},
    {"sequential", "one after the other: products then copies (d2h), copies then products (h2d)"},
    {"overlapped", "one matrix is copied while the next is computed, --prefetch of them ahead"},
};

const std::vector<Axis> overlap_axes = {
    {.name = "n",
     .description = "rows and columns of the copied matrices",
     .quick = {1024},
     .published = {4000},
     .max = 65536},
    {.name = "inner",
     .description = "multiply-adds for each element of a product: a small number makes computing "
                    "and copying take similar times on a CPU",
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
     .description =
         "host memory: page-locked, ordinary and used before (CUDA does not copy it "
         "asynchronously), or ordinary and allocated again in every execution (d2h only)",
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
     .description = "matrices in flight besides the current one; 0: no overlap is possible",
     .quick = {1, 4},
     .published = {0, 1, 2, 4, 49},
     .min = 0,
     .max = 10000,
     .strategies = {"overlapped"}},
};

/// Fifty products and the copies of their results, on one GPU. The published experiment allocates
/// host memory for every copy, as `fresh` does.
std::vector<Published> overlap_figures() {
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

// --- answer ---

/// Name of the metric of overlapped cases: the fraction of the shorter part, computing or copying,
/// that the other part hides.
constexpr std::string_view achieved_overlap = "achieved overlap";
constexpr std::string_view sequential_strategy = "sequential";
constexpr std::string_view baseline_label = "no overlap";
constexpr std::string_view sequential_words = "without overlap";

std::int64_t prefetch_of(const CaseSpec& spec) {
  return spec.strategy == sequential_strategy ? -1 : spec.parameters.integer("prefetch");
}

std::string prefetch_label(const CaseSpec& spec) {
  if (spec.strategy == sequential_strategy) return std::string(baseline_label);
  return fmt::format("prefetch {}", prefetch_of(spec));
}

/// Returns "75% (73–77%) of the shorter of copies and products is hidden"; empty if unknown. If the
/// fraction or its interval is not above zero, the text says that no overlap is shown.
std::string hidden_text(const CaseOutcome& overlapped) {
  const Ratio* hidden = overlapped.metric(achieved_overlap);
  if (hidden == nullptr) return {};
  const bool shown = hidden->interval ? hidden->above(0) : hidden->value > 0;
  return fmt::format("{}{} of the shorter of copies and products{}",
                     shown ? "" : "no overlap is shown: ", format_percent(*hidden),
                     shown ? " is hidden" : "");
}

std::vector<std::string> sentences(const std::vector<Recommendation>& found) {
  std::vector<std::string> texts =
      verdict_sentences(found, {"Overlapping"}, sequential_words, [](const Recommendation& one) {
        return one.remark.empty() ? std::string() : "; " + one.remark;
      });
  const Recommendation& best = best_of(found);
  const bool names_best = payoff_of(best) >= Payoff::may_pay && !best.remark.empty();
  if (found.size() > 1 && only_one_that_pays(found) == nullptr && names_best) {
    texts.push_back(fmt::format("There {}.", best.remark));
  }
  return texts;
}

/// Recommends, for each size, direction, memory and chunk, whether to overlap, and how many
/// matrices to prefetch.
Conclusion overlap_answer(const std::vector<CaseOutcome>& outcomes,
                          const PossiblyFastest& possibly_fastest) {
  const Wording wording{
      .label = prefetch_label,
      .complexity = [](const CaseSpec& spec) { return std::vector{prefetch_of(spec)}; },
      .baseline = sequential_strategy};
  const Outcomes whole = outcomes_where(all_outcomes(outcomes), [&](const CaseSpec& spec) {
    // Without prefetched matrices nothing overlaps, so a gain has another cause.
    return spec.strategy == sequential_strategy ||
           (spec.strategy == "overlapped" && prefetch_of(spec) > 0);
  });
  auto [found, not_compared] = recommend_each(
      whole, {"n", "inner", "count", "direction", "memory", "chunk"}, wording, possibly_fastest);
  for (Recommendation& one : found) {
    one.remark = hidden_text(*find_outcome(whole, one.gaining->name));
  }
  if (found.empty()) {
    return {.text =
                "Not decided: copies and products one after the other (sequential) and "
                "overlapped with --prefetch 1 or more were not both measured.",
            .is_answered = false};
  }
  std::vector<std::string> text = sentences(found);
  text.push_back(not_compared_text(not_compared));
  return {joined_sentences(text), std::move(found)};
}

// --- scenario ---

class Overlap final : public Scenario {
 public:
  std::string_view name() const override { return "overlap"; }
  std::string_view question() const override {
    return "How much of the time of copies is hidden behind computing, in which kind of host "
           "memory "
           "and with how much ahead?";
  }
  const std::vector<Strategy>& strategies() const override { return overlap_strategies; }
  const std::vector<Axis>& axes() const override { return overlap_axes; }
  std::string_view baseline() const override { return "sequential"; }
  bool wants_copy_core() const override { return true; }
  /// The published experiment is one run; three give an interval.
  Sampling published_sampling() const override { return {.samples = 3, .iterations = 1}; }

  std::vector<Published> published() const override { return overlap_figures(); }

  Resolution resolve(const Request& request) const override {
    const CaseSpec& spec = request.spec;
    const OverlapSizes sizes = sizes_of(spec);
    const bool copies = spec.strategy != "compute";
    if (copies && sizes.memory == HostMemory::fresh && !sizes.to_host) {
      return Obstacle{{"memory"},
                      "--memory fresh goes with --direction d2h only: an input must be in memory "
                      "before it can be copied"};
    }
    if (sizes.chunk > sizes.n) {
      return Obstacle{
          {"chunk"},
          fmt::format("--chunk {} is more than the {} of a matrix; use --chunk 1 to {}, or 0",
                      sizes.chunk, format_count(sizes.n, "row"), sizes.n)};
    }
    if (spec.strategy == "overlapped" && sizes.prefetch >= sizes.count && sizes.prefetch > 0) {
      return Obstacle{
          {"prefetch"},
          fmt::format("--prefetch {0} is not below the number of matrices, --count {1}; use a "
                      "smaller --prefetch or --count {2} or more",
                      sizes.prefetch, sizes.count, sizes.prefetch + 1)};
    }
    // The quick preset measures prefetch distances above 1 with pinned memory only.
    const bool from_preset = request.preset == Preset::quick && !request.was_given("prefetch");
    if (from_preset && sizes.prefetch > 1 && sizes.memory != HostMemory::pinned) {
      return not_in_preset("prefetch", std::to_string(sizes.prefetch));
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
    return sequence_of(spec);
  }

  /// Products alone, and copies alone, are only a part of the work.
  bool comparable(const CaseSpec& spec) const override {
    return spec.strategy == "sequential" || spec.strategy == "overlapped";
  }

  std::vector<Metric> metrics(const CaseSpec& spec) const override {
    if (spec.strategy != "overlapped") return {};
    return {{.name = std::string(achieved_overlap),
             .others = {products_of(spec), copies_of(spec), sequence_of(spec)},
             .value = hidden_fraction,
             .remark = hidden_remark}};
  }

  Conclusion answer(const std::vector<CaseOutcome>& outcomes,
                    const PossiblyFastest& possibly_fastest) const override {
    return overlap_answer(outcomes, possibly_fastest);
  }
};

}  // namespace

std::unique_ptr<Scenario> make_overlap() { return std::make_unique<Overlap>(); }

}  // namespace parbench
