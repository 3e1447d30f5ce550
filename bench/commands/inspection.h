// Output of `inspect`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "reports/text/text.h"
#include "scenarios/training/network_facts.h"

namespace parbench {

/// A network with its facts for a batch. The referenced objects must outlive it.
struct Inspection {
  const std::string& model;  // as the user named it
  const Network& network;
  const NetworkFacts& facts;
  std::int64_t batch = 1;
  std::vector<std::string> notes = {};  // sentences about the model for the reader
};

/// Returns a table of layers and one of units, each with a total.
[[nodiscard]] std::string inspection_text(const Inspection& inspection,
                                          const report::TextStyle& style);
/// Returns the same tables as an HTML page without external files.
[[nodiscard]] std::string inspection_html(const Inspection& inspection);
/// Returns all numbers as JSON: bytes and FLOPs of the batch, shapes of one sample.
[[nodiscard]] std::string inspection_json(const Inspection& inspection);

}  // namespace parbench
