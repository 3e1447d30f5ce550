// Compiled with PARBENCH_VERSION, the project's version.
#include "bench/output/version.h"

namespace parbench {

const std::string_view version = PARBENCH_VERSION;

}  // namespace parbench
