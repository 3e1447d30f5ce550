#include "bench/run/trace_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <ostream>

#include "reports/io/chrome_trace.h"
#include "reports/io/file.h"

namespace parbench {

void TraceFile::add(const report::CaseResult& one, const Timeline& timeline) {
  const auto is_part = [&](const std::string& text) {
    return one.name.find(text) != one.name.npos;
  };
  if (path_.empty() || (!cases_.empty() && std::ranges::none_of(cases_, is_part))) return;
  Entry& entry = entries_.emplace_back(Entry{one.name, {}, timeline});
  for (const report::DeviceMemory& memory : one.memory) {
    entry.memory.emplace_back(memory.device, memory.bytes);
  }
}

void TraceFile::write() const {
  if (path_.empty()) return;
  std::vector<report::TracedCase> cases;
  for (const Entry& entry : entries_) cases.push_back({entry.name, &entry.timeline, entry.memory});
  report::write_file(
      path_, [&](std::ostream& out) { write_chrome_trace(out, cases); },
      report::Durability::unflushed);
}

std::string TraceFile::line() const {
  if (path_.empty()) return {};
  if (entries_.empty()) {
    return fmt::format("trace: {} is empty: no case has a timeline\n", path_.string());
  }
  return fmt::format("trace: {} (open it in https://ui.perfetto.dev)\n", path_.string());
}

}  // namespace parbench
