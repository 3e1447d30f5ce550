// Returns pages of host memory to the system, so that using the memory again costs as much as using
// new memory.
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>

#include "kernels/base/error.h"
#include "kernels/cpu/ops/plans.h"
#include "kernels/cpu/ops/prepare.h"

namespace parbench::cpu {
namespace {

class DiscardOp final : public CpuOp {
 public:
  explicit DiscardOp(const Discard& desc)
      : CpuOp(desc), bytes_(static_cast<std::size_t>(desc.bytes)) {
    add_tensors(*this);
    work_.bytes = 0;  // no data is moved
    set_implementation("madvise");
  }

  // Takes as long as unmapping a block and mapping another one, but keeps the address, which other
  // planned operations use.
  void execute(const Execution& /*execution*/, std::span<std::byte* const> arguments) override {
    void* first = arguments[0];
    std::size_t bytes = bytes_;
    if (std::align(page_, page_, first, bytes) == nullptr) return;  // contains no whole page
    bytes -= bytes % page_;
    if (madvise(first, bytes, MADV_DONTNEED) != 0) {
      throw Error(fmt::format(
          "discard: the system keeps {} bytes ({}); page-locked memory cannot be discarded, use "
          "pageable memory",
          bytes, std::strerror(errno)));
    }
  }

 private:
  std::size_t bytes_;
  std::size_t page_ = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
};

}  // namespace

Planned plan(const Discard& desc) { return std::make_unique<DiscardOp>(desc); }

}  // namespace parbench::cpu
