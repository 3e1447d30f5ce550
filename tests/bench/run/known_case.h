// Cases as reports name them.
#pragma once

#include "bench/run/case_expansion.h"

namespace parbench {

/// A case as its report has it.
inline RerunCase known_case(const CaseSpec& spec) {
  CaseSpec read = spec;
  read.parameters = {};
  for (const Parameter& parameter : spec.parameters) {
    read.parameters.set(parameter.name, parameter.value);
  }
  return {spec.name(), read};
}

}  // namespace parbench
