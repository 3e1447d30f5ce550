// A library that NVTX loads into a process (NVTX_INJECTION64_PATH): writes one line for each range
// that opens or closes to the file that RANGE_LISTENER_FILE names.
#include <nvtx3/nvToolsExt.h>

#include <cstdio>
#include <cstdlib>
#include <list>
#include <string>

namespace {

std::FILE* output = nullptr;

// Handles are texts that live as long as the process, also while it ends.
char* kept(const char* text) {
  static auto* const texts = new std::list<std::string>;
  return texts->emplace_back(text).data();
}

nvtxDomainHandle_t create_domain(const char* name) {
  return reinterpret_cast<nvtxDomainHandle_t>(kept(name));
}

nvtxStringHandle_t register_string(nvtxDomainHandle_t, const char* text) {
  return reinterpret_cast<nvtxStringHandle_t>(kept(text));
}

int push(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* attributes) {
  const bool registered = attributes->messageType == NVTX_MESSAGE_TYPE_REGISTERED;
  std::fprintf(output, "push\t%s\t%s\t%lld\n", reinterpret_cast<const char*>(domain),
               registered ? reinterpret_cast<const char*>(attributes->message.registered) : "?",
               static_cast<long long>(attributes->payload.llValue));
  return 0;
}

int pop(nvtxDomainHandle_t domain) {
  std::fprintf(output, "pop\t%s\n", reinterpret_cast<const char*>(domain));
  std::fflush(output);
  return 0;
}

template <typename Function>
void listen(NvtxFunctionTable table, int index, Function* function) {
  *table[index] = reinterpret_cast<NvtxFunctionPointer>(function);
}

}  // namespace

extern "C" int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get_table) {
  const char* path = std::getenv("RANGE_LISTENER_FILE");
  output = path != nullptr ? std::fopen(path, "w") : nullptr;
  if (output == nullptr) return 0;
  const auto* callbacks =
      static_cast<const NvtxExportTableCallbacks*>(get_table(NVTX_ETID_CALLBACKS));
  NvtxFunctionTable table = nullptr;
  unsigned int size = 0;
  if (callbacks == nullptr ||
      callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE2, &table, &size) == 0) {
    return 0;
  }
  listen(table, NVTX_CBID_CORE2_DomainCreateA, create_domain);
  listen(table, NVTX_CBID_CORE2_DomainRegisterStringA, register_string);
  listen(table, NVTX_CBID_CORE2_DomainRangePushEx, push);
  listen(table, NVTX_CBID_CORE2_DomainRangePop, pop);
  return 1;
}
