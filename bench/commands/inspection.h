// How `inspect` shows a network.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "reports/text/text.h"
#include "scenarios/training/network_facts.h"

namespace parbench {

/// A network with its facts for a batch. All outlive it.
struct Inspection {
  const std::string& model;  // as the user named it
  const Network& network;
  const NetworkFacts& facts;
  std::int64_t batch = 1;
  std::vector<std::string> notes = {};  // what a reader has to know of the model, as sentences
};

/// A table of layers and one of units, each with a total.
[[nodiscard]] std::string inspection_text(const Inspection& inspection,
                                          const report::TextStyle& style);
/// The same tables as a page that needs no other file.
[[nodiscard]] std::string inspection_html(const Inspection& inspection);
/// Everything as numbers: bytes, FLOPs, shapes of one sample.
[[nodiscard]] std::string inspection_json(const Inspection& inspection);

}  // namespace parbench
