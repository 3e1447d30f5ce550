// The Case that is assembled from parts, and tolerances of number formats.
#include "scenarios/framework/prepared_case.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace parbench {
namespace {

class PreparedCase final : public Case {
 public:
  explicit PreparedCase(std::unique_ptr<CaseParts> parts) : parts_(std::move(parts)) {
    parts_->data.finish();
  }

  const Plan& plan() const override { return parts_->plan; }
  void reset() override { parts_->data.reset(); }
  void forget() override { parts_->data.forget(); }
  void refresh() override {
    if (parts_->reads_borrowed_memory) parts_->data.reset();
  }
  std::vector<Output> outputs() override { return parts_->outputs; }
  Tolerance tolerance() const override { return parts_->tolerance; }
  Amount amount() const override { return parts_->amount; }
  std::vector<std::pair<std::string, std::string>> notes() const override { return parts_->notes; }

  std::optional<std::string> check() override {
    for (const Check& check : parts_->checks) {
      if (auto wrong = check.run()) return wrong;
    }
    return std::nullopt;
  }

  std::string checked() const override {
    std::vector<std::string_view> different;
    for (const Check& check : parts_->checks) {
      if (std::ranges::find(different, check.what) == different.end()) {
        different.push_back(check.what);
      }
    }
    return fmt::format("{}", fmt::join(different, ", "));
  }

 private:
  std::unique_ptr<CaseParts> parts_;
};

}  // namespace

std::unique_ptr<Case> make_case(std::unique_ptr<CaseParts> parts) {
  return std::make_unique<PreparedCase>(std::move(parts));
}

LaneId add_lane(CaseParts& parts, int device, StreamKind kind, int index, int sharers) {
  const std::string& owner = parts.context.device(device).info().name;
  std::string name = owner + (kind == StreamKind::copy ? "/copy" : "/compute");
  if (sharers > 1) name += fmt::format("/{}", index);
  return parts.plan.add_lane(std::move(name), parts.context.stream(device, kind, index, sharers),
                             kind);
}

Stream& stream_of(const CaseParts& parts, LaneId lane) { return parts.plan.stream(lane); }

Tolerance tolerance_of(NumberFormat format) {
  // Each of the two computations rounds twice by at most 2⁻⁸.
  if (format.dtype == DType::bf16) return {.relative = 1.6e-2, .absolute = 1e-3};
  // Each of the two computations rounds or truncates both factors of every product, by at most 2⁻¹⁰
  // each. Sums have the tolerance of f32.
  if (format.math == MathMode::tf32) return {.relative = 4 * 0x1p-10 + 1e-4, .absolute = 1e-6};
  return {};
}

double perturbation_of(NumberFormat format) {
  if (format.dtype == DType::bf16) return 0x1p-8;
  if (format.math == MathMode::tf32) return 0x1p-9;
  return 0x1p-19;
}

}  // namespace parbench
