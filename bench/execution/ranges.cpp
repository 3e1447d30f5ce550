// Ranges of NVTX 3, which is header-only and needs no GPU.
#include "bench/execution/ranges.h"

#ifdef PARBENCH_NVTX

#include <nvtx3/nvToolsExt.h>

namespace parbench {
namespace {

nvtxDomainHandle_t domain() {
  static const nvtxDomainHandle_t handle = nvtxDomainCreateA("parbench");
  return handle;
}

}  // namespace

std::string nvtx_support() { return std::to_string(NVTX_VERSION); }

RangeName::RangeName(const std::string& name)
    : handle_(nvtxDomainRegisterStringA(domain(), name.c_str())) {}

Range::Range(const RangeName& name, std::int64_t payload) {
  nvtxEventAttributes_t attributes{};
  attributes.version = NVTX_VERSION;
  attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  attributes.payloadType = NVTX_PAYLOAD_TYPE_INT64;
  attributes.payload.llValue = payload;
  attributes.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  attributes.message.registered = static_cast<nvtxStringHandle_t>(name.handle_);
  nvtxDomainRangePushEx(domain(), &attributes);
}

Range::~Range() { nvtxDomainRangePop(domain()); }

}  // namespace parbench

#else

namespace parbench {

std::string nvtx_support() { return "not in this build (scripts/nvtx fetches its headers)"; }

RangeName::RangeName(const std::string&) {}
Range::Range(const RangeName&, std::int64_t) {}
Range::~Range() = default;

}  // namespace parbench

#endif
