// Plans any operation, and turns oneDNN's errors into ours.
#include "kernels/cpu/ops/prepare.h"

#include <fmt/format.h>

#include <oneapi/dnnl/dnnl.hpp>
#include <string>
#include <utility>
#include <variant>

#include "kernels/base/error.h"
#include "kernels/cpu/ops/plans.h"
#include "kernels/ops/flops.h"

namespace parbench::cpu {
namespace {

[[noreturn]] void rethrow(const OpDesc& desc, const dnnl::error& error) {
  const std::string text = fmt::format("{}: oneDNN: {}", name_of(desc), error.what());
  if (error.status == dnnl_unimplemented) throw Unsupported(text);
  if (error.status == dnnl_invalid_arguments) throw UsageError(text);
  throw Error(text);
}

}  // namespace

std::unique_ptr<CpuOp> prepare(const OpDesc& desc, int threads) {
  if (threads < 1) {
    throw UsageError(
        fmt::format("{}: prepared for {} threads; it needs at least 1", name_of(desc), threads));
  }
  try {
    Planned op = std::visit([](const auto& one) { return plan(one); }, desc);
    op->threads = threads;
    op->set_flops(flops_of(desc));
    return op;
  } catch (const dnnl::error& error) {
    rethrow(desc, error);
  }
}

}  // namespace parbench::cpu
