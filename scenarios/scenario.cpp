// How a case is named: the one place that knows the shape of the name.
#include "scenarios/scenario.h"

#include <fmt/format.h>

namespace parbench {

std::string CaseSpec::name() const {
  std::string text = scenario + "/" + strategy;
  for (const Parameter& parameter : parameters) {
    text += fmt::format("/{}:{}", parameter.name, to_string(parameter.value));
  }
  if (dtype != DType::f32) text += fmt::format("/dtype:{}", to_string(dtype));
  return text;
}

}  // namespace parbench
